"""Mutation testing: how many small faults, put into the code on purpose, the tests notice.

``python -m benchmarks.mutants`` makes a seeded sample of mutants for each room of ``ROOMS``, runs
the tests that execute the changed line on each of them, and prints the score. See
``docs/decisions/0026-mutants.md`` for why the tool is our own.
"""

#: What is mutated: the name of a room, and the files that count as it, below ``emulator``.
ROOMS = {
    "model": ("model/*.py",),
    "expressions": ("expressions/*.py",),
    "storage": ("storage/*.py",),
    "capacity": ("capacity/*.py",),
    "engine": ("engine/*.py",),
    "lab": (
        "lab/inputs/distributions.py",
        "lab/inputs/arrival_rates.py",
        "lab/aggregate/call_prices.py",
        "lab/aggregate/admission.py",
        "lab/aggregate/buckets.py",
        "lab/analysis/costs.py",
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
    "tests/lab/inputs",
    "tests/lab/planning",
    "tests/lab/aggregate",
    "tests/lab/analysis",
    "tests/lab/outcome",
    "tests/test_api.py",
    "tests/lab/test_agreement.py",
    "emulator/model",
    "emulator/expressions",
    "emulator/storage",
    "emulator/capacity",
    "emulator/engine",
    "emulator/lab/inputs",
    "tests/conformance/test_cases.py::test_by_call",
    "tests/conformance/test_cases.py::test_a_refused_request_changes_nothing",
)

#: What starts servers and kills them, and what takes longer than a mutant is worth.
LEFT_OUT = (
    "tests/properties/test_crashes.py",
    "tests/properties/test_cookbook.py",
    "tests/properties/test_measured_laws.py",
)
