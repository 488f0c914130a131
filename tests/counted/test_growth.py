"""A request costs at most in proportion to its size: work counted, over all operations and members.

What is counted is every call of a function, C's included, and every step of a generator. Work that
one such call hides, a slice or a search through a list, is looked for in the source instead; the
fuzzer (``python -m benchmarks.fuzz``) times longer requests.
"""

import ast
import re
from cProfile import Profile
from functools import partial
from pathlib import Path

import pytest

from benchmarks.fuzz.growth import Case, cases
from benchmarks.fuzz.tables import filled
from emulator import ApiError, model
from emulator.service import limits
from emulator.service.catalogue import OPERATIONS

pytestmark = pytest.mark.filterwarnings("ignore::emulator.service.errors.UnservedMemberWarning")

PACKAGE = Path(__file__).parents[2] / "emulator"
#: Where something is looked for in a slice; the rest of the package need not be parsed.
SLICED = re.compile(r"\bin\s+[^\n]*\[[^]\n]*:")
#: More parts than any operation takes, so that both requests end in the same way.
SHORT, LONG = 260, 520
#: What a longer request may cost beside its length, and what a repeat in it may.
SLACK = 1.3


def chosen_cases():
    """Return one way to grow for each member, a different one for the next."""
    by_member = {}
    for case in cases():
        if not case.form.startswith(("'", '"')) or case.member.endswith(
            ("Expression", "Statement")
        ):
            by_member.setdefault((case.operation, case.member), []).append(case)
    return [forms[number % len(forms)] for number, forms in enumerate(by_member.values())]


CHOSEN = chosen_cases()


@pytest.fixture(scope="module")
def emulator():
    return filled("observe")


def work(emulator, case, count):
    """Return how many calls and returns a request makes."""
    request = case.grow(count)
    before = emulator.snapshot()
    profile = Profile(subcalls=False)
    profile.enable()
    try:
        emulator.call(case.operation, request)
    except ApiError:
        pass
    finally:
        profile.disable()
    emulator.restore(before)
    return 2 * sum(function.callcount for function in profile.getstats())


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_work_grows_no_faster_than_the_request(emulator, operation):
    faster = []
    for case in CHOSEN:
        if case.operation == operation:
            short, long = work(emulator, case, SHORT), work(emulator, case, LONG)
            if long > short * (LONG / SHORT) * SLACK:
                faster.append((str(case), short, long))
    assert faster == []


def test_a_fault_in_each_of_many_tables_is_written_once(emulator):
    """Found by fuzzing: each fault wrote the whole request anew."""
    forms = [case for case in cases() if str(case) == "BatchGetItem .RequestItems: empty entries"]
    [case] = forms
    short, long = work(emulator, case, SHORT), work(emulator, case, LONG)
    assert long <= short * (LONG / SHORT) * SLACK


def test_nothing_searches_what_came_before():
    """``name in names[:place]`` inside of a loop costs the square, and no counter sees it."""
    searches = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if SLICED.search(path.read_text())
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare)
        for operator, compared in zip(node.ops, node.comparators, strict=True)
        if isinstance(operator, ast.In | ast.NotIn)
        and isinstance(compared, ast.Subscript)
        and isinstance(compared.slice, ast.Slice)
        and isinstance(compared.slice.upper, ast.Name)
    ]
    assert searches == []


#: Actions of an update that write or measure a long value, which all of them name.
OFTEN = {
    "a copy": ("SET ", "x{} = l", {}),
    "a list and itself": ("SET ", "x{} = list_append(l, l)", {}),
    "a list and a value": ("SET ", "x{} = list_append(l, :v)", {"L": [{"N": "1"}] * 900}),
    "a value": ("SET ", "x{} = :v", {"L": [{"N": "1"}] * 900}),
    "a value that is not needed": ("SET ", "x{} = if_not_exists(n, :v)", {"L": [{"N": "1"}] * 900}),
    "a set": ("ADD ", "x{} :v", {"NS": [str(number) for number in range(900)]}),
}


@pytest.mark.parametrize("form", OFTEN)
def test_an_update_is_measured_no_further_than_an_item_goes(emulator, monkeypatch, form):
    """SIZ-3: a text of 4 KB names the largest list 200 times; that took half a minute once."""
    monkeypatch.setattr(limits, "ITEM_BYTES", 4_000)
    keyword, action, value = OFTEN[form]
    key = {"pk": {"S": "often"}, "sk": {"N": "1"}}
    item = key | {"l": {"L": [{"N": "1"}] * 900}, "n": {"N": "1"}}
    emulator.call("PutItem", {"TableName": "tab", "Item": item})

    def request(count):
        actions = keyword + ", ".join(map(action.format, range(count)))
        update = {"TableName": "tab", "Key": key, "UpdateExpression": actions}
        return update | ({"ExpressionAttributeValues": {":v": value}} if value else {})

    case = Case("UpdateItem", "UpdateExpression", form, request)
    few, many = work(emulator, case, 20), work(emulator, case, 120)
    assert (many - few) / 100 < 3 * 900, "each action looks at every member"


