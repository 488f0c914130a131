"""PartiQL statements, carried out: the reads and writes that they become.

A statement costs, streams and throttles as the operation it stands for. The three operations that
take statements decide what they allow; what is common to them is here.
"""

from emulator.operations.statements.reads import key_of_read, reading_of, select_page, shown
from emulator.operations.statements.writes import (
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
    "carry_out",
    "check_exists",
    "failure_of",
    "key_of_read",
    "key_values_are_scalars",
    "reading_of",
    "returned",
    "select_page",
    "shown",
    "write_of",
]
