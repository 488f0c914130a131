"""The standing laws of the room, held against naive oracles and random text."""

import copy
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.expressions import (
    Placeholders,
    condition_of,
    fragment,
    parse_condition,
    parse_key_condition,
    parse_projection,
    parse_update,
    render,
)
from emulator.expressions.ast import (
    And,
    Arithmetic,
    Between,
    ComparisonTest,
    Function,
    In,
    LiteralValue,
    Not,
    Or,
    Path,
    ProjectionExpression,
    UpdateAction,
    UpdateExpression,
)
from emulator.expressions.parser import parse
from emulator.model import (
    MISSING,
    BinarySet,
    KeyAttribute,
    KeySchema,
    NumberSet,
    StringSet,
    equal,
    is_below,
    resolve,
)
from emulator.service.errors import RequestFault, ValidationException

# Values and items: few names and few values, so that paths meet and comparisons succeed

NAMES = ("a", "b", "c")
scalars = st.sampled_from(
    ["", "x", "xy", Decimal(0), Decimal(1), Decimal("1.5"), b"", b"x", True, False, None]
)
sets = st.one_of(
    st.builds(StringSet, st.sets(st.sampled_from("xyz"), min_size=1)),
    st.builds(NumberSet, st.sets(st.sampled_from([Decimal(0), Decimal(1)]), min_size=1)),
    st.builds(BinarySet, st.sets(st.sampled_from([b"", b"x"]), min_size=1)),
)
values = st.recursive(
    scalars | sets,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)
items = st.dictionaries(st.sampled_from(NAMES), values, max_size=3)

# Trees

TARGETS = {"#d": "a"}
paths = st.builds(
    lambda first, rest: Path(parts=(first, *rest)),
    st.sampled_from([*NAMES, "#d"]),
    st.lists(st.sampled_from([*NAMES, "#d", 0, 1]), max_size=2),
)
literals = st.builds(lambda name: LiteralValue(name=name), st.sampled_from([":u", ":v", ":w"]))
sizes = st.builds(lambda path: Function(name="size", operands=(path,)), paths)
operands = paths | literals | sizes
types = st.just(LiteralValue(name=":type"))


def calls(name, *arguments):
    return st.tuples(*arguments).map(lambda operands: Function(name=name, operands=operands))


tests = st.one_of(
    st.builds(
        lambda operator, left, right: ComparisonTest(operator=operator, left=left, right=right),
        st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
        operands,
        operands,
    ),
    st.builds(
        lambda operand, lower, upper: Between(operand=operand, lower=lower, upper=upper),
        operands,
        operands,
        operands,
    ),
    st.builds(
        lambda operand, choices: In(operand=operand, choices=tuple(choices)),
        operands,
        st.lists(operands, min_size=1, max_size=3),
    ),
    calls("attribute_exists", paths),
    calls("attribute_not_exists", paths),
    calls("attribute_type", paths, types),
    calls("begins_with", paths | literals, paths | literals),
    calls("contains", operands, operands),
)


def joined(inner):
    terms = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(lambda term: Not(term=term), inner),
        st.builds(lambda terms: And(terms=terms), terms),
        st.builds(lambda terms: Or(terms=terms), terms),
    )


conditions = st.recursive(tests, joined, max_leaves=6)
set_values = st.recursive(
    paths | literals,
    lambda inner: (
        calls("if_not_exists", paths, inner)
        | calls("list_append", inner, inner)
        | st.builds(
            lambda operator, left, right: Arithmetic(operator=operator, left=left, right=right),
            st.sampled_from(["+", "-"]),
            inner,
            inner,
        )
    ),
    max_leaves=4,
)
ACTION_VALUES = {"SET": set_values, "REMOVE": st.none(), "ADD": literals, "DELETE": literals}


def sections(keyword):
    action = st.builds(
        lambda path, value: UpdateAction(keyword=keyword, path=path, value=value),
        paths,
        ACTION_VALUES[keyword],
    )
    return st.lists(action, min_size=1, max_size=3).map(tuple)