#: Tests of a condition that look at a long list each, or compare it with one as long.
ASKED_OFTEN = {
    "equal": "l = :v",
    "not equal": "NOT l <> :v",
    "nearly equal": "NOT l = :w",
    "one of some": "NOT l IN (:w, :n0)",
    "contains a number": "NOT contains(l, :n{})",
    "contains a list": "NOT contains(l, :w)",
}


def asking(operation, condition, values):
    """Return a request that asks a condition of the item with the long list."""
    key = {"pk": {"S": "often"}, "sk": {"N": "1"}}
    named = {"TableName": "tab", "ExpressionAttributeValues": values}
    if operation == "TransactWriteItems":
        check = named | {"Key": key, "ConditionExpression": condition}
        return {"TransactItems": [{"ConditionCheck": check}]}
    if operation == "Query":
        values[":k"] = key["pk"]
        return named | {"KeyConditionExpression": "pk = :k", "FilterExpression": condition}
    request = named | {"ConditionExpression": condition}
    return request | ({"Item": key} if operation == "PutItem" else {"Key": key})


#: Who asks a condition or a filter; that of a Scan is a Query's.
ASKING = ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "Query"]


@pytest.mark.parametrize("form", ASKED_OFTEN)
def test_a_condition_looks_once_at_what_it_asks_for_often(emulator, monkeypatch, form):
    """A text of 4 KB asks for the largest list 200 times; that took nine seconds once."""
    members = [{"L": [{"N": "1"}]}] * 200
    item = {"pk": {"S": "often"}, "sk": {"N": "1"}, "l": {"L": members}}
    emulator.call("PutItem", {"TableName": "tab", "Item": item})
    compared = 0

    def counted(left, right, equal=model.equal):
        nonlocal compared
        compared += len(left) if isinstance(left, tuple | dict) else 1
        return equal(left, right)

    monkeypatch.setattr(model, "equal", counted)

    def request(operation, count):
        text = " AND ".join(ASKED_OFTEN[form].format(number) for number in range(count))
        values = {":v": {"L": members}, ":w": {"L": [*members[1:], {"N": "2"}]}}
        values |= {f":n{number}": {"N": str(number)} for number in range(count)}
        named = set(re.findall(r":\w+", text))
        return asking(operation, text, {name: values[name] for name in values if name in named})

    for operation in ASKING:
        case = Case(operation, "condition", form, partial(request, operation))
        costs = []
        for count in (20, 60):
            work(emulator, case, count)  # the text is read once, and then known
            compared = 0
            costs.append(work(emulator, case, count) + compared)
        few, many = costs
        assert (many - few) / 40 < len(members) / 2, f"{operation}: each test looks at all members"


@pytest.mark.parametrize("operation", ASKING)
def test_a_list_is_read_once_whatever_it_is_compared_with(emulator, operation):
    """Twelve lists beside twelve values are 144 pairs; each pair was looked through once."""
    members = [{"M": {"a": {"N": "1"}}}] * 200
    lists = {f"l{number}": {"L": members} for number in range(6)}
    key = {"pk": {"S": "often"}, "sk": {"N": "1"}}
    emulator.call("PutItem", {"TableName": "tab", "Item": key | lists})

    def request(count):
        pairs = [f"l{number % 6} = :v{(number + number // 6) % 6}" for number in range(count)]
        values = {f":v{number}": {"L": members} for number in range(6)}
        return asking(operation, " AND ".join(pairs), values)

    def cost(count):
        case = Case(operation, "condition", "pairs", request)
        work(emulator, case, count)  # the text is read once, and then known
        return work(emulator, case, count)

    assert (cost(36) - cost(12)) / 24 < len(members) / 2, "each pair is looked through"


PAGE = {"S": "page"}
#: Filters of any number of tests, all of which every item passes.
LONG_FILTERS = {
    # four thousand names, of which no item had one, took half a minute once
    "names": lambda count: {
        "QueryFilter": {f"n{number}": {"ComparisonOperator": "NULL"} for number in range(count)},
        "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [PAGE]}},
    },
    "values": lambda count: {
        "FilterExpression": " AND ".join(f"z <> :v{number}" for number in range(count)),
        "KeyConditionExpression": "pk = :k",
        "ExpressionAttributeValues": {":k": PAGE}
        | {f":v{number}": {"N": str(number + 2)} for number in range(count)},
    },
}


@pytest.mark.parametrize("form", LONG_FILTERS)
def test_a_filter_judges_all_items_of_a_page_by_one_call(emulator, form):
    """What more tests cost does not depend on how many items there are."""
    for number in range(400):
        item = {"pk": PAGE, "sk": {"N": str(number)}, "z": {"N": "1"}}
        emulator.call("PutItem", {"TableName": "tab", "Item": item})

    def cost(tests, items):
        case = Case("Query", form, "tests", lambda count: LONG_FILTERS[form](count) | page)
        page = {"TableName": "tab", "Limit": items}
        work(emulator, case, tests)  # the text is read once, and then known
        return work(emulator, case, tests)

    few, many = (cost(100, items) - cost(50, items) for items in (40, 400))
    assert (many - few) / 50 < 400 / 10
