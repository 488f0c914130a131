"""HCL, the language of Terraform files: text to blocks and expressions, each with its place.

A hand-written parser, because a finding needs lines and columns, and an expression that cannot
be worked out must stay one: it never becomes a text.

Source: HCL native syntax specification (structural, expression and template languages).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeAlias

from emulator.designs.documents import MOST_DEPTH, too_deep
from emulator.designs.findings import Position
from emulator.service.errors import DocumentError

# Expressions


@dataclass(frozen=True, slots=True)
class HclLiteral:
    """A number, a truth value or null."""

    value: int | float | bool | str | None


@dataclass(frozen=True, slots=True)
class Template:
    """A quoted text or heredoc; its parts are texts and expressions."""

    parts: tuple[str | Expression, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """The first word of a reference, such as ``var``."""

    name: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """``value.name``."""

    value: Expression
    name: str


@dataclass(frozen=True, slots=True)
class IndexAccess:
    """``value[key]``."""

    value: Expression
    key: Expression


@dataclass(frozen=True, slots=True)
class Splat:
    """``value[*]`` followed by attributes and indexes of each element."""

    value: Expression
    steps: tuple[str | Expression, ...]


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """``name(arguments...)``; ``expands`` if the last argument is followed by three dots."""

    name: str
    arguments: tuple[Expression, ...]
    expands: bool = False


@dataclass(frozen=True, slots=True)
class Unary:
    """``-value`` or ``!value``."""

    operator: str
    value: Expression


@dataclass(frozen=True, slots=True)
class BinaryOperation:
    """``left operator right``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional:
    """``condition ? yes : no``."""

    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class Tuple:
    """``[...]``."""

    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Object:
    """``{...}``."""

    members: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class For:
    """``[for key, value in collection : result if condition]``, or the same in braces."""

    names: tuple[str, ...]
    collection: Expression
    #: Of the form in braces; None in brackets.
    key: Expression | None
    result: Expression
    condition: Expression | None
    groups: bool = False


Expression: TypeAlias = (
    HclLiteral
    | Template
    | Name
    | Attribute
    | IndexAccess
    | Splat
    | FunctionCall
    | Unary
    | BinaryOperation
    | Conditional
    | Tuple
    | Object
    | For
)
_Reader: TypeAlias = Callable[[], Expression]


# Structure


@dataclass(frozen=True, slots=True)
class Setting:
    """``name = expression`` in a body."""

    expression: Expression
    position: Position


@dataclass(slots=True)
class HclBlock:
    """``kind "label" {...}``; a file is a block without kind."""

    kind: str
    labels: tuple[str, ...]
    position: Position
    settings: dict[str, Setting] = field(default_factory=dict)
    blocks: list[HclBlock] = field(default_factory=list)

    def of(self, kind: str, *labels: str) -> Iterator[HclBlock]:
        """Yield the blocks in it of a kind, and with these first labels.

        >>> [block.labels for block in parse('variable "a" {}', "x").of("variable")]
        [('a',)]
        """
        for block in self.blocks:
            if block.kind == kind and block.labels[: len(labels)] == labels:
                yield block


def parse(text: str, source: str) -> HclBlock:
    """Return a file as a block.

    Raises:
        DocumentError: It is not HCL; the message says where.

    >>> file = parse('hash_key = var.key', "main.tf")
    >>> file.settings["hash_key"].expression
    Attribute(value=Name(name='var'), name='key')
    """
    return _HclParser(text, source).file()


def parse_template(text: str, source: str) -> Expression:
    """Return a text of Terraform's JSON syntax, in which expressions stand in ``${...}``.

    >>> parse_template("${var.key}", "main.tf.json")
    Attribute(value=Name(name='var'), name='key')
    """
    return _joined(_HclParser(text, source).template_parts(end=len(text), quoted=False))


def _joined(parts: list[str | Expression]) -> Expression:
    """Return a template; one that is an expression and nothing else is that expression."""
    if len(parts) == 1 and not isinstance(parts[0], str):
        return parts[0]
    return Template(tuple(parts))


