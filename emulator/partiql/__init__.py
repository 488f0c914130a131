"""PartiQL: the second language, a sibling of expressions.

A statement is read, bound to its parameters, and taken apart into the keys and conditions that
it names; what a statement means is decided here. Its conditions and updates are trees of the
expressions room. ``operations`` carries statements out, and decides what each operation allows.
"""

from emulator.partiql.ast import Columns, Delete, Exists, Insert, Parsed, Select, UpdateStatement
from emulator.partiql.binding import Bound, bind, reads_only, where_program
from emulator.partiql.branches import Branches, branches_of, clause_of
from emulator.partiql.parameters import load_parameters
from emulator.partiql.ranges import (
    KEY_TYPE,
    NO_KEY_VALUE,
    ORDER_WITHOUT_WHERE,
    KeyFault,
    Range,
    in_order,
    ranges_of,
)

__all__ = [
    "KEY_TYPE",
    "NO_KEY_VALUE",
    "ORDER_WITHOUT_WHERE",
    "Bound",
    "Branches",
    "Columns",
    "Delete",
    "Exists",
    "Insert",
    "KeyFault",
    "Parsed",
    "Range",
    "Select",
    "UpdateStatement",
    "bind",
    "branches_of",
    "clause_of",
    "in_order",
    "load_parameters",
    "ranges_of",
    "reads_only",
    "where_program",
]
