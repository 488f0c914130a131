"""A mutant reaches every function that is alive."""

import ast
import functools
import gc
import types

import pytest

from benchmarks.mutants.swap import live_functions, swap

SOURCE = """
import functools
from dataclasses import dataclass

def plain(): return 1

@functools.lru_cache
def cached(): return 1

@dataclass(frozen=True, slots=True)
class Thing:
    size: int
    def method(self): return 1
    @property
    def shown(self): return 1
    @classmethod
    def made(cls): return cls(1)

def outer(a):
    def inner(): return a + 1
    return inner

def two(): return [f() for f in (lambda: 1, lambda: 1)]
"""


@pytest.fixture
def module(request):
    """The module, alive."""
    made = types.ModuleType(request.node.name)
    exec(compile(SOURCE, made.__name__, "exec"), vars(made))
    return made


def mutate(module, old, new):
    """Put a change into the module; return how many functions it reached."""
    file = module.__name__
    return swap(ast.parse(SOURCE.replace(old, new, 1)), SOURCE, file, live_functions({file}))


def test_whoever_imported_a_function_runs_the_mutant(module):
    kept = module.plain
    assert mutate(module, "plain(): return 1", "plain(): return 2") == 1
    assert (kept(), module.plain()) == (2, 2)


def test_a_function_that_is_kept_out_of_searches_for_garbage_runs_the_mutant(module):
    gc.freeze()
    assert mutate(module, "plain(): return 1", "plain(): return 2") == 1
    gc.freeze()


def test_decorated_functions_run_the_mutant(module):
    assert mutate(module, "cached(): return 1", "cached(): return 2") == 1
    assert module.cached() == 2
    assert isinstance(module.cached, functools._lru_cache_wrapper)


def test_methods_of_slotted_dataclasses_run_the_mutant(module):
    thing = module.Thing(1)
    mutate(module, "method(self): return 1", "method(self): return 2")
    mutate(module, "shown(self): return 1", "shown(self): return 2")
    mutate(module, "cls(1)", "cls(2)")
    assert (thing.method(), thing.shown, module.Thing.made().size) == (2, 2, 2)


def test_closures_of_before_and_after_run_the_mutant(module):
    before = module.outer(1)
    assert mutate(module, "a + 1", "a - 1") == 2
    assert (before(), module.outer(1)()) == (0, 0)


def test_of_two_alike_only_the_changed_one_is_swapped(module):
    mutate(module, "lambda: 1", "lambda: 2")
    assert module.two() == [2, 1]


def test_a_change_of_the_variables_of_a_closure_cannot_be_put_in(module):
    kept = module.outer(1)
    with pytest.raises(ValueError):
        mutate(module, "a + 1", "1")
    assert kept() == 2
