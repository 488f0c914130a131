"""The wire form of table definitions: their request members, and how they are read.

What CreateTable, UpdateTable, restores and imports say of keys, indexes and throughput has
its shapes here, and the way from there to the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from emulator.engine import BillingMode, Throughput
from emulator.model import IndexSchema, KeySchema, KeyType, Projection, wire
from emulator.operations import shapes
from emulator.operations.shapes import Integer, List, Member, String, Structure, structure
from emulator.service import errors, limits

if TYPE_CHECKING:
    from emulator.model.vectors import VectorSchema

Wire: TypeAlias = Mapping[str, Any]

TABLE_NAME_REQUIRED: Final = (
    "The parameter 'TableName' is required but was not present in the request"
)
_ARN_LENGTH: Final = 1024


class DefinedTableName(String):
    """A table's name, or its ARN (TBL-1)."""

    def __init__(self) -> None:
        super().__init__(3, 255, shapes.NAME_PATTERN)
        self._as_arn = String(1, _ARN_LENGTH)

    def accepts(self, value: Any) -> bool:
        """Return whether the text is a name or an ARN."""
        if type(value) is str and value.startswith("arn:"):
            return self._as_arn.accepts(value)
        return super().accepts(value)

    def problems(self, value: Any, path: str) -> Iterator[str]:
        """Yield the faults of the name; an ARN can only be too long."""
        if value.startswith("arn:"):
            return self._as_arn.problems(value, path)
        return super().problems(value, path)


TABLE_NAME: Final = DefinedTableName()


class TableRequest(Structure):
    """A control-plane request: its TableName has a message of its own (TBL-5).

    Args:
        members: As of a structure, TableName excepted.
        reports_name_alone: A bad name is reported before, and without, any other fault (ERR-CT-1).
    """

    def __init__(self, members: Mapping[str, Member], *, reports_name_alone: bool = False) -> None:
        super().__init__({"TableName": TABLE_NAME.required, **members})
        self._reports_name_alone = reports_name_alone

    def check(self, request: Any) -> Sequence[str]:
        """Refuse a faulty request: types, the name, then all broken constraints together."""
        self.check_types(request)
        if request.get("TableName") is None:
            raise errors.ValidationException(TABLE_NAME_REQUIRED)
        if self._reports_name_alone:
            problems = tuple(TABLE_NAME.problems(request["TableName"], "tableName"))
            if problems:
                raise errors.RequestFault(shapes.envelope(*problems), is_final=True)
        return super().check(request)


def table_request(**members: Member) -> TableRequest:
    """Return the shape of a control-plane request on a table."""
    return TableRequest(members)


# Members. The order inside a structure is the order in which faults are listed (ERR-CT-1).

