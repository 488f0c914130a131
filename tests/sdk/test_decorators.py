"""``mock_dynamodb`` as a decorator."""

from __future__ import annotations

import asyncio
import functools
import inspect
import unittest

import boto3
import pytest

from emulator import Emulator, mock_dynamodb
from emulator.sdk.scopes import innermost

SCHEMA = {
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def served_by():
    scope = innermost()
    return None if scope is None else scope.emulator


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    yield
    assert served_by() is None


@pytest.fixture(params=["bare", "parentheses"])
def decorator(request):
    return mock_dynamodb if request.param == "bare" else mock_dynamodb()


def test_a_function_gets_its_own_arguments_and_a_new_emulator_per_call(decorator):
    @decorator
    def function(first, *, second):
        """A sentence."""
        assert boto3.client("dynamodb", region_name="us-east-1").list_tables()["TableNames"] == []
        return served_by(), first, second

    one, two = function(1, second=2), function(3, second=4)
    assert (one[1:], two[1:]) == ((1, 2), (3, 4))
    assert isinstance(one[0], Emulator)
    assert one[0] is not two[0]
    assert (function.__name__, function.__doc__) == ("function", "A sentence.")
    assert list(inspect.signature(function).parameters) == ["first", "second"]


def test_options_and_a_given_emulator_are_kept():
    emulator = Emulator()
    assert mock_dynamodb(emulator)(served_by)() is emulator
    assert mock_dynamodb(region="eu-west-1")(served_by)().region == "eu-west-1"
    assert mock_dynamodb(fast=True)(lambda: innermost().fast)()


def emulators_of_nested_calls(decorator):
    @decorator
    def depth(left):
        here = served_by()
        inner = depth(left - 1) if left else set()
        assert served_by() is here
        return inner | {id(here)}

    return len(depth(3))


def test_a_call_inside_another_joins_it(decorator):
    assert emulators_of_nested_calls(decorator) == 1


@pytest.mark.parametrize("told", [{"join": False}, {"capacity": "enforce"}])
def test_a_call_inside_another_has_its_own_if_told_so(told):
    assert emulators_of_nested_calls(mock_dynamodb(**told)) == 4


def test_a_decorated_function_joins_the_mock_of_its_fixture(decorator):
    with mock_dynamodb() as emulator:
        assert decorator(served_by)() is emulator


async def test_a_decorated_coroutine_joins_the_mock_of_its_fixture(decorator):
    @decorator
    async def function():
        await asyncio.sleep(0)
        return served_by()

    with mock_dynamodb() as emulator:
        assert await function() is emulator
        assert await asyncio.gather(function(), function()) == [emulator, emulator]
    one, two = await asyncio.gather(function(), function())
    assert one is not two


def test_a_decorated_class_joins_the_mock_of_a_fixture(decorator):
    @decorator
    class Tests:
        def setup_method(self):
            return served_by()

        @decorator
        def test_both_are_decorated(self):
            return served_by()

    tests = Tests()
    own = tests.setup_method()
    with mock_dynamodb() as emulator:
        assert Tests().setup_method() is emulator
        assert tests.test_both_are_decorated() is emulator
    assert tests.test_both_are_decorated() is own
    assert own is not emulator


def test_a_decorated_test_case_joins_the_mock_of_its_class():
    seen = []

    @mock_dynamodb
    class Tests(unittest.TestCase):
        def test_it(self):
            seen.append(served_by())

    with mock_dynamodb() as emulator:
        Tests("test_it").run()
    Tests("test_it").run()
    assert seen[0] is emulator
    assert seen[1] is not emulator


async def test_an_async_function(decorator):
    @decorator
    async def function(value):
        before = served_by()
        await asyncio.sleep(0)
        assert served_by() is before
        return before, value

    assert inspect.iscoroutinefunction(function)
    results = await asyncio.gather(function(1), function(2))
    assert [value for _, value in results] == [1, 2]
    assert results[0][0] is not results[1][0]


def test_a_generator_such_as_a_fixture(decorator):
    ended = []

    @decorator
    def fixture(value):
        here = served_by()
        got = yield value
        assert served_by() is here
        ended.append(got)
        return "done"

    assert inspect.isgeneratorfunction(fixture)
    generator = fixture(5)
    assert next(generator) == 5
    assert served_by() is not None
    with pytest.raises(StopIteration, match="done"):
        generator.send("sent")
    assert ended == ["sent"]


async def test_an_async_generator(decorator):
    ended = []

    @decorator
    async def fixture(value):
        here = served_by()
        try:
            yield value
        finally:
            ended.append(served_by() is here)

    assert inspect.isasyncgenfunction(fixture)
    assert [value async for value in fixture(5)] == [5]
    values = fixture(6)
    assert await anext(values) == 6
    await values.aclose()
    assert ended == [True, True]


# Classes


def test_a_test_case_has_one_emulator_per_test(decorator):
    seen = {}

    @decorator
    class Tests(unittest.TestCase):
        def setUp(self):
            self.client = boto3.client("dynamodb", region_name="us-east-1")
            self.client.create_table(TableName="table", **SCHEMA)
            self.from_set_up = served_by()
            self.addCleanup(self.check_server)

        def test_one(self):
            self.check("one")

        def test_two(self):
            self.check("two")

        def check_server(self):
            assert served_by() is self.from_set_up

        def check(self, name):
            self.check_server()
            assert self.client.list_tables()["TableNames"] == ["table"]
            seen[name] = served_by()

        def tearDown(self):
            self.check_server()

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(result)
    assert (result.testsRun, result.errors, result.failures) == (2, [], [])
    assert seen["one"] is not seen["two"]


def test_an_asynchronous_test_case(decorator):
    seen = []

    @decorator
    class Tests(unittest.IsolatedAsyncioTestCase):
        async def asyncSetUp(self):
            seen.append(served_by())

        async def test_one(self):
            seen.append(served_by())

    result = unittest.TestResult()
    Tests("test_one").run(result)
    assert (result.errors, result.failures) == ([], [])
    assert isinstance(seen[0], Emulator)
    assert seen[0] is seen[1]


class Base:
    def inherited(self):
        return served_by()


def test_another_class_has_one_emulator_per_instance(decorator):
    @decorator
    class Tests(Base):
        def setup_method(self):
            return served_by()

        def test_one(self, argument):
            return served_by(), argument

        async def test_two(self):
            return served_by()

        @staticmethod
        def static():
            return served_by()

        @classmethod
        def of_class(cls):
            return served_by()

        def _private(self):
            return served_by()

    first, second = Tests(), Tests()
    emulator = first.setup_method()
    assert isinstance(emulator, Emulator)
    assert first.test_one("argument") == (emulator, "argument")
    assert asyncio.run(first.test_two()) is emulator
    assert first.inherited() is emulator
    assert second.setup_method() is not emulator
    assert first.static() is first.of_class() is first._private() is None
    assert Base().inherited() is None


def test_one_public_method_may_call_another(decorator):
    @decorator
    class Tests:
        def outer(self):
            return served_by(), self.inner()

        def inner(self):
            return served_by()

    outer, inner = Tests().outer()
    assert outer is inner


def test_it_stacks_with_other_decorators(decorator):
    def shout(function):
        @functools.wraps(function)
        def run(*args):
            return f"{function(*args)}!"

        return run

    @decorator
    @shout
    def function(word):
        assert served_by() is not None
        return word

    assert function("hello") == "hello!"
