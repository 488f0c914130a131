"""Clients: how many send the requests, how many at a time, and for how long they try."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeAlias, get_args

from emulator.capacity.retries import POLICIES
from emulator.lab.inputs import forms
from emulator.lab.inputs.arguments import explain_arguments
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.forms import FormMember, Record

BatchRetry: TypeAlias = Literal["none", "requeue", "backoff"]
BATCH_RETRIES: Final[dict[str, BatchRetry]] = {name: name for name in get_args(BatchRetry)}
#: How long a call takes before its client waits, or asks for the next page: least and most.
#: Assumed: single-digit milliseconds; if calls took no time, clients without jitter would all
#: come back at the very moment at which they were refused.
CALL_SECONDS: Final = (0.002, 0.010)


@explain_arguments()
@dataclass(frozen=True, kw_only=True)
class Clients:
    """The clients among which requests are shared, in turn.

    A *call* is one SDK call of a request: a request that asks ten suffixes makes ten. Its SDK
    sends an attempt, waits after a refusal and sends the next, until it is answered or gives up.

    >>> Clients(count=20, concurrency=4, timeout=2.5).to_document()
    {'count': 20, 'concurrency': 4, 'timeout': 2.5}
    >>> Clients(count=20).to_document()
    20
    """

    #: How many there are; each has its own retry quota (CAP-708) and its own rate limit in
    #: adaptive mode.
    count: int = 100
    #: How many calls one client has under way at most: from the first attempt until the call is
    #: answered or given up, waits between attempts included. What arrives meanwhile waits in the
    #: client, in the order it came. None: no limit, requests are sent when they arrive.
    concurrency: int | None = None
    #: Seconds from a call's arrival after which its caller gives up: waiting for another call to
    #: end, attempts and waits between them together. None: as long as the SDK tries.
    timeout: float | None = None
    #: Whether waits are a random part of their schedule; None: as the retry mode has it.
    jitter: bool | None = None
    #: What is done with the unprocessed items or keys of a batch of which some were processed
    #: (CAP2-9). ``none``: nothing, they count as failed. ``requeue``: they are sent again at
    #: once, until all are done or the timeout is over, as boto3's ``batch_writer`` does.
    #: ``backoff``: they are sent again after the waits of the retry mode, as often as it tries.
    #: A batch that was refused in whole is an error, which the SDK retries in any case.
    batch_retry: BatchRetry = "none"

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"Clients.count must be at least 1, not {self.count}")
        if self.concurrency is not None and self.concurrency < 1:
            raise ValueError(f"Clients.concurrency must be at least 1, not {self.concurrency}")
        if self.timeout is not None and not (math.isfinite(self.timeout) and self.timeout > 0):
            raise ValueError(f"Clients.timeout must be above 0 seconds, not {self.timeout}")

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads: a number if only ``count`` is set."""
        document = {
            member.name: getattr(self, member.name)
            for member in fields(self)
            if member.name == "count" or getattr(self, member.name) != member.default
        }
        return self.count if len(document) == 1 else document


RETRY: Final = forms.choice({name: name for name in POLICIES})
CLIENTS: Final = Record(
    "clients",
    "The clients that send the requests, in turn.",
    {
        "count": FormMember(
            forms.integer(least=1),
            "How many there are. Each has its own retry quota, and in `adaptive` mode its own "
            "rate limit.",
            default=Clients.count,
            nullable=True,
        ),
        "concurrency": FormMember(
            forms.integer(least=1),
            "How many calls a client may have in flight; others wait in the client, in order of "
            "arrival. Without it: no limit.",
            example=20,
            nullable=True,
        ),
        "timeout": FormMember(
            forms.duration(),
            "How long a caller waits for a call, including waits between attempts, before it gives "
            "up. Without it: as long as the SDK tries.",
            example="5s",
            nullable=True,
        ),
        "retries": FormMember(
            RETRY, "The SDK's retry mode; the same as `retry` beside `clients`.", example="standard"
        ),
        "jitter": FormMember(
            forms.boolean(),
            "Whether waits are a random part of their schedule. Without it: as in the retry mode.",
            nullable=True,
        ),
        "batch_retry": FormMember(
            forms.choice(BATCH_RETRIES),
            "What the caller does with unprocessed items of a batch: `none` (they are lost), "
            "`requeue` (sent again at once), `backoff` (sent again after the waits of the retry "
            "mode).",
            default=Clients.batch_retry,
            nullable=True,
        ),
    },
)


def _made(_: Entry, values: dict[str, Any]) -> tuple[Clients, str | None]:
    retries = values.pop("retries", None)
    return Clients(**values), retries


_COUNT: Final = forms.integer(least=1).made(lambda _, count: (Clients(count=count), None))
_MAPPING: Final = CLIENTS.form.made(_made)
#: Read as the clients, and the retry mode if one is named.
FORM: Final = forms.either(
    _COUNT, _MAPPING, select=lambda entry: _MAPPING if isinstance(entry.value, dict) else _COUNT
)


def held_back(workload: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the client settings of a workload that only the exact engine plays, by name.

    >>> held_back({"clients": {"concurrency": 1}, "patterns": [{"retry": "adaptive"}, {}]})
    ('concurrency', 'adaptive retries')
    """
    clients = workload.get("clients")
    members = clients if isinstance(clients, Mapping) else {}
    modes = [own.get("retry") or workload.get("retry") for own in workload.get("patterns", ())]
    limits_rate = any(mode in POLICIES and POLICIES[mode].limits_rate for mode in modes)
    is_asked = {
        "concurrency": members.get("concurrency") is not None,
        "adaptive retries": limits_rate,
    }
    return tuple(name for name, asked in is_asked.items() if asked)
