"""Files of the front end are found by name, and nothing else is."""

import pytest

from emulator.web.files import read


def test_a_file_is_read_by_its_name():
    assert "--ink" in read("kit/chart.css")


@pytest.mark.parametrize(
    "name",
    [
        "kit/absent.js",
        "absent/dom.js",
        "../__init__.py",
        "kit/../files.py",
        "kit/../kit/dom.js",
        "/etc/passwd",
        "files.py",
        "kit",
        "kit/",
        "kit//dom.js",
        "",
    ],
)
def test_nothing_outside_has_a_name(name):
    with pytest.raises(FileNotFoundError):
        read(name)
