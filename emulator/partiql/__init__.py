"""PartiQL: a statement is read, bound to its parameters, and becomes reads and writes.

The three operations that take statements decide what they allow; what a statement means is
decided here. Conditions and updates are trees of the expressions room, reads and writes are
those of the engine: a statement costs, streams and throttles as the operation it stands for.
"""

from emulator.partiql.ast import Delete, Exists, Insert, Select, Update
from emulator.partiql.binding import Bound, bind, bind_loaded
from emulator.partiql.parameters import load_parameters
from emulator.partiql.ranges import KeyFault
from emulator.partiql.reads import key_of_read, reading_of, select_page, shown
from emulator.partiql.writes import (
    DUPLICATE,
    carry_out,
    check_exists,
    failure_of,
    key_values_are_scalars,
    returned,
    write_of,
)

__all__ = [
    "DUPLICATE",
    "Bound",
    "Delete",
    "Exists",
    "Insert",
    "KeyFault",
    "Select",
    "Update",
    "bind",
    "bind_loaded",
    "carry_out",
    "check_exists",
    "failure_of",
    "key_of_read",
    "key_values_are_scalars",
    "load_parameters",
    "reading_of",
    "returned",
    "select_page",
    "shown",
    "write_of",
]
