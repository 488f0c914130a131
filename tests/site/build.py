"""The documentation site: ``python -m tests.site.build [--out build/site]``.

The pages of ``docs/`` and the papers beside it are laid out anew in a temporary folder, together
with the references that are read off the code; Zensical makes a site of them, and any warning, such
as of a link that leads nowhere, ends the build. Nothing is listed by hand: a page that is added to
a folder of ``docs/`` is a page of the site.
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
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(Path(folder, "site"), out)
    print(f"{pages} pages in {out}; open {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
