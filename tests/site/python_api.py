"""The reference of the Python API, read off docstrings and types."""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType

from tests.site.docstrings import as_markdown

#: The modules that stay importable whatever room the code lives in, with what each is for.
MODULES = {
    "emulator": "The emulator, its clocks, its settings",
    "emulator.clients": "Clients that need no boto3",
    "emulator.designs": "Tables as infrastructure code declares them",
    "emulator.streams": "Event sources: a table's stream, delivered to a handler",
    "emulator.strategies": "Strategies and a state machine for hypothesis",
    "emulator.testing": "Races, crashes and lost answers",
    "emulator.lab": "The lab",
    "emulator.errors": "Errors",
}
WIDTH = 88
HEAD = """\
# Python API

Every public name with its signature, its types and its examples, written from the docstrings when
this site is built. The examples run as tests. Other modules are private: they may change in any
release.
"""


def page() -> str:
    """Return the page."""
    return HEAD + "".join(f"\n{text}" for name in MODULES for text in _module(name))


def public_names(module: ModuleType) -> list[str]:
    """Return the public names of a module: its ``__all__``, or the classes and functions it has."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [name for name, value in vars(module).items() if _is_ours(value)]
    return [name for name in listed if not name.startswith("_")]


def _is_ours(value: object) -> bool:
    return (inspect.isclass(value) or inspect.isfunction(value)) and (
        value.__module__.startswith("emulator") and not value.__name__.startswith("_")
    )


def _module(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    yield f"## {name}\n\n*{MODULES[name]}.*\n\n{as_markdown(inspect.getdoc(module) or '')}\n"
    for public in public_names(module):
        yield from _entry(name, public, getattr(module, public))


def _entry(module: str, name: str, value: object) -> Iterator[str]:
    path = f"{module}.{name}"
    yield f'### <a id="{path}"></a>`{name}`\n'
    if inspect.isclass(value):
        yield from _class(name, value)
    elif callable(value):
        yield _signed(name, value)
        yield f"{as_markdown(inspect.getdoc(value) or '')}\n"
    else:
        yield f"```python\n{name}: {type(value).__name__}\n```\n"


def _class(name: str, value: type) -> Iterator[str]:
    bases = [base.__name__ for base in value.__bases__ if base is not object]
    if bases and issubclass(value, Exception):
        yield f"Bases: `{'`, `'.join(bases)}`\n"
    else:
        yield _signed(name, value)
    own = value.__doc__ or ""
    if not own.startswith(f"{name}("):  # that is what a dataclass without a docstring has
        yield f"{as_markdown(inspect.cleandoc(own))}\n"
    for member, attribute in _members(value):
        yield from _member(member, attribute)


def _members(value: type) -> Iterator[tuple[str, object]]:
    """Yield the public methods and properties of a class and of its bases of ours, in order."""
    seen: set[str] = set()
    for base in value.__mro__:
        if not base.__module__.startswith("emulator"):
            continue
        for name, attribute in vars(base).items():
            is_member = isinstance(attribute, property | classmethod | staticmethod) or (
                inspect.isfunction(attribute)
            )
            if is_member and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, attribute


def _member(name: str, attribute: object) -> Iterator[str]:
    if isinstance(attribute, property):
        get = attribute.fget
        kind = _type(inspect.signature(get).return_annotation) if get else ""
        yield f"#### `{name}`\n\n```python\n{name}: {kind}\n```\n"
        yield f"{as_markdown(inspect.getdoc(attribute) or '')}\n"
        return
    function = (
        attribute.__func__ if isinstance(attribute, classmethod | staticmethod) else attribute
    )
    assert callable(function)
    yield f"#### `{name}()`\n"
    yield _signed(name, function)
    yield f"{as_markdown(inspect.getdoc(function) or '')}\n"


# Signatures


def _signed(name: str, value: Callable[..., object]) -> str:
    try:
        signature = inspect.signature(value)
    except ValueError:  # written in C
        return ""
    return f"```python\n{written(name, signature)}\n```\n"


def written(name: str, signature: inspect.Signature) -> str:
    """Return a signature as one would write it, on a line of its own or one line a parameter.

    >>> written("f", inspect.signature(lambda a, *, b=1: None))
    'f(a, *, b=1)'
    """
    parameters = list(_parameters(signature))
    returns = signature.return_annotation
    arrow = "" if returns in (inspect.Signature.empty, None, "None") else f" -> {_type(returns)}"
    line = f"{name}({', '.join(parameters)}){arrow}"
    if len(line) <= WIDTH:
        return line
    lines = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"{name}(\n{lines}){arrow}"


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    stars: dict[object, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    is_starred = False
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            is_starred = True
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not is_starred:
            is_starred = True
            yield "*"
        text = stars.get(parameter.kind, "") + parameter.name
        has_type = parameter.annotation is not inspect.Parameter.empty
        if has_type:
            text += f": {_type(parameter.annotation)}"
        if parameter.default is not inspect.Parameter.empty:
            equals = " = " if has_type else "="
            text += f"{equals}{_default(parameter.default)}"
        yield text


def _default(value: object) -> str:
    text = repr(value)
    return "..." if text.startswith("<") or len(text) > WIDTH else text


def _type(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(
        r"\b(?:emulator|collections|typing|concurrent|pathlib)(?:\.\w+)*\.(?=\w)", "", text
    )
