"""How much there is: files, lines, import levels, functions, words. It counts and limits nothing.

``python -m benchmarks.house [FOLDER]`` prints the figures of a checkout; lines of code are those
without blanks, comments and docstrings.
"""

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from functools import cache
from pathlib import Path

#: Words that stand for calls, rows, callers or n in docstrings that avoid the noun.
RIDDLES = re.compile(
    r"^Return what\b|\b(those who|so many|nobody|somebody|anew|is told)\b", re.IGNORECASE
)


def code_lines(text):
    """Return the numbers of the lines that hold code."""
    lines = set()
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines.difference_update(range(value.lineno, value.end_lineno + 1))
    return lines


def riddles(text):
    """Return the docstrings that avoid the noun, each after the name of its definition."""
    return [
        (getattr(node, "name", "module"), own)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
        and RIDDLES.search(own := ast.get_docstring(node) or "")
    ]


def imports(text, known, inside):
    """Yield the modules of ours that a file imports at its top level, or inside functions."""
    tree = ast.parse(text)
    top = set(_top_level(tree))
    for node in ast.walk(tree):
        if (node in top) is inside:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                yield whole if whole in known else node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def _top_level(tree):
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


def levels(files):
    """Return how many imports lie on the longest chain, over the package and over the lab."""
    known = {module_of(path) for path in files}
    modules = {
        module_of(path): {name for name in imports(text, known, inside=False) if name in known}
        for path, text in files.items()
    }

    @cache
    def depth(module, within):
        deeper = [
            depth(name, within)
            for name in modules[module]
            if name != module and name.startswith(within)
        ]
        return 1 + max(deeper, default=0)

    sys.setrecursionlimit(10_000)
    return {
        within: max(depth(name, within) for name in modules if name.startswith(within))
        for within in ("emulator", "emulator.lab", "emulator.lab.world")
    }


def module_of(path):
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def figures(root):
    """Yield what is counted, as pairs of words and figures."""
    files = {path.relative_to(root): path.read_text() for path in (root / "emulator").rglob("*.py")}
    code = {path: len(code_lines(text)) for path, text in files.items()}
    yield "emulator/: files", len(files)
    yield "emulator/: lines of code", sum(code.values())
    rooms = defaultdict(lambda: [0, 0])
    for path, count in code.items():
        name = path.parts[1] if len(path.parts) > 2 else "(own)"
        rooms[name][0] += 1
        rooms[name][1] += count
    for name, (number, count) in sorted(rooms.items(), key=lambda room: -room[1][1]):
        yield f"  {name}", f"{count:,} in {number}"
    for within, depth in levels(files).items():
        yield f"import levels of {within}", depth
    known = {module_of(path) for path in files}
    inside = sum(
        len(known.intersection(imports(text, known, inside=True))) for text in files.values()
    )
    yield "imports of our own inside functions", inside
    functions = [
        (node.end_lineno - node.lineno + 1, f"{path}: {node.name}")
        for path, text in files.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    longest = max(functions)
    yield "longest function", f"{longest[0]} ({longest[1]})"
    yield "functions over 60 lines", sum(length > 60 for length, _ in functions)
    yield "docstrings that avoid the noun", sum(len(riddles(text)) for text in files.values())
    web = [
        path
        for path in (root / "emulator/web").rglob("*")
        if path.suffix in (".js", ".css", ".html")
    ]
    yield (
        "web/: lines of JavaScript, CSS and HTML",
        sum(len(p.read_text().splitlines()) for p in web),
    )
    tests = list((root / "tests").rglob("*.py"))
    yield "tests: lines", sum(len(path.read_text().splitlines()) for path in tests)
    for folder in (
        "how-to",
        "tutorial",
        "reference",
        "checks",
        "rules",
        "decisions",
        "explanation",
    ):
        pages = (root / "docs" / folder).rglob("*.md")
        yield f"docs/{folder}: words", sum(len(page.read_text().split()) for page in pages)


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
    for words, figure in figures(root):
        print(
            f"{words:<42}{figure:>12,}" if isinstance(figure, int) else f"{words:<42}{figure:>12}"
        )


if __name__ == "__main__":
    main()
