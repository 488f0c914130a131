"""The reference pages say what the code says: nobody has to remember to change both."""

import pytest

from tests.architecture import reference


@pytest.mark.parametrize("name", sorted(reference.GENERATED))
def test_a_page_is_what_the_code_says(name):
    committed = (reference.PAGES / name).read_text()
    assert committed == reference.page(name), f"stale: run `{reference.COMMAND}`"


def test_a_page_says_what_is_not_there():
    lines = reference.RELY_ON.read_text().splitlines()
    assert reference.not_there() in lines, f"stale: run `{reference.COMMAND}`"


def test_every_room_has_its_place_on_the_page():
    rooms = {path.name for path in reference.PACKAGE.iterdir() if any(path.glob("*.py"))}
    assert rooms <= set(reference.ROOMS)


def test_evidence_is_found_in_docstrings_and_comments(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "PACKAGE", tmp_path)
    room = tmp_path / "capacity"
    room.mkdir()
    file = room / "heat.py"
    file.write_text(
        '"""What is hot."""\n'
        "A = 1  # Source: CAP-101\n"
        "#: A share. Assumed: CAP-102,\n"
        "#: for want of better.\n"
        "B = 2\n"
        "\n"
        "def f():\n"
        '    """Do it.\n'
        "\n"
        "    Observed: a capture,\n"
        "    May 2026. Assumed: the order.\n"
        '    """\n'
    )
    assert [one[1:] for one in reference.evidence_of(file)] == [
        ("capacity/heat.py", "A", "Source", "", "CAP-101"),
        ("capacity/heat.py", "B", "Assumed", "A share.", "CAP-102, for want of better."),
        ("capacity/heat.py", "f", "Observed", "Do it.", "a capture, May 2026."),
        ("capacity/heat.py", "f", "Assumed", "Do it.", "the order."),
    ]


def test_a_constant_is_shown_by_its_value(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "PACKAGE", tmp_path)
    file = tmp_path / "words.py"
    file.write_text(
        "#: Observed: a capture. Assumed: how it begins.\n"
        'TEXT: Final = "No table: "  \n'
        "LONG: Final = TEXT + '{name} is gone'  # Assumed: the text.\n"
        "KEPT: Final = 4 * 16  # Assumed: enough.\n"
        "#: What is kept. Assumed: enough.\n"
        "MORE: Final = 5\n"
        "#: Source: a page. Assumed: the rest.\n"
        "ROWS: Final = (1, 2)\n"
    )
    assert [(one.subject, one.about, one.text) for one in reference.evidence_of(file)] == [
        ("TEXT", "`No table:`", "a capture."),
        ("TEXT", "`No table:`", "how it begins."),
        ("LONG", "`{TEXT}{name} is gone`", "the text."),
        ("KEPT", "`4 * 16`", "enough."),
        ("MORE", "What is kept.", "enough."),
        ("ROWS", "", "a page."),
        ("ROWS", "Source: a page.", "the rest."),
    ]


def test_a_type_named_source_is_no_evidence(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "PACKAGE", tmp_path)
    file = tmp_path / "pages.py"
    file.write_text("def source_of() -> Source: ...\n")
    assert list(reference.evidence_of(file)) == []
