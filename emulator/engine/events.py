"""Events: what the engine reports to its listeners.

The engine does not know its listeners; with none, nothing is made. Events come in the order
in which things happened, inside the account's lock: a listener must be quick and must not
call the emulator back.
"""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from emulator.capacity import Reason, Receipt
from emulator.storage import Position

#: Where the request is not known.
NO_REQUEST: Final[Mapping[str, Any]] = MappingProxyType({})


class RequestServed(NamedTuple):
    """An operation was answered; receipts come with the name of their table."""

    time_ns: int
    operation: str
    receipts: tuple[tuple[str, Receipt], ...]
    error: str | None = None
    request: Mapping[str, Any] = NO_REQUEST


class Billed(NamedTuple):
    """A charge besides units: the bytes, or times, of a cost item (CAP-1004)."""

    time_ns: int
    operation: str
    table: str
    item: str
    quantity: float


class Throttled(NamedTuple):
    """Admission refused, or would have refused, an item operation."""

    time_ns: int
    operation: str
    table: str
    position: Position | None
    reasons: tuple[Reason, ...]
    units: float


class IndexDelayed(NamedTuple):
    """The change of a global index by an accepted write has to wait for room there."""

    time_ns: int
    operation: str
    table: str
    resource: str
    position: Position | None
    reasons: tuple[Reason, ...]
    units: float


class IndexApplied(NamedTuple):
    """A change of a global index was applied, and took these units of it."""

    time_ns: int
    resource: str
    units: float


class IndexClosed(NamedTuple):
    """A global index closed: its buffer is full, so every write to its table is refused."""

    time_ns: int
    resource: str
    backlog: float


class Split(NamedTuple):
    """A partition was replaced by its children."""

    time_ns: int
    resource: str
    partition_id: int
    children: tuple[int, ...]
    cause: str


class SplitRefused(NamedTuple):
    """A hot partition was not split, and why."""

    time_ns: int
    resource: str
    partition_id: int
    cause: str


class Scaled(NamedTuple):
    """Auto scaling changed provisioned throughput."""

    time_ns: int
    resource: str
    axis: str
    before: int
    after: int


Event: TypeAlias = (
    RequestServed
    | Billed
    | Throttled
    | IndexDelayed
    | IndexApplied
    | IndexClosed
    | Split
    | SplitRefused
    | Scaled
)
Listener: TypeAlias = Callable[[Event], None]


class Events:
    """Publishes events to listeners.

    Attributes:
        wanted: Whether there is a listener.
        requests_wanted: Whether a listener wants requests; other events are rare.

    >>> heard = []
    >>> events = Events()
    >>> leave = events.subscribe(heard.append)
    >>> events.publish(SplitRefused(0, "t", 1, "one hot item"))
    >>> leave(); events.wanted, len(heard)
    (False, 1)
    """

    __slots__ = ("_kinds", "_listeners", "requests_wanted", "wanted")

    def __init__(self) -> None:
        self._listeners: list[tuple[Listener, Collection[type[Event]]]] = []
        #: The kinds that listeners want; None if one of them wants all.
        self._kinds: set[type[Event]] | None = set()
        self.wanted = self.requests_wanted = False

    def wants(self, kind: type[Event]) -> bool:
        """Return whether a listener wants events of a kind."""
        return self._kinds is None or kind in self._kinds

    def subscribe(
        self, listener: Listener, kinds: Collection[type[Event]] = ()
    ) -> Callable[[], None]:
        """Call ``listener`` with every event from now on; returns how to stop that.

        Args:
            listener: The function to call with each event.
            kinds: The kinds of events to call it with; none for all.
        """
        entry = (listener, kinds)
        self._listeners.append(entry)
        self._note_wishes()
        return lambda: self._leave(entry)

    def _leave(self, entry: tuple[Listener, Collection[type[Event]]]) -> None:
        self._listeners.remove(entry)
        self._note_wishes()

    def set_aside(self) -> Callable[[], None]:
        """Go on without the present listeners; returns how to put them back."""
        kept, self._listeners = self._listeners, []
        self._note_wishes()

        def put_back() -> None:
            self._listeners = kept
            self._note_wishes()

        return put_back

    def _note_wishes(self) -> None:
        self.wanted = bool(self._listeners)
        wishes = [kinds for _, kinds in self._listeners]
        self._kinds = set().union(*wishes) if all(wishes) else None
        self.requests_wanted = self.wants(RequestServed)

    def publish(self, event: Event) -> None:
        """Call every listener that wants to hear it."""
        for listener, kinds in self._listeners:
            if not kinds or type(event) in kinds:
                listener(event)