updates = (
    st.lists(st.sampled_from(sorted(ACTION_VALUES)), min_size=1, unique=True)
    .flatmap(lambda keywords: st.tuples(*map(sections, keywords)))
    .map(lambda found: UpdateExpression(sections=found))
)
projections = st.lists(
    paths, min_size=1, max_size=3, unique_by=lambda path: str(path.parts[0]).replace("#d", "a")
).map(lambda found: ProjectionExpression(paths=tuple(found)))
given_values = st.fixed_dictionaries(
    {":u": values, ":v": scalars, ":w": values, ":type": st.sampled_from(["S", "N", "L", "M"])}
)


def parsed(parse_function, text, found):
    """Return what a text says, or None if it is at fault with these values."""
    try:
        return parse_function(text, Placeholders(TARGETS, found))
    except RequestFault:
        return None


# Rendering


@settings(deadline=None)
@given(conditions)
def test_a_rendered_condition_parses_to_itself(tree):
    assert repr(parse("ConditionExpression", render(tree))) == repr(tree)


@settings(deadline=None)
@given(updates)
def test_a_rendered_update_parses_to_itself(tree):
    assert repr(parse("UpdateExpression", render(tree))) == repr(tree)


@settings(deadline=None)
@given(projections)
def test_a_rendered_projection_parses_to_itself(tree):
    assert repr(parse("ProjectionExpression", render(tree))) == repr(tree)


# Conditions against an oracle


def look_up(node, item, found):
    """Return the value of an operand, the slow way."""
    if isinstance(node, LiteralValue):
        return found[node.name]
    if isinstance(node, Path):
        return resolve(item, tuple(TARGETS.get(part, part) for part in node.parts))
    value = look_up(node.operands[0], item, found)
    if value is MISSING or value is None or isinstance(value, bool | Decimal):
        return MISSING
    return Decimal(len(value))


def is_within(value, lower, upper):
    ordered = str | Decimal | bytes
    if not (isinstance(value, ordered) and type(value) is type(lower) is type(upper)):
        return False
    return not is_below(value, lower) and not is_below(upper, value)


def compare(node, left, right):
    if left is MISSING or right is MISSING:
        return node.operator == "<>"
    return {
        "=": equal(left, right),
        "<>": not equal(left, right),
        "<": is_below(left, right),
        ">": is_below(right, left),
        "<=": is_within(left, left, right),
        ">=": is_within(right, right, left),
    }[node.operator]


def call(node, operands):
    first, second = (*operands, MISSING)[:2]
    if node.name == "attribute_exists":
        return first is not MISSING
    if node.name == "attribute_not_exists":
        return first is MISSING
    if node.name == "attribute_type":
        wanted = {"S": str, "N": Decimal, "L": tuple, "M": dict}[second]
        return type(first) is wanted
    if node.name == "begins_with":
        same = type(first) is type(second) and isinstance(first, str | bytes)
        return same and first[: len(second)] == second
    if isinstance(first, str | bytes):
        return type(first) is type(second) and first.find(second) >= 0
    if isinstance(first, tuple | frozenset):
        return any(equal(member, second) for member in first)
    return False


def answer(node, item, found):
    """Say whether a condition holds, the slow way."""
    if isinstance(node, And):
        return all(answer(term, item, found) for term in node.terms)
    if isinstance(node, Or):
        return any(answer(term, item, found) for term in node.terms)
    if isinstance(node, Not):
        return not answer(node.term, item, found)
    if isinstance(node, Function):
        return call(node, [look_up(operand, item, found) for operand in node.operands])
    if isinstance(node, ComparisonTest):
        left, right = look_up(node.left, item, found), look_up(node.right, item, found)
        return compare(node, left, right)
    value = look_up(node.operand, item, found)
    if isinstance(node, Between):
        return is_within(value, look_up(node.lower, item, found), value) and is_within(
            value, value, look_up(node.upper, item, found)
        )
    choices = [look_up(choice, item, found) for choice in node.choices]
    return value is not MISSING and any(equal(value, choice) for choice in choices)


