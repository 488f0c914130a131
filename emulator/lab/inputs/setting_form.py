"""The settings of a lab file: those of the emulator, read and described by their types."""

from __future__ import annotations

from dataclasses import Field, fields
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.forms import Form, FormScope
from emulator.settings import Settings


def _settings() -> list[Field[Any]]:
    """Return the settings that can be written; a client of S3 cannot."""
    types = get_type_hints(Settings)
    return [setting for setting in fields(Settings) if types[setting.name] is not Any]


def _read_settings(entry: Entry, _: FormScope) -> tuple[Settings, frozenset[str]]:
    """Return the settings, and the names of those that are given."""
    members = entry.members(optional=[setting.name for setting in _settings()])
    values = {name: _plain(member) for name, member in members.items()}
    try:
        return Settings(**values), frozenset(values)
    except (TypeError, ValueError) as error:
        return entry.complain(str(error))


def _plain(entry: Entry) -> Any:
    """Return the value of a setting: a scalar, or the three numbers of a delay."""
    value = entry.value
    return tuple(number.value for number in value) if isinstance(value, list) else value


def _settings_schema() -> dict[str, Any]:
    """Return the settings with their types, as the class declares them."""
    types = get_type_hints(Settings)
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            setting.name: _type_schema(types[setting.name])
            | ({} if setting.default is None else {"default": setting.default})
            for setting in _settings()
        },
    }


def _type_schema(kind: Any) -> dict[str, Any]:
    if get_origin(kind) is Literal:
        return {"enum": list(get_args(kind))}
    if get_origin(kind) is tuple:
        length = len(get_args(kind))
        number = {"type": "number", "minimum": 0}
        return {"type": "array", "items": number, "minItems": length, "maxItems": length}
    if get_args(kind):
        return {"anyOf": [_type_schema(member) for member in get_args(kind)]}
    return _PLAIN_TYPES[kind]


_PLAIN_TYPES: Final[dict[type, dict[str, Any]]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number", "minimum": 0},
    NoneType: {"type": "null"},
}


#: Read as the settings and the names of those that the file gives.
FORM: Final = Form(_read_settings, _settings_schema(), "[settings](settings.md)")
