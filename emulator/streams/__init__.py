"""Streams: what a table's stream delivers to a handler, when, and what becomes of failures.

This room decides what Lambda's event source mapping decides between a stream and a function
(``docs/rules/event_sources.md``, EVS-1 to EVS-32). Its one entry is ``Emulator.event_source``:

    source = emu.event_source("orders", handler, batch_size=10)
    with source:                    # reads from here on
        ...                         # writes: nothing runs by itself on a ManualClock
        source.drain()              # a Delivery for each call of the handler
        source.metrics              # records polled, filtered out, invoked, failed, dropped

Its parts, each of which knows those above it only:

    filters     a filter pattern -> a predicate over events
    mapping     the settings, with Lambda's defaults and ranges
    records     a stream's record -> the event that a function gets; the failure document
    answers     a function's answer -> which records of the batch have failed
    handlers    calls a handler, sync or async, and says how it went
    metrics     what is known afterwards
    lanes       one shard, or one part of it under parallelization: batches, retries, windows
    reader      the stream's pointer, and which lane is next
    kinesis     the table's Kinesis destinations, as a handler
    source      makes the calls and settles what comes of them; says what is wrong

Invariants, which ``EventSource.check`` asserts and a state machine tests:

- Every record that was polled is waiting in exactly one lane, or was delivered, filtered out, or
  lies in the range of a failure document.
- A lane holds records of one shard in the order of the stream. A record is sent only after every
  earlier record of its lane has left it, and after every record of the parents of its shard. All
  records of an item in a shard are in one lane.
- Without a fault, a record is sent once.
- Nothing runs by itself on a ``ManualClock``: ``advance`` and ``drain`` deliver in the order of
  due times; of those due at the same time, lower shards come first.
- The handler is called outside every lock, so that it may call the emulator; a source delivers one
  batch at a time.
- A table without a source pays nothing: the room reads streams, and nothing tells it of writes.
"""

from emulator.streams.handlers import InvocationRefused
from emulator.streams.metrics import Delivery, SourceMetrics
from emulator.streams.source import EventSource

__all__ = ["Delivery", "EventSource", "InvocationRefused", "SourceMetrics"]
