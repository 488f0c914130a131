"""Every receipt recomputed from the images before and after, by an independent model."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import Emulator

PROJECTED = {"all": None, "keys": {"g"}, "some": {"g", "x"}, "local": None}
KEYS = {"pk", "sk"}


def emulator():
    made = Emulator(capacity="off")

    def index(name, key, kind, names=None):
        projection = {"ProjectionType": kind}
        if names:
            projection["NonKeyAttributes"] = names
        schema = [
            {"AttributeName": attribute, "KeyType": role}
            for attribute, role in zip(key, ("HASH", "RANGE"), strict=False)
        ]
        return {"IndexName": name, "KeySchema": schema, "Projection": projection}

    made.call(
        "CreateTable",
        {
            "TableName": "tab",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g", "l")
            ],
            "BillingMode": "PAY_PER_REQUEST",
            "GlobalSecondaryIndexes": [
                index("all", ("g",), "ALL"),
                index("keys", ("g",), "KEYS_ONLY"),
                index("some", ("g",), "INCLUDE", ["x"]),
            ],
            "LocalSecondaryIndexes": [index("local", ("pk", "l"), "ALL")],
        },
    )
    return made


# The model: text only, so a size is a count of characters.


def size(item):
    return sum(len(name) + len(text) for name, text in item.items())


def units(count, block=1024):
    return max(1, math.ceil(count / block))


def entry(index, item):
    key = "l" if index == "local" else "g"
    if item is None or key not in item:
        return None
    wanted = PROJECTED[index]
    return {n: v for n, v in item.items() if wanted is None or n in wanted | KEYS}


def index_units(index, old, new):
    key = "l" if index == "local" else "g"
    before, after = entry(index, old), entry(index, new)
    if before == after:
        return 0
    if before is None or after is None:
        return units(size(before or after))
    if before[key] != after[key]:
        return units(size(before)) + units(size(after))
    return units(max(size(before), size(after)))


def price(old, new, factor=1):
    table = units(max(size(old or {}), size(new or {}))) * factor
    indexes = {name: index_units(name, old, new) for name in PROJECTED}
    return table, {name: cost for name, cost in indexes.items() if cost}


texts = st.sampled_from(["", "a", "b" * 900, "c" * 1100, "d" * 3000])
names = st.sampled_from(["x", "y", "v"])
keys = st.sampled_from(["1", "2"])
items = st.builds(
    lambda sk, rest, g, ell: {
        "pk": "p",
        "sk": sk,
        **rest,
        **({"g": g} if g else {}),
        **({"l": ell} if ell else {}),
    },
    keys,
    st.dictionaries(names, texts, max_size=3),
    st.sampled_from(["", "g1", "g2"]),
    st.sampled_from(["", "l1", "l2"]),
)
steps = st.lists(
    st.tuples(st.sampled_from(["put", "delete", "update", "transact"]), items), max_size=12
)


def wire(item):
    return {name: {"S": text} for name, text in item.items()}


def consumed(answer, transactional):
    (report,) = answer["ConsumedCapacity"] if transactional else [answer["ConsumedCapacity"]]
    indexes = {
        **report.get("GlobalSecondaryIndexes", {}),
        **report.get("LocalSecondaryIndexes", {}),
    }
    costs = {name: one["CapacityUnits"] for name, one in indexes.items()}
    assert report["CapacityUnits"] == report["Table"]["CapacityUnits"] + sum(costs.values())
    return report["Table"]["CapacityUnits"], costs


@given(steps)
@settings(max_examples=60)
def test_a_write_costs_what_its_images_say(run):
    """CAP-301, CAP-305, CAP-306, CAP-309, CAP-310."""
    made = emulator()
    stored = {}
    for kind, item in run:
        key = {name: item[name] for name in KEYS}
        old = stored.get(item["sk"])
        new = item
        common = {"ReturnConsumedCapacity": "INDEXES"}
        if kind == "put":
            answer = made.call("PutItem", {"TableName": "tab", "Item": wire(item), **common})
        elif kind == "delete":
            new = None
            answer = made.call("DeleteItem", {"TableName": "tab", "Key": wire(key), **common})
        elif kind == "transact":
            put = {"Put": {"TableName": "tab", "Item": wire(item)}}
            answer = made.call("TransactWriteItems", {"TransactItems": [put], **common})
        else:
            new = {**(old or key), "v": "changed"}
            answer = made.call(
                "UpdateItem",
                {
                    "TableName": "tab",
                    "Key": wire(key),
                    "UpdateExpression": "SET v = :v",
                    "ExpressionAttributeValues": {":v": {"S": "changed"}},
                    **common,
                },
            )
        transactional = kind == "transact"
        expected = price(old, new, 2 if transactional else 1)
        assert consumed(answer, transactional) == expected
        stored[item["sk"]] = new


@given(
    st.lists(items, max_size=6),
    st.sampled_from([None, "all", "keys", "local"]),
    st.sampled_from([None, "v = :x", "attribute_exists(y)", "size(v) > :n"]),
    st.sampled_from([None, "pk", "sk, g"]),
    st.booleans(),
)
@settings(max_examples=60)
def test_neither_filter_nor_projection_nor_count_changes_a_unit(rows, index, text, shown, count):
    """CAP-204, CAP-209, EX-17."""
    made = emulator()
    for item in rows:
        made.call("PutItem", {"TableName": "tab", "Item": wire(item)})
    plain = {"TableName": "tab", "ReturnConsumedCapacity": "INDEXES"}
    if index is not None:
        plain["IndexName"] = index
    dressed = dict(plain)
    if text is not None:
        dressed["FilterExpression"] = text
        values = {":x": {"S": "a"}, ":n": {"N": "5"}}
        used = {name: value for name, value in values.items() if name in text}
        if used:
            dressed["ExpressionAttributeValues"] = used
    if shown is not None and not count:
        dressed["ProjectionExpression"] = shown
    if count:
        dressed["Select"] = "COUNT"
    bare, other = made.call("Scan", plain), made.call("Scan", dressed)
    assert other["ConsumedCapacity"] == bare["ConsumedCapacity"]
    assert other["ScannedCount"] == bare["ScannedCount"]
