"""The parser of PartiQL statements. Rules PQL-2, PQL-6, PQL-10, PQL-11, PQL-13, PQL-21.

select  = SELECT ( "*" | column { "," column } ) FROM source [ WHERE condition ]
[ ORDER BY path [ ASC | DESC ] { "," path [ ASC | DESC ] } ] ;
insert  = INSERT INTO source VALUE "{" string ":" value { "," string ":" value } "}" ;
update  = UPDATE source changes [ WHERE condition ] [ returning ] ;
fromup  = FROM source [ WHERE condition ] changes [ returning ] ;
delete  = DELETE FROM source [ WHERE condition ] [ returning ] ;
exists  = EXISTS "(" select ")" ;
changes = ( SET assignment { "," assignment } | REMOVE path ) { SET ... | REMOVE ... } ;
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from emulator.expressions import (
    CACHE_ENTRIES,
    END,
    NAME,
    SECTIONS,
    TOO_MANY_OPERATORS,
    PathProjection,
    Token,
)
from emulator.expressions import ast as trees
from emulator.model import SET_TYPES, first_repeat
from emulator.partiql import ast, expressions
from emulator.partiql.lexer import PARAMETER
from emulator.partiql.literals import ROOT
from emulator.service import limits
from emulator.service.errors import ValidationException

NO_MANIPULATION: Final = "Expected data manipulation"
LEFT_OVER: Final = "Unexpected token after expression"
TYPE_TEST: Final = "Unsupported operation: IsType"
NO_NAME: Final = "Expected identifier for simple path"
ALIAS: Final = "Aliasing is not supported"
NO_PATH: Final = "Unexpected path component"
SOURCE_PARTS: Final = "A path may contain at most 2 components in the FROM clause"
ON_INDEX: Final = "This operation is not supported on an index"
# Observed: the public suite, September 2026.
INSERT_ON_INDEX: Final = (
    "FROM clause may only contain a single table name in data manipulation statements"
)
DELETE_RETURNING: Final = (
    "Invalid returning clause: RETURNING {written} *. "
    "Only RETURNING ALL OLD * is allowed in DELETE statements."
)
SET_ARGUMENTS: Final = "{function} must have exactly two arguments"
SET_TARGET: Final = "The first argument to {function} must equal the assignment value"
SET_OPERAND: Final = "The second argument to {function} must be a value with type SET"
# Source: the list of validation messages of DynamoDB Local.
SEVERAL_SOURCES: Final = "Only select from a single table or index is supported."
NOT_BOOLEAN: Final = "WHERE clause must contain an expression that resolves to a boolean"
UNSUPPORTED_CLAUSE: Final = "Unsupported clause: {clause}"
REPEATED_COLUMN: Final = "Duplicate identifiers in select clause: {name}"
STAR_AND_OTHERS: Final = (
    "Other attributes should not be present in the projection when '*' is used."
)
SELECT_VALUE: Final = "Select projection doesn't support value or pivot keywords"
ORDER_PATH: Final = "Argument to ORDER BY must be of type VariableReference. Type: Path"
NO_STRUCT: Final = (
    "Unsupported format in item expression. Please use struct format {...} to express item "
    "values for insert statement."
)
SEVERAL_ITEMS: Final = (
    "Unsupported operation: Inserting multiple items in a single statement is not supported, "
    'use "INSERT INTO tableName VALUE item" instead'
)
INSERT_RETURNING: Final = "RETURNING is not supported in INSERT"
RETURNING_STAR: Final = "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause"

_SET_FUNCTIONS: Final = {"set_add": "ADD", "set_delete": "DELETE"}


@lru_cache(maxsize=CACHE_ENTRIES)
def parse(text: str) -> ast.Parsed:
    """Return the parsed statement, from the cache if it was read before.

    Raises:
        ValidationException: whatever the statement alone shows to be wrong.

    >>> parse("SELECT a.b FROM t").statement.columns.names
    ('b',)
    """
    return _StatementParser(text).parse()


class _StatementParser(expressions.ExpressionParser):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._sets: list[tuple[str, str]] = []

    def parse(self) -> ast.Parsed:
        statement = self._statement()
        self._end()
        if self._operators > limits.EXPRESSION_OPERATORS:
            # Assumed: the limit of expressions applies, because statements become expressions.
            self._note(TOO_MANY_OPERATORS.format(count=self._operators))
        self._tell_faults()
        return ast.Parsed(
            statement=statement,
            names={alias: name for name, alias in self._aliases.items()},
            constants=self._constants,
            parameters=self._parameters,
            sets=tuple(self._sets),
        )

    def _statement(self) -> ast.Statement:
        if self._peek("SELECT"):
            return self._select()
        if self._peek("EXISTS") and self._peek("(", 1):
            return self._exists()
        if self._optional("INSERT"):
            return self._insert()
        if self._optional("UPDATE"):
            return self._update()
        if self._optional("DELETE"):
            return self._delete()
        self._refuse_type_test()
        self._expect("FROM", NO_MANIPULATION)
        return self._from_first()

    def _refuse_type_test(self) -> None:
        """Refuse ``path IS type`` in place of a statement (PQL-25)."""
        start = self._position
        if self._peek(NAME):
            self._parts()
            if self._peek("IS") and not self._peek("NOT", 1):
                self._next()
                self._type_name()
                self._end()
                raise ValidationException(TYPE_TEST)
        self._position = start

    def _end(self) -> None:
        self._optional(";")
        self._expect(END, LEFT_OVER)

    # Reading

    def _select(self) -> ast.Select:
        self._expect("SELECT")
        columns = self._columns()
        self._expect("FROM")
        source = self._source()
        if self._peek(","):
            self._note(SEVERAL_SOURCES)
            while self._optional(","):
                self._source()
        where = self._where()
        order = self._order()
        if self._optional("LIMIT"):
            self._note(UNSUPPORTED_CLAUSE.format(clause="LIMIT"))
            self._in(expressions.ANYTHING)
        return ast.Select(source=source, columns=columns, where=where, order=order)

    def _exists(self) -> ast.Exists:
        self._expect("EXISTS")
        self._expect("(")
        select = self._select()
        self._expect(")")
        return ast.Exists(select=select)

    def _columns(self) -> ast.Columns | None:
        """Read ``"*" | column { "," column }``; faults wait until the table is found."""
        outer, self._faults = self._faults, []
        if self._optional("VALUE"):
            self._note(SELECT_VALUE)
        star = self._optional("*")
        paths = [] if star else [self._column()]
        while self._optional(","):
            paths.append(self._column())
            if star:
                self._note(STAR_AND_OTHERS)
        faults, self._faults = self._faults, outer
        return None if star and not faults else _columns_of(paths, faults)

    def _column(self) -> list[str | int]:
        """Read one column: a path, or an expression that is none."""
        token = self._token
        start = self._position
        if token.kind == NAME and not self._peek("(", 1):
            parts = self._parts()
            if not self._rank():
                self._refuse_alias()
                return parts
        self._position = start
        self._in(expressions.ANYTHING)
        self._note(NO_PATH, token)
        self._refuse_alias()
        return []

    def _refuse_alias(self) -> None:
        """Note an alias, with or without AS (PQL-6)."""
        if self._optional("AS") or self._peek(NAME):
            self._expect(NAME)
            self._note(ALIAS)

    def _order(self) -> tuple[ast.Order, ...]:
        """Read ``[ ORDER BY path [ASC|DESC] { "," path [ASC|DESC] } ]``."""
        if not self._optional("ORDER"):
            return ()
        self._expect("BY")
        terms = [self._order_term()]
        while self._optional(","):
            terms.append(self._order_term())
        return tuple(terms)

    def _order_term(self) -> ast.Order:
        parts = self._parts()
        if len(parts) > 1:
            self._note(ORDER_PATH)
        descending = self._optional("DESC")
        if not descending:
            self._optional("ASC")
        return ast.Order(name=str(parts[0]), descending=descending)

    # Writing

    def _insert(self) -> ast.Insert:
        self._expect("INTO")
        source = self._source(NO_NAME, aliased=False)
        if source.index is not None:
            self._note(INSERT_ON_INDEX)
        if not self._optional("VALUE"):
            self._in(expressions.ANYTHING)
            self._note(SEVERAL_ITEMS)
            return ast.Insert(table=source.table, attributes=())
        attributes = self._attributes()
        if self._peek("RETURNING"):
            self._returning()
            self._note(INSERT_RETURNING)
        return ast.Insert(table=source.table, attributes=attributes)

    def _attributes(self) -> tuple[tuple[str, str], ...]:
        """Read the item: a map whose values may be parameters."""
        self._context = expressions.ANYTHING
        if not self._optional("{"):
            self._expression()
            self._note(NO_STRUCT)
            return ()
        attributes: dict[str, str] = {}

        def read() -> None:
            name = self._key(ROOT, attributes)
            attributes[name] = self._attribute().name

        self._delimited("}", read)
        return tuple(attributes.items())

    def _attribute(self) -> trees.LiteralValue:
        if self._optional(PARAMETER):
            return self._parameter()
        return self._constant(self._member(ROOT, 1))

    def _update(self) -> ast.UpdateStatement:
        table = self._written(NO_NAME)
        actions = self._changes()
        where = self._where()
        return ast.UpdateStatement(
            table=table, actions=actions, where=where, returning=self._returning()
        )

    def _from_first(self) -> ast.UpdateStatement:
        """Read an update that names its table and condition first."""
        table = self._written()
        where = self._where()
        actions = self._changes()
        return ast.UpdateStatement(
            table=table, actions=actions, where=where, returning=self._returning()
        )

    def _delete(self) -> ast.Delete:
        self._expect("FROM")
        table = self._written(NO_NAME)
        where = self._where()
        returning = self._returning()
        if returning not in (None, "ALL_OLD"):
            written = str(returning).replace("UPDATED", "MODIFIED").replace("_", " ")
            self._note(DELETE_RETURNING.format(written=written))
        return ast.Delete(table=table, where=where, returning=returning)

    def _written(self, detail: str | None = None) -> str:
        """Read the table of an UPDATE or DELETE."""
        source = self._source(detail)
        if source.index is not None:
            self._note(ON_INDEX)
        return source.table

    def _changes(self) -> trees.UpdateExpression:
        """Read ``( SET ... | REMOVE ... ) { SET ... | REMOVE ... }`` into sections."""
        sections: dict[str, list[trees.UpdateAction]] = {}
        while True:
            if self._optional("SET"):
                self._assign(sections)
                while self._optional(","):
                    self._assign(sections)
            elif self._optional("REMOVE"):
                action = trees.UpdateAction(keyword="REMOVE", path=self._path_of(self._parts()))
                sections.setdefault("REMOVE", []).append(action)
                self._operators += 1
            else:
                break
        if not sections:
            self._refuse(NO_MANIPULATION)
        ordered = (tuple(sections[keyword]) for keyword in SECTIONS if keyword in sections)
        return trees.UpdateExpression(sections=tuple(ordered))

    def _assign(self, sections: dict[str, list[trees.UpdateAction]]) -> None:
        """Read ``path "=" ( expression | set_add(...) | set_delete(...) )``."""
        parts = self._parts()
        path = self._path_of(parts)
        self._expect("=")
        token = self._token
        keyword = _SET_FUNCTIONS.get(token.text.lower()) if token.kind == NAME else None
        if keyword is not None and self._peek("(", 1):
            action = trees.UpdateAction(keyword=keyword, path=path, value=self._set_change(path))
        else:
            action = trees.UpdateAction(keyword="SET", path=path, value=self._in(expressions.VALUE))
        self._operators += 1
        sections.setdefault(action.keyword, []).append(action)

    def _set_change(self, target: trees.Path) -> trees.LiteralValue:
        """Read a call of set_add or set_delete on the path that it is assigned to (PQL-21)."""
        token = self._next()
        function = token.text.upper()
        places: list[Token] = []
        operands: list[trees.Node] = []

        def read() -> None:
            places.append(self._token)
            operands.append(self._expression())

        self._context = expressions.VALUE
        self._expect("(")
        self._delimited(")", read)
        nothing = trees.LiteralValue(name=":none")
        if len(operands) != 2:
            self._note(SET_ARGUMENTS.format(function=function), token)
            return nothing
        if operands[0] != target:
            self._note(SET_TARGET.format(function=function), token)
        complaint = self._placed(SET_OPERAND.format(function=function), places[0])
        operand = operands[1]
        if not isinstance(operand, trees.LiteralValue):
            self._note(complaint)
            return nothing
        if operand.name not in self._constants:
            self._sets.append((operand.name, complaint))
        elif not isinstance(self._constants[operand.name], SET_TYPES):
            self._note(complaint)
        return operand

    # Clauses

    def _source(self, detail: str | None = None, *, aliased: bool = True) -> ast.FromSource:
        """Read ``table [ "." index ]``, and what may not follow it (PQL-13)."""
        names = [self._part(self._expect(NAME, detail).text)]
        while self._optional("."):
            names.append(self._dotted())
        if len(names) > 2:
            self._note(SOURCE_PARTS)
        if aliased:
            self._refuse_alias()
        return ast.FromSource(table=names[0], index=names[1] if len(names) > 1 else None)

    def _where(self) -> trees.Node | None:
        if not self._optional("WHERE"):
            return None
        node = self._in(expressions.CONDITION)
        if not expressions.is_condition(node):
            self._note(NOT_BOOLEAN)
        return node

    def _returning(self) -> str | None:
        """Read ``[ RETURNING ( ALL | MODIFIED ) ( OLD | NEW ) "*" ]`` (PQL-10)."""
        if not self._optional("RETURNING"):
            return None
        extent = "ALL" if self._optional("ALL") else "UPDATED"
        if extent == "UPDATED":
            self._expect("MODIFIED")
        image = "OLD" if self._optional("OLD") else "NEW"
        if image == "NEW":
            self._expect("NEW")
        if not self._optional("*"):
            self._note(RETURNING_STAR)
        return f"{extent}_{image}"


def _columns_of(paths: list[list[str | int]], faults: list[str]) -> ast.Columns:
    if faults:
        return ast.Columns(fault=faults[0])
    names = [_column_name(path) for path in paths]
    repeat = first_repeat(names)
    if repeat is not None:
        return ast.Columns(fault=REPEATED_COLUMN.format(name=names[repeat]))
    projection = PathProjection(tuple(tuple(path) for path in paths))
    return ast.Columns(names=tuple(names), projection=projection)


def _column_name(path: list[str | int]) -> str:
    """Return the column name of a path: its last name, with the indexes behind it (PQL-6).

    Observed: another emulator's capture of eu-west-2, September 2026: ``m.k[0]`` is ``k[0]``.
    """
    name = ""
    for part in path:
        name = f"{name}[{part}]" if isinstance(part, int) else part
    return name
