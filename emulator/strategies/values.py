"""Strategies of attribute values: numbers, values of every type, values of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache, wraps
from typing import Any, Final, Literal, ParamSpec, TypeAlias, TypeVar

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import SearchStrategy

from emulator.clients.conversion import natural_item, natural_value, wire_value
from emulator.model import BinarySet, KeyAttribute, NumberSet, StringSet, Value
from emulator.model.numbers import canonical
from emulator.model.wire import dump_item, dump_value, load_value
from emulator.service import limits
from emulator.service.attribute_types import BY_LETTERS

P = ParamSpec("P")
T = TypeVar("T")

Form: TypeAlias = Literal["wire", "python"]
#: Attribute name to a type's letters, or to a strategy of natural Python values.
AttributeTypes: TypeAlias = Mapping[str, str | SearchStrategy[Any]]

TYPES: Final = tuple(BY_LETTERS)

_FORMS: Final = ("wire", "python")
_CONTAINERS: Final = ("L", "M")
_TEXT_MOST: Final = 12
_MEMBERS_MOST: Final = 3
_SCALE: Final = 10**limits.NUMBER_DIGITS - 1


def checked_when_drawn(strategy: Callable[P, SearchStrategy[T]]) -> Callable[P, SearchStrategy[T]]:
    """Defer the building of a strategy, so that wrong arguments are reported when it is used."""

    @wraps(strategy)
    def deferred(*args: P.args, **kwargs: P.kwargs) -> SearchStrategy[T]:
        def build() -> SearchStrategy[T]:
            try:
                return strategy(*args, **kwargs)
            except (TypeError, ValueError, KeyError) as error:
                raise InvalidArgument(f"{strategy.__name__}(): {error}") from error

        return st.deferred(build)

    return deferred


@checked_when_drawn
def numbers(
    *,
    min_value: float | Decimal | None = None,
    max_value: float | Decimal | None = None,
    places: int | None = None,
) -> SearchStrategy[Decimal]:
    """Draw numbers that the service can store: 38 digits, magnitudes 1E-130 to 1E+126 (NUM-4).

    Args:
        min_value: The least, or None.
        max_value: The greatest, or None.
        places: The most digits after the point, or None for as many as there may be.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(numbers(min_value=3))
    ... def law(number):
    ...     assert number >= 3
    >>> law()
    """
    if min_value is None and max_value is None and places is None:
        return st.one_of(st.integers(-(10**6), 10**6).map(Decimal), _wide_numbers())
    shift = 6 if places is None else places
    low = -_SCALE if min_value is None else _scaled(min_value, shift)
    high = _SCALE if max_value is None else _scaled(max_value, shift)
    if low > high:
        raise ValueError(f"min_value={min_value} is above max_value={max_value}")
    return st.integers(low, high).map(lambda whole: canonical(Decimal(whole).scaleb(-shift)))


def _scaled(bound: float | Decimal, places: int) -> int:
    return int(Decimal(str(bound)).scaleb(places))


def _wide_numbers() -> SearchStrategy[Decimal]:
    def number(digits: int, leading_exponent: int, *, negative: bool) -> Decimal:
        text = str(digits)
        value = Decimal(f"{'-' if negative else ''}{text}E{leading_exponent - len(text) + 1}")
        return canonical(value)

    return st.builds(
        number,
        st.integers(1, _SCALE),
        st.integers(limits.NUMBER_MIN_EXPONENT, limits.NUMBER_MAX_EXPONENT),
        negative=st.booleans(),
    )


@checked_when_drawn
def attribute_values(
    *, types: Sequence[str] = TYPES, max_leaves: int = 5, form: Form = "wire"
) -> SearchStrategy[Any]:
    """Draw attribute values of any type.

    Args:
        types: The types that may be drawn, also inside lists and maps.
        max_leaves: The most scalars and sets inside one list or map.
        form: "wire", or "python" for natural values.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(attribute_values(types=["S", "N"]))
    ... def law(value):
    ...     assert value.keys() <= {"S", "N"}
    >>> law()
    """
    for letters in types:
        if letters not in TYPES:
            raise ValueError(f"types are among {', '.join(TYPES)}, not {letters!r}")
    if not types:
        raise ValueError("types is empty")
    return _values(tuple(types), max_leaves, wide=form == "wire").map(_formed(form))


def _formed(form: Form) -> Callable[[Value], Any]:
    _check_form(form)
    return dump_value if form == "wire" else lambda value: natural_value(dump_value(value))


def formed_item(form: Form) -> Callable[[Mapping[str, Value]], dict[str, Any]]:
    """Return a function that brings an item of the model into a form."""
    _check_form(form)
    return dump_item if form == "wire" else lambda item: natural_item(dump_item(item))


def _check_form(form: Form) -> None:
    if form not in _FORMS:
        raise ValueError(f"form is one of {', '.join(_FORMS)}, not {form!r}")


@cache
def _values(types: tuple[str, ...], max_leaves: int, *, wide: bool) -> SearchStrategy[Value]:
    """Draw values of these types, as the model has them; see ``_leaf`` for ``wide``."""
    leaves = [_leaf(letters, wide=wide) for letters in types if letters not in _CONTAINERS]
    leaf: SearchStrategy[Any] = st.one_of(*leaves) if leaves else st.just(())
    containers = [letters for letters in _CONTAINERS if letters in types]
    if not containers:
        return leaf
    nested = st.recursive(
        leaf,
        lambda inner: st.one_of(*(_container(letter, inner) for letter in containers)),
        max_leaves=max_leaves,
    )
    return st.one_of(*leaves, *(_container(letter, nested) for letter in containers))


def _container(letters: str, members: SearchStrategy[Value]) -> SearchStrategy[Any]:
    if letters == "L":
        return st.lists(members, max_size=_MEMBERS_MOST).map(tuple)
    return st.dictionaries(_texts(1), members, max_size=_MEMBERS_MOST)


def _texts(least: int = 0) -> SearchStrategy[str]:
    return st.text(min_size=least, max_size=_TEXT_MOST)


def _bytes(least: int = 0) -> SearchStrategy[bytes]:
    return st.binary(min_size=least, max_size=_TEXT_MOST)


def _numbers(*, wide: bool) -> SearchStrategy[Decimal]:
    """Draw numbers; those that are not wide have at most 38 digits when written out.

    Python's SDK can neither write nor read the others in its own decimal context.
    """
    return numbers() if wide else numbers(min_value=-(10**15), max_value=10**15, places=6)


def _sets(kind: type, members: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.frozensets(members, min_size=1, max_size=_MEMBERS_MOST).map(kind)


@cache
def _leaf(letters: str, *, wide: bool) -> SearchStrategy[Any]:
    """Draw scalars or sets of a type."""
    makers: dict[str, Callable[[], SearchStrategy[Any]]] = {
        "S": _texts,
        "N": lambda: _numbers(wide=wide),
        "B": _bytes,
        "BOOL": st.booleans,
        "NULL": st.none,
        "SS": lambda: _sets(StringSet, _texts()),
        "NS": lambda: _sets(NumberSet, _numbers(wide=wide)),
        "BS": lambda: _sets(BinarySet, _bytes()),
    }
    return makers[letters]()


def typed_values(kind: str | SearchStrategy[Any], *, wide: bool = True) -> SearchStrategy[Value]:
    """Draw values of the model: of a type, or as a strategy of natural values has them.

    Numbers have few enough digits that sums of many of them can be stored (NUM-10).
    """
    if isinstance(kind, SearchStrategy):
        return kind.map(lambda value: load_value(wire_value(value)))
    if kind not in TYPES:
        raise ValueError(f"an attribute's type is one of {', '.join(TYPES)}, not {kind!r}")
    return _values_of_type(kind, wide=wide)


@cache
def _values_of_type(letters: str, *, wide: bool) -> SearchStrategy[Any]:
    if letters == "N":
        return numbers(min_value=-(10**6), max_value=10**6, places=3)
    if letters in _CONTAINERS:
        return _container(letters, _values(TYPES, 2, wide=wide))
    return _leaf(letters, wide=wide)


def key_values(
    attribute: KeyAttribute, attributes: AttributeTypes, *, wide: bool = True
) -> SearchStrategy[Any]:
    """Draw values of one key attribute; ``attributes`` may narrow them."""
    narrowed = attributes.get(attribute.name)
    if isinstance(narrowed, SearchStrategy):
        return typed_values(narrowed)
    return _key_values(attribute.type, wide=wide)


@cache
def _key_values(letters: str, *, wide: bool) -> SearchStrategy[Any]:
    if letters == "N":
        return _numbers(wide=wide)
    return _texts(1) if letters == "S" else _bytes(1)
