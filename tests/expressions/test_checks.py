"""ERR-EXP-31, UPD-18 and the static rules of EXP, CND and UPD: what needs no item."""

from decimal import Decimal

import pytest

from emulator.expressions import Placeholders, parse_condition, parse_projection, parse_update
from emulator.model import BinarySet, NumberSet, StringSet
from emulator.service.errors import RequestFault

SAMPLES = {
    "S": "a",
    "N": Decimal(1),
    "B": b"a",
    "BOOL": True,
    "NULL": None,
    "L": (),
    "M": {},
    "SS": StringSet({"a"}),
    "NS": NumberSet({Decimal(1)}),
    "BS": BinarySet({b"a"}),
}
LONG_NAMES = {
    "S": "STRING", "N": "NUMBER", "B": "Binary", "BOOL": "BOOL", "NULL": "NULL",
    "L": "LIST", "M": "MAP",
}  # fmt: skip


def condition_fault(text, names=None, values=None):
    with pytest.raises(RequestFault) as caught:
        parse_condition(text, Placeholders(names, values), kind="FilterExpression")
    return caught.value.message.removeprefix("Invalid FilterExpression: ")


def update_fault(text, names=None, values=None):
    with pytest.raises(RequestFault) as caught:
        parse_update(text, Placeholders(names, values))
    return caught.value.message.removeprefix("Invalid UpdateExpression: ")


def projection_fault(text, names=None):
    with pytest.raises(RequestFault) as caught:
        parse_projection(text, Placeholders(names))
    return caught.value.message.removeprefix("Invalid ProjectionExpression: ")


# Functions


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("a=a and whatever((:things)) > a", "whatever"),
        ("attRIbute_exIsts((views), #a)", "attRIbute_exIsts"),
        ("SIZE(a) > :v", "SIZE"),
    ],
)
def test_a_function_has_a_known_name_in_lower_case(text, function):
    """EXP-9, LEX-6, ERR-EXP-8; it comes before reserved words."""
    assert condition_fault(text) == f"Invalid function name; function: {function}"


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("a=a and attribute_exists((views), (#a)) > b", "attribute_exists"),
        ("attribute_not_exists(things) > b", "attribute_not_exists"),
        ("attribute_type(things, :a) > b", "attribute_type"),
        ("begins_with(things, a) > b", "begins_with"),
        ("contains(:things, c) > b", "contains"),
        ("size(contains(a, b)) > a", "contains"),
        ("size(things)", "size"),
        ("NOT size(things)", "size"),
        ("a = :v AND size(things)", "size"),
        ("size(things) OR a = :v", "size"),
        ("a between b and attribute_exists(things)", "attribute_exists"),
        ("a in (b, attribute_exists(things))", "attribute_exists"),
    ],
)
def test_a_function_stands_where_its_result_fits(text, function):
    """EXP-9, ERR-EXP-17; it comes before reserved words and undefined names."""
    assert condition_fault(text) == (
        f"The function is not allowed to be used this way in an expression; function: {function}"
    )


@pytest.mark.parametrize("text", ["if_not_exists(a, :v)", "a = list_append(b, :v)"])
def test_functions_of_updates_have_no_place_in_conditions(text):
    """EXP-9."""
    function = "if_not_exists" if "if" in text else "list_append"
    assert condition_fault(text) == (
        f"The function is not allowed in a condition expression; function: {function}"
    )


@pytest.mark.parametrize("function", ["attribute_exists", "size", "contains"])
def test_functions_of_conditions_have_no_place_in_updates(function):
    """EXP-9."""
    assert update_fault(f"SET a = {function}(b)") == (
        f"The function is not allowed in an update expression; function: {function}"
    )


