"""Documents by meaning: what a vector index finds, what it leaves out, and what it costs.

Scenario: two tenants keep documents with embeddings of 256 numbers. A vector index, partitioned by
tenant and filtered by language, finds the ten that are nearest to a question. Three documents never
appear: one has no tenant, one has no embedding, one is another tenant's. Filters are part of the
search and cost nothing more; a number finer than 32 bits is no new entry, and writing it is free.
Embeddings here are random numbers around a topic's centre, so that near means "of that topic".
"""

import random
from typing import Any

from emulator import Emulator, ManualClock

SEED = 8
DIMENSIONS = 256
TOPICS = ("cats", "dogs", "taxes", "ships")
DOCUMENTS = 200


def create(emu: Emulator) -> None:
    emu.call(
        "CreateTable",
        {
            "TableName": "documents",
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": "S"} for name in ("id", "tenant", "lang")
            ],
            "BillingMode": "PAY_PER_REQUEST",
            "VectorIndexes": [
                {
                    "IndexName": "by_meaning",
                    "VectorAttribute": {"AttributeName": "embedding"},
                    "Dimensions": DIMENSIONS,
                    "DistanceFunction": "COSINE",
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["topic"]},
                    "SearchSchema": [
                        {"AttributeName": "tenant", "SearchSchemaElementType": "HASH"},
                        {"AttributeName": "lang", "SearchSchemaElementType": "INLINE_FILTER"},
                    ],
                }
            ],
        },
    )


def near(centre: list[float], draw: random.Random) -> dict[str, Any]:
    return {"L": [{"N": f"{number + draw.gauss(0, 0.3):.6f}"} for number in centre]}


def put(emu: Emulator, **attributes: Any) -> dict[str, Any]:
    """Put a document, and return what that cost."""
    item = {
        name: value if isinstance(value, dict) else {"S": value}
        for name, value in attributes.items()
    }
    request = {"TableName": "documents", "Item": item, "ReturnConsumedCapacity": "INDEXES"}
    cost: dict[str, Any] = emu.call("PutItem", request)["ConsumedCapacity"]
    return cost


def search(emu: Emulator, question: dict[str, Any], **condition: str) -> dict[str, Any]:
    return emu.call(
        "SearchVectors",
        {
            "TableName": "documents",
            "IndexName": "by_meaning",
            "SearchVector": question["L"],
            "TopK": 10,
            "SearchConditionExpression": " AND ".join(f"{name} = :{name}" for name in condition),
            "ExpressionAttributeValues": {
                f":{name}": {"S": value} for name, value in condition.items()
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
    )


def shown(answer: dict[str, Any]) -> str:
    results = answer["SearchResults"]
    topics = sorted({result["Item"]["topic"]["S"] for result in results})
    nearest, farthest = results[0]["Score"], results[-1]["Score"]
    searched = answer["ConsumedCapacity"]["VectorSearchRequestBytes"]
    return (
        f"{len(results)} about {', '.join(topics)}, at {nearest:.3f} to {farthest:.3f}, "
        f"for {searched:,} bytes"
    )


def main() -> None:
    draw = random.Random(SEED)
    emu = Emulator(clock=ManualClock())
    create(emu)
    centres = {topic: [draw.gauss(0, 1) for _ in range(DIMENSIONS)] for topic in TOPICS}
    for number in range(DOCUMENTS):
        topic = TOPICS[number % len(TOPICS)]
        tenant, lang = ("acme", "zeta")[number % 3 == 0], ("en", "de")[number % 5 == 0]
        embedding = near(centres[topic], draw)
        put(emu, id=f"{number:03}", tenant=tenant, lang=lang, topic=topic, embedding=embedding)

    question = near(centres["dogs"], draw)
    print("dogs, of acme:            ", shown(search(emu, question, tenant="acme")))
    print("dogs, of acme, in German: ", shown(search(emu, question, tenant="acme", lang="de")))

    before = put(emu, id="none", tenant="acme", lang="en", topic="dogs")
    put(emu, id="free", lang="en", topic="dogs", embedding=question)
    print("costs without a vector:   ", before.get("VectorIndexes", "nothing in the index"))
    table = emu.call("DescribeTable", {"TableName": "documents"})["Table"]
    index = table["VectorIndexes"][0]
    print(f"items {table['ItemCount']}, entries {index['ItemCount']}")

    cost = put(emu, id="new", tenant="acme", lang="en", topic="dogs", embedding=question)
    print(
        "one more:                 ", cost["VectorIndexes"], "and", cost["CapacityUnits"], "units"
    )
    finer = {"L": [{"N": number["N"] + "00000001"} for number in question["L"]]}
    cost = put(emu, id="new", tenant="acme", lang="en", topic="dogs", embedding=finer)
    print("the same in more digits:  ", cost.get("VectorIndexes", "nothing in the index"))
    print("the question itself:      ", shown(search(emu, question, tenant="acme")))


if __name__ == "__main__":
    main()
