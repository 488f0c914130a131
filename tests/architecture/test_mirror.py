"""Where tests lie: ``tests/<room>/test_<module>.py`` for ``emulator/<room>/<module>.py``."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "emulator"

#: Folders that are no room, and what they hold.
OTHER_FOLDERS = {
    "architecture": "the house itself: imports, mirrors, rules, generated pages",
    "browser": "pages in Chromium",
    "conformance": "the cases of all operations, through every door",
    "conformance/recordings": "what the public suite of October 2026 recorded, by its files",
    "counted": "how often work is done",
    "drop_in": "the server as set-ups in other languages start it",
    "examples": "what the examples print",
    "mutants": "the tool that breaks the code on purpose: benchmarks/mutants",
    "operations/cases": "the cases, beside their operations",
    "properties": "laws across rooms",
    "published": "the model against published measurements",
    "site": "the documentation site, and the references that it reads off the code",
}
#: Files in the folder of a room that belong to no module of it, and why.
OTHER_FILES = {
    "check/test_broken_inputs.py": "what the whole command says to inputs of no use",
    "check/test_doc_pages.py": "pages of the documentation, run",
    "designs/test_design_files.py": "one design in every language it may be declared in",
    "diff/test_action.py": "the GitHub Action, step by step",
    "engine/test_lag_and_time.py": "the room over time, through the one way in",
    "engine/test_multi_attribute_vectors.py": "worked examples: MAK-V1 to MAK-V14",
    "engine/test_throttling.py": "the room under load, through the one way in",
    "engine/test_worked_examples.py": "worked examples: EX-8 to EX-58",
    "expressions/test_laws.py": "laws of the whole room",
    "http/test_set_ups.py": "what set-ups made for DynamoDB Local ask of a server",
    "http/test_server_clients.py": "the server and the clients of others",
    "capacity/test_combined_partitions.py": "one setting, from bucket to emulator: CAP2-15",
    "lab/test_agreement.py": "the law that both engines agree",
    "lab/test_index_backlog.py": "an index that falls behind, in both engines",
    "lab/test_doc_pages.py": "a page of the documentation, run",
    "lab/test_question_laws.py": "laws of the question: age, horizon, warm-up, start, spelling",
    "lab/test_world_laws.py": "laws of the whole answer: renaming, order, hash seed",
    "lab/test_key_schemes.py": "worked examples: the key schemes that are published",
    "operations/test_placeholder_limits.py": "one limit over all operations: PLH-6",
    "operations/test_shapes_against_botocore.py": "all shapes against the service model",
    "partiql/test_laws.py": "laws of the whole room",
    "sdk/test_boto_aio.py": "boto.py for clients of the other colour",
    "sdk/test_boto_exports.py": "exports, imports and restores through boto3 and its waiters",
    "sdk/test_boto_how_to.py": "a page of the documentation, run",
    "strategies/test_strategies.py": "the public surface of the room",
    "test_main.py": "__main__.py",
    "testing/test_guest.py": "pytest_dynamometer.py in a project with another ``emulator``",
    "testing/test_how_to_pages.py": "a page of the documentation, run",
    "testing/test_plugin.py": "pytest_dynamometer.py, beside the package",
    "web/test_chart_colours.py": "kit/chart.css",
}


def files_of_rooms():
    """Return the paths of test files below ``tests``, of rooms only."""
    paths = (path.relative_to(TESTS) for path in TESTS.rglob("test_*.py"))
    return [path for path in paths if str(path.parent) not in OTHER_FOLDERS]


def has_module(path):
    """Return whether a test file has its module, or its folder of modules."""
    module = PACKAGE / path.parent / path.stem.removeprefix("test_")
    return module.with_suffix(".py").exists() or module.is_dir()


def test_every_folder_is_that_of_a_room():
    folders = {path.relative_to(TESTS).parent for path in TESTS.rglob("*.py")}
    strange = {str(folder) for folder in folders if not (PACKAGE / folder).is_dir()}
    assert strange == set(OTHER_FOLDERS)


def test_every_test_file_is_that_of_a_module_or_listed_with_its_reason():
    strange = {str(path) for path in files_of_rooms() if not has_module(path)}
    assert strange == set(OTHER_FILES)


def test_every_item_operation_has_its_tests_and_its_cases():
    names = [path.stem for path in (PACKAGE / "operations").glob("*_item*.py")] + ["query", "scan"]
    operations = TESTS / "operations"
    assert len(names) == 10
    assert [name for name in names if not (operations / f"test_{name}.py").exists()] == []
    assert [name for name in names if not (operations / f"cases/{name}.py").exists()] == []
