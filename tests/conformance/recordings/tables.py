"""What tables are made of and say of themselves: settings, indexes, backups, policies, limits."""

import json

from tests.conformance.recordings.recording import INVALID, Part, accepted, key, pair, refused
from tests.tables import ARN, UNITS, index, schema, table, types

TAB = {"TableName": "tab"}


def created(**members):
    return accepted("CreateTable", table(**members), unrecorded=None)


def described(**members):
    return accepted("DescribeTable", TAB, Table=Part(members))


def changed(**members):
    return accepted("UpdateTable", TAB | members, unrecorded=None)


INFREQUENT = "STANDARD_INFREQUENT_ACCESS"
CAPPED = {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5}
MORE = {"MaxReadRequestUnits": 20, "MaxWriteRequestUnits": 15}
CONFIG = {
    "protected": [
        created(DeletionProtectionEnabled=True),
        described(DeletionProtectionEnabled=True),
    ],
    "not protected": [created(), described(DeletionProtectionEnabled=False)],
    "a class": [
        created(TableClass=INFREQUENT),
        described(TableClassSummary=Part(TableClass=INFREQUENT)),
    ],
    "no class": [created(), described(TableClassSummary=None)],
    "encrypted": [
        created(SSESpecification={"Enabled": True}),
        described(SSEDescription=Part(Status="ENABLED", SSEType="KMS")),
    ],
    "not encrypted": [created(), described(SSEDescription=None)],
    "capped": [created(OnDemandThroughput=CAPPED), described(OnDemandThroughput=CAPPED)],
}
PROTECTED = (
    "Resource cannot be deleted as it is currently protected against deletion. Disable deletion "
    "protection first."
)
UPDATE_CONFIG = {
    "protected": [
        created(),
        changed(DeletionProtectionEnabled=True),
        described(DeletionProtectionEnabled=True),
    ],
    "a class": [
        created(),
        changed(TableClass=INFREQUENT),
        described(TableClassSummary=Part(TableClass=INFREQUENT)),
    ],
    "capped": [
        created(OnDemandThroughput=CAPPED),
        changed(OnDemandThroughput=MORE),
        described(OnDemandThroughput=MORE),
    ],
    "a delete that is refused": [
        created(DeletionProtectionEnabled=True),
        refused("DeleteTable", TAB, PROTECTED),
    ],
    "a delete": [
        created(DeletionProtectionEnabled=True),
        changed(DeletionProtectionEnabled=False),
        accepted("DeleteTable", TAB, unrecorded=None),
        refused(
            "DescribeTable",
            TAB,
            "Requested resource not found: Table: tab not found",
            "ResourceNotFoundException",
        ),
    ],
}
ON_DEMAND = INVALID + (
    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
    "PAY_PER_REQUEST"
)
NOT_INCLUDED = INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"
NO_STREAM = INVALID + (
    "Table is being created with a stream disabled, UpdateViewType should not be specified"
)
INCLUDE = {"ProjectionType": "INCLUDE"}


def refuses(message, **members):
    return [refused("CreateTable", table(**members), message)]


