"""The tools in the hands of the official SDK (ICH-100, ICH-101).

The SDK is loaded when a server is made: importing this module needs no extra.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_origin

from emulator import __version__
from emulator.lab.inputs.documents import nearest
from emulator.mcp.tools import Tools
from emulator.mcp.worker import Worker
from emulator.service.errors import DocumentError

INSTRUCTIONS: Final = (
    "An offline model of Amazon DynamoDB: it needs no network and no credentials. check_design "
    "reads infrastructure code and warns of keys that throttle; simulate and compare play a "
    "workload on key designs and answer with the chance of throttling, its cause, the smallest fix "
    "and the monthly cost; execute runs single requests in wire form on an in-memory database; "
    "explain_throttle says what an error means. The throttling model is built from published "
    "documentation and measurements; what the service does not publish is drawn anew in each world."
)
STUDIES_ADVICE: Final = "ask for a smaller design, or for fewer seconds, worlds or designs"
DATABASE_ADVICE: Final = "the emulator is empty again: ask for less at once"
NO_ARGUMENT: Final = "there is no argument {name!r}{hint}"
#: Tools that change something: the emulator's tables and its clock.
_CHANGING: Final = frozenset({"execute"})


def make_server(folder: Path, time_limit: float = 60.0) -> Any:
    """Return an ``MCPServer`` with all tools.

    Args:
        folder: The folder that ``path`` arguments may read in.
        time_limit: Seconds that a call may take.
    """
    from mcp.server.mcpserver import MCPServer

    tools = Tools(folder, time_limit)
    studies = Worker(folder, time_limit, STUDIES_ADVICE)
    database = Worker(folder, time_limit, DATABASE_ADVICE)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        yield
        studies.close()
        database.close()

    methods = (
        tools.check_design,
        tools.simulate,
        tools.compare,
        tools.execute,
        tools.explain_throttle,
    )
    return MCPServer(
        "dynamometer",
        version=__version__,
        instructions=INSTRUCTIONS,
        log_level="WARNING",
        lifespan=lifespan,
        tools=[
            _tool(method, database if method.__name__ in _CHANGING else studies)
            for method in methods
        ],
    )


def _tool(method: Callable[..., Any], worker: Worker) -> Any:
    """Return a tool of the SDK that takes the arguments of a method and no others.

    The SDK leaves out arguments that it does not know, so a misspelt one would look like a default.
    """
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.tools import Tool
    from mcp.types import ToolAnnotations

    class StrictTool(Tool):  # type: ignore[misc]  # mypy does not see the SDK
        async def run(self, arguments: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
            known = self.parameters["properties"]
            for name in arguments:
                if name not in known:
                    hint = nearest(name, known) or f"; there are {', '.join(known)}"
                    raise ToolError(NO_ARGUMENT.format(name=name, hint=hint))
            return await super().run(arguments, *args, **kwargs)

    is_changing = method.__name__ in _CHANGING
    tool = StrictTool.from_function(
        _function(method, worker),
        annotations=ToolAnnotations(
            read_only_hint=not is_changing, destructive_hint=False, open_world_hint=False
        ),
    )
    tool.parameters["additionalProperties"] = False
    return tool


def _function(method: Callable[..., Any], worker: Worker) -> Callable[..., Any]:
    """Return a method as the SDK takes it: described parameters, data and a paragraph."""
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import CallToolResult, TextContent

    def call(**arguments: Any) -> Any:
        try:
            paragraph, data = worker.call(method.__name__, arguments)
        except DocumentError as error:
            raise ToolError(str(error)) from error
        return CallToolResult(
            content=[TextContent(type="text", text=paragraph)], structured_content=data
        )

    signature = inspect.signature(method, eval_str=True)
    call.__name__ = method.__name__
    call.__doc__ = inspect.cleandoc(method.__doc__ or "")
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]  # as inspect documents it
        parameters=[_described(parameter) for parameter in signature.parameters.values()],
        return_annotation=Annotated[CallToolResult, signature.return_annotation],
    )
    return call


def _described(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter whose text beside its type is the SDK's description."""
    from pydantic import Field

    if get_origin(parameter.annotation) is not Annotated:
        return parameter
    kind, description = get_args(parameter.annotation)
    described: Any = Annotated[kind, Field(description=description)]
    return parameter.replace(annotation=described)