_SPACE: Final = re.compile(r"(?:[ \t\r]|\#[^\n]*|//[^\n]*|/\*.*?\*/)*", re.S)
_SPACE_AND_LINES: Final = re.compile(r"(?:\s|\#[^\n]*|//[^\n]*|/\*.*?\*/)*", re.S)
_IDENTIFIER: Final = re.compile(r"[^\W\d][\w-]*")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_HEREDOC: Final = re.compile(r"<<(-?)([^\W\d][\w-]*)[ \t\r]*\n")
_LITERALS: Final = {"true": True, "false": False, "null": None}
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
#: How tight each operator binds; of two that begin alike the longer one comes first.
_OPERATORS: Final = {
    "||": 0,
    "&&": 1,
    "==": 2,
    "!=": 2,
    "<=": 3,
    ">=": 3,
    "<": 3,
    ">": 3,
    "+": 4,
    "-": 4,
    "*": 5,
    "/": 5,
    "%": 5,
}


class _HclParser:
    """Reads one text from left to right; ``_at`` is where it stands."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._at = 0
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        #: Inside brackets line breaks are space.
        self._brackets = 0
        self._depth = 0

    # Places

    def _place(self, at: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, at)
        return line, at - self._line_starts[line - 1] + 1

    def _position(self, start: int) -> Position:
        line, column = self._place(start)
        return Position(line, column, *self._place(self._at))

    def _fail(self, expected: str) -> NoReturn:
        line, _ = self._place(self._at)
        rest = self._text[self._at :].split("\n", 1)[0][:20]
        shown = repr(rest) if rest else "the end of the line"
        raise DocumentError(
            f"{self._source}:{line}: not Terraform: expected {expected}, found {shown}"
        )

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        """Go one level down, unless that is too deep."""
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise too_deep(self._source, self._place(self._at)[0])
        yield
        self._depth -= 1

    # Small steps

    def _skip(self, *, lines: bool | None = None) -> None:
        lines = self._brackets > 0 if lines is None else lines
        space = (_SPACE_AND_LINES if lines else _SPACE).match(self._text, self._at)
        assert space is not None
        self._at = space.end()

    def _sees(self, text: str) -> bool:
        self._skip()
        return self._text.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        if self._sees(text):
            self._at += len(text)
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._take(text):
            self._fail(repr(text))

    def _identifier(self) -> str | None:
        self._skip()
        name = _IDENTIFIER.match(self._text, self._at)
        if name is None:
            return None
        self._at = name.end()
        return name[0]

    # Structure

    def file(self) -> HclBlock:
        whole = HclBlock("", (), Position(1))
        self._body(whole)
        if self._at < len(self._text):
            self._fail("an argument or a block")
        return whole

    def _body(self, block: HclBlock) -> None:
        """Read arguments and blocks up to a closing brace or the end."""
        while True:
            self._skip(lines=True)
            if self._at >= len(self._text) or self._text[self._at] == "}":
                return
            start = self._at
            name = self._identifier() or self._quoted_name()
            if name is None:
                self._fail("an argument or a block")
            if self._sees("=") and not self._sees("=="):
                self._at += 1
                expression = self._expression()
                block.settings[name] = Setting(expression, self._position(start))
                self._end_of_line()
            else:
                block.blocks.append(self._block(name, start))

    def _quoted_name(self) -> str | None:
        if not self._sees('"'):
            return None
        text = self._quoted()
        plain = isinstance(text, Template) and all(isinstance(piece, str) for piece in text.parts)
        return "".join(map(str, text.parts)) if plain and isinstance(text, Template) else None

    def _block(self, kind: str, start: int) -> HclBlock:
        labels = []
        while not self._sees("{"):
            label = self._identifier() or self._quoted_name()
            if label is None:
                self._fail("'=' or '{'")
            labels.append(label)
        self._expect("{")
        block = HclBlock(kind, tuple(labels), Position(1))
        outside, self._brackets = self._brackets, 0
        with self._deeper():
            self._body(block)
        self._brackets = outside
        self._expect("}")
        block.position = self._position(start)
        return block

    def _end_of_line(self) -> None:
        self._skip(lines=False)
        rest = self._text[self._at : self._at + 1]
        if rest not in ("", "\n", "}"):
            self._fail("the end of the line")

    # Expressions

    def _expression(self) -> Expression:
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        with self._deeper():
            yes = self._bracketed_free()
            self._skip(lines=True)
            self._expect(":")
            return Conditional(condition, yes, self._bracketed_free())

    def _bracketed_free(self) -> Expression:
        """Read an expression that may begin on the next line, as branches often do."""
        self._skip(lines=True)
        return self._expression()

    def _binary(self, level: int) -> Expression:
        """Read operands and the operators between them that bind at least so tight."""
        left = self._unary()
        while True:
            self._skip()
            sign = next((sign for sign in _OPERATORS if self._text.startswith(sign, self._at)), "")
            if _OPERATORS.get(sign, -1) < level:
                return left
            self._at += len(sign)
            self._skip(lines=True)
            left = BinaryOperation(sign, left, self._binary(_OPERATORS[sign] + 1))

    def _unary(self) -> Expression:
        for operator in ("!", "-"):
            if self._sees(operator) and not self._sees("!="):
                self._at += 1
                with self._deeper():
                    return Unary(operator, self._unary())
        return self._steps(self._primary())

    def _primary(self) -> Expression:
        self._skip()
        sign = self._text[self._at : self._at + 1]
        if sign == '"':
            return self._quoted()
        if sign == "(":
            return self._enclosed("(", ")", self._expression)
        if sign == "[":
            return self._enclosed("[", "]", self._tuple)
        if sign == "{":
            return self._enclosed("{", "}", self._object)
        if self._text.startswith("<<", self._at):
            return self._heredoc()
        number = _NUMBER.match(self._text, self._at)
        if number is not None:
            self._at = number.end()
            return HclLiteral(int(number[0]) if number[0].isdecimal() else float(number[0]))
        return self._word()

    def _word(self) -> Expression:
        """Read what begins with a name: a literal, a call or a reference."""
        name = self._identifier()
        if name is None:
            self._fail("a value")
        if name in _LITERALS:
            return HclLiteral(_LITERALS[name])
        while self._text.startswith("::", self._at):  # a function of a provider
            self._at += 2
            name += f"::{self._identifier() or self._fail('a name')}"
        if self._sees("("):
            return self._enclosed("(", ")", lambda: self._call(name))
        return Name(name)

    def _enclosed(self, opening: str, closing: str, read: _Reader) -> Expression:
        self._expect(opening)
        self._brackets += 1
        with self._deeper():
            inner = read()
        self._skip()
        self._expect(closing)
        self._brackets -= 1
        return inner

    def _call(self, name: str) -> Expression:
        arguments: list[Expression] = []
        expands = False
        while not self._sees(")"):
            arguments.append(self._expression())
            expands = self._take("...")
            if not self._take(","):
                break
        return FunctionCall(name, tuple(arguments), expands)

    def _tuple(self) -> Expression:
        if self._is_for():
            return self._for(braces=False)
        elements: list[Expression] = []
        while not self._sees("]"):
            elements.append(self._expression())
            if not self._take(","):
                break
        return Tuple(tuple(elements))

    def _object(self) -> Expression:
        if self._is_for():
            return self._for(braces=True)
        members: list[tuple[Expression, Expression]] = []
        while not self._sees("}"):
            key = self._expression()
            if isinstance(key, Name):  # a bare word is a name, not a reference
                key = Template((key.name,))
            if not (self._take("=") or self._take(":")):
                self._fail("'='")
            members.append((key, self._expression()))
            self._take(",")
        return Object(tuple(members))

    def _is_for(self) -> bool:
        self._skip()
        return re.compile(r"for\s").match(self._text, self._at) is not None

    def _for(self, *, braces: bool) -> Expression:
        self._identifier()
        names = [self._identifier() or self._fail("a name")]
        if self._take(","):
            names.append(self._identifier() or self._fail("a name"))
        if self._identifier() != "in":
            self._fail("'in'")
        collection = self._expression()
        self._expect(":")
        key = None
        result = self._expression()
        if braces:
            self._expect("=>")
            key, result = result, self._expression()
        groups = self._take("...")
        condition = None
        if re.compile(r"if\b").match(self._text, self._at) or self._sees("if "):
            self._identifier()
            condition = self._expression()
        return For(tuple(names), collection, key, result, condition, groups)

    def _steps(self, value: Expression) -> Expression:
        while True:
            if self._sees("...") or self._sees("=>"):
                return value
            if self._take("."):
                value = self._dotted(value)
            elif self._sees("["):
                value = self._indexed(value)
            else:
                return value

    def _dotted(self, value: Expression) -> Expression:
        if self._take("*"):
            return Splat(value, tuple(self._splat_steps(indexes=False)))
        number = _NUMBER.match(self._text, self._at)
        if number is not None and number[0].isdecimal():
            self._at = number.end()
            return IndexAccess(value, HclLiteral(int(number[0])))
        name = self._identifier()
        if name is None:
            self._fail("a name")
        return Attribute(value, name)

    def _indexed(self, value: Expression) -> Expression:
        self._expect("[")
        if self._take("*"):
            self._expect("]")
            return Splat(value, tuple(self._splat_steps(indexes=True)))
        self._brackets += 1
        with self._deeper():
            key = self._expression()
        self._skip()
        self._brackets -= 1
        self._expect("]")
        return IndexAccess(value, key)

    def _splat_steps(self, *, indexes: bool) -> Iterator[str | Expression]:
        while True:
            if self._take("."):
                yield self._identifier() or self._fail("a name")
            elif indexes and self._take("["):
                with self._deeper():
                    key = self._expression()
                yield key
                self._expect("]")
            else:
                return

    # Templates

    def _quoted(self) -> Expression:
        self._expect('"')
        parts = self.template_parts(end=None, quoted=True)
        return Template(tuple(parts)) if not parts or isinstance(parts[0], str) else _joined(parts)

    def _heredoc(self) -> Expression:
        opening = _HEREDOC.match(self._text, self._at)
        if opening is None:
            self._fail("the name that ends the text")
        closing = re.compile(rf"^[ \t]*{re.escape(opening[2])}[ \t\r]*$", re.M).search(
            self._text, opening.end()
        )
        if closing is None:
            self._fail(f"a line {opening[2]!r} that ends the text")
        self._at = opening.end()
        parts = self.template_parts(end=closing.start(), quoted=False)
        self._at = closing.end()
        return Template(tuple(parts))

    def template_parts(self, *, end: int | None, quoted: bool) -> list[str | Expression]:
        """Read texts and ``${...}`` up to the closing quote, or to ``end``."""
        parts: list[str | Expression] = []
        text: list[str] = []
        while end is None or self._at < end:
            sign = self._text[self._at : self._at + 1]
            if quoted and sign in ("", "\n"):
                self._fail("a closing quote")
            if quoted and sign == '"':
                self._at += 1
                break
            if quoted and sign == "\\":
                text.append(self._escape())
            elif self._text.startswith(("$${", "%%{"), self._at):
                text.append(self._text[self._at + 1 : self._at + 3])
                self._at += 3
            elif self._text.startswith(("${", "%{"), self._at):
                if text:
                    parts.append("".join(text))
                    text.clear()
                parts.append(self._interpolation())
            else:
                text.append(sign)
                self._at += 1
        if text:
            parts.append("".join(text))
        return parts

    def _escape(self) -> str:
        sign = self._text[self._at + 1 : self._at + 2]
        if sign in ("u", "U"):
            digits = self._text[self._at + 2 : self._at + (6 if sign == "u" else 10)]
            self._at += 2 + len(digits)
            try:
                return chr(int(digits, 16))
            except ValueError:
                self._fail("a hexadecimal number")
        if sign not in _ESCAPES:
            self._fail("an escape such as \\n")
        self._at += 2
        return _ESCAPES[sign]

    def _interpolation(self) -> Expression:
        is_directive = self._text[self._at] == "%"
        start = self._at
        self._at += 2
        self._brackets += 1
        self._take("~")
        if is_directive:
            closing = self._text.find("}", self._at)
            if closing < 0:
                self._fail("'}'")
            self._at = closing + 1
            inner: Expression = Name(self._text[start : self._at])
        else:
            with self._deeper():
                inner = self._expression()
            self._take("~")
            self._expect("}")
        self._brackets -= 1
        return inner