# Reserved words, sections, limits


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("attribute_exists(views, #a)", "views"),
        (":a < abOrT", "abOrT"),
        ("a.Comment = :v", "Comment"),
        ("a[0].name = :v", "name"),
    ],
)
def test_a_reserved_word_is_no_attribute_name(text, word):
    """LEX-7, ERR-EXP-4; it comes before undefined names and operand counts."""
    assert condition_fault(text) == (
        f"Attribute name is a reserved keyword; reserved keyword: {word}"
    )


def test_reserved_words_in_updates_and_projections():
    """LEX-7; a reserved word comes before a repeated section."""
    message = "Attribute name is a reserved keyword; reserved keyword: abOrt"
    assert update_fault(" set #c = :c set abOrt = true_ ") == message
    assert projection_fault("a.abOrt") == message


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("set a = #c set c = :d", "SET"),
        ("remove #d set a = b remove e", "REMOVE"),
        ("add #d :e set a = b add e :f", "ADD"),
        ("delete #d :e set a = b delete #e :f", "DELETE"),
    ],
)
def test_a_section_is_used_once(text, section):
    """UPD-2; it comes before undefined placeholders."""
    assert update_fault(text) == (
        f'The "{section}" section can only be used once in an update expression;'
    )


def test_an_expression_has_at_most_300_operators():
    """EXP-5, ERR-EXP-16."""
    values = {":v": Decimal(1)}
    fits = "a=:v" + " OR a=:v" * 149 + " OR NOT a=:v"  # 151 comparisons, 150 OR, 1 NOT
    assert condition_fault(fits, None, values) == (
        "The expression contains too many operators; operator count: 302"
    )
    fits = "a=:v" + " OR a=:v" * 148 + " OR NOT a=:v"
    parse_condition(fits, Placeholders(None, values))


def test_functions_ranges_and_actions_count_as_operators():
    """EXP-5."""
    condition = " AND ".join(["size(a)>:v", "a IN (:v)", "a BETWEEN :v AND :v"] * 50)
    assert condition_fault(condition, None, {":v": Decimal(1)}) == (
        "The expression contains too many operators; operator count: 349"
    )
    update = "SET " + ",".join(f"a{number}=b+:v" for number in range(151))
    assert update_fault(update, None, {":v": Decimal(1)}) == (
        "The expression contains too many operators; operator count: 302"
    )


def test_an_expression_as_deep_as_the_operators_allow_is_evaluated():
    text = "NOT(" * 299 + "a=:v" + ")" * 299
    condition = parse_condition(text, Placeholders(None, {":v": "x"}))
    assert not condition.holds({"a": "x"})
    text = "NOT(" * 300 + "a=:v" + ")" * 300
    assert condition_fault(text, None, {":v": "x"}) == (
        "The expression contains too many operators; operator count: 301"
    )


def test_in_takes_at_most_100_operands():
    """EXP-6, ERR-EXP-15."""
    values = {f":{number}": Decimal(number) for number in range(101)}
    assert condition_fault(f"a IN ({','.join(values)})", None, values) == (
        "The IN operator is provided with too many operands; number of operands: 101"
    )
    del values[":100"]
    condition = parse_condition(f"a IN ({','.join(values)})", Placeholders(None, values))
    assert condition.holds({"a": Decimal(99)})


def test_a_path_has_at_most_32_components():
    """EXP-7."""
    assert projection_fault("a" + ".b" * 32) == (
        "The document path has too many nesting levels; nesting levels: 33"
    )
    parse_projection("a" + "[0]" * 31, Placeholders())


def test_a_list_index_fits_32_bits():
    """EXP-8."""
    assert projection_fault("a[2147483648]") == (
        "List index is not within the allowable range; index: [2147483648]"
    )
    assert projection_fault(f"a[1{'0' * 4000}]").startswith("List index is not within")
    parse_projection("a[2147483647]", Placeholders())


