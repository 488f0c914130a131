"""Mutation testing: how many small faults, put into the code on purpose, the tests notice.

``python -m benchmarks.mutants`` draws a sample from all mutants of ``ROOMS``, another one for each
commit, runs the tests that execute the changed line on each of them, and prints the score. See
``docs/decisions/0026-mutants.md`` for why the tool is our own.
"""

#: What is mutated: the name of a room, and the files that count as it, below ``emulator``.
ROOMS = {
    "model": ("model/*.py",),
    "expressions": ("expressions/*.py",),
    "storage": ("storage/*.py",),
    "capacity": ("capacity/*.py",),
    "engine": ("engine/*.py",),
    "operations": ("operations/**/*.py",),
    "partiql": ("partiql/*.py",),
    "persistence": ("persistence/*.py",),
    "observe": ("observe/*.py",),
    "lab": (
        "lab/*.py",
        "lab/analysis/*.py",
        "lab/exact/*.py",
        "lab/inputs/*.py",
        "lab/outcome/*.py",
        "lab/planning/*.py",
        "lab/report/*.py",
        "lab/world/*.py",
    ),
}

#: Tests that may kill a mutant. Those of doors, examples and the house itself are left out: they
#: start servers and other processes, and what they alone would notice counts as unnoticed.
TESTS = (
    "tests/model",
    "tests/expressions",
    "tests/storage",
    "tests/capacity",
    "tests/engine",
    "tests/observe",
    "tests/partiql",
    "tests/operations",
    "tests/persistence",
    "tests/clients",
    "tests/service",
    "tests/properties",
    "tests/counted",
    "tests/lab",
    "tests/test_api.py",
    "emulator/model",
    "emulator/expressions",
    "emulator/storage",
    "emulator/capacity",
    "emulator/engine",
    "emulator/operations",
    "emulator/partiql",
    "emulator/persistence",
    "emulator/observe",
    "emulator/lab",
    "tests/conformance/test_cases.py::test_by_call",
    "tests/conformance/test_cases.py::test_a_refused_request_changes_nothing",
)

#: What starts servers and kills them, and what takes longer than a mutant is worth.
LEFT_OUT = (
    "tests/properties/test_crashes.py",
    "tests/properties/test_cookbook.py",
    "tests/properties/test_measured_laws.py",
)
