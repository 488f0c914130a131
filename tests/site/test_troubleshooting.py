"""What the page on troubleshooting quotes is what the code says."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "troubleshooting.md"
#: The last part of the page is about messages of others.
OURS = PAGE.read_text().partition("## Errors from boto3 itself")[0]


def words(text):
    """Return the longer words of a text, but for what is filled in."""
    return set(re.findall(r"[A-Za-z]{4,}", text))


def sentences(wanted):
    """Return every text of the code, with three dots for what is filled in.

    Only files that have all words of one of the texts that are wanted are parsed.
    """
    sought = [words(text) for text in wanted]
    sources = [*(ROOT / "emulator").rglob("*.py"), ROOT / "pytest_dynamometer.py"]
    nodes = (
        node
        for text in (path.read_text() for path in sources)
        if any(map(words(text).issuperset, sought))
        for node in ast.walk(ast.parse(text))
    )
    texts = {text_of(node) for node in nodes if isinstance(node, ast.JoinedStr | ast.Constant)}
    return [re.sub(r"\{[^{}]*\}", "...", text) for text in texts]


def text_of(node):
    """Return a text, plain or formatted, with braces around what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text_of, node.values))
    value = getattr(node, "value", "")
    return value if isinstance(value, str) else "{}"


def test_a_sentence_that_is_quoted_is_one_of_ours():
    rows = re.findall(r"^\| (.*?) \|", OURS, re.MULTILINE)
    quoted = [text for row in rows for text in re.findall(r"`([^`]+)`", row)]
    own = [text for text in quoted if " " in text and not text.startswith("FILE:LINE")]
    assert len(own) > 30
    known = sentences(own)
    lost = [text for text in own if not any(text.strip(". ") in sentence for sentence in known)]
    assert lost == []
