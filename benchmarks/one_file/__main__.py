"""Build the server as one file: ``python -m benchmarks.one_file [FILE]``, in about two seconds.

The file needs Python 3.11 or newer on the machine and nothing else: its dependencies are inside, as
they are installed where it is built, with mmh3 in Python. Compiled sources are those of the Python
that builds; another one compiles by itself at each start. What the server has no use for is left
out: the lab, tools for agents, strategies and the pytest plugin.

With ``--executable`` it is a program for this kind of machine, Python included, which PyInstaller
makes (``pip install pyinstaller``).
"""

from __future__ import annotations

import argparse
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("lab", "mcp", "strategies", "testing", "diff", "check")
#: Large modules of Python that a program would otherwise unpack at each start.
UNUSED = ("_ssl", "_hashlib", "_lzma", "_bz2", "_sqlite3", "_tkinter", "unittest")
#: The moment of every member, so that the same sources make the same file.
MOMENT = (1980, 1, 1, 0, 0, 0)
MAIN = """\
import sys

if sys.version_info < (3, 11):
    sys.exit("dynamometer needs Python 3.11 or newer; this is " + sys.version.split()[0])
from emulator.__main__ import main

sys.exit(main())
"""


def members() -> Iterator[tuple[str, Path]]:
    """Yield what goes into the file besides its beginning: names and sources."""
    package = ROOT / "emulator"
    for path in sorted(package.rglob("*")):
        inside = path.relative_to(package).parts
        if path.is_file() and "__pycache__" not in inside and inside[0] not in LEFT_OUT:
            yield f"emulator/{path.relative_to(package).as_posix()}", path
    containers = find_spec("sortedcontainers")
    assert containers is not None
    assert containers.origin is not None
    for path in sorted(Path(containers.origin).parent.glob("*.py")):
        yield f"sortedcontainers/{path.name}", path
    yield "mmh3.py", Path(__file__).parent / "mmh3.py"


def build(target: Path) -> None:
    """Write the file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, target.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            archive.writestr(ZipInfo("__main__.py", MOMENT), MAIN, ZIP_DEFLATED)
            for name, path in members():
                archive.writestr(ZipInfo(name, MOMENT), path.read_bytes(), ZIP_DEFLATED)
                if path.suffix == ".py":
                    compiled = compiled_source(path, name, Path(folder))
                    archive.writestr(ZipInfo(f"{name}c", MOMENT), compiled, ZIP_DEFLATED)
    target.chmod(0o755)


def compiled_source(path: Path, name: str, folder: Path) -> bytes:
    """Return a source compiled, for a file whose members are not looked at for their time."""
    compiled = py_compile.compile(
        str(path),
        cfile=str(folder / "compiled"),
        dfile=name,
        doraise=True,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    assert compiled is not None
    return Path(compiled).read_bytes()


def build_executable(target: Path) -> None:
    """Have PyInstaller make a program of the same members."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder, "stage")
        for name, path in members():
            if name.startswith("emulator/"):
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, stage / name)
        (stage / "main.py").write_text(MAIN)
        command = [sys.executable, "-m", "PyInstaller", "--onefile"]
        command += ["--collect-submodules", "emulator", "--collect-data", "emulator"]
        command += ["--strip", *(word for name in UNUSED for word in ("--exclude-module", name))]
        command += ["--name", target.name, "--distpath", str(target.parent.resolve())]
        command += ["--workpath", folder, "--specpath", folder, "--log-level", "WARN", "main.py"]
        subprocess.run(command, cwd=stage, env={**os.environ, "PYTHONPATH": str(stage)}, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=Path("dist/dynamometer.pyz"))
    parser.add_argument("--executable", action="store_true", help="with Python inside")
    arguments = parser.parse_args()
    chosen = arguments.file
    (build_executable if arguments.executable else build)(chosen)
    print(f"{chosen}: {chosen.stat().st_size:,} bytes")