# Order in a condition: from the inside out, from the left to the right


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("attribute_exists(#Pictures.RearView, :a) and a=a", "#Pictures"),
        ("begins_with(Pictures.#RearView)", "#RearView"),
        ("(#P between :lo and :hi) and (#PC in (:cat1, :cat2))", "#P"),
        ("#4g > a", "#4g"),
        ("(a)between(b.c[45].#d)and(:a)", "#d"),
    ],
)
def test_undefined_names_come_before_counts_and_later_faults(text, name):
    """ERR-EXP-31, PLH-1."""
    assert condition_fault(text) == (
        "An expression attribute name used in the document path is not defined; "
        f"attribute name: {name}"
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [("begins_with(:hello, #a, #b)", ":hello"), (":a < :b", ":a"), ("a = :v AND b < c", ":v")],
)
def test_undefined_values_are_found_from_left_to_right(text, name):
    """ERR-EXP-31, PLH-1."""
    assert condition_fault(text) == (
        f"An expression attribute value used in expression is not defined; attribute value: {name}"
    )


@pytest.mark.parametrize(
    ("text", "function", "count"),
    [
        ("attribute_exists(things, a) and a=a", "attribute_exists", 2),
        ("attribute_not_exists(things, b)", "attribute_not_exists", 2),
        ("attribute_type(things)", "attribute_type", 1),
        ("begins_with(things)", "begins_with", 1),
        ("begins_with(things, size(a), b)", "begins_with", 3),
        ("contains(things)", "contains", 1),
        ("size(things, a) > b", "size", 2),
    ],
)
def test_functions_take_a_fixed_number_of_operands(text, function, count):
    """EXP-10, ERR-EXP-9."""
    assert condition_fault(text) == (
        "Incorrect number of operands for operator or function; "
        f"operator or function: {function}, number of operands: {count}"
    )


@pytest.mark.parametrize(
    ("text", "operator", "path"),
    [
        ("a = a AND #a = b AND :views > a", "=", "[a]"),
        ("#a <> a", "<>", "[a]"),
        ("a > #a", ">", "[a]"),
        ("((a=a) OR (a=a))", "=", "[a]"),
        ("contains(ab.bc[1].a, ab.bc[1].#a)", "contains", "[ab, bc, [1], a]"),
        ("attribute_type(ab.bc[1].#a, ab.bc[1].a)", "attribute_type", "[ab, bc, [1], a]"),
        ("begins_with(ab.bc[1].a, ab.bc[1].#a)", "begins_with", "[ab, bc, [1], a]"),
    ],
)
def test_the_same_path_does_not_stand_on_both_sides(text, operator, path):
    """CND-11, ERR-EXP-12."""
    assert condition_fault(text, {"#a": "a"}) == (
        "The first operand must be distinct from the remaining operands for this operator or "
        f"function; operator: {operator}, first operand: {path}"
    )


def test_the_same_value_may_stand_on_both_sides():
    """CND-16."""
    assert parse_condition(":a >= :a", Placeholders(None, {":a": "x"})).holds({})


def operand_type(operator, found):
    return (
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {found}"
    )


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("found", ["BOOL", "NULL", "L", "M", "SS", "NS", "BS"])
def test_ordering_needs_ordered_literals(operator, found):
    """CND-4, ERR-EXP-10."""
    values = {":v": SAMPLES[found]}
    assert condition_fault(f"a {operator} :v", None, values) == operand_type(operator, found)
    assert condition_fault(f":v {operator} a", None, values) == operand_type(operator, found)


@pytest.mark.parametrize("found", SAMPLES)
def test_equality_takes_every_type(found):
    """CND-4, CND-17."""
    placeholders = Placeholders(None, {":v": SAMPLES[found]})
    condition = parse_condition("a = :v AND NOT b <> :v AND c IN (:v)", placeholders)
    assert condition.holds(dict.fromkeys("abc", SAMPLES[found]))


@pytest.mark.parametrize("text", ["a BETWEEN :v AND b", "a BETWEEN b AND :v", ":v BETWEEN a AND b"])
def test_between_needs_ordered_literals(text):
    """CND-4."""
    assert condition_fault(text, None, {":v": True}) == operand_type("BETWEEN", "BOOL")


