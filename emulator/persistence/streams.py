"""Streams in a snapshot file: each with its records, those of deleted tables included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from typing import Any, get_args

from emulator.engine import Account, Stream, StreamRecord
from emulator.engine.shards import Shard
from emulator.engine.streams import ViewType
from emulator.model import Item
from emulator.model.wire import dump_item, dump_key, dump_types, load_item, load_key, load_types
from emulator.persistence.table_state import load_policy
from emulator.persistence.written import Moments, integer, text

Written = Mapping[str, Any]


def dump(stream: Stream) -> Iterator[dict[str, Any]]:
    """Yield a stream, then its records, oldest first."""
    records = stream.records
    types = {attribute.name: attribute.type for attribute in stream.key.attributes}
    yield {
        "stream": stream.arn,
        "label": stream.label,
        "table_name": stream.table_name,
        "key": dump_key(stream.key),
        "types": dump_types(types),
        "view": stream.view,
        "created": stream.created_ns,
        "closed": stream.closed_ns,
        "tags": stream.tags,
        "policy": stream.policy,
        "next_number": stream.next_number,
        **_dump_shards(stream),
        "records": len(records),
    }
    for record in records:
        yield {
            "number": record.number,
            "created": record.created_ns,
            "old": _dump_image(record.old),
            "new": _dump_image(record.new),
            "by_service": record.by_service,
            "shard": record.shard,
        }


def _dump_shards(stream: Stream) -> dict[str, Any]:
    """Return the shards of a stream that has more than the one it began with, or had."""
    shards = stream.shards
    if not shards.follows_partitions:
        return {}
    written = [list(astuple(shard)) for shard in shards]
    return {"shards": written, "shards_opened": shards.opened}


def _dump_image(image: Item | None) -> dict[str, Any] | None:
    return None if image is None else dump_item(image.attributes)


def load(account: Account, head: Written, lines: Iterable[Written], moments: Moments) -> None:
    """Give an account a stream of a file, with its records."""
    if head["view"] not in get_args(ViewType):
        raise ValueError("a stream has no such view")
    stream = Stream(
        arn=text(head["stream"]),
        label=text(head["label"]),
        table_name=text(head["table_name"]),
        key=load_key(head["key"], load_types(head["types"])),
        view=head["view"],
        now_ns=moments.ns(head["created"]),
        shard_seconds=account.settings.stream_shard_seconds,
    )
    stream.tags = {text(name): text(value) for name, value in head["tags"].items()}
    stream.policy = load_policy(head["policy"])
    records = [_load_record(stream, line, moments) for line in lines]
    stream.restore(records, integer(head["next_number"], 1))
    if "shards" in head:
        shards = [_load_shard(written, moments) for written in head["shards"]]
        stream.shards.restore(shards, integer(head["shards_opened"], len(shards)))
    if not {record.shard for record in records} <= {shard.number for shard in stream.shards}:
        raise ValueError("a record of a stream has no shard")
    if head["closed"] is not None:
        stream.close(moments.ns(head["closed"]))
    account.streams[stream.arn] = stream


def _load_record(stream: Stream, line: Written, moments: Moments) -> StreamRecord:
    old, new = (None if line[side] is None else load_item(line[side]) for side in ("old", "new"))
    image = old if new is None else new
    if image is None or not stream.key.holds(image):
        raise ValueError("a record of a stream has no key")
    return StreamRecord(
        integer(line["number"], 1),
        moments.ns(line["created"]),
        image.pick(stream.key.names),
        old,
        new,
        bool(line["by_service"]),
        integer(line.get("shard", 0)),
    )


def _load_shard(written: list[Any], moments: Moments) -> Shard:
    shard_id, number, parent, partition_id, first_number, last_number, trimmed, *moved = written
    # Files of before have no moment of opening; the name of a shard has it to the millisecond.
    opened_ns = moved[0] if len(moved) > 1 else int(text(shard_id).split("-")[1]) * 1_000_000
    closed_ns = moved[-1]
    return Shard(
        text(shard_id),
        integer(number),
        None if parent is None else integer(parent),
        integer(partition_id),
        integer(first_number, 1),
        integer(last_number),
        integer(trimmed),
        moments.ns(opened_ns),
        None if closed_ns is None else moments.ns(closed_ns),
    )
