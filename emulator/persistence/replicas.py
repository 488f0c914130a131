"""Replicas in a snapshot file: their group, and the writes on their way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from emulator.engine import Replica, ReplicaMember, Witness
from emulator.engine.replicas import Consistency, Message, Version
from emulator.model.wire import dump_item, load_item
from emulator.persistence.written import Moments, dump_position, load_position, text

Written = Mapping[str, Any]


def dump(replica: Replica) -> dict[str, Any]:
    """Return the state of a replica."""
    return {
        "region": replica.region,
        "members": [
            [region, member.active_at_ns, member.is_new, member.overrides]
            for region, member in replica.members.items()
        ],
        "consistency": replica.consistency,
        "witness": replica.witness,
        "is_protected": replica.is_protected,
        "versions": [
            [dump_position(position), version] for position, version in replica.versions.items()
        ],
        "inbox": [
            {
                "due": message.due_ns,
                "version": message.version,
                "position": dump_position(message.position),
                "new": None if message.new is None else dump_item(message.new.attributes),
            }
            for message in sorted(replica.inbox)
        ],
    }


def load(written: Written, moments: Moments) -> Replica:
    """Return the replica that a file writes."""
    members = {
        text(region): ReplicaMember(moments.ns(active), bool(is_new), dict(overrides))
        for region, active, is_new, overrides in written["members"]
    }
    if written["consistency"] not in get_args(Consistency):
        raise ValueError("a global table has no such consistency")
    witness = written["witness"]
    if witness is not None:
        witness = Witness(text(witness[0]), moments.ns(witness[1]))
    replica = Replica(text(written["region"]), members, written["consistency"], witness)
    if replica.region not in members:
        raise ValueError("a replica is a member of its group")
    replica.is_protected = bool(written["is_protected"])
    replica.versions = {
        load_position(position): _load_version(version, moments)
        for position, version in written["versions"]
    }
    replica.inbox = [_load_message(message, moments) for message in written["inbox"]]
    return replica


def _load_version(written: list[Any], moments: Moments) -> Version:
    time_ns, region, written_ns = written
    return Version(moments.ns(time_ns), text(region), moments.ns(written_ns))


def _load_message(written: Written, moments: Moments) -> Message:
    return Message(
        moments.ns(written["due"]),
        _load_version(written["version"], moments),
        load_position(written["position"]),
        None if written["new"] is None else load_item(written["new"]),
    )