@settings(deadline=None)
@given(tree=conditions, item=items, found=given_values)
@example(
    tree=ComparisonTest(operator="=", left=Path(parts=("a",)), right=Path(parts=("b",))),
    item={},
    found={},
)  # two missing operands are not equal
@example(
    tree=ComparisonTest(
        operator="<>",
        left=LiteralValue(name=":v"),
        right=Function(name="size", operands=(Path(parts=("a",)),)),
    ),
    item={},
    found={":v": Decimal(0)},
)  # nor is a size that does not exist
def test_a_condition_says_what_the_oracle_says(tree, item, found):
    """CMP-1, CMP-2, CND-1 to CND-13."""
    condition = parsed(parse_condition, render(tree), found or {":z": None})
    if condition is not None:
        assert condition.holds(item) is answer(tree, item, found)


@pytest.fixture(scope="module")
def long_ones():
    """Every condition counts as long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("emulator.expressions.condition.LONG_NODES", 0)
        yield


@pytest.fixture(scope="module")
def pages():
    """Two items are many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("emulator.expressions.condition.MANY_ITEMS", 2)
        yield


@settings(deadline=None)
@given(tree=conditions, item=items, found=given_values)
def test_a_condition_that_reads_lists_once_says_the_same(long_ones, tree, item, found):
    """CMP-1, CND-10."""
    if parsed(parse_condition, render(tree), found or {":z": None}) is not None:
        twice = condition_of(And((Or((tree, tree)), tree)), TARGETS)
        assert twice.condition(found).holds(item) is answer(tree, item, found)


@settings(deadline=None)
@given(tree=conditions, page=st.lists(items, min_size=2, max_size=6), found=given_values)
@example(
    tree=ComparisonTest(operator="<", left=Path(parts=("a",)), right=Path(parts=("b",))),
    page=[
        {"a": "x", "b": "xy"},
        {"a": "x"},
        {"a": b"", "b": b"x"},
        {"b": "x"},
        {"a": "x", "b": ""},
    ],
    found={},
)  # two columns with several types each, and gaps
def test_a_page_is_judged_as_its_items_are_one_by_one(pages, tree, page, found):
    """CMP-1, CMP-2, CND-1 to CND-13."""
    condition = parsed(parse_condition, render(tree), found or {":z": None})
    if condition is not None:
        judged = list(map(bool, condition.holding(page)))
        assert judged == [answer(tree, item, found) for item in page]
        assert judged == list(map(condition.holds, page))


@settings(deadline=None)
@given(tree=conditions, page=st.lists(items, min_size=2, max_size=6), found=given_values)
def test_a_long_condition_judges_a_page_alike(pages, long_ones, tree, page, found):
    """CMP-1, CND-10."""
    if parsed(parse_condition, render(tree), found or {":z": None}) is not None:
        twice = condition_of(And((Or((tree, tree)), tree)), TARGETS).condition(found)
        judged = list(map(bool, twice.holding(page)))
        assert judged == [answer(tree, item, found) for item in page]


# Updates against an oracle: items of one shape, and actions that mostly suit it