@pytest.mark.parametrize(
    ("lower", "upper", "shown"),
    [("a", Decimal(1), ("{S:a}", "{N:1}")), (Decimal(1), b"z", ("{N:1}", "{B:eg==}"))],
)
def test_bounds_are_of_one_type(lower, upper, shown):
    """CND-5, ERR-EXP-13."""
    assert condition_fault("a BETWEEN :l AND :u", None, {":l": lower, ":u": upper}) == (
        "The BETWEEN operator requires same data type for lower and upper bounds; "
        f"lower bound operand: AttributeValue: {shown[0]}, "
        f"upper bound operand: AttributeValue: {shown[1]}"
    )


@pytest.mark.parametrize(
    ("lower", "upper", "shown"),
    [
        (Decimal(5), Decimal(1), ("{N:5}", "{N:1}")),
        ("z", "a", ("{S:z}", "{S:a}")),
        (b"z", b"a", ("{B:eg==}", "{B:YQ==}")),
    ],
)
def test_bounds_are_in_order(lower, upper, shown):
    """CND-5, ERR-EXP-14; equal bounds are fine."""
    assert condition_fault("a BETWEEN :l AND :u", None, {":l": lower, ":u": upper}) == (
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        f"lower bound operand: AttributeValue: {shown[0]}, "
        f"upper bound operand: AttributeValue: {shown[1]}"
    )
    parse_condition("a BETWEEN :l AND :l", Placeholders(None, {":l": lower}))


@pytest.mark.parametrize("found", ["N", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"])
@pytest.mark.parametrize("text", ["begins_with(a, :a)", "begins_with(:a, a)"])
def test_begins_with_takes_texts_and_binaries(text, found):
    """CND-9."""
    values = {":a": SAMPLES[found]}
    assert condition_fault(text, None, values) == operand_type("begins_with", found)


@pytest.mark.parametrize("found", ["N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"])
def test_attribute_type_takes_the_name_of_a_type(found):
    """CND-8."""
    values = {":a": SAMPLES[found]}
    assert condition_fault("attribute_type(a, :a)", None, values) == operand_type(
        "attribute_type", found
    )


def test_attribute_type_takes_no_other_name():
    """CND-8."""
    assert condition_fault("attribute_type(a, :a)", None, {":a": "STRING"}) == (
        "Invalid attribute type name found; type: STRING, "
        "valid types: {S,SS,N,NS,B,BS,BOOL,NULL,L,M}"
    )
    assert condition_fault("attribute_type(a, b)") == operand_type(
        "attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
    )


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("attribute_type(a, size(a)) and a=a and a=:a", "attribute_type"),
        ("begins_with(a, size(a)) and a=:a", "begins_with"),
        ("size(size(a)) > :a", "size"),
    ],
)
def test_a_size_is_known_to_be_a_number(text, operator):
    """CND-12."""
    assert condition_fault(text, None, {":a": Decimal(1)}) == operand_type(operator, "N")


@pytest.mark.parametrize("found", ["N", "BOOL", "NULL"])
def test_some_values_have_no_size(found):
    """CND-12; the inner function is judged before the outer one."""
    values = {":a": SAMPLES[found]}
    message = operand_type("size", found)
    assert condition_fault("size(:a) > a", None, values) == message
    assert condition_fault("attribute_not_exists(size(:a))", None, values) == message


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("attribute_exists(:a) and a=a", "attribute_exists"),
        ("attribute_not_exists(size(:a))", "attribute_not_exists"),
        ("attribute_type(size(a), :a)", "attribute_type"),
    ],
)
def test_some_functions_need_a_path(text, function):
    """EXP-11, ERR-EXP-11."""
    assert condition_fault(text, None, {":a": "S"}) == (
        f"Operator or function requires a document path; operator or function: {function}"
    )


