"""A request costs at most in proportion to its size: work counted, over all operations and members.

What is counted is every call of a function, C's included, and every step of a generator. Work that
one such call hides, a slice or a search through a list, is looked for in the source instead; the
fuzzer (``python -m benchmarks.fuzz``) times longer requests.
"""

import ast
import re
import sys
from pathlib import Path

import pytest

from benchmarks.fuzz.growth import Case, cases
from benchmarks.fuzz.tables import filled
from emulator import ApiError
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
    events = 0

    def note(_frame, _event, _argument):
        nonlocal events
        events += 1

    before = emulator.snapshot()
    sys.setprofile(note)
    try:
        emulator.call(case.operation, request)
    except ApiError:
        pass
    finally:
        sys.setprofile(None)
    emulator.restore(before)
    return events


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