REFUSED = {
    "units on demand": refuses(
        ON_DEMAND, BillingMode="PAY_PER_REQUEST", ProvisionedThroughput=UNITS
    ),
    "a view of no stream": refuses(
        NO_STREAM,
        StreamSpecification={"StreamEnabled": False, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    ),
    "INCLUDE of nothing": refuses(
        NOT_INCLUDED,
        names="pk g",
        GlobalSecondaryIndexes=[index("by_g", schema("g")) | {"Projection": INCLUDE}],
    ),
}
LOCAL_INCLUDE = refuses(
    NOT_INCLUDED,
    partition="pk",
    sort="sk",
    names="pk sk l",
    LocalSecondaryIndexes=[index("by_l", schema("pk", "l")) | {"Projection": INCLUDE}],
)
# The id that CreateTable answered with finds the table again; so does its ARN.
LATER = [
    accepted(
        "DescribeTable",
        lambda before: {"TableName": before["TableDescription"]["TableArn"]},
        Table=Part(TableName="tab", TableStatus="ACTIVE"),
    )
]
CREATE = REFUSED | {
    "its id": [created(), *LATER],
}
MESSAGES = REFUSED | {
    "INCLUDE of nothing, local": LOCAL_INCLUDE,
    "a key attribute twice": refuses(
        "Invalid KeySchema: Some index key attribute have no definition",
        names="pk",
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "pk", "KeyType": "RANGE"},
        ],
    ),
    "a local index without a sort key": refuses(
        INVALID + "Table KeySchema does not have a range key, which is required when specifying a "
        "LocalSecondaryIndex",
        names="pk l",
        LocalSecondaryIndexes=[index("by_l", schema("pk", "l"))],
    ),
    "an index twice": refuses(
        INVALID + "Duplicate index name: same",
        names="pk a b",
        GlobalSecondaryIndexes=[index("same", schema("a")), index("same", schema("b"))],
    ),
    "a short name": refuses(
        "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3",
        TableName="ab",
    ),
    "no name": [
        refused(
            "CreateTable",
            {name: value for name, value in table().items() if name != "TableName"},
            "The parameter 'TableName' is required but was not present in the request",
        )
    ],
    "an unknown type": refuses(
        "1 validation error detected: Value 'INVALID' at "
        "'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must "
        "satisfy enum value set: [B, N, S]",
        names="pk:INVALID",
    ),
    "an unknown kind of key": refuses(
        "1 validation error detected: Value 'INVALID' at 'keySchema.1.member.keyType' failed to "
        "satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]",
        KeySchema=[{"AttributeName": "pk", "KeyType": "INVALID"}],
    ),
}


def adds(name, key_schema, definitions):
    return {
        "AttributeDefinitions": types(definitions),
        "GlobalSecondaryIndexUpdates": [
            {
                "Create": {
                    "IndexName": name,
                    "KeySchema": key_schema,
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            }
        ],
    }


BASE = created(partition="pk", sort="sk")
GSI = {
    "one after the other": [
        BASE,
        changed(**adds("by_g1", schema("g1"), "g1")),
        changed(**adds("by_g2", schema("g2"), "g2:N")),
        described(AttributeDefinitions=types("g1 g2:N pk sk")),
    ],
    "another type is passed over": [
        BASE,
        accepted(
            "UpdateTable",
            TAB | adds("by_g", schema("g"), "pk:N g"),
            TableDescription=Part(AttributeDefinitions=types("g pk sk")),
        ),
        accepted("PutItem", TAB | {"Item": pair()}),
    ],
    "an unused definition is dropped": [
        BASE,
        changed(**adds("by_g", schema("g"), "g unused")),
        described(AttributeDefinitions=types("g pk sk")),
    ],
    "the request defines its keys": [
        BASE,
        refused(
            "UpdateTable",
            TAB | adds("by_g", schema("pk", "g3"), "g3"),
            "Invalid KeySchema: Some index key attribute have no definition",
        ),
    ],
}
LIMITS = {
    name: 80_000.0 if name.startswith("Account") else 40_000.0
    for name in (
        "AccountMaxReadCapacityUnits",
        "AccountMaxWriteCapacityUnits",
        "TableMaxReadCapacityUnits",
        "TableMaxWriteCapacityUnits",
    )
}
ACCOUNT = {
    "limits": [accepted("DescribeLimits", {}, **LIMITS)],
    "endpoints": [
        accepted(
            "DescribeEndpoints",
            {},
            Endpoints=[
                {"Address": "dynamodb.us-east-1.amazonaws.com", "CachePeriodInMinutes": 1440}
            ],
        )
    ],
}


def recovery(status):
    return accepted(
        "DescribeContinuousBackups",
        TAB,
        ContinuousBackupsDescription=Part(
            PointInTimeRecoveryDescription=Part(PointInTimeRecoveryStatus=status)
        ),
    )


CONTINUOUS = {
    "off": [created(), recovery("DISABLED")],
    "on": [
        created(),
        accepted(
            "UpdateContinuousBackups",
            TAB | {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}},
            unrecorded=None,
        ),
        recovery("ENABLED"),
    ],
}
BACKED_UP = [
    created(),
    accepted("PutItem", TAB | {"Item": key()}),
    accepted("CreateBackup", TAB | {"BackupName": "saved"}, unrecorded=None),
]