@pytest.mark.parametrize(
    "text",
    ["list_append(list_append(:v, :v), :v)", "if_not_exists(a, list_append(:v, :v))"],
)
def test_list_append_is_no_operand_of_a_function(text):
    """EXP-9, UPD-14."""
    assert update_fault(f"SET l = {text}", None, {":v": ()}) == (
        "The function is not allowed to be used this way in an expression; function: list_append"
    )


# Order in an update: names, values, overlap, conflict, ADD and DELETE, functions


def test_undefined_names_come_before_undefined_values():
    """UPD-18."""
    assert update_fault("SET a = :c, #c = if_not_exists(:c)", {"#a": "a"}) == (
        "An expression attribute name used in the document path is not defined; attribute name: #c"
    )
    assert update_fault("SET a = if_not_exists(:c) ADD b :d", None, {":d": "x"}) == (
        "An expression attribute value used in expression is not defined; attribute value: :c"
    )


@pytest.mark.parametrize(
    ("text", "one", "two"),
    [
        ("set d[1] = a, d.b = a, c[1].a = a, #c = if_not_exists(a)", "[c, [1], a]", "[c]"),
        ("set #c[3].#d = a, #c[3] = a", "[c, [3], [3]]", "[c, [3]]"),
        ("SET a = :v, b = :v REMOVE a.b", "[a]", "[a, b]"),
        ("SET a.b = :v ADD a.b :v", "[a, b]", "[a, b]"),
    ],
)
def test_two_actions_do_not_meet(text, one, two):
    """UPD-3, ERR-EXP-18; it comes before conflicts and before operand types."""
    names = {"#c": "c", "#d": "[3]"}
    assert update_fault(text, names, {":v": "text"}) == (
        "Two document paths overlap with each other; must remove or rewrite one of these "
        f"paths; path one: {one}, path two: {two}"
    )


@pytest.mark.parametrize(
    ("text", "one", "two"),
    [
        (
            "set #c[3].#d = a, #c.#d[3] = if_not_exists(a)",
            "[c, [3], [3]]",
            "[c, [3], [3]]",
        ),
        ("remove a.#c set a[1] = #d", "[a, c]", "[a, [1]]"),
    ],
)
def test_a_parent_is_not_both_list_and_map(text, one, two):
    """UPD-4; it comes before operand counts."""
    assert update_fault(text, {"#c": "c", "#d": "[3]"}) == (
        "Two document paths conflict with each other; must remove or rewrite one of these "
        f"paths; path one: {one}, path two: {two}"
    )


def test_paths_that_part_by_name_or_index_neither_overlap_nor_conflict():
    parse_update("REMOVE a.b.x, a.c[0], b[0], b[1].y, a.d", Placeholders())
    parse_projection("a.b.x, a.c[0], b[0], b[1].y, a.d", Placeholders())


@pytest.mark.parametrize("found", ["S", "B", "BOOL", "NULL", "L", "M"])
def test_add_takes_numbers_and_sets(found):
    """UPD-15, TYP-3; it comes before the functions of other sections."""
    text = "set b = list_append(:a, a), c = if_not_exists(a) add a.b :a"
    assert update_fault(text, None, {":a": SAMPLES[found]}) == (
        "Incorrect operand type for operator or function; "
        f"operator: ADD, operand type: {LONG_NAMES[found]}, typeSet: ALLOWED_FOR_ADD_OPERAND"
    )


@pytest.mark.parametrize("found", ["S", "N", "B", "BOOL", "NULL", "L", "M"])
def test_delete_takes_sets(found):
    """UPD-16, TYP-3."""
    assert update_fault("delete a.b :a", None, {":a": SAMPLES[found]}) == (
        "Incorrect operand type for operator or function; "
        f"operator: DELETE, operand type: {LONG_NAMES[found]}, typeSet: ALLOWED_FOR_ADD_OPERAND"
    )


