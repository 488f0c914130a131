"""The tree's two questions: what is below a node, and in which order to visit all."""

import pytest

from emulator.expressions.ast import (
    ComparisonTest,
    Function,
    LiteralValue,
    Not,
    Path,
    children,
    walk,
)
from emulator.expressions.parser import parse


def test_children_come_before_their_parent_and_in_source_order():
    tree = parse("ConditionExpression", "a IN (b, :c) AND NOT d BETWEEN size(e) AND :f")
    shown = [
        node.parts[0] if isinstance(node, Path) else getattr(node, "name", type(node).__name__)
        for node in walk(tree)
    ]
    assert shown == ["a", "b", ":c", "In", "d", "e", "size", ":f", "Between", "Not", "And"]


def test_an_update_has_the_actions_of_all_sections_below_it():
    tree = parse("UpdateExpression", "SET a = :v REMOVE b")
    assert [child.keyword for child in children(tree)] == ["SET", "REMOVE"]


def test_a_walk_goes_deeper_than_python_calls():
    node = ComparisonTest(operator="=", left=Path(parts=("a",)), right=LiteralValue(name=":v"))
    for _ in range(5000):
        node = Not(term=node)
    assert sum(1 for _ in walk(node)) == 5003


def test_nodes_are_frozen():
    node = Function(name="size", operands=())
    with pytest.raises(AttributeError):
        node.name = "other"
