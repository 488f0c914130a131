"""Markdown as the site's generator reads it, from Markdown as GitHub reads it."""

import re

#: Fenced blocks: ``split`` gives text and blocks in turn.
FENCE = re.compile(r"(^ *(?:`{3,}|~{3,}).*?^ *(?:`{3,}|~{3,}) *$\n?)", re.MULTILINE | re.DOTALL)
ITEM = re.compile(r"( *)([-*+]|\d+[.)])( +)")
EDGE = re.compile(r"( *)(`{3,}|~{3,})")
NAMED_FENCE = re.compile(r"^( *(?:`{3,}|~{3,})[a-z]+) +([\w.-]+)$", re.MULTILINE)
HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
ANCHORED_HEADING = re.compile(r'^(#+) <a id="([^"]+)"></a>(.+)$', re.MULTILINE)
SENTENCE = re.compile(r"(.+?[.?!])(?: |$)")


def titled_fences(text: str) -> str:
    """Return a page whose blocks have the name of their file as a title.

    >>> titled_fences("```yaml lab.yaml")
    '```yaml title="lab.yaml"'
    """
    return NAMED_FENCE.sub(r'\1 title="\2"', text)


def heading_ids(text: str) -> str:
    """Return a page whose headings have their anchors as ids.

    The generator copies a heading into the table of contents, and a link cannot hold an anchor.

    >>> heading_ids('## <a id="l0"></a>L0 The partition key')
    '## L0 The partition key {#l0}'
    """
    return ANCHORED_HEADING.sub(r"\1 \3 {#\2}", text)


def commonmark_lists(text: str) -> str:
    """Return a page whose lists and tables Python-Markdown reads as CommonMark does.

    Python-Markdown wants an empty line before a list or a table, and four blanks for each level of
    a list; CommonMark wants neither.

    >>> print(commonmark_lists("Two:\\n- one\\n  more\\n  - nested\\n- two"))
    Two:
    <BLANKLINE>
    - one
        more
    <BLANKLINE>
        - nested
    - two
    """
    lines: list[str] = []
    levels: list[int] = []  # where the text of each open list item begins
    fence = ""
    for line in text.splitlines():
        if fence:
            lines.append(_indented(line, levels))
            fence = "" if line.strip() == fence else fence
            continue
        item = ITEM.match(line)
        indent = len(line) - len(line.lstrip())
        before = lines[-1].strip() if lines else ""
        if line.strip() and (indent or item or not before):
            while levels and levels[-1] > indent:
                levels.pop()
        starts_table = line.lstrip().startswith("|") and not before.startswith("|")
        starts_list = item and not _is_item_at(lines, levels)
        if before and (starts_table or starts_list):
            lines.append("")
        lines.append(_indented(line, levels))
        if item:
            levels.append(len(item[0]))
        if edge := EDGE.match(line):
            fence = edge[2]
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def _is_item_at(lines: list[str], levels: list[int]) -> bool:
    """Return whether the item before is a sibling: then no empty line is wanted."""
    for line in reversed(lines):
        if not line.strip():
            return False
        if item := ITEM.match(line):
            return len(item[1]) == 4 * len(levels)
        if not line.startswith(" "):
            return False
    return False


def _indented(line: str, levels: list[int]) -> str:
    indent = len(line) - len(line.lstrip())
    inside = [level for level in levels if level <= indent]
    if not inside:
        return line
    return "    " * len(inside) + line[inside[-1] :]


def title_of(text: str) -> str:
    """Return the first heading of a page, without its code marks."""
    heading = HEADING.search(text)
    return heading[1].replace("`", "") if heading else ""


def first_sentence(text: str) -> str:
    """Return the first sentence of a page's first paragraph.

    >>> first_sentence("# A page\\n\\nIt *says* [this](there.md). And more.")
    'It says this.'
    """
    for paragraph in re.split(r"\n\s*\n|^#.*$", FENCE.sub("\n", text), flags=re.MULTILINE):
        flat = " ".join(paragraph.split())
        if flat and flat[0] not in "#-|`<!~":
            flat = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", flat).replace("*", "").replace("`", "")
            sentence = SENTENCE.match(flat)
            return sentence[1] if sentence else flat
    return ""
