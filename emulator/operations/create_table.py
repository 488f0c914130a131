"""CreateTable (CT-1 to CT-16, ERR-CT-1 to ERR-CT-16)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

from emulator.engine import Account, Table, TableOptions
from emulator.model import wire
from emulator.model.wire import INVALID
from emulator.operations import definitions, descriptions, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.replicas import SETTINGS_MODE
from emulator.operations.resource_policies import (
    new_policy,
    policy_is_well_formed,
)
from emulator.operations.rules import tables as rules
from emulator.operations.rules import vectors
from emulator.operations.rules.tags import load_tags
from emulator.service.catalogue import NOT_THERE
from emulator.service.errors import ResourceInUseException, ValidationException

SAME_ACCOUNT: Final = (
    INVALID + "GlobalTableSourceArn must name a table of another account; UpdateTable adds "
    "replicas of the same account"
)
OTHER_ACCOUNT: Final = (
    INVALID + "GlobalTableSourceArn names a table of another account, and an emulator has one "
    f"account: see docs/{NOT_THERE}"
)
TABLE_EXISTS: Final = "Table already exists: {name}"


class _CreateRequest(definitions.TableRequest):
    """A request to create a table; a replica of another account's has no definition (GTB-9)."""

    def check(self, request: Any) -> Sequence[str]:
        """Refuse a faulty request."""
        if type(request) is dict and request.get("GlobalTableSourceArn") is not None:
            return _REPLICA_SHAPE.check(request)
        return super().check(request)


_OF_ANOTHER_ACCOUNT: Final = {
    "GlobalTableSourceArn": shapes.String(1, 1024),
    "GlobalTableSettingsReplicationMode": SETTINGS_MODE,
}
_REPLICA_SHAPE: Final = definitions.table_request(**_OF_ANOTHER_ACCOUNT)
SHAPE = _CreateRequest(
    {
        "BillingMode": definitions.BILLING_MODE,
        "ProvisionedThroughput": definitions.PROVISIONED_THROUGHPUT,
        "KeySchema": definitions.KEY_SCHEMA.required,
        "AttributeDefinitions": definitions.ATTRIBUTE_DEFINITIONS.required,
        "GlobalSecondaryIndexes": shapes.List(definitions.GLOBAL_INDEX),
        "LocalSecondaryIndexes": shapes.List(definitions.LOCAL_INDEX),
        "VectorIndexes": shapes.List(definitions.VECTOR_INDEX),
        "StreamSpecification": definitions.STREAM_SPECIFICATION,
        "OnDemandThroughput": definitions.ON_DEMAND_THROUGHPUT,
        "WarmThroughput": definitions.WARM_THROUGHPUT,
        "SSESpecification": definitions.SSE_SPECIFICATION,
        "TableClass": shapes.STRING,
        "DeletionProtectionEnabled": shapes.BOOLEAN,
        "Tags": definitions.TAGS,
        "ResourcePolicy": shapes.STRING,
        **_OF_ANOTHER_ACCOUNT,
    },
    reports_name_alone=True,
)

# The order is observable: a request with two faults is answered with the first (ERR-CT-1).
RULES = (
    vectors.new_indexes_are_well_formed,
    rules.throughput_fits_the_billing_mode,
    rules.table_units_are_in_bounds,
    rules.keys_are_defined,
    rules.index_key_names_differ,
    rules.definitions_are_used,
    rules.definitions_are_unique,
    rules.keys_are_well_formed,
    rules.index_lists_are_not_empty,
    rules.local_indexes_share_the_partition_key,
    rules.indexes_are_not_too_many,
    rules.index_names_are_unique,
    rules.projections_are_complete,
    rules.index_throughput_fits_the_billing_mode,
    rules.stream_names_its_view,
)


