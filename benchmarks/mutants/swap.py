"""Put the code of a mutant into the functions that are alive.

The code object of a function is replaced, not the function: whoever imported, decorated or stored
the function runs the mutant, and closures that are made later come out of the changed code.
"""

import ast
import gc
import types
from collections.abc import Iterator

#: Which code it is: its file, qualified name, first line, and place among those that share them.
Key = tuple[str, str, int, int]
Functions = dict[types.CodeType, list[types.FunctionType]]


def code_keys(code: types.CodeType, file: str) -> dict[Key, types.CodeType]:
    """Return the code objects below that of a module, by where they stand."""
    keyed: dict[Key, types.CodeType] = {}
    for inner in _inner(code):
        number = 0
        while (file, inner.co_qualname, inner.co_firstlineno, number) in keyed:
            number += 1
        keyed[file, inner.co_qualname, inner.co_firstlineno, number] = inner
    return keyed


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inner(constant)


def live_functions(files: set[str]) -> Functions:
    """Return the functions in memory that were defined in the files, by their code."""
    gc.unfreeze()  # what is frozen is not listed
    functions: Functions = {}
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename in files:
            functions.setdefault(thing.__code__, []).append(thing)
    return functions


def swap(
    tree: ast.Module,
    original: str,
    file: str,
    functions: Functions,
) -> int:
    """Replace the code of every function that the changed tree defines otherwise.

    Args:
        tree: The file with a change in it.
        original: The text of the file without.
        file: Where the functions come from.
        functions: What is alive, as ``live_functions`` says.

    Returns:
        How many functions run other code now.

    Raises:
        ValueError: If the change adds or drops a variable of an enclosing function.
    """
    old = code_keys(compile(original, file, "exec", dont_inherit=True), file)
    new = code_keys(compile(tree, file, "exec", dont_inherit=True), file)
    swapped = 0
    for key, code in old.items():
        if key in new and code != new[key]:
            for function in functions.get(code, ()):
                function.__code__ = new[key]
                swapped += 1
    return swapped