def of_backup(**members):
    return lambda before: {"BackupArn": before["BackupDetails"]["BackupArn"], **members}


DELETED = accepted("DeleteBackup", of_backup(), unrecorded=None)
BACKUPS = {
    "a life": [
        *BACKED_UP,
        accepted(
            "DescribeBackup",
            of_backup(),
            BackupDescription=Part(BackupDetails=Part(BackupStatus="AVAILABLE")),
        ),
        accepted("ListBackups", TAB, BackupSummaries=[Part(BackupName="saved")]),
        DELETED,
        accepted("ListBackups", TAB, BackupSummaries=[]),
    ],
    "a restore": [
        *BACKED_UP,
        accepted(
            "RestoreTableFromBackup",
            of_backup(TargetTableName="again"),
            TableDescription=Part(TableName="again", RestoreSummary=Part(RestoreInProgress=True)),
        ),
    ],
    "gone": [
        *BACKED_UP,
        DELETED,
        refused("DescribeBackup", of_backup(), code="BackupNotFoundException"),
    ],
}
INSIGHTS = {
    "off": [
        created(),
        accepted("DescribeContributorInsights", TAB, ContributorInsightsStatus="DISABLED"),
    ],
    "on": [
        created(),
        accepted(
            "UpdateContributorInsights",
            TAB | {"ContributorInsightsAction": "ENABLE"},
            unrecorded=None,
        ),
        accepted("ListContributorInsights", TAB, ContributorInsightsSummaries=[Part(TAB)]),
    ],
}
STREAM = "arn:aws:kinesis:us-east-1:000000000000:stream/s"
KINESIS = {
    "enabled": [
        created(),
        accepted(
            "EnableKinesisStreamingDestination",
            TAB | {"StreamArn": STREAM},
            StreamArn=STREAM,
            DestinationStatus="ENABLING",
        ),
        accepted(
            "DescribeKinesisStreamingDestination",
            TAB,
            KinesisDataStreamDestinations=[Part(StreamArn=STREAM)],
        ),
    ]
}
RESOURCE = {"ResourceArn": ARN}
POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Sid": "one",
            "Effect": "Allow",
            "Principal": {"AWS": "arn:aws:iam::000000000000:root"},
            "Action": "dynamodb:GetItem",
            "Resource": ARN,
        }
    ],
}
NO_POLICY = refused("GetResourcePolicy", RESOURCE, code="PolicyNotFoundException")
POLICIES = {
    "none": [created(), NO_POLICY],
    "a life": [
        created(),
        accepted("PutResourcePolicy", RESOURCE | {"Policy": json.dumps(POLICY)}, unrecorded=None),
        accepted("GetResourcePolicy", RESOURCE, unrecorded=None),
        accepted("DeleteResourcePolicy", RESOURCE, unrecorded=None),
        NO_POLICY,
    ],
}
TTL = {
    "no table": [
        refused(
            "DescribeTimeToLive",
            {"TableName": "gone"},
            "Requested resource not found: Table: gone not found",
            "ResourceNotFoundException",
        )
    ]
}

FILES = {
    "tier1/createTable/basic": CREATE,
    "tier1/createTable/config": CONFIG,
    "tier1/createTable/lsi": {"INCLUDE of nothing": LOCAL_INCLUDE},
    "tier1/updateTable/config": UPDATE_CONFIG,
    "tier2/account/limits": ACCOUNT,
    "tier2/backups/continuous": CONTINUOUS,
    "tier2/backups/onDemand": BACKUPS,
    "tier2/contributorInsights/basic": INSIGHTS,
    "tier2/kinesis/streamingDestination": KINESIS,
    "tier2/resourcePolicy/basic": POLICIES,
    "tier2/ttl/basic": TTL,
    "tier2/updateTable/gsi": GSI,
    "tier3/error-messages/createTable": MESSAGES,
}
