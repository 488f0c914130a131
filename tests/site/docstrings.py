"""Docstrings of the house as Markdown: sections, examples, literal blocks and code marks."""

import re
import textwrap
from collections.abc import Iterator

SECTION = re.compile(r"(Args|Attributes|Returns|Yields|Raises|Parameters):\s*$")
MEMBER = re.compile(r"(\*{0,2}\w[\w, .]*?):\s+(.*)", re.DOTALL)
CODE = re.compile(r"``(.+?)``", re.DOTALL)
EXAMPLE = ">>> "


def as_markdown(docstring: str) -> str:
    """Return a docstring as Markdown.

    >>> print(as_markdown("Say it.\\n\\nArgs:\\n    word: What to say."))
    Say it.
    <BLANKLINE>
    **Args**
    <BLANKLINE>
    - `word`: What to say.
    """
    return "\n\n".join(piece for block in _blocks(docstring) for piece in _rendered(block))


def _blocks(docstring: str) -> Iterator[str]:
    yield from (block for block in re.split(r"\n[ \t]*\n", docstring.strip("\n")) if block.strip())


def _rendered(block: str) -> Iterator[str]:
    first, _, rest = block.partition("\n")
    if EXAMPLE in first:
        yield f"```pycon\n{textwrap.dedent(block)}\n```"
    elif SECTION.match(first):
        yield f"**{first.strip().rstrip(':')}**"
        yield "\n".join(_members(textwrap.dedent(rest)))
    elif first.startswith("    "):
        yield f"```text\n{textwrap.dedent(block)}\n```"
    elif f"\n{EXAMPLE}" in block:
        text, _, example = block.partition(f"\n{EXAMPLE}")
        yield from _rendered(text)
        yield from _rendered(EXAMPLE + example)
    else:
        yield _marked(block)


def _members(text: str) -> Iterator[str]:
    for entry in re.split(r"\n(?! )", text):
        flat = " ".join(entry.split())
        member = MEMBER.match(flat)
        yield f"- `{member[1]}`: {_marked(member[2])}" if member else f"- {_marked(flat)}"


def _marked(text: str) -> str:
    return CODE.sub(r"`\1`", text).replace("<", "&lt;") if "`" not in text else _outside(text)


def _outside(text: str) -> str:
    """Return text with its code marks, where only what is no code may not be HTML."""
    pieces = re.split(r"(``.+?``|`[^`]+`)", text, flags=re.DOTALL)
    pieces[::2] = [piece.replace("<", "&lt;") for piece in pieces[::2]]
    pieces[1::2] = [f"`{piece.strip('`')}`" for piece in pieces[1::2]]
    return "".join(pieces)