whole_items = st.fixed_dictionaries(
    {
        "keep": st.just({"deep": ("x",)}),
        "n": st.integers(-2, 2).map(Decimal),
        "m": st.fixed_dictionaries({"x": scalars}, optional={"y": values}),
        "l": st.lists(scalars, max_size=4).map(tuple),
        "s": st.builds(StringSet, st.sets(st.sampled_from("xyz"), min_size=1)),
    }
)
broken_items = st.builds(
    lambda item, name: {key: value for key, value in item.items() if key != name},
    whole_items,
    st.sampled_from("nmls"),
) | st.builds(lambda item, name: {**item, name: "text"}, whole_items, st.sampled_from("nmls"))
shaped_items = whole_items | whole_items | whole_items | broken_items
shaped_values = st.fixed_dictionaries(
    {
        ":v": values,
        ":n": st.integers(-2, 2).map(Decimal),
        ":l": st.lists(scalars, max_size=2).map(tuple),
        ":s": st.builds(StringSet, st.sets(st.sampled_from("xyz"), min_size=1)),
    }
)
ASSIGNMENTS = [
    *("n = :n", "n = n + :n", "n = :n - n", "n = if_not_exists(n, :n) + :n", "n = m.x", "n = :v"),
    *("m.x = :v", "m.y = n", "m.z = :v", "m.x = if_not_exists(m.y, :v)", "m.x.y = :v"),
    *("l[0] = :v", "l[1] = n", "l[3] = :v", "l[7] = :n", "l[9] = l[0]", "l[0].x = :v"),
    *("l = list_append(l, :l)", "l = list_append(:l, if_not_exists(l, :l))", "s = :s", "t = l"),
]
REMOVALS = ["n", "m.y", "m.z", "l[0]", "l[2]", "l[8]", "s", "gone", "m"]
ADDITIONS = ["n :n", "s :s", "m.y :n", "l[5] :n", "u :s"]
DELETIONS = ["s :s", "m.x :s", "l[1] :s", "gone :s"]
ALTERNATIVES = {
    "SET": ASSIGNMENTS, "REMOVE": REMOVALS, "ADD": ADDITIONS, "DELETE": DELETIONS,
}  # fmt: skip


@st.composite
def shaped_updates(draw):
    """Draw an update expression whose paths are separate, as a tree."""
    chosen = draw(
        st.lists(
            st.sampled_from(
                [(keyword, text) for keyword, texts in ALTERNATIVES.items() for text in texts]
            ),
            min_size=1,
            max_size=6,
        )
    )
    kept: dict[str, list[UpdateAction]] = {}
    taken: list[tuple[str | int, ...]] = []
    for keyword, text in chosen:
        ((action,),) = parse("UpdateExpression", f"{keyword} {text}").sections
        parts = action.path.parts
        if not any(parts[: len(other)] == other[: len(parts)] for other in taken):
            taken.append(parts)
            kept.setdefault(keyword, []).append(action)
    return UpdateExpression(sections=tuple(map(tuple, kept.values())))


class Refused(Exception):
    """The oracle's own error."""


def present(value):
    if value is MISSING:
        raise Refused
    return value


def evaluated(node, item, found):
    """Return the value of an operand of SET, or MISSING, the slow way."""
    if isinstance(node, LiteralValue):
        return found[node.name]
    if isinstance(node, Path):
        return resolve(item, node.parts)
    if isinstance(node, Arithmetic):
        left, right = (present(evaluated(part, item, found)) for part in (node.left, node.right))
        if not (isinstance(left, Decimal) and isinstance(right, Decimal)):
            raise Refused
        return left + right if node.operator == "+" else left - right
    first, second = node.operands
    if node.name == "if_not_exists":
        stored = evaluated(first, item, found)
        return evaluated(second, item, found) if stored is MISSING else stored
    one, two = present(evaluated(first, item, found)), present(evaluated(second, item, found))
    if not (isinstance(one, tuple) and isinstance(two, tuple)):
        raise Refused
    return (*one, *two)


def outcome(action, item, found):
    """Return what an action leaves under its path."""
    if action.keyword == "REMOVE":
        return MISSING
    if action.keyword == "SET":
        return present(evaluated(action.value, item, found))
    stored, value = resolve(item, action.path.parts), found[action.value.name]
    if stored is MISSING:
        return value if action.keyword == "ADD" else MISSING
    if type(stored) is not type(value):
        raise Refused
    if action.keyword == "DELETE":
        return StringSet(stored - value) or MISSING
    return stored + value if isinstance(value, Decimal) else StringSet(stored | value)


