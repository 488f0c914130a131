"""A process that runs tools, so that each call is bounded in time and memory whatever it is asked.

Some work can be stopped only from outside: a parser that looks at a hostile text, a step of a
simulation that is itself long. A watchdog of the interpreter ends the process at the limit, also
if no caller waits for it; the next call starts another. Calls and answers are lines of JSON.
"""

from __future__ import annotations

import faulthandler
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any, Final, TextIO

from emulator.mcp.tools import MOST_CHARACTERS, Tools
from emulator.service.errors import DocumentError

#: Bytes of memory that the process may have.
MOST_MEMORY: Final = 4 * 1024**3
#: Characters of a text in an answer: what is longer repeats a name that the agent made up.
MOST_TEXT: Final = 1_000
#: A watchdog needs a moment.
_LEAST_SECONDS: Final = 0.001

#: Finds this package where the server has it, and never in the folder that it was started in.
_START: Final = (
    "import sys; sys.path.append(sys.argv[1]); from emulator.mcp import worker; worker.main()"
)

STOPPED: Final = (
    "the call was stopped, because it may take {limit:g} seconds and {memory} GB of memory: "
    "{advice}"
)
UNEXPECTED: Final = "the call failed with an unexpected {error}: the server's log has its traceback"


class Worker:
    """The process, as the server sees it; it runs one call at a time.

    Args:
        folder: The folder that ``path`` arguments may read in.
        time_limit: Seconds that a call may take.
        advice: Advice to an agent whose call was stopped.
    """

    def __init__(self, folder: Path, time_limit: float, advice: str) -> None:
        self._folder = folder
        self._time_limit = time_limit
        self._advice = advice
        self._process: subprocess.Popen[str] | None = None
        self._lock = Lock()

    def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the paragraph and the data that a tool answers with.

        Raises:
            DocumentError: The agent did something wrong, or asked for too much.
        """
        with self._lock:
            answer = self._answer(json.dumps([tool, arguments]))
        if "error" in answer:
            raise DocumentError(answer["error"])
        return answer["paragraph"], answer["data"]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _answer(self, call: str) -> dict[str, Any]:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        line = ""
        with suppress(BrokenPipeError):
            process.stdin.write(f"{call}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        if not line:
            self.close()
            memory = MOST_MEMORY // 1024**3
            stopped = STOPPED.format(limit=self._time_limit, memory=memory, advice=self._advice)
            return {"error": stopped}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _started(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            ours = str(Path(__file__).parents[2])
            arguments = [ours, str(self._folder), str(self._time_limit)]
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        return self._process


# In the process


def main() -> None:
    """Be the process: answer the calls on standard input."""
    _limit_memory()
    serve(Path(sys.argv[2]), float(sys.argv[3]), sys.stdin, sys.stdout)


def serve(folder: Path, time_limit: float, calls: TextIO, answers: TextIO) -> None:
    """Answer calls until there are no more."""
    tools = Tools(folder, time_limit)
    with open(os.devnull, "w") as nowhere:
        for line in calls:
            limit = max(time_limit, _LEAST_SECONDS)
            faulthandler.dump_traceback_later(limit, exit=True, file=nowhere)
            try:
                answer = json.dumps(_answered(tools, *json.loads(line)))
            finally:
                faulthandler.cancel_dump_traceback_later()
            answers.write(f"{answer}\n")
            answers.flush()


def _answered(tools: Tools, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        answer = getattr(tools, tool)(**arguments)
    except DocumentError as error:
        return {"error": _cut(str(error))}
    except MemoryError:  # nothing in this process can be relied on any more
        raise
    except Exception as error:
        traceback.print_exc()
        return {"error": UNEXPECTED.format(error=type(error).__name__)}
    return {"paragraph": answer.paragraph[:MOST_CHARACTERS], "data": _cut(asdict(answer))}


def _cut(value: Any) -> Any:
    """Return data whose texts are short; a response is bounded as a whole, and stays as it is.

    >>> _cut({"name": "x" * 2000})["name"] == "x" * 999 + "…"
    True
    """
    match value:
        case str() if len(value) > MOST_TEXT:
            return f"{value[: MOST_TEXT - 1]}…"
        case list():
            return [_cut(element) for element in value]
        case dict():
            return {
                name: member if name == "response" else _cut(member)
                for name, member in value.items()
            }
    return value


def _limit_memory() -> None:
    """Bound the memory of this process, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
