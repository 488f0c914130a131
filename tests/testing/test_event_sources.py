"""Event sources in tests: the marker, the fixture, and the functions of a design."""

import pytest

from tests.designs.test_event_sources import TERRAFORM
from tests.testing.test_plugin import INI, run

pytest_plugins = ["pytester"]


@pytest.fixture
def project(pytester):
    pytester.makeini(INI)
    pytester.makefile(".tf", main=TERRAFORM)
    pytester.makepyfile(
        shop="""
        calls = []

        def mail(event, context):
            calls.append((context.function_name, [r["eventName"] for r in event["Records"]]))
            return {"state": {}}
        """
    )
    return pytester


def test_a_design_says_which_table_and_how_and_the_test_which_callable(project):
    """The filter, the batching window and the tumbling window are those of the file."""
    project.makepyfile(
        """
        import pytest
        import shop

        @pytest.mark.ddb(tables="main.tf")
        @pytest.mark.ddb_event_source(handlers={"send-mail": "shop.mail"})
        def test_by_name(ddb):
            ddb.table("orders").put_item(Item={"id": "a"})
            ddb.table("orders").delete_item(Key={"id": "a"})
            assert shop.calls == []
            ddb.clock.advance(5)
            assert shop.calls.pop() == ("mail", ["INSERT"])

        @pytest.mark.ddb(tables="main.tf")
        @pytest.mark.ddb_event_source(handlers={"mail": shop.mail})
        def test_by_label(ddb, ddb_event_source):
            ddb.table("orders").put_item(Item={"id": "a"})
            call, last = ddb_event_source.drain()
            assert (call.records, last.records) == (1, 0)
        """
    )
    run(project).assert_outcomes(passed=2)


def test_the_marker_and_the_fixture_open_sources_until_the_test_ends(project):
    project.makepyfile(
        """
        import pytest
        import shop

        @pytest.mark.ddb(tables="main.tf")
        @pytest.mark.ddb_event_source("orders", shop.mail, batch_size=1)
        @pytest.mark.ddb_event_source("orders", "shop.mail", filters=[{"eventName": ["REMOVE"]}])
        def test_it(ddb, ddb_event_source):
            first, second = ddb_event_source
            third = ddb_event_source("orders", shop.mail, starting_position="LATEST")
            ddb.table("orders").put_item(Item={"id": "a"})
            assert len(ddb_event_source.drain()) == 2
            assert sorted(s.metrics.invoked for s in (first, second, third)) == [0, 1, 1]
            assert ddb.clock.now() == 1_767_225_600
        """,
        conftest="""
        import pytest

        @pytest.fixture(autouse=True)
        def third_reader():
            with pytest.warns(UserWarning, match="has 3 readers"):
                yield
        """,
    )
    run(project).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("marker", "sentence"),
    [
        ("('orders', print, size=5)", "there is no argument 'size'; there are table, handler"),
        ("()", "a table and its handler are given, or handlers="),
        ("('orders', print, handlers={})", "a table and its handler are given, or handlers="),
    ],
)
def test_a_wrong_marker_is_reported_at_collection(project, marker, sentence):
    project.makepyfile(
        f"""
        import pytest

        @pytest.mark.ddb_event_source{marker}
        def test_it(ddb):
            pass
        """
    )
    result = run(project)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*test_*.py:3: @pytest.mark.ddb_event_source: {sentence}*"])


@pytest.mark.parametrize(
    ("marks", "sentence"),
    [
        ("@pytest.mark.ddb_event_source('orders', print)", "there is no table 'orders' in"),
        (
            "@pytest.mark.ddb_event_source(handlers={'mail': print})",
            "handlers= needs the design that says which tables they read: ddb(tables=...)",
        ),
        (
            "@pytest.mark.ddb(tables='main.tf')\n@pytest.mark.ddb_event_source(handlers={'x': 1})",
            "*main.tf gives no table's stream to a function 'x'; it does to: send-mail",
        ),
        (
            "@pytest.mark.ddb(tables='main.tf')\n"
            "@pytest.mark.ddb_event_source('orders', print, batch_size=0)",
            "1 validation error detected: Value '0' at 'batchSize' failed*",
        ),
    ],
)
def test_what_does_not_fit_fails_the_test_in_one_sentence(project, marks, sentence):
    project.makepyfile(f"import pytest\n{marks}\ndef test_it(ddb): pass\n")
    result = run(project)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{sentence}*".replace("[", "[[]")])