def thawed(value):
    if isinstance(value, dict):
        return {name: thawed(member) for name, member in value.items()}
    return [thawed(member) for member in value] if isinstance(value, tuple) else value


def frozen(value):
    if isinstance(value, dict):
        return {name: frozen(member) for name, member in value.items()}
    return tuple(frozen(member) for member in value) if isinstance(value, list) else value


def place_of(root, path):
    """Return the container and the last part of a path."""
    container = root
    for part in path[:-1]:
        if isinstance(part, str) and isinstance(container, dict):
            container = container.get(part)
        elif isinstance(part, int) and isinstance(container, list) and part < len(container):
            container = container[part]
    if not isinstance(container, dict if isinstance(path[-1], str) else list):
        raise Refused
    return container, path[-1]


def updated(tree, item, found):
    """Return the item after an update, the slow way: writes in ascending order of paths, then
    removals in descending order, on containers that can be changed."""
    actions = [action for section in tree.sections for action in section]
    outcomes = [(action.path.parts, outcome(action, item, found)) for action in actions]
    outcomes.sort(key=lambda pair: [str(part).rjust(9) for part in pair[0]])
    root = thawed(item)
    for path, value in outcomes:
        container, last = place_of(root, path)
        if value is MISSING:
            continue
        if isinstance(last, int) and last >= len(container):
            container.append(value)
        else:
            container[last] = value
    for path, value in reversed(outcomes):
        container, last = place_of(root, path)
        if value is not MISSING:
            continue
        if isinstance(last, str):
            container.pop(last, None)
        elif last < len(thawed(resolve(item, path[:-1]))):
            del container[last]
    return frozen(root)


@settings(deadline=None)
@given(tree=shaped_updates(), item=shaped_items, found=shaped_values)
def test_an_update_does_what_the_oracle_does(tree, item, found):
    """UPD-1, UPD-6 to UPD-16."""
    update = parse_update(render(tree), Placeholders(None, found))
    try:
        expected = updated(tree, item, found)
    except Refused:
        with pytest.raises(ValidationException):
            update.apply(item)
    else:
        assert equal(update.apply(item), expected)


@settings(deadline=None)
@given(tree=shaped_updates(), item=shaped_items, found=shaped_values)
def test_an_update_changes_nothing_it_was_given(tree, item, found):
    update = parse_update(render(tree), Placeholders(None, found))
    before = copy.deepcopy((item, found))
    try:
        result = update.apply(item)
    except ValidationException as refused:
        assert not isinstance(refused, RequestFault)
        result = item
    assert equal((item, found), before)
    touched = {path[0] for path in update.paths}
    assert {name for name in item if result.get(name, MISSING) is not item[name]} <= touched
    assert set(result) - set(item) <= touched


# Projections


@settings(deadline=None)
@given(tree=projections, item=items)
def test_a_projection_keeps_what_is_there_and_nothing_else(tree, item):
    """PRJ-1, PRJ-2."""
    projection = parse_projection(render(tree), Placeholders(TARGETS))
    picked = projection.pick(item)
    assert equal(picked, fragment(item, projection.paths))
    assert set(picked) <= set(projection.names) & set(item)
    for path in projection.paths:
        if not any(isinstance(part, int) for part in path):
            kept, stored = resolve(picked, path), resolve(item, path)
            assert (kept is MISSING and stored is MISSING) or equal(kept, stored)


# Key conditions


KEY = KeySchema(
    (KeyAttribute("h", "S"),),
    (KeyAttribute("a", "S"), KeyAttribute("b", "N"), KeyAttribute("c", "B")),
)
texts = st.text(st.sampled_from("ab\uffff\U0010ffff"), min_size=1, max_size=3)
numbers = st.integers(-2, 2).map(Decimal)
binaries = st.binary(min_size=1, max_size=2)
key_values = st.tuples(texts, numbers, binaries)
last_clauses = st.sampled_from(
    ["{} = :x", "{} < :x", "{} <= :x", ":x < {}", ":x <= {}", "{} BETWEEN :x AND :y"]
)


