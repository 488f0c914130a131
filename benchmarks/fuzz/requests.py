"""Requests made from shapes: plausible, so that many are served, and of every operation there is.

What a member means is known by its name where that helps (``TableName``, ``Key``, expressions
with their values, and whatever an answer has shown under a name); all else follows from its shape.
"""

from collections import defaultdict, deque

from benchmarks.fuzz.tables import (
    ARN,
    BUCKET,
    INDEX_NAMES,
    KEYS,
    KINESIS_ARN,
    POLICY,
    TABLE_NAMES,
)
from emulator.operations import find, shapes
from emulator.service.catalogue import OPERATIONS

_REMEMBERED = 8
_TEXTS = ("a", "tab", "b", "status", "2026-01-01T00:00:00Z", "", "\u00e9", "x" * 40)
_ATTRIBUTES = ("a", "b", "m", "l", "ss", "ns", "ttl", "pk", "sk", "size")

_KEYS = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}

#: Members that belong together: used where a structure has all of them.
RECIPES = (
    {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "x"}}},
    {
        "KeyConditionExpression": "pk = :p AND sk BETWEEN :a AND :b",
        "FilterExpression": "#a > :a OR contains(b, :p)",
        "ExpressionAttributeNames": {"#a": "a"},
        "ExpressionAttributeValues": {":p": {"S": "x"}, ":a": {"N": "1"}, ":b": {"N": "5"}},
    },
    {
        "KeyConditionExpression": "a = :p AND b = :a AND begins_with(c, :p)",
        "IndexName": "wide",
        "ExpressionAttributeValues": {":p": {"S": "x"}, ":a": {"N": "1"}},
    },
    {
        "KeyConditions": {
            "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}]},
            "sk": {"ComparisonOperator": "LT", "AttributeValueList": [{"N": "5"}]},
        }
    },
    {
        "FilterExpression": "attribute_exists(m.a) AND size(l) > :a",
        "ExpressionAttributeValues": {":a": {"N": "1"}},
    },
    {"ProjectionExpression": "pk, m.a, l[0], #a", "ExpressionAttributeNames": {"#a": "b"}},
    {
        "ConditionExpression": "attribute_not_exists(zz) AND NOT a IN (:a, :b)",
        "ExpressionAttributeValues": {":a": {"S": "q"}, ":b": {"N": "3"}},
    },
    {
        "UpdateExpression": "SET a = if_not_exists(a, :a), m.z = :a REMOVE l[1] ADD n :n"
        " DELETE ss :s",
        "ExpressionAttributeValues": {":a": {"S": "v"}, ":n": {"N": "2"}, ":s": {"SS": ["p"]}},
    },
    {
        "UpdateExpression": "SET l = list_append(l, :l), n = n + :n",
        "ExpressionAttributeValues": {":l": {"L": [{"S": "z"}]}, ":n": {"N": "1"}},
    },
    {
        "AttributeUpdates": {
            "a": {"Action": "PUT", "Value": {"S": "z"}},
            "n": {"Action": "ADD", "Value": {"N": "1"}},
        }
    },
    {"Expected": {"a": {"ComparisonOperator": "NE", "AttributeValueList": [{"S": "q"}]}}},
    {"AttributesToGet": ["pk", "a"]},
    {"Segment": 1, "TotalSegments": 4},
    {"Statement": "SELECT * FROM tab WHERE pk = 'x' AND sk = 1"},
    {"Tags": [{"Key": "k", "Value": "v"}]},
    {"TagKeys": ["k"]},
    {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 9, "WriteCapacityUnits": 9},
    },
    {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}},
    {"SourceTableName": "tab", "TargetTableName": "new1", "UseLatestRestorableTime": True},
    {"S3Bucket": BUCKET},
    {"S3Bucket": BUCKET, "InputFormat": "DYNAMODB_JSON"},
    {
        "TableName": "near",
        "IndexName": "nearest",
        "SearchVector": [{"N": "1"}, {"N": "0.5"}],
        "TopK": 3,
    },
    {
        "TableName": "tab",
        "StreamArn": KINESIS_ARN,
        "UpdateKinesisStreamingConfiguration": {
            "ApproximateCreationDateTimePrecision": "MICROSECOND"
        },
    },
    {"AttributeName": "ttl", "Enabled": True},
    _KEYS,
    _KEYS | {"TableName": "new1"},
    {"TableName": "hash", "DeletionProtectionEnabled": False},
    {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
)

_NUMBERS = ("0", "1", "-1", "1.5", "1e125", "123456789012345678901234567890")
_SCALARS = (
    {"S": "x"},
    {"S": ""},
    {"S": "y" * 200},
    {"N": "1"},
    {"N": "-1.5e10"},
    {"B": "YQ=="},
    {"BOOL": True},
    {"NULL": True},
    {"SS": ["p", "q"]},
    {"NS": ["1", "2"]},
    {"BS": ["YQ==", "Yg=="]},
)


