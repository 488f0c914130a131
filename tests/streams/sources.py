"""A table with a stream, for the tests of event sources."""

from emulator import Emulator, ManualClock, Settings
from tests.tables import table

PUT = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def streamed(clock=None, view="NEW_AND_OLD_IMAGES", sort="", **settings):
    """Return an emulator with a table ``tab`` whose changes go into a stream."""
    emu = Emulator(clock=clock or ManualClock(), settings=Settings(**settings), capacity="off")
    stream = {"StreamEnabled": True, "StreamViewType": view}
    emu.call("CreateTable", table(sort=sort, StreamSpecification=stream))
    return emu


def put(emu, *keys, **attributes):
    """Write an item under each key."""
    for key in keys:
        emu.table("tab").put_item(Item={"pk": str(key), **attributes})


class Handler:
    """Keeps the events that it gets; raises for keys in ``bad``, and answers with ``answer``."""

    def __init__(self, bad=(), answer=None):
        self.events = []
        self.bad = set(bad)
        self.answer = answer

    def __call__(self, event, context):
        self.events.append(event)
        if self.bad & set(keys_of(event)):
            raise ValueError("bad")
        return self.answer(event) if callable(self.answer) else self.answer

    @property
    def keys(self):
        """The keys of every call."""
        return [keys_of(event) for event in self.events]

    @property
    def sent(self):
        """The keys of all calls in one list."""
        return [key for keys in self.keys for key in keys]


def keys_of(event):
    """Return the keys of an event's records."""
    return [record["dynamodb"]["Keys"]["pk"]["S"] for record in event["Records"]]


def numbers_of(event):
    """Return the sequence numbers of an event's records."""
    return [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]


def failing(*keys):
    """Return an answer that reports the records of some keys."""

    def answer(event):
        pairs = zip(keys_of(event), numbers_of(event), strict=True)
        named = [{"itemIdentifier": number} for key, number in pairs if key in keys]
        return {"batchItemFailures": named}

    return answer
