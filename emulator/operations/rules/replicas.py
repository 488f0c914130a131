"""Rules of changes to the replicas of a global table (OTH-14, GTB-5 to GTB-10).

Assumed: the texts, but for that of a table in the way; the service model gives UpdateTable no error
shape for replicas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from emulator.engine import Account, Table
from emulator.model.wire import INVALID
from emulator.operations.rules.tables import TABLE_QUOTA
from emulator.service.errors import LimitExceededException, ValidationException

Wire: TypeAlias = Mapping[str, Any]

REPLICA_EXISTS: Final = INVALID + "Replica already exists in region: {region}"
NO_REPLICA: Final = INVALID + "Replica does not exist in region: {region}"
OWN_REGION: Final = (
    INVALID + "Cannot add, delete, or update the local region through ReplicaUpdates"
)
NO_ACTION: Final = INVALID + "One of Create, Update, Delete must be specified in a ReplicaUpdate"
#: Observed: reports of users of Terraform and CloudFormation.
TABLE_IN_THE_WAY: Final = (
    "Failed to create a the new replica of table with name: '{name}' because one or more replicas "
    "already existed as tables."
)
STREAM_IS_NEEDED: Final = INVALID + "The stream of a global table replica cannot be disabled"
STRONG_NEEDS_CREATION: Final = (
    INVALID + "MultiRegionConsistency can be STRONG only when the first replicas are created"
)
STRONG_NEEDS_THREE: Final = (
    INVALID + "A global table with multi-Region strong consistency needs exactly three Regions of "
    "one Region set: three replicas, or two replicas and a witness"
)
STRONG_NEEDS_EMPTY: Final = (
    INVALID + "A table must be empty to become a global table with multi-Region strong consistency"
)
STRONG_WITHOUT: Final = (
    INVALID + "A global table with multi-Region strong consistency does not support {what}"
)
MODE_IS_FINAL: Final = INVALID + "MultiRegionConsistency of a global table cannot be changed"
STRONG_IS_COMPLETE: Final = (
    INVALID + "Replicas of a global table with multi-Region strong consistency can only be deleted "
    "until one table is left"
)
ONE_WITNESS_ACTION: Final = (
    INVALID + "GlobalTableWitnessUpdates needs exactly one of Create and Delete"
)
WITNESS_NEEDS_REPLICAS: Final = (
    INVALID + "A witness is created with the replicas of a global table with multi-Region strong "
    "consistency, and deleted with them"
)
NO_WITNESS: Final = INVALID + "There is no witness in region: {region}"
NOT_A_REPLICA: Final = INVALID + "The table is not a replica of a global table"
DISASSOCIATION_ALONE: Final = INVALID + "Disassociate must be the only change in a request"
DISASSOCIATION_ELSEWHERE: Final = (
    INVALID + "Disassociate must name the Region that the request is sent to"
)
IS_PROTECTED: Final = INVALID + "Disassociation protection is enabled for this replica"

#: Source: GTB-6.
REGION_SETS: Final = (
    frozenset(("us-east-1", "us-east-2", "us-west-2")),
    frozenset(("eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1")),
    frozenset(("ap-northeast-1", "ap-northeast-2", "ap-northeast-3")),
)
_ACTIONS: Final = ("Create", "Update", "Delete", "Disassociate")


class ReplicaAction(NamedTuple):
    """One change of a group: what is to happen to the replica of which region."""

    kind: str
    region: str
    body: Wire


def actions_of(request: Wire) -> list[ReplicaAction]:
    """Return the changes of replicas that a request asks for; each entry has one."""
    actions = []
    for update in request.get("ReplicaUpdates") or ():
        kinds = [kind for kind in _ACTIONS if update.get(kind) is not None]
        if len(kinds) != 1:
            raise ValidationException(NO_ACTION)
        body = update[kinds[0]]
        actions.append(ReplicaAction(kinds[0], body["RegionName"], body))
    return actions


def witness_of(request: Wire) -> ReplicaAction | None:
    """Return the change of the witness that a request asks for (GTB-8)."""
    updates = request.get("GlobalTableWitnessUpdates")
    if not updates:
        return None
    kinds = [kind for kind in ("Create", "Delete") if updates[0].get(kind) is not None]
    if len(updates) != 1 or len(kinds) != 1:
        raise ValidationException(ONE_WITNESS_ACTION)
    return ReplicaAction(kinds[0], updates[0][kinds[0]]["RegionName"], updates[0][kinds[0]])


def replicas_can_change(account: Account, table: Table, request: Wire) -> None:
    """Refuse changes that the group of a table cannot go through (OTH-14, GTB-6 to GTB-10)."""
    actions, witness = actions_of(request), witness_of(request)
    if any(action.kind == "Disassociate" for action in actions):
        _can_be_disassociated(account, table, actions)
        return
    regions = set() if table.replica is None else set(table.replica.others)
    for action in actions:
        if action.region == account.region:
            raise ValidationException(OWN_REGION)
        if (action.kind == "Create") == (action.region in regions):
            message = REPLICA_EXISTS if action.kind == "Create" else NO_REPLICA
            raise ValidationException(message.format(region=action.region))
        _reads_are_within_the_quota(action.body, account.settings.table_quota)
        if action.kind == "Create":
            regions.add(action.region)
        elif action.kind == "Delete":
            regions.remove(action.region)
    _consistency_is_kept(account, table, request, actions, witness, regions)


def _reads_are_within_the_quota(body: Wire, quota: int) -> None:
    """Refuse more units for reads of a replica than a table may have (CAP-615)."""
    for holder in (body, *(body.get("GlobalSecondaryIndexes") or ())):
        units = (holder.get("ProvisionedThroughputOverride") or {}).get("ReadCapacityUnits") or 0
        if units > quota:
            message = TABLE_QUOTA.format(member="ReadCapacityUnits", quota=quota)
            raise LimitExceededException(message)


def _can_be_disassociated(account: Account, table: Table, actions: Sequence[ReplicaAction]) -> None:
    """Refuse to let a replica leave its group (GTB-10)."""
    if len(actions) != 1:
        raise ValidationException(DISASSOCIATION_ALONE)
    if actions[0].region != account.region:
        raise ValidationException(DISASSOCIATION_ELSEWHERE)
    if table.replica is None:
        raise ValidationException(NOT_A_REPLICA)
    if table.replica.is_strong:
        raise ValidationException(STRONG_WITHOUT.format(what="disassociation"))
    if table.replica.is_protected:
        raise ValidationException(IS_PROTECTED)


def _consistency_is_kept(
    account: Account,
    table: Table,
    request: Wire,
    actions: Sequence[ReplicaAction],
    witness: ReplicaAction | None,
    others: set[str],
) -> None:
    """Hold what strong consistency asks of a group before and after a change (GTB-6, GTB-8)."""
    wanted, replica = request.get("MultiRegionConsistency"), table.replica
    if replica is None:
        creates = bool(actions)
        if wanted == "STRONG":
            if not creates:
                raise ValidationException(STRONG_NEEDS_CREATION)
            _can_be_strong(account, table, witness, others)
        elif witness is not None:
            raise ValidationException(WITNESS_NEEDS_REPLICAS)
        return
    if wanted not in (None, replica.consistency):
        raise ValidationException(MODE_IS_FINAL)
    if not replica.is_strong:
        if witness is not None:
            raise ValidationException(WITNESS_NEEDS_REPLICAS)
        return
    _can_be_dissolved(table, actions, witness, others)


def _can_be_strong(
    account: Account, table: Table, witness: ReplicaAction | None, others: set[str]
) -> None:
    """Refuse a group, or a table, that strong consistency does not go with (GTB-6)."""
    if witness is not None and witness.kind != "Create":
        raise ValidationException(NO_WITNESS.format(region=witness.region))
    regions = [account.region, *others, *([] if witness is None else [witness.region])]
    is_of_one_set = any(set(regions) <= region_set for region_set in REGION_SETS)
    if len(regions) != 3 or len(set(regions)) != 3 or not is_of_one_set:
        raise ValidationException(STRONG_NEEDS_THREE)
    if len(table.store):
        raise ValidationException(STRONG_NEEDS_EMPTY)
    if table.local_indexes:
        raise ValidationException(STRONG_WITHOUT.format(what="local secondary indexes"))
    if table.expiry is not None:
        raise ValidationException(STRONG_WITHOUT.format(what="time to live"))


def _can_be_dissolved(
    table: Table, actions: Sequence[ReplicaAction], witness: ReplicaAction | None, others: set[str]
) -> None:
    """Refuse changes of a strong group but those that leave one table and no witness (GTB-8)."""
    replica = table.replica
    assert replica is not None, "a table that is no replica is in no group"
    if all(action.kind == "Update" for action in actions) and witness is None:
        return
    present = replica.witness
    if witness is not None and (present is None or witness.region != present.region):
        raise ValidationException(NO_WITNESS.format(region=witness.region))
    has_creation = any(action.kind == "Create" for action in actions)
    leaves_witness = (present is None) != (witness is None)
    is_deleted = witness is None or witness.kind == "Delete"
    if has_creation or others or leaves_witness or not is_deleted:
        raise ValidationException(STRONG_IS_COMPLETE)


def no_table_is_in_the_way(account: Account, name: str) -> None:
    """Refuse a replica where a table has its name already."""
    account.forget_deleted()
    if account.tables.get(name) is not None:
        raise ValidationException(TABLE_IN_THE_WAY.format(name=name))


def stream_stays(request: Wire, table: Table) -> None:
    """Refuse to disable the stream that replicas are fed from (GTB-2)."""
    specification = request.get("StreamSpecification")
    if specification is None or specification["StreamEnabled"] or table.replica is None:
        return
    if not table.replica.is_strong:
        raise ValidationException(STREAM_IS_NEEDED)


def is_a_replica(table: Table) -> None:
    """Refuse what only a replica has (GTB-10)."""
    if table.replica is None:
        raise ValidationException(NOT_A_REPLICA)


def is_not_strong(tables: Sequence[Table], what: str) -> None:
    """Refuse what does not go with strong consistency (GTB-6)."""
    for table in tables:
        if table.replica is not None and table.replica.is_strong:
            raise ValidationException(STRONG_WITHOUT.format(what=what))
