"""The parser: one recursive descent for the four kinds of expression.

It answers for syntax (LEX-8, EXP-1, EXP-8), redundant parentheses (EXP-2), emptiness
(EXP-3) and size (EXP-4); everything else that text can get wrong is in ``checks``.

The productions that can nest are generators, run by ``_run`` on a stack of its own: 4,096
bytes hold more parentheses than Python allows calls. ``yield self._production()`` is a call.

    condition  = and_expr { OR and_expr } ;
    and_expr   = not_expr { AND not_expr } ;
    not_expr   = NOT not_expr | primary ;
    primary    = "(" condition ")" | comparison | between | in | function ;
    update     = section { section } ;
    projection = path { "," path } ;
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final, NoReturn, TypeAlias

from emulator.expressions import ast
from emulator.expressions.lexer import ALIAS, END, INDEX, LITERAL, NAME, Token, tokenize
from emulator.model import text_size
from emulator.service import errors, limits
from emulator.service.wording import Wording

CONDITION: Final = "ConditionExpression"
KEY_CONDITION: Final = "KeyConditionExpression"
UPDATE: Final = "UpdateExpression"
PROJECTION: Final = "ProjectionExpression"
#: The kind of a tree that stands in no request member: its faults name none (PQL-22).
NO_MEMBER: Final = ""

_INVALID: Final = Wording("Invalid {kind}: {message}")
EMPTY: Final = "The expression can not be empty;"
#: What the older layer says of an update (ERR-EXP-2).
UPDATE_TOO_LONG: Final = "Expression size has exceeded the maximum allowed size;"
TOO_LONG: Final = UPDATE_TOO_LONG + " expression size: {size}"
SYNTAX: Final = 'Syntax error; token: "{token}", near: "{near}"'
REDUNDANT: Final = "The expression has redundant parentheses;"

SECTIONS: Final = ("SET", "REMOVE", "ADD", "DELETE")
COMPARATORS: Final = frozenset(("=", "<>", "<", "<=", ">", ">="))

Production: TypeAlias = Generator["Production", ast.Node, ast.Node]


def parse(kind: str, text: str) -> ast.Node:
    """Return the tree of an expression.

    Args:
        kind: The request member, which also names the expression in messages (LEX-9).
        text: The source.

    Raises:
        RequestFault: empty, too long, a syntax error or redundant parentheses.

    >>> parse("ProjectionExpression", "a.b[1]")
    ProjectionExpression(paths=(Path(parts=('a', 'b', 1)),))
    """
    if not text.strip(" \t\r\n"):
        raise fault(kind, EMPTY)
    size = text_size(text)
    if size > limits.EXPRESSION_BYTES:
        text = TOO_LONG.format(size=size)
        raise fault(kind, Wording(text, older=UPDATE_TOO_LONG) if kind == UPDATE else text)
    return _ExpressionParser(kind, text).parse()


def fault(kind: str, message: str | Wording) -> errors.RequestFault:
    """Return the error of an expression, to be raised; its member is named if it has one."""
    if kind == NO_MEMBER:
        return errors.RequestFault(message)
    if isinstance(message, str):
        return errors.RequestFault(f"Invalid {kind}: {message}")
    return errors.RequestFault(_INVALID.format(kind=kind, message=message))


class _ExpressionParser:
    def __init__(self, kind: str, text: str) -> None:
        self._kind = kind
        self._text = text
        self._tokens = tokenize(text)
        self._position = 0
        # Positions of the brackets of the group closed last.
        self._last_group = (-1, -1)
        self._argument = self._set_operand if kind == UPDATE else self._operand

    def parse(self) -> ast.Node:
        if self._kind == PROJECTION:
            tree: ast.Node = self._projection()
        elif self._kind == UPDATE:
            tree = self._update()
        else:
            tree = self._condition(_run(self._disjunction()))
        self._expect(END)
        return tree

    # Conditions

    def _disjunction(self) -> Production:
        """Read ``and_expr { OR and_expr }``."""
        terms = [(yield self._conjunction())]
        while self._peek("OR"):
            terms[-1] = self._condition(terms[-1])
            self._expect("OR")
            terms.append(self._condition((yield self._conjunction())))
        return terms[0] if len(terms) == 1 else ast.Or(terms=tuple(terms))

    def _conjunction(self) -> Production:
        """Read ``not_expr { AND not_expr }``."""
        terms = [(yield self._negation())]
        while self._peek("AND"):
            terms[-1] = self._condition(terms[-1])
            self._expect("AND")
            terms.append(self._condition((yield self._negation())))
        return terms[0] if len(terms) == 1 else ast.And(terms=tuple(terms))

    def _negation(self) -> Production:
        """Read ``NOT not_expr | primary``."""
        negations = 0
        while self._optional("NOT"):
            negations += 1
        node = yield self._primary()
        for _ in range(negations):
            node = ast.Not(term=self._condition(node))
        return node

    def _primary(self) -> Production:
        """Read a group, a function, or an operand with what compares it.

        A bracket may open a condition or an operand; which one is known when it closes. So a
        bare operand comes back too, and ``_condition`` refuses it where none may stand.
        """
        if self._peek("("):
            node = yield self._group(self._disjunction)
        else:
            node = yield self._operand()
        token = self._token
        if token.kind in COMPARATORS:
            left = self._operand_before(node)
            right = yield self._operand()
            return ast.ComparisonTest(operator=token.text, left=left, right=right)
        if token.kind == "BETWEEN":
            return (yield self._between(self._operand_before(node)))
        if token.kind == "IN":
            return (yield self._in(self._operand_before(node)))
        return node

    def _between(self, operand: ast.Node) -> Production:
        """Read the rest of ``operand BETWEEN operand AND operand``."""
        lower = yield self._operand()
        self._expect("AND")
        upper = yield self._operand()
        return ast.Between(operand=operand, lower=lower, upper=upper)

    def _in(self, operand: ast.Node) -> Production:
        """Read the rest of ``operand IN "(" operand { "," operand } ")"``."""
        return (
            yield self._operands(
                self._operand, lambda choices: ast.In(operand=operand, choices=choices)
            )
        )

    def _operand(self) -> Production:
        """Read ``path | value | function | "(" operand ")"``."""
        if self._peek("("):
            return (yield self._group(self._operand))
        return (yield self._simple_operand())

    # Updates

    def _update(self) -> ast.UpdateExpression:
        """Read ``section { section }``."""
        sections = [self._section()]
        while not self._peek(END):
            sections.append(self._section())
        return ast.UpdateExpression(sections=tuple(sections))

    def _section(self) -> tuple[ast.UpdateAction, ...]:
        """Read ``SET | REMOVE | ADD | DELETE`` and its actions."""
        keyword = self._token.kind
        if keyword not in SECTIONS:
            self._refuse()
        self._position += 1
        actions = [self._action(keyword)]
        while self._optional(","):
            actions.append(self._action(keyword))
        return tuple(actions)

    def _action(self, keyword: str) -> ast.UpdateAction:
        """Read ``path "=" set_value``, ``path`` or ``path value`` (UPD-17)."""
        path = self._path()
        if keyword == "REMOVE":
            return ast.UpdateAction(keyword=keyword, path=path)
        if keyword == "SET":
            self._expect("=")
            return ast.UpdateAction(keyword=keyword, path=path, value=_run(self._set_value()))
        return ast.UpdateAction(
            keyword=keyword, path=path, value=ast.LiteralValue(name=self._expect(LITERAL).text)
        )

    def _set_value(self) -> Production:
        """Read ``set_operand [ ( "+" | "-" ) set_operand ]`` (UPD-12)."""
        left = yield self._set_operand()
        operator = self._token.kind
        if operator not in ("+", "-"):
            return left
        self._position += 1
        right = yield self._set_operand()
        return ast.Arithmetic(operator=operator, left=left, right=right)

    def _set_operand(self) -> Production:
        """Read ``path | value | function | "(" set_value ")"``."""
        if self._peek("("):
            return (yield self._group(self._set_value))
        return (yield self._simple_operand())

    # Projections and paths

    def _projection(self) -> ast.ProjectionExpression:
        """Read ``path { "," path }``."""
        paths = [self._path()]
        while self._optional(","):
            paths.append(self._path())
        return ast.ProjectionExpression(paths=tuple(paths))

    def _path(self) -> ast.Path:
        """Read ``name { "." name | "[" digits "]" }``."""
        parts: list[str | int] = [self._name()]
        while True:
            if self._optional("."):
                parts.append(self._name())
            elif self._optional("["):
                parts.append(int(self._expect(INDEX).text))
                self._expect("]")
            else:
                return ast.Path(parts=tuple(parts))

    def _name(self) -> str:
        """Read ``identifier | "#" placeholder``."""
        return self._expect(ALIAS if self._peek(ALIAS) else NAME).text

    # Shared by conditions and updates

    def _simple_operand(self) -> Production:
        """Read ``path | value | function``."""
        token = self._token
        if self._optional(LITERAL):
            return ast.LiteralValue(name=token.text)
        if token.kind == NAME and self._tokens[self._position + 1].kind == "(":
            self._position += 1
            return (
                yield self._operands(
                    self._argument,
                    lambda operands: ast.Function(name=token.text, operands=operands),
                )
            )
        return self._path()

    def _operands(
        self,
        production: Callable[[], Production],
        build: Callable[[tuple[ast.Node, ...]], ast.Node],
    ) -> Production:
        """Read ``"(" operand { "," operand } ")"``, of a function or of IN."""
        self._expect("(")
        operands = [(yield production())]
        while self._optional(","):
            operands.append((yield production()))
        self._expect(")")
        return build(tuple(operands))

    def _group(self, production: Callable[[], Production]) -> Production:
        """Read ``"(" production ")"``; a group in a group is redundant (EXP-2).

        Observed: dynalite's test of scan against the service, `(a)between(((b.c)).d)and(c)`:
        the fault is found as the outer bracket closes, before the syntax error after it.
        """
        opened = self._position
        self._expect("(")
        node = yield production()
        self._expect(")")
        closed = self._position - 1
        if self._last_group == (opened + 1, closed - 1):
            raise fault(self._kind, REDUNDANT)
        self._last_group = (opened, closed)
        return node

    # The kit

    @property
    def _token(self) -> Token:
        return self._tokens[self._position]

    def _peek(self, kind: str) -> bool:
        return self._token.kind == kind

    def _optional(self, kind: str) -> bool:
        is_there = self._peek(kind)
        self._position += is_there
        return is_there

    def _expect(self, kind: str) -> Token:
        token = self._token
        if token.kind != kind:
            self._refuse()
        self._position += 1
        return token

    def _condition(self, node: ast.Node) -> ast.Node:
        """Return a condition, or refuse the token that follows a bare operand."""
        if not isinstance(node, ast.Condition):
            self._refuse()
        return node

    def _operand_before(self, node: ast.Node) -> ast.Node:
        """Return the operand before a comparing token and pass the token, or refuse it."""
        if not isinstance(node, ast.Operand):
            self._refuse()
        self._position += 1
        return node

    def _refuse(self) -> NoReturn:
        """Report the present token, with the source from the one before to the one after."""
        token = self._token
        before = self._tokens[max(self._position - 1, 0)]
        after = self._tokens[min(self._position + 1, len(self._tokens) - 1)]
        near = self._text[before.start : max(token.end, after.end)]
        raise fault(self._kind, SYNTAX.format(token=token.text, near=near))


def _run(production: Production) -> ast.Node:
    """Run a production and those it calls, without calls of Python's own."""
    callers: list[Production] = []
    node: ast.Node | None = None
    while True:
        try:
            called = next(production) if node is None else production.send(node)
        except StopIteration as finished:
            result: ast.Node = finished.value
            if not callers:
                return result
            production, node = callers.pop(), result
        else:
            callers.append(production)
            production, node = called, None
