"""Expressions of a statement: conditions, right sides of SET, columns.

They are read by precedence, strongest last: OR; AND; NOT; ``=``, ``<>``, IS and IN; the
orderings, BETWEEN and LIKE; ``+`` and ``-``; ``*``, ``/`` and ``%``. What comes out is a tree of
the expressions room. Rules PQL-2, PQL-22 to PQL-24.

Source: the precedence groups of the open PartiQL language.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeGuard

from emulator import expressions
from emulator.expressions import ast as trees
from emulator.partiql.lexer import PARAMETER, not_well_formed
from emulator.partiql.literals import LiteralParser
from emulator.service import limits
from emulator.service.attribute_types import ATTRIBUTE_TYPES

MISSING_RIGHT_SIDE: Final = "Missing right-hand side expression of infix operator"
UNRECOGNIZED: Final = "Unrecognized function: {name}"
# Observed: another emulator's capture of ap-northeast-1, April 2026.
CONDITION_OPERATOR: Final = "Unsupported operator in Condition Expression. Operator: {operator}"
# Source: the list of validation messages of DynamoDB Local.
UPDATE_OPERATOR: Final = "Unsupported operator in Update Expression. Operator: {operator}"
JOINED_OPERANDS: Final = "The arguments to AND/OR must be Expressions"
NOT_OPERAND: Final = "The argument to NOT must be a Type or Expression"
NO_CHOICES: Final = (
    "IN operator must have a left hand argument of type Variable Reference and right hand "
    "argument of type Seq with at least one member"
)
IS_OPERAND: Final = (
    "The left hand side argument to IS must be a Variable Reference, Literal, or Path"
)
IS_TYPE: Final = (
    "Unsupported data type for IS operator: {name}. Supported data types are "
    "[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]"
)

_OR, _AND, _NOT, _EQUALITY, _ORDERING, _SUM, _PRODUCT = range(1, 8)
_RANKS: Final = {
    "OR": _OR, "AND": _AND,
    "=": _EQUALITY, "<>": _EQUALITY, "!=": _EQUALITY, "IS": _EQUALITY, "IN": _EQUALITY,
    "<": _ORDERING, "<=": _ORDERING, ">": _ORDERING, ">=": _ORDERING,
    "BETWEEN": _ORDERING, "LIKE": _ORDERING,
    "+": _SUM, "-": _SUM, "||": _SUM,
    "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT,
}  # fmt: skip
_NEGATABLE: Final = ("IN", "BETWEEN", "LIKE")
_ORDERINGS: Final = frozenset(("<", "<=", ">", ">="))
_CLOSINGS: Final = {"[": "]", "(": ")", "<<": ">>"}
#: Keywords that call a function when a bracket follows.
_CALLABLE: Final = frozenset((
    "EXISTS", "COUNT", "AVG", "MAX", "MIN", "SUM", "SUBSTRING", "CHAR_LENGTH",
    "CHARACTER_LENGTH", "OCTET_LENGTH", "BIT_LENGTH", "UPPER", "LOWER", "SIZE",
))  # fmt: skip
#: What IS compares with: the type letters of each name.
_TYPES: Final = {name: row.letters for row in ATTRIBUTE_TYPES for name in row.partiql_names}
_OTHER_TYPES: Final = frozenset((
    "SMALLINT", "INTEGER", "INT", "INT2", "INT4", "INT8", "INTEGER2", "INTEGER4", "INTEGER8",
    "BIGINT", "FLOAT", "REAL", "DOUBLE", "DECIMAL", "DEC", "TIMESTAMP", "DATE", "TIME",
    "CHARACTER", "CHAR", "VARCHAR", "SYMBOL", "CLOB", "SEXP", "BAG", "ANY",
))  # fmt: skip
_SECOND_WORDS: Final = {"DOUBLE": "PRECISION", "CHARACTER": "VARYING"}
# Deeper than any statement that means something; each level takes three Python calls.
_MOST_BRACKETS: Final = 100


class Context(NamedTuple):
    """Where an expression stands: which functions it may call, and what it may not say.

    ``functions`` and ``denied`` are None and empty where nothing is judged.
    """

    functions: frozenset[str] | None = None
    denied: frozenset[str] = frozenset()
    message: str = ""


CONDITION: Final = Context(
    frozenset(expressions.CONDITION_FUNCTIONS) | {"size"},
    frozenset(("+", "-", "||", "*", "/", "%", "LIKE")),
    CONDITION_OPERATOR,
)
VALUE: Final = Context(
    frozenset(("list_append",)), frozenset(_RANKS) - {"+", "-"} | {"NOT"}, UPDATE_OPERATOR
)
ANYTHING: Final = Context()


class ExpressionParser(LiteralParser):
    """Reads expressions."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._context = ANYTHING
        self._operators = 0
        self._depth = 0

    def _in(self, context: Context) -> trees.Node:
        """Read an expression in a context."""
        self._context = context
        return self._expression()

    def _expression(self, floor: int = 0) -> trees.Node:
        """Read operands and the operators that bind more strongly than ``floor``."""
        self._depth += 1
        if self._depth > _MOST_BRACKETS:
            raise not_well_formed()
        node = self._prefix()
        while self._rank() > floor:
            node = self._infix(node)
        self._depth -= 1
        return node

    def _rank(self) -> int:
        """Return how strongly the present token joins two operands; 0 if it does not."""
        if self._peek("NOT"):
            return max((_RANKS[word] for word in _NEGATABLE if self._peek(word, 1)), default=0)
        return _RANKS.get(self._token.kind, 0)

    # Operands

    def _prefix(self) -> trees.Node:
        """Read ``NOT expression``, a group, a value, a parameter, a call or a path."""
        token = self._token
        if token.kind == "NOT":
            return self._negation()
        if self._begins_value():
            return self._constant(self._value())
        if token.kind in ("-", "+"):
            self._next()
            return self._unsupported(token.kind, self._expression(_PRODUCT))
        if self._optional("("):
            node = self._expression()
            self._expect(")")
            return node
        if self._optional(PARAMETER):
            return self._parameter()
        if (token.kind == expressions.NAME or token.kind in _CALLABLE) and self._peek("(", 1):
            return self._call(self._next())
        return self._path_of(self._parts())

    def _negation(self) -> trees.Node:
        count = 0
        while self._optional("NOT"):
            count += 1
        node = self._expression(_NOT)
        self._judge("NOT")
        if self._context is CONDITION and not is_condition(node):
            self._note(NOT_OPERAND)
        self._operators += count
        for _ in range(count):
            node = trees.Not(term=node)
        return node

    def _unsupported(self, operator: str, operand: trees.Node) -> trees.Node:
        """Note a sign before something that is not a number.

        Observed: another emulator's capture of eu-west-2, September 2026.
        """
        if self._context.message:
            self._note(self._context.message.format(operator=operator))
        return trees.Arithmetic(operator=operator, left=operand, right=operand)

    def _call(self, token: expressions.Token) -> trees.Node:
        """Read ``name "(" [ expression { "," expression } ] ")"``; names have no case."""
        name = token.text.lower()
        operands: list[trees.Node] = []
        self._expect("(")
        if self._peek("*") and self._peek(")", 1):
            self._next()
        self._delimited(")", lambda: operands.append(self._expression()))
        self._operators += 1
        functions = self._context.functions
        if functions is not None and name not in functions:
            self._note(UNRECOGNIZED.format(name=name), token)
        return trees.Function(name=name, operands=tuple(operands))

    # Operators

    def _infix(self, left: trees.Node) -> trees.Node:
        negated = self._optional("NOT")
        operator = self._next().kind
        if self._peek(expressions.END):
            raise not_well_formed(MISSING_RIGHT_SIDE)
        self._judge(operator)
        self._operators += 1 + negated
        node = _INFIXES.get(operator, ExpressionParser._calculation)(self, operator, left)
        return trees.Not(term=node) if negated else node

    def _judge(self, operator: str) -> None:
        if operator in self._context.denied:
            self._note(self._context.message.format(operator=operator))

    def _calculation(self, operator: str, left: trees.Node) -> trees.Node:
        right = self._expression(_RANKS[operator])
        return trees.Arithmetic(operator=operator, left=left, right=right)

    def _junction(self, operator: str, left: trees.Node) -> trees.Node:
        """Read the right side of AND or OR; neighbours of one kind become one node."""
        right = self._expression(_RANKS[operator])
        if self._context is CONDITION and not (is_condition(left) and is_condition(right)):
            self._note(JOINED_OPERANDS)
        kind = trees.And if operator == "AND" else trees.Or
        terms: tuple[trees.Node, ...] = ()
        for node in (left, right):
            terms += node.terms if isinstance(node, kind) else (node,)
        return kind(terms=terms)

    def _comparison(self, operator: str, left: trees.Node) -> trees.Node:
        right = self._expression(_RANKS[operator])
        if operator in _ORDERINGS and (is_condition(left) or is_condition(right)):
            self._note(expressions.OPERAND_TYPE.format(operator=operator, type="BOOL"))
        return trees.ComparisonTest(
            operator="<>" if operator == "!=" else operator, left=left, right=right
        )

    def _between(self, _operator: str, left: trees.Node) -> trees.Node:
        """Read the rest of ``operand BETWEEN operand AND operand``."""
        lower = self._expression(_ORDERING)
        self._expect("AND")
        return trees.Between(operand=left, lower=lower, upper=self._expression(_ORDERING))

    def _membership(self, _operator: str, left: trees.Node) -> trees.Node:
        """Read the rest of ``operand IN "[" expression { "," expression } "]"``."""
        choices: list[trees.Node] = []
        closing = _CLOSINGS.get(self._token.kind)
        if closing is None:
            self._expression(_EQUALITY)
        else:
            self._next()
            self._delimited(closing, lambda: choices.append(self._expression()))
        if not choices:
            self._note(NO_CHOICES)
        if len(choices) > limits.IN_OPERANDS:
            self._note(expressions.TOO_MANY_CHOICES.format(count=len(choices)))
        return trees.In(operand=left, choices=tuple(choices))

    def _type_test(self, _operator: str, left: trees.Node) -> trees.Node:
        """Read the rest of ``operand IS [NOT] type`` (PQL-24).

        Observed: the public suite, October 2026: a missing attribute is not NULL.
        """
        negated = self._optional("NOT")
        if not isinstance(left, trees.Path | trees.LiteralValue):
            self._note(IS_OPERAND)
        name = self._type_name()
        if name == "MISSING":
            test = trees.Function(name="attribute_not_exists", operands=(left,))
        else:
            letters = self._constant(_TYPES.get(name, name))
            test = trees.Function(name="attribute_type", operands=(left, letters))
        return trees.Not(term=test) if negated else test

    def _type_name(self) -> str:
        name = self._token.text.upper()
        if name != "MISSING" and name not in _TYPES and name not in _OTHER_TYPES:
            raise not_well_formed("Expected type name")
        self._next()
        second = _SECOND_WORDS.get(name)
        if second is not None and self._token.text.upper() == second:
            self._next()
            name = f"{name}_{second}"
        if name != "MISSING" and name not in _TYPES:
            self._note(IS_TYPE.format(name=name))
        return name


def is_condition(node: trees.Node) -> TypeGuard[trees.Condition]:
    """Return whether a node is true or false, and no other value."""
    if isinstance(node, trees.Function):
        return node.name in expressions.CONDITION_FUNCTIONS
    return isinstance(
        node, trees.ComparisonTest | trees.Between | trees.In | trees.Not | trees.And | trees.Or
    )


_INFIXES: Final[dict[str, Callable[[ExpressionParser, str, trees.Node], trees.Node]]] = {
    "AND": ExpressionParser._junction,
    "OR": ExpressionParser._junction,
    "BETWEEN": ExpressionParser._between,
    "IN": ExpressionParser._membership,
    "IS": ExpressionParser._type_test,
    **dict.fromkeys(("=", "<>", "!=", "<", "<=", ">", ">="), ExpressionParser._comparison),
}
