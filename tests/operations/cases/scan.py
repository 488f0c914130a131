"""Cases of Scan: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    FILL,
    INVALID,
    KEY,
    MISFIT,
    NOT_SCALAR,
    NOT_THE_SCHEMA,
    ROWS,
    Case,
    compare,
    constraint,
    detected,
    refused,
    wire,
)

CASES = [
    # Which fault is reported first
    Case(
        "ERR-SCAN-1 members are reported together",
        "Scan",
        {"TableName": "hash", "Limit": 0, "TotalSegments": 0, "Segment": -1},
        error=refused(
            detected(
                "; ".join(
                    [
                        constraint(
                            "'0'",
                            "limit",
                            "Member must have value greater than or equal to 1",
                        ),
                        constraint(
                            "'-1'",
                            "segment",
                            "Member must have value greater than or equal to 0",
                        ),
                        constraint(
                            "'0'",
                            "totalSegments",
                            "Member must have value greater than or equal to 1",
                        ),
                    ]
                ),
                3,
            )
        ),
    ),
    # Values (PRO-5: bare everywhere)
    Case(
        "PRO-2, ERR-VAL-2 a scan words it as ever",
        "Scan",
        {
            "TableName": "hash",
            "FilterExpression": "a = :p",
            "ExpressionAttributeValues": {":p": {"N": "x"}},
        },
        error=refused(
            "ExpressionAttributeValues contains invalid value: "
            "The parameter cannot be converted to a numeric value: x for key :p"
        ),
    ),
    # Query and Scan
    Case(
        "SEL-2 scan",
        "Scan",
        {"TableName": "hash", "Select": "SPECIFIC_ATTRIBUTES"},
        error=refused(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES"
        ),
    ),
    Case(
        "SEL-3",
        "Scan",
        {"TableName": "hash", "Select": "COUNT", "ProjectionExpression": "a"},
        error=refused(
            "Cannot specify the ProjectionExpression when choosing to get only the Count"
        ),
    ),
    Case(
        "SEL-4",
        "Scan",
        {"TableName": "hash", "Select": "ALL_PROJECTED_ATTRIBUTES"},
        error=refused("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"),
    ),
    Case(
        "ESK-1 number of attributes",
        "Scan",
        {"TableName": "pair", "ExclusiveStartKey": KEY},
        error=refused(MISFIT),
    ),
    Case(
        "ESK-1 no attributes",
        "Scan",
        {"TableName": "hash", "ExclusiveStartKey": {}},
        error=refused(MISFIT),
    ),
    Case(
        "ESK-1 too many attributes",
        "Scan",
        {"TableName": "hash", "ExclusiveStartKey": wire({"pk": "a", "x": 1})},
        error=refused(MISFIT),
    ),
    Case(
        "ESK-1 number of attributes, of an index",
        "Scan",
        {"TableName": "indexed", "IndexName": "keys", "ExclusiveStartKey": KEY},
        error=refused("The provided starting key is invalid"),
    ),
    Case(
        "ESK-1 table key absent",
        "Scan",
        {"TableName": "pair", "ExclusiveStartKey": wire({"pk": "a", "x": 1})},
        error=refused(
            "The provided starting key is invalid: "
            "The provided key element does not match the schema"
        ),
    ),
    Case(
        "ESK-1 index key absent",
        "Scan",
        {
            "TableName": "indexed",
            "IndexName": "keys",
            "ExclusiveStartKey": wire({"pk": "a", "sk": "b", "x": "c"}),
        },
        error=refused("The provided starting key is invalid"),
    ),
    Case(
        "ESK-2 index key of another type",
        "Scan",
        {
            "TableName": "indexed",
            "IndexName": "keys",
            "ExclusiveStartKey": wire({"pk": "a", "sk": "b", "g": 1}),
        },
        error=refused(NOT_THE_SCHEMA),
    ),
    Case(
        "ESK-3",
        "Scan",
        {"TableName": "hash", "ExclusiveStartKey": {"pk": {"NULL": False}}},
        error=refused(
            "The provided starting key is invalid: "
            + INVALID
            + "Null attribute value types must have the value of true"
        ),
    ),
    Case(
        "SCN-2 no total",
        "Scan",
        {"TableName": "hash", "Segment": 0},
        error=refused(
            "The TotalSegments parameter is required but was not present in the request when "
            "Segment parameter is present"
        ),
    ),
    Case(
        "SCN-2 no segment",
        "Scan",
        {"TableName": "hash", "TotalSegments": 2},
        error=refused(
            "The Segment parameter is required but was not present in the request when parameter "
            "TotalSegments is present"
        ),
    ),
    Case(
        "SCN-2 too high",
        "Scan",
        {"TableName": "hash", "TotalSegments": 2, "Segment": 2},
        error=refused(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            "Segment: 2 is not less than TotalSegments: 2"
        ),
    ),
    # Limits
    Case(
        "EXP-4",
        "Scan",
        {"TableName": "hash", "FilterExpression": "a" * 4097},
        error=refused(
            "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; "
            "expression size: 4097"
        ),
    ),
    Case(
        "SCN-3 a start key of another segment",
        "Scan",
        {
            "TableName": "hash",
            "Segment": 0,
            "TotalSegments": 2,
            "ExclusiveStartKey": wire({"pk": "abc"}),
        },
        error=refused(
            "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
            "ExclusiveStartKey with correct Segment. TotalSegments: 2 Segment: 0"
        ),
    ),
    Case(
        "ERR-VAL-3, PRO-6 an empty value among expression values",
        "Scan",
        {
            "TableName": "hash",
            "FilterExpression": "a = :v",
            "ExpressionAttributeValues": {":v": {}},
        },
        error=refused(
            "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, "
            "must contain exactly one of the supported datatypes for key :v"
        ),
        http_only=True,
    ),
    Case(
        "ESK-3 an empty value",
        "Scan",
        {"TableName": "hash", "ExclusiveStartKey": {"pk": {}}},
        error=refused(
            "The provided starting key is invalid: Supplied AttributeValue is empty, "
            "must contain exactly one of the supported datatypes"
        ),
        http_only=True,
    ),
    # KeyConditions, filters, AttributesToGet
    Case(
        "LEG-5 a ScanFilter",
        "Scan",
        {
            "TableName": "pair",
            "ScanFilter": {"v": compare("EQ", "v0"), "sk": compare("LT", 4)},
            "AttributesToGet": ["sk"],
        },
        given=ROWS,
        answer={"Items": [wire({"sk": 2})], "Count": 1, "ScannedCount": 5},
    ),
    # Found by comparing with other emulators
    Case(
        "LEG-6 one to join",
        "Scan",
        {
            "TableName": "hash",
            "ConditionalOperator": "OR",
            "ScanFilter": {"x": {"ComparisonOperator": "NULL"}},
        },
        error=refused(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
        ),
    ),
    # Paths below a key (QRY-7)
    Case(
        "QRY-7 a table key is no index key, whatever is read",
        "Scan",
        {
            "TableName": "indexed",
            "IndexName": "local",
            "FilterExpression": "attribute_exists(pk.a)",
        },
        error=refused(NOT_SCALAR.format("Key: pk")),
    ),
    Case(
        "QRY-7 keys of every index, whatever is read",
        "Scan",
        {"TableName": "indexed", "FilterExpression": "attribute_exists(g.a)"},
        error=refused(NOT_SCALAR.format("IndexKey: g")),
    ),
    # Filters on what an index does not hold (QRY-10)
    *(
        Case(
            f"QRY-10, CAP-210 a scan finds nothing and fetches nothing: {index}",
            "Scan",
            {
                "TableName": "indexed",
                "IndexName": index,
                "FilterExpression": "attribute_exists(y)",
                "ReturnConsumedCapacity": "TOTAL",
            },
            given=[FILL],
            answer={
                "Items": [],
                "Count": 0,
                "ScannedCount": 1,
                # Four partitions, and no item is fetched from the table.
                "ConsumedCapacity": {"TableName": "indexed", "CapacityUnits": 2.0},
            },
        )
        for index in ("keys", "lean")
    ),
    # Start keys (ESK-*), where the layers of 2026 differ
    Case(
        "ESK-2 a scan is still served by the older layer",
        "Scan",
        {"TableName": "pair", "ExclusiveStartKey": wire({"pk": "a", "sk": "b"})},
        error=refused(MISFIT),
    ),
    # Members
    Case(
        "ERR-SCAN-1 Select before the segments",
        "Scan",
        {"TableName": "hash", "Segment": 5, "TotalSegments": 5, "Select": "SPECIFIC_ATTRIBUTES"},
        error=refused(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES"
        ),
    ),
    # Query and Scan
    Case(
        "SEL-7, CAP-212, EX-21 an empty on-demand table has four partitions",
        "Scan",
        {"TableName": "hash", "Select": "COUNT", "ReturnConsumedCapacity": "TOTAL"},
        answer={
            "Count": 0,
            "ScannedCount": 0,
            "ConsumedCapacity": {"TableName": "hash", "CapacityUnits": 2.0},
        },
    ),
]
