"""Forms: what may stand at each place of a lab file.

A form reads an entry, and describes itself as JSON Schema (ICH-110) and in words. The reader, the
schema and the reference page come from the same tables of members, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, TypeAlias

from emulator.lab.inputs import key_templates
from emulator.lab.inputs.documents import DURATION_PATTERN, SIZE_PATTERN, Entry, nearest
from emulator.lab.inputs.key_templates import KeyTemplate, TemplateError

Schema: TypeAlias = dict[str, Any]

NOT_QUOTED: Final = (
    "expected a template, found a mapping, which is what braces mean in YAML: quote it, "
    'as in "{{{name}}}"'
)
NO_SUCH_FIELD: Final = "no field {name!r} in the workload, which has {known}{hint}"
NO_BRACES: Final = (
    'the text {name!r} is the same for every item; for the field of that name write "{{{name}}}"'
)


@dataclass(frozen=True)
class FormScope:
    """The names that may be used at a place of a file.

    Attributes:
        fields: The workload's fields; None where any name will do.
        attributes: Attributes of items besides their fields.
        parameters: The design's parameters, with their values.
    """

    fields: frozenset[str] | None = None
    attributes: frozenset[str] = frozenset()
    parameters: Mapping[str, int] = field(default_factory=dict)


ANY_NAME: Final = FormScope()


@dataclass(frozen=True)
class Form:
    """The form of the value at one place of a file.

    Attributes:
        read_entry: Returns what an entry says, or complains at it.
        schema: The accepted values, as JSON Schema draft-07.
        words: The same in a few words.
        records: The records that can stand in it.

    >>> number(above=0).schema
    {'type': 'number', 'exclusiveMinimum': 0}
    >>> number(above=0).read(Entry.of(-1, "doc"))
    Traceback (most recent call last):
    emulator.service.errors.DocumentError: doc: expected a number above 0, found -1
    """

    read_entry: Callable[[Entry, FormScope], Any]
    schema: Schema
    words: str
    records: tuple[Record, ...] = ()

    def read(self, entry: Entry, scope: FormScope = ANY_NAME) -> Any:
        """Return the value of an entry.

        Raises:
            DocumentError: It is something else; the message says where and what was expected.
        """
        return self.read_entry(entry, scope)

    def made(self, make: Callable[[Entry, Any], Any]) -> Form:
        """Return the form whose reading ends with ``make``; its ValueError is a complaint."""

        def read(entry: Entry, scope: FormScope) -> Any:
            value = self.read(entry, scope)
            try:
                return make(entry, value)
            except ValueError as error:
                return entry.complain(str(error))

        return Form(read, self.schema, self.words, self.records)


# Scalars


def text() -> Form:
    """Return the form of a text that is not empty."""
    return Form(lambda entry, _: entry.text(), {"type": "string", "minLength": 1}, "text")


def scalar() -> Form:
    """Return the form of a text, number or truth value, which is read as text."""

    def read(entry: Entry, _: FormScope) -> str:
        if entry.value is None or isinstance(entry.value, dict | list):
            entry.fail("a text or a number")
        return str(entry.value)

    return Form(read, {"type": ["string", "number", "boolean"]}, "text or number")


def boolean() -> Form:
    """Return the form of true or false."""
    return Form(lambda entry, _: entry.boolean(), {"type": "boolean"}, "`true` or `false`")


def number(
    *, least: float | None = None, above: float | None = None, most: float | None = None
) -> Form:
    """Return the form of a number within bounds."""
    bounds = {"minimum": least, "exclusiveMinimum": above, "maximum": most}
    schema = {"type": "number", **{name: b for name, b in bounds.items() if b is not None}}
    words = [f"from {least:g}"] if least is not None else []
    words += [f"above {above:g}"] if above is not None else []
    words += [f"to {most:g}"] if most is not None else []
    return Form(
        lambda entry, _: entry.number(least=least, above=above, most=most),
        schema,
        " ".join(["number", *words]),
    )


def integer(*, least: int = 0, most: int | None = None) -> Form:
    """Return the form of a whole number within bounds."""
    return Form(
        lambda entry, _: entry.integer(least=least, most=most),
        {"type": "integer", "minimum": least, **({} if most is None else {"maximum": most})},
        f"whole number from {least}" + ("" if most is None else f" to {most:,}"),
    )


def choice(choices: Mapping[str, Any]) -> Form:
    """Return the form of one of several words."""
    return Form(
        lambda entry, _: entry.choice(choices),
        {"enum": list(choices)},
        ", ".join(f"`{name}`" for name in choices),
    )


def duration(*, zero: bool = False) -> Form:
    """Return the form of a time in seconds, or with units; above 0 unless ``zero`` is allowed."""
    bound: Schema = {"minimum": 0} if zero else {"exclusiveMinimum": 0}
    read = (
        (lambda entry, _: entry.seconds(above=None, least=0))
        if zero
        else (lambda entry, _: entry.seconds())
    )
    schema = {
        "anyOf": [{"type": "number", **bound}, {"type": "string", "pattern": DURATION_PATTERN}]
    }
    return Form(read, schema, "time: seconds, or a text such as `1h30m`")


def size() -> Form:
    """Return the form of a size in bytes, or with a unit."""
    schema = {
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": SIZE_PATTERN}]
    }
    return Form(
        lambda entry, _: entry.size_bytes(), schema, "size: bytes, or a text such as `1.5 KB`"
    )


def template() -> Form:
    """Return the form of a key template, whose fields and parameters are in scope."""

    def read(entry: Entry, scope: FormScope) -> str:
        if isinstance(entry.value, dict):
            entry.complain(NOT_QUOTED.format(name=next(iter(entry.value), "field")))
        try:
            parsed = key_templates.parse(entry.text(), scope.parameters)
        except TemplateError as error:
            entry.complain(str(error))
        if scope.fields is not None:
            _check_names(entry, parsed, scope.fields)
        return parsed.text

    return Form(read, {"type": "string", "minLength": 1}, "template")


def _check_names(entry: Entry, template: KeyTemplate, fields: frozenset[str]) -> None:
    """Complain about a template that names no field, or a field in the wrong way."""
    known = sorted(fields)
    for name in sorted(template.names - fields):
        hint = nearest(name, known)
        entry.complain(NO_SUCH_FIELD.format(name=name, known=", ".join(known), hint=hint))
    if template.text in fields:
        entry.complain(NO_BRACES.format(name=template.text))


def field_name() -> Form:
    """Return the form of the name of a field that is in scope."""

    def read(entry: Entry, scope: FormScope) -> str:
        name = entry.text()
        if scope.fields is not None and name not in scope.fields:
            known = sorted(scope.fields)
            entry.fail(f"one of the fields {', '.join(known)}", known)
        return name

    return Form(read, {"type": "string", "minLength": 1}, "name of a field")


def attribute_name() -> Form:
    """Return the form of the name of a field that is in scope, or of another attribute of items."""

    def read(entry: Entry, scope: FormScope) -> str:
        name = entry.text()
        if scope.fields is not None and name not in scope.fields | scope.attributes:
            known = sorted(scope.fields | scope.attributes)
            entry.fail(f"one of the items' attributes {', '.join(known)}", known)
        return name

    return Form(read, {"type": "string", "minLength": 1}, "name of an attribute")


# What is made of others


def many(form: Form, *, least: int = 0, most: int | None = None) -> Form:
    """Return the form of a list."""

    def read(entry: Entry, scope: FormScope) -> tuple[Any, ...]:
        entries = entry.items(least=least)
        if most is not None and len(entries) > most:
            entry.complain(f"expected at most {most} entries, found {len(entries)}")
        return tuple(form.read(member, scope) for member in entries)

    bounds = {"minItems": least or None, "maxItems": most}
    schema: Schema = {"type": "array", "items": form.schema}
    schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    limit = "" if most is None else f" of up to {most}"
    return Form(read, schema, f"list{limit}: {form.words}", form.records)


def by_name(form: Form, *, names: str = "name", of_fields: bool = False) -> Form:
    """Return the form of a mapping from names to something.

    Args:
        form: The form of the value of each name.
        names: The names, in words.
        of_fields: Whether they are those of fields in scope.
    """

    def read(entry: Entry, scope: FormScope) -> dict[str, Any]:
        known = sorted(scope.fields) if of_fields and scope.fields is not None else None
        members = entry.mapping() if known is None else entry.members(optional=known)
        return {name: form.read(member, scope) for name, member in members.items()}

    schema = {"type": "object", "additionalProperties": form.schema}
    return Form(read, schema, f"mapping of {names} to: {form.words}", form.records)


def either(*forms: Form, select: Callable[[Entry], Form]) -> Form:
    """Return the form of one of several forms, of which ``select`` tells the one meant."""
    return Form(
        lambda entry, scope: select(entry).read(entry, scope),
        {"anyOf": [form.schema for form in forms]},
        "; or ".join(form.words for form in forms),
        tuple(record for form in forms for record in form.records),
    )


def kinds(forms: Mapping[str, Form], expected: str) -> Form:
    """Return the form of a mapping with one member, whose name says of which kind it is."""

    def read(entry: Entry, scope: FormScope) -> Any:
        members = entry.value if isinstance(entry.value, dict) else {}
        if len(members) != 1 or next(iter(members)) not in forms:
            entry.fail(expected)
        [(kind, inner)] = members.items()
        return forms[kind].read(inner, scope)

    alternatives = [
        {
            "type": "object",
            "properties": {kind: form.schema},
            "required": [kind],
            "additionalProperties": False,
        }
        for kind, form in forms.items()
    ]
    return Form(
        read,
        {"anyOf": alternatives},
        "; or ".join(f"`{kind}:` {form.words}" for kind, form in forms.items()),
        tuple(record for form in forms.values() for record in form.records),
    )


@dataclass(frozen=True)
class FormMember:
    """One member of a record.

    Attributes:
        form: The form of its value.
        about: Its meaning, in a sentence or two.
        required: Whether it must be there.
        default: The value taken if it is not there, where there is one.
        example: A value as it is written in a file.
        nullable: Whether it may be there without a value.
    """

    form: Form
    about: str
    _: KW_ONLY
    required: bool = False
    default: Any = None
    example: Any = None
    nullable: bool = False

    def schema(self) -> Schema:
        """Return the schema of the member, with what it means."""
        schema: Schema = {"description": self.about.replace("`", "")}
        if self.default is not None:
            schema["default"] = self.default
        if self.example is not None:
            schema["examples"] = [self.example]
        form = (
            {"anyOf": [self.form.schema, {"type": "null"}]} if self.nullable else self.form.schema
        )
        # What stands beside $ref is ignored in draft-07.
        return schema | ({"allOf": [form]} if "$ref" in form else form)


@dataclass(frozen=True)
class Record:
    """A mapping whose members are known by name.

    Attributes:
        title: Its name in the schema and on the reference page.
        about: Its meaning, in a sentence.
        members: The members by name, in the order in which they are read and shown.
        needs_one: Members of which one must be there; whoever takes the values says so.
    """

    title: str
    about: str
    members: Mapping[str, FormMember]
    needs_one: tuple[str, ...] = ()

    def read(self, entry: Entry, scope: FormScope = ANY_NAME) -> dict[str, Any]:
        """Return the members that are there and have a value.

        Raises:
            DocumentError: Something is missing, unknown or wrong.
        """
        entries = self.entries(entry)
        return {
            name: member.form.read(entries[name], scope)
            for name, member in self.members.items()
            if name in entries and not (member.nullable and entries[name].value is None)
        }

    def entries(self, entry: Entry) -> dict[str, Entry]:
        """Return the members that an entry has, none of them unknown or missing."""
        return entry.members(
            required=[name for name, member in self.members.items() if member.required],
            optional=[name for name, member in self.members.items() if not member.required],
            inner=self._inner(),
        )

    def _inner(self) -> dict[str, str]:
        """Return the members of the records that stand in it, with their paths from here."""
        return {
            inner: f"{name}.{inner}"
            for name, member in self.members.items()
            if "type" not in member.form.schema
            for record in member.form.records
            for inner in record.members
        }

    @property
    def form(self) -> Form:
        """The form that refers to this record."""
        return Form(
            self.read,
            {"$ref": f"#/definitions/{self.title}"},
            f"[{self.title}](#{self.title.replace(' ', '-')})",
            (self,),
        )

    def schema(self) -> Schema:
        """Return the schema of the record; what it refers to is under ``definitions``."""
        required = [name for name, member in self.members.items() if member.required]
        return {
            "description": self.about.replace("`", ""),
            "type": "object",
            "properties": {name: member.schema() for name, member in self.members.items()},
            "additionalProperties": False,
            **({"required": required} if required else {}),
            **(
                {"anyOf": [{"required": [name]} for name in self.needs_one]}
                if self.needs_one
                else {}
            ),
        }


def all_records(root: Record) -> Sequence[Record]:
    """Return a record and all that can stand in it, each once, in the order of their members."""
    records: dict[str, Record] = {}

    def visit(record: Record) -> Iterator[Record]:
        if record.title not in records:
            records[record.title] = record
            yield record
            for member in record.members.values():
                for inner in member.form.records:
                    yield from visit(inner)

    return list(visit(root))
