"""Whether a release can be made: ``python -m benchmarks.release``, in about two minutes.

Builds the distribution twice and compares the files byte for byte, lets twine read them, installs
the wheel without extras and asks it for what it can and cannot do, and carries out the steps of the
Containerfile in scratch folders, without a container engine. Needs ``pip install build twine``.
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONTAINERFILE = ROOT / "Containerfile"
#: What a wheel without extras does, and what it says where an extra is missing.
BARE = {
    "import emulator; print(emulator.Emulator().call('ListTables', {}))": "{'TableNames': []}",
    "import emulator.__main__ as m; m.main(['lab'])": "pip install 'dynamometer[lab]'",
    "import emulator.lab; emulator.lab.compare": "pip install 'dynamometer[lab]'",
    "import emulator.strategies as s; s.items": "pip install 'dynamometer[hypothesis]'",
    "import emulator; emulator.mock_dynamodb().__enter__()": "pip install 'dynamometer[boto]'",
    "import emulator, os; print(os.listdir(os.path.dirname(emulator.__file__)))": "'py.typed'",
}


def main() -> int:
    """Carry out every check, print its outcome, and return the exit code."""
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for what, problem in checks(Path(folder)):
            print(f"{'FAILED' if problem else 'ok':7}{what}{': ' + problem if problem else ''}")
            failed = failed or bool(problem)
    return int(failed)


def checks(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what was checked, and what is wrong with it."""
    first, second = build(folder / "first"), build(folder / "second")
    for path, twin in zip(first, second, strict=True):
        same = digest(path) == digest(twin)
        yield f"{path.name} is the same when built twice", "" if same else "it differs"
    twine = run([sys.executable, "-m", "twine", "check", "--strict", *map(str, first)])
    yield "twine check --strict", "" if twine.returncode == 0 else twine.stdout
    yield from bare_wheel(next(path for path in first if path.suffix == ".whl"), folder / "bare")
    yield from container(folder)


def build(folder: Path) -> list[Path]:
    """Build the distribution, and return its files."""
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    done = run(command)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return sorted(folder.iterdir())


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command, and return what it printed."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]  # options are those of run


# The wheel without extras


def bare_wheel(wheel: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what a wheel without extras does."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    installed = run([python, "-m", "pip", "install", "-q", str(wheel)])
    yield "the wheel installs without extras", installed.stderr if installed.returncode else ""
    for code, expected in BARE.items():
        done = run([python, "-c", code], cwd=folder)
        printed = done.stdout + done.stderr
        yield f"{code}: {expected}", "" if expected in printed else printed[-200:]


# The Containerfile


def steps() -> Iterator[tuple[str, str]]:
    """Yield the instructions of the Containerfile, with their arguments."""
    for line in CONTAINERFILE.read_text().splitlines():
        if line and not line.startswith("#"):
            instruction, _, rest = line.partition(" ")
            yield instruction, rest


def container(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the outcome of each step that does something, and of a request to the server."""
    image = Image(folder / "image")
    for instruction, rest in steps():
        problem = image.carry_out(instruction, rest)
        if problem is not None:
            yield f"{instruction} {rest}", problem
    yield "the image answers to its health check and to ListTables", image.served()


class Image:
    """What a Containerfile makes, below a folder instead of a root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.directory = root
        self.entry: list[str] = []
        self.command: list[str] = []
        self.health: list[str] = []
        (root / "usr/local/bin").mkdir(parents=True)

    def carry_out(self, instruction: str, rest: str) -> str | None:
        """Carry out an instruction; return what went wrong, or None if there is nothing to do."""
        if instruction == "WORKDIR":
            self.directory = Path(self.here(rest))
            self.directory.mkdir(parents=True, exist_ok=True)
        elif instruction == "COPY" and not rest.startswith("--from"):
            return self.copy(rest.split())
        elif instruction == "RUN":
            done = run(["sh", "-c", self.here(rest)], cwd=self.directory, env=self.environment())
            return done.stderr if done.returncode else ""
        elif instruction == "ENTRYPOINT":
            self.entry = json.loads(rest)
        elif instruction == "CMD":
            self.command = json.loads(rest)
        elif instruction == "HEALTHCHECK":
            self.health = json.loads(rest.partition("CMD ")[2])
        return None

    def here(self, text: str) -> str:
        """Return a text with the absolute paths of the image below its folder."""
        return re.sub(r"(?<![\w/:.!])/(?=opt|src|data|home|usr|var)", f"{self.root}/", text)

    def copy(self, names: list[str]) -> str:
        """Copy files of the project to where the image has them."""
        *sources, target = names
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, self.directory / target)
            else:
                shutil.copy(ROOT / source, self.directory / target)
        return ""

    def environment(self) -> dict[str, str]:
        """Return an environment whose ``python`` is this one; the engine owns files, not we."""
        folder = self.root / "bin"
        folder.mkdir(exist_ok=True)
        for name, command in {
            "python": f'exec {shlex.quote(sys.executable)} "$@"',
            "chown": "",
            "apt-get": "",
        }.items():
            (folder / name).write_text(f"#!/bin/sh\n{command}\n")
            (folder / name).chmod(0o755)
        path = f"{self.root}/usr/local/bin:{folder}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path}

    @contextlib.contextmanager
    def running(
        self, *command: str, entry: Sequence[str] = ()
    ) -> Iterator[tuple[subprocess.Popen[str], str]]:
        """Start what the image starts, on a free port; yield the process and its address.

        Args:
            command: Stands for the image's own, as after its name on the command line.
            entry: Stands for the image's own entry point.
        """
        words = [*(entry or self.entry), *(command or self.command), "-port", "0"]
        with subprocess.Popen(
            ["/usr/bin/env", *words],
            cwd=self.directory,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                assert server.stdout is not None
                port = re.search(
                    r"Port:\t(\d+)", server.stdout.readline() + server.stdout.readline()
                )
                if port is None:
                    raise RuntimeError(server.communicate(timeout=10)[1])
                yield server, f"http://127.0.0.1:{port[1]}"
            finally:
                server.terminate()

    def served(self) -> str:
        """Start what the image starts; return what went wrong."""
        with self.running() as (_, address):
            health = run([word.replace("http://127.0.0.1:8000", address) for word in self.health])
            with urllib.request.urlopen(list_tables(address), timeout=10) as answer:
                tables = json.load(answer)["TableNames"]
        return "" if (health.returncode, tables) == (0, []) else f"{health}, {tables}"


def list_tables(address: str) -> urllib.request.Request:
    """Return a signed-looking request: the server reads the key and asks for no more."""
    headers = {
        "X-Amz-Target": "DynamoDB_20120810.ListTables",
        "Content-Type": "application/x-amz-json-1.0",
        "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, "
        "SignedHeaders=host;x-amz-date, Signature=b",
        "X-Amz-Date": "20260101T000000Z",
    }
    return urllib.request.Request(address, b"{}", headers)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    raise SystemExit(main())
