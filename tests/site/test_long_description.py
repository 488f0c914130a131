"""The README on a package index: no link and no picture of it leads nowhere."""

import re
from pathlib import Path

from hatch_build import long_description

README = Path(__file__).parents[2].joinpath("README.md").read_text()
#: The target of a link or picture, outside of blocks of code.
TARGET = re.compile(r"\]\(([^)]*)\)")
TEXT = """See [the lab](docs/lab.md#worlds), [AWS](https://aws.amazon.com) and [below](#below).

![A picture](docs/a.png)

```python
rows = [first](second)
```
"""


def test_with_an_address_links_and_pictures_lead_there():
    assert long_description(TEXT, "https://host/us/it/blob/v1/") == (
        "See [the lab](https://host/us/it/blob/v1/docs/lab.md#worlds), "
        "[AWS](https://aws.amazon.com) and [below](#below).\n\n"
        "![A picture](https://host/us/it/raw/v1/docs/a.png)\n\n"
        "```python\nrows = [first](second)\n```\n"
    )


def test_without_an_address_links_are_text_and_pictures_are_left_out():
    assert long_description(TEXT) == (
        "See the lab, [AWS](https://aws.amazon.com) and [below](#below).\n\n"
        "```python\nrows = [first](second)\n```\n"
    )


def test_nothing_in_the_readme_is_left_relative():
    assert not [link for link in TARGET.findall(long_description(README)) if ":" not in link]
    absolute = long_description(README, "https://host/us/it/blob/v1")
    assert not [link for link in TARGET.findall(absolute) if not link.startswith("https://")]
    assert len(TARGET.findall(absolute)) == len(TARGET.findall(README))