class RequestMaker:
    """Makes requests of any operation.

    Args:
        random: Chooses.
    """

    def __init__(self, random):
        self._random = random
        self._seen = defaultdict(lambda: deque(maxlen=_REMEMBERED))

    def operation(self):
        """Return the name of an operation of the catalogue."""
        return self._random.choice(_NAMES)

    def request(self, operation):
        """Return a request of an operation."""
        return self._structure(find(operation).shape, self._random.choice((0.0, 0.1, 0.3, 0.6)))

    def member(self, name, shape):
        """Return a value of a member, with what it must have and nothing else."""
        return self._member(name, shape, 0.0)

    def structure(self, shape):
        """Return a structure with the members that it must have and nothing else."""
        return {
            name: self._member(name, member, 0.0)
            for name, member in shape.members.items()
            if member.is_required
        }

    def learn(self, node):
        """Remember what an answer shows under each name, to ask for it."""
        if isinstance(node, list):
            for member in node:
                self.learn(member)
        elif isinstance(node, dict):
            for name, value in node.items():
                if isinstance(value, str):
                    self._seen[name].append(value)
                    if name.endswith("Arn"):
                        self._seen["Arn"].append(value)
                elif name == "LastEvaluatedKey":
                    self._seen["ExclusiveStartKey"].append(value)
                elif name not in ("Item", "Items", "Attributes"):
                    self.learn(value)

    def value(self, depth=2):
        """Return a value of an attribute."""
        chance = self._random.random()
        if depth and chance < 0.1:
            return {"L": [self.value(depth - 1) for _ in range(self._random.randrange(4))]}
        if depth and chance < 0.2:
            return {"M": {name: self.value(depth - 1) for name in self._some(_ATTRIBUTES)}}
        if chance < 0.3:
            return {"N": self._random.choice(_NUMBERS)}
        return self._random.choice(_SCALARS)

    def key(self):
        """Return a key of one of the tables."""
        return dict(self._random.choice(KEYS))

    def item(self):
        """Return an item of one of the tables."""
        return self.key() | {name: self.value() for name in self._some(_ATTRIBUTES[:7])}

    def _some(self, names):
        return self._random.sample(names, self._random.randrange(4))

    def _structure(self, shape, share):
        members = shape.members
        if _is_union(members) and self._random.random() < 0.9:
            name = self._random.choice(list(members))
            return {name: self._member(name, members[name], share)}
        request = {
            name: self._member(name, member, share)
            for name, member in members.items()
            if member.is_required or self._random.random() < share
        }
        recipes = [recipe for recipe in RECIPES if recipe.keys() <= members.keys()]
        needed = [recipe for recipe in recipes if any(members[name].is_required for name in recipe)]
        for chosen, chance in ((recipes, 0.7), (needed, 0.9)):
            if chosen and self._random.random() < chance:
                request |= self._random.choice(chosen)
        if self._random.random() < 0.9:
            request = _of_one_style(request)
        return request

    def _member(self, name, member, share):
        known = self._known(name, member)
        if known is not None and self._random.random() < 0.9:
            return known
        if isinstance(member, shapes.Structure):
            return self._structure(member, share)
        if isinstance(member, shapes.List):
            count = min(max(member.least, self._random.choice((0, 1, 1, 1, 2))), member.most or 100)
            return [
                self._member(name.removesuffix("s"), member.member, share) for _ in range(count)
            ]
        if isinstance(member, shapes.AttributeMap):
            return self.item()
        if isinstance(member, shapes.Map):
            names = self._some(TABLE_NAMES if name == "RequestItems" else _ATTRIBUTES) or ["tab"]
            return {key: self._member(name, member.member, share) for key in names}
        return self._scalar(member)

    def _known(self, name, member):
        """Return what a member of this name should hold, or None."""
        random = self._random
        if name in ("TableName", "SourceTableName", "GlobalTableName"):
            return random.choice(TABLE_NAMES)
        if name == "TableArn":
            return random.choice(("", ARN)) + random.choice(TABLE_NAMES)
        if name == "TargetTableName":
            return random.choice(("new1", "new2", "tab"))
        if name == "S3KeyPrefix":
            return random.choice(("items", "spoilt", "", "absent"))
        if name == "Policy":
            return POLICY
        if name == "IndexName":
            return random.choice(INDEX_NAMES)
        if name in ("Key", "ExclusiveStartKey") and not isinstance(member, shapes.String):
            seen = self._seen[name]
            return random.choice(seen) if seen and random.random() < 0.5 else self.key()
        if name == "Item":
            return self.item()
        if isinstance(member, shapes.String) and not member.enum:
            seen = self._seen[name] or (self._seen["Arn"] if name.endswith("Arn") else ())
            return random.choice(seen) if seen else None
        return None

    def _scalar(self, member):
        random = self._random
        if isinstance(member, shapes.String):
            return random.choice(member.enum or _TEXTS)
        if isinstance(member, shapes.Integer):
            least = member.least or 0
            return random.choice((least, least + 1, least + 4, member.most or 100))
        if isinstance(member, shapes.Boolean):
            return random.random() < 0.5
        if isinstance(member, shapes.Number):
            return random.choice((0, 1_767_225_600, 1.5, -1e14, 1e14, 2**63 - 1))
        return self.value()


def _is_union(members):
    """Return whether a structure is one of several, as an action of a transaction is."""
    return len(members) > 1 and all(
        isinstance(member, shapes.Structure) and not member.is_required
        for member in members.values()
    )


def _of_one_style(request):
    """Return a request without legacy parameters if it has an expression."""
    if not any(name.endswith("Expression") for name in request):
        return request
    return {name: value for name, value in request.items() if name not in _LEGACY}


_LEGACY = frozenset(
    (
        "AttributesToGet",
        "AttributeUpdates",
        "ConditionalOperator",
        "Expected",
        "KeyConditions",
        "QueryFilter",
        "ScanFilter",
    )
)
_NAMES = tuple(OPERATIONS)


def statement_operations():
    """Return the operations that take statements, wherever in their shape."""
    return tuple(name for name in _NAMES if _has_statement(find(name).shape))


def _has_statement(member):
    if isinstance(member, shapes.Structure):
        return "Statement" in member.members or any(map(_has_statement, member.members.values()))
    inner = getattr(member, "member", None)
    return inner is not None and _has_statement(inner)
