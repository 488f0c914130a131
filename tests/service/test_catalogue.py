"""The catalogue against the code that serves it."""

from importlib import import_module

from emulator.service.catalogue import ON_ITEMS, OPERATIONS, Kind, names_of
from tests.each import each


def test_on_items_are_all_but_the_control_operations():
    assert names_of(Kind.CONTROL).isdisjoint(ON_ITEMS)
    assert names_of(*Kind) == ON_ITEMS | names_of(Kind.CONTROL) == set(OPERATIONS)


@each("module", sorted({row.module for row in OPERATIONS.values()}))
def test_every_module_of_the_catalogue_is_there(module):
    import_module(f"emulator.operations.{module}")