@pytest.mark.parametrize(("found", "shown"), [("B", "BINARY"), ("BOOL", "BOOLEAN"), ("M", "MAP")])
def test_the_older_layer_words_delete_otherwise(found, shown):
    """UPD-16, PRO-3."""
    with pytest.raises(RequestFault) as caught:
        parse_update("DELETE a :a", Placeholders(None, {":a": SAMPLES[found]}))
    assert caught.value.wording.text("older") == (
        "Invalid UpdateExpression: Incorrect operand type for operator or function; "
        f"operator: DELETE, operand type: {shown}, typeSet: ALLOWED_FOR_DELETE_OPERAND"
    )


@pytest.mark.parametrize("function", ["if_not_exists", "list_append"])
def test_update_functions_take_two_operands(function):
    """EXP-10."""
    assert update_fault(f"set a = {function}(c)") == (
        "Incorrect number of operands for operator or function; "
        f"operator or function: {function}, number of operands: 1"
    )


@pytest.mark.parametrize("text", ["if_not_exists(:a, c)", "if_not_exists(if_not_exists(a, b), c)"])
def test_if_not_exists_needs_a_path(text):
    """EXP-11, UPD-13."""
    assert update_fault(f"SET a = {text}", None, {":a": "x"}) == (
        "Operator or function requires a document path; operator or function: if_not_exists"
    )


@pytest.mark.parametrize("operator", ["+", "-"])
@pytest.mark.parametrize("found", [name for name in SAMPLES if name != "N"])
def test_arithmetic_needs_numbers(operator, found):
    """UPD-11."""
    values = {":v": SAMPLES[found]}
    assert update_fault(f"SET a = a {operator} :v", None, values) == operand_type(operator, found)
    assert update_fault(f"SET a = :v {operator} a", None, values) == operand_type(operator, found)


@pytest.mark.parametrize("found", [name for name in SAMPLES if name != "L"])
def test_list_append_needs_lists(found):
    """UPD-14."""
    values = {":v": SAMPLES[found]}
    message = operand_type("list_append", found)
    assert update_fault("SET a = list_append(:v, a)", None, values) == message
    assert update_fault("SET a = list_append(a, :v)", None, values) == message


# Projections


@pytest.mark.parametrize(
    ("text", "one", "two"),
    [
        ("b[1], b.a, #a.b, a", "[a, b]", "[a]"),
        ("a, #a[1]", "[a]", "[a, [1]]"),
        ("a, b, a", "[a]", "[a]"),
    ],
)
def test_projected_paths_do_not_overlap(text, one, two):
    """PRJ-3."""
    names = {"#a": "a"} if "#" in text else None
    assert projection_fault(text, names) == (
        "Two document paths overlap with each other; must remove or rewrite one of these "
        f"paths; path one: {one}, path two: {two}"
    )


@pytest.mark.parametrize(
    ("text", "one", "two"),
    [
        ("a.b, #a[1], #b", "[a, b]", "[a, [1]]"),
        ("a.b[1], #a[1], #b", "[a, b, [1]]", "[a, [1]]"),
        ("a[3].b, #a.#b.b", "[a, [3], b]", "[a, [3], b]"),
    ],
)
def test_projected_paths_do_not_conflict(text, one, two):
    """UPD-4 holds for projections as well."""
    assert projection_fault(text, {"#a": "a", "#b": "[3]"}) == (
        "Two document paths conflict with each other; must remove or rewrite one of these "
        f"paths; path one: {one}, path two: {two}"
    )


def test_a_path_that_is_the_parent_of_several_meets_the_first():
    """UPD-3."""
    assert projection_fault("x, a.b.c, a.b.d, a") == (
        "Two document paths overlap with each other; must remove or rewrite one of these "
        "paths; path one: [a, b, c], path two: [a]"
    )


def test_the_first_conflict_is_reported():
    """UPD-4."""
    assert projection_fault("a.b, b[0], a[0], b.c") == (
        "Two document paths conflict with each other; must remove or rewrite one of these "
        "paths; path one: [a, b], path two: [a, [0]]"
    )