@settings(deadline=None)
@given(
    fixed=key_values,
    sort=key_values,
    bound=key_values,
    depth=st.integers(0, 2),
    clause=last_clauses | st.just("begins_with({}, :x)"),
)
def test_a_key_range_holds_the_keys_that_meet_the_condition(fixed, sort, bound, depth, clause):
    """KEY-4, MAK-33, MAK-71."""
    names = [attribute.name for attribute in KEY.sort]
    if depth == 1 and "begins" in clause:
        clause = "{} = :x"  # MAK-39: not for numbers
    equalities = [f"{name} = :{name}" for name in names[:depth]]
    text = " AND ".join(["h = :h", *equalities, clause.format(names[depth])])
    low, high = sorted((fixed[depth], bound[depth]))
    found = {":h": "h", ":x": low, ":y": high, ":a": fixed[0], ":b": fixed[1]}

    key_range = parse_key_condition(text, Placeholders(None, found)).range(KEY)
    condition = parse_condition(text, Placeholders(None, found))

    item = {"h": "h", **dict(zip(names, sort, strict=True))}
    assert key_range.partition == ("h",)
    assert key_range.holds(sort) is condition.holds(item)


# Any text


PARSERS = (parse_condition, parse_update, parse_projection, parse_key_condition)
SOUP = (
    "a b #d #e :u :v :x ( ) [ ] . , = <> < <= > >= + - 0 1 12 ! _ AND OR NOT BETWEEN IN SET "
    "REMOVE ADD DELETE size contains begins_with attribute_exists attribute_type if_not_exists "
    "list_append nonsense status ü"
)
tokens = st.sampled_from(SOUP.split())
soups = st.lists(tokens, max_size=30).map(" ".join) | st.lists(tokens, max_size=12).map("".join)


@settings(deadline=None)
@given(
    parse_function=st.sampled_from(PARSERS),
    text=soups | st.text(max_size=40).filter(lambda text: not any(map(is_surrogate, text))),
    found=given_values,
    item=items,
)
def test_any_text_is_understood_or_refused(parse_function, text, found, item):
    """Nothing but the service's own errors comes out, whatever goes in."""
    try:
        understood = parse_function(text, Placeholders(TARGETS, found))
        if parse_function is parse_condition:
            assert understood.holds(item) in (True, False)
        elif parse_function is parse_update:
            understood.apply(item)
        elif parse_function is parse_projection:
            understood.pick(item)
        else:
            understood.range(KEY)
    except ValidationException as refused:
        assert refused.message


@pytest.mark.parametrize(
    ("parse_function", "text"),
    [
        (parse_condition, "(" * 4096),
        (parse_condition, "NOT(" * 680 + "a=:u" + ")" * 680),
        (parse_condition, "NOT " * 1000 + "a=:u"),
        (parse_condition, "a.b" * 1000),
        (parse_condition, "size(" * 600 + "a" + ")" * 600),
        (parse_key_condition, "(a=:u AND" * 400),
        (parse_projection, ",".join(["a"] * 2048)),
        (parse_projection, ",".join(f"a[{number}]" for number in range(550))),
        (parse_projection, "a" + "[99999]" * 500),
        (parse_update, "SET a=" + "if_not_exists(a," * 240 + ":u" + ")" * 240),
        (parse_update, "SET a=" + "(a+" * 1000 + "a" + ")" * 1000),
    ],
)
def test_the_largest_texts_are_understood_or_refused(parse_function, text):
    """4,096 bytes can nest deeper than Python calls."""
    test_any_text_is_understood_or_refused.hypothesis.inner_test(
        parse_function, text, {":u": "x"}, {}
    )


def is_surrogate(character):
    return "\ud800" <= character <= "\udfff"


def test_a_lone_surrogate_is_no_text():
    with pytest.raises(UnicodeEncodeError):
        parse_projection("\ud800", Placeholders())