KEY_ATTRIBUTE_NAME: Final = String(1, 255)
KEY_SCHEMA_ELEMENT: Final = structure(
    "KeySchemaElement",
    AttributeName=KEY_ATTRIBUTE_NAME.required,
    KeyType=String(enum=("HASH", "RANGE")).required,
)
#: Of a table or local index: Source: CT-2, MAK-14.
KEY_SCHEMA: Final = List(KEY_SCHEMA_ELEMENT, least=1, most=2)
#: Of a global index: how many of each role it may have is a rule (MAK-12).
GLOBAL_KEY_SCHEMA: Final = List(KEY_SCHEMA_ELEMENT, least=1)
ATTRIBUTE_DEFINITIONS: Final = List(
    structure(
        "AttributeDefinition",
        AttributeName=KEY_ATTRIBUTE_NAME.required,
        AttributeType=String(enum=("B", "N", "S")).required,
    )
)
PROJECTION: Final = structure(
    "Projection",
    ProjectionType=String(enum=("ALL", "INCLUDE", "KEYS_ONLY")),
    NonKeyAttributes=List(String(1, 255), least=1, most=limits.NON_KEY_ATTRIBUTES),
)
BILLING_MODE: Final = String(enum=("PROVISIONED", "PAY_PER_REQUEST"))
PROVISIONED_THROUGHPUT: Final = structure(
    "ProvisionedThroughput",
    WriteCapacityUnits=shapes.POSITIVE_LONG.required,
    ReadCapacityUnits=shapes.POSITIVE_LONG.required,
)
ON_DEMAND_THROUGHPUT: Final = structure(
    "OnDemandThroughput",
    MaxReadRequestUnits=Integer(java="Long"),
    MaxWriteRequestUnits=Integer(java="Long"),
)
WARM_THROUGHPUT: Final = structure(
    "WarmThroughput",
    ReadUnitsPerSecond=Integer(java="Long"),
    WriteUnitsPerSecond=Integer(java="Long"),
)
LOCAL_INDEX: Final = structure(
    "LocalSecondaryIndex",
    IndexName=shapes.INDEX_NAME.required,
    KeySchema=KEY_SCHEMA.required,
    Projection=PROJECTION.required,
)
GLOBAL_INDEX: Final = structure(
    "GlobalSecondaryIndex",
    IndexName=shapes.INDEX_NAME.required,
    KeySchema=GLOBAL_KEY_SCHEMA.required,
    Projection=PROJECTION.required,
    ProvisionedThroughput=PROVISIONED_THROUGHPUT,
    OnDemandThroughput=ON_DEMAND_THROUGHPUT,
    WarmThroughput=WARM_THROUGHPUT,
)
VECTOR_INDEX: Final = structure(
    "VectorIndex",
    IndexName=shapes.INDEX_NAME.required,
    VectorAttribute=structure(
        "VectorAttributeDefinition", AttributeName=KEY_ATTRIBUTE_NAME.required
    ).required,
    Dimensions=shapes.TruncatedInteger(least=1, java="Long").required,
    # The order is the service's own (VIX-10).
    DistanceFunction=String(enum=("DOT_PRODUCT", "COSINE", "EUCLIDEAN")).required,
    Projection=PROJECTION.required,
    SearchSchema=List(
        structure(
            "SearchSchemaElement",
            AttributeName=String(0, limits.ATTRIBUTE_NAME_BYTES).required,
            SearchSchemaElementType=String(enum=("HASH", "INLINE_FILTER")).required,
        ),
        least=1,
    ),
)
STREAM_SPECIFICATION: Final = structure(
    "StreamSpecification",
    StreamEnabled=shapes.BOOLEAN.required,
    StreamViewType=String(enum=("NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY")),
)
SSE_SPECIFICATION: Final = structure(
    "SSESpecification",
    Enabled=shapes.BOOLEAN,
    SSEType=String(enum=("AES256", "KMS")),
    KMSMasterKeyId=shapes.STRING,
)
#: Keys and values of tags have rules of their own (TAG-2).
TAGS: Final = List(structure("Tag", Key=shapes.STRING, Value=shapes.STRING))


def load_index(
    index: Wire, types: Mapping[str, str], table_key: KeySchema, *, is_global: bool
) -> IndexSchema:
    """Return the index that a definition writes; NonKeyAttributes in name order (DS-2)."""
    projection = index["Projection"]
    names = tuple(sorted(projection.get("NonKeyAttributes") or ()))
    return IndexSchema(
        index["IndexName"],
        wire.load_key(index["KeySchema"], types),
        Projection(projection["ProjectionType"], names),
        is_global,
        table_key,
    )


def load_vector_index(index: Wire, types: Mapping[str, str], table_key: KeySchema) -> VectorSchema:
    """Return the vector index that a definition writes; its schema as submitted (VIX-3)."""
    from emulator.model.vectors import SearchAttribute, VectorSchema

    projection = index["Projection"]
    return VectorSchema(
        index["IndexName"],
        index["VectorAttribute"]["AttributeName"],
        int(index["Dimensions"]),
        index["DistanceFunction"],
        Projection(
            projection["ProjectionType"], tuple(sorted(projection.get("NonKeyAttributes") or ()))
        ),
        tuple(
            SearchAttribute(
                element["AttributeName"],
                cast(KeyType, types[element["AttributeName"]]),
                element["SearchSchemaElementType"],
            )
            for element in index.get("SearchSchema") or ()
        ),
        table_key,
    )


def load_throughput(billing: str, holder: Wire) -> Throughput:
    """Return the throughput that a table or index definition asks for."""
    provisioned = holder.get("ProvisionedThroughput") or {}
    maximum = holder.get("OnDemandThroughput") or {}
    warm = holder.get("WarmThroughput") or {}
    return Throughput(
        billing=cast(BillingMode, billing),
        read=provisioned.get("ReadCapacityUnits", 0),
        write=provisioned.get("WriteCapacityUnits", 0),
        max_read=maximum.get("MaxReadRequestUnits"),
        max_write=maximum.get("MaxWriteRequestUnits"),
        warm_read=warm.get("ReadUnitsPerSecond"),
        warm_write=warm.get("WriteUnitsPerSecond"),
    )
