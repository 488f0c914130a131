"""The documentation site: ``python -m tests.site.build [--out build/site]``.

The pages of ``docs/`` and the papers beside it are laid out anew in a temporary folder, together
with the references that are read off the code; Zensical makes a site of them, and any warning, such
as of a link that leads nowhere, ends the build, and so does a block of code that the generator has
not recognised. Nothing is listed by hand: a page that is added to a folder of ``docs/`` is a page
of the site.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.site.layout import lay_out

ROOT = Path(__file__).parents[2]
FENCE_MARK = re.compile(r"<(p|code)>```")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def main() -> int:
    """Build the site, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="a folder")
    out = parser.parse_args().out.resolve()
    with tempfile.TemporaryDirectory() as folder:
        pages = lay_out(Path(folder))
        done = subprocess.run(
            [sys.executable, "-m", "zensical", "build", "--strict"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(COLOURS.sub("", done.stdout + done.stderr.partition("Traceback")[0]))
            return 1
        if spoilt := pages_with_fence_marks(Path(folder, "site")):
            print(f"blocks of code are not recognised in {', '.join(spoilt)}")
            return 1
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(Path(folder, "site"), out)
    print(f"{pages} pages in {out}; open {out / 'index.html'}")
    print(f"browsers search a site only if it is served: python -m http.server -d {out}")
    return 0


def pages_with_fence_marks(site: Path) -> list[str]:
    """Return the pages on which the edge of a block of code is text."""
    return [
        str(page.relative_to(site))
        for page in sorted(site.rglob("*.html"))
        if FENCE_MARK.search(page.read_text(encoding="utf-8"))
    ]


if __name__ == "__main__":
    raise SystemExit(main())