@operation("CreateTable", shape=SHAPE)
def create_table(account: Account, request: Request) -> Response:
    """Create a table; the answer says CREATING, whatever the delay (CT-15)."""
    if request.get("GlobalTableSourceArn") is not None:
        refuse_source(account, request["GlobalTableSourceArn"])
    for rule in RULES:
        rule(request)
    rules.maxima_and_warm_throughput_fit(request, account.settings)
    rules.encryption_is_consistent(request)
    rules.table_class_exists(request)
    options = load_options(account, request)
    policy = request.get("ResourcePolicy")
    if policy is not None:
        policy_is_well_formed(policy)
    name = free_name(account, request["TableName"])

    table = make_table(account, name, request)
    table.options = options
    if policy is not None:
        options.policy = new_policy(account, table.arn, policy)
    account.tables[name] = table
    account.watch(table)
    stream = request.get("StreamSpecification")
    if stream is not None and stream["StreamEnabled"]:
        account.open_stream(table, stream["StreamViewType"])
    return {"TableDescription": descriptions.describe_table(account, table, status="CREATING")}


def refuse_source(account: Account, arn: str) -> NoReturn:
    """Refuse a replica of another account's table: an emulator has one account (GTB-9).

    Assumed: the text for a table of the same account.
    """
    if arn.split(":")[4:5] == [account.account_id]:
        raise ValidationException(SAME_ACCOUNT)
    raise ValidationException(OTHER_ACCOUNT)


def free_name(account: Account, named: str) -> str:
    """Return the name of a table to be made, by name or ARN, unless it is taken (CT-14)."""
    name = account.table_name(named) if named.startswith("arn:") else named
    account.forget_deleted()
    if account.find_table(name) is not None:
        raise ResourceInUseException(TABLE_EXISTS.format(name=name))
    return name


def load_options(account: Account, request: Request) -> TableOptions:
    """Return the settings of a table that a definition writes."""
    return TableOptions(
        deletion_protection=request.get("DeletionProtectionEnabled", False),
        table_class=request.get("TableClass"),
        sse=load_encryption(account, request.get("SSESpecification")),
        tags=load_tags(request.get("Tags") or ()),
    )


def load_encryption(account: Account, specification: Request | None) -> Response | None:
    """Return the SSEDescription that a specification leads to, or None (DS-7)."""
    if specification is None or not specification.get("Enabled"):
        return None
    key = key_arn(account, specification) or _kms_arn(account, f"key/{account.new_id('kms')}")
    return {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": key}


def key_arn(account: Account, specification: Request) -> str | None:
    """Return the ARN of the key that a specification names by id, alias or ARN, if it does."""
    key: str | None = specification.get("KMSMasterKeyId")
    if key is None or key.startswith("arn:"):
        return key
    return _kms_arn(account, key if key.startswith(("key/", "alias/")) else f"key/{key}")


def _kms_arn(account: Account, key: str) -> str:
    return f"arn:aws:kms:{account.region}:{account.account_id}:{key}"


def make_table(account: Account, name: str, request: Request) -> Table:
    """Return a new table with the keys, indexes and throughput that a request defines.

    Raises:
        LimitExceededException: it asks for more units than there may be (CAP-615). They are looked
            at before a partition is made for every thousand of them.
    """
    types = wire.load_types(request["AttributeDefinitions"])
    billing = rules.billing(request)
    global_indexes = request.get("GlobalSecondaryIndexes") or ()
    wanted = [definitions.load_throughput(billing, holder) for holder in (request, *global_indexes)]
    rules.units_are_within_the_quotas(account, name, wanted)
    key = wire.load_key(request["KeySchema"], types)
    table = Table(
        name,
        arn=account.arn(f"table/{name}"),
        table_id=account.new_id(f"table/{name}"),
        key=key,
        attribute_types=types,
        throughput=wanted[0],
        settings=account.settings,
        now_ns=account.now_ns,
    )
    for index, throughput in zip(global_indexes, wanted[1:], strict=True):
        schema = definitions.load_index(index, types, key, is_global=True)
        table.add_index(schema, throughput, now_ns=account.now_ns)
    for index in request.get("LocalSecondaryIndexes") or ():
        schema = definitions.load_index(index, types, key, is_global=False)
        table.add_index(schema, None, now_ns=account.now_ns)
    for index in request.get("VectorIndexes") or ():
        vector_schema = definitions.load_vector_index(index, types, key)
        table.add_vector_index(vector_schema, now_ns=account.now_ns)
    return table
