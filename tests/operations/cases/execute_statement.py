"""Cases of ExecuteStatement: requests with their whole answer or exact error, for every door."""

from tests.operations.cases.case import (
    Case,
    put,
    wire,
)

#: With their placeholders they make an UpdateExpression of more than 4,096 bytes.
MANY = [f"attribute_{number:03}" for number in range(290)]


CASES = [
    # PartiQL
    Case(
        "PQL-2 a statement may be longer than an expression",
        "ExecuteStatement",
        {
            "Statement": "UPDATE hash SET "
            + ", ".join(f"{name}=1" for name in MANY)
            + " WHERE pk='a' RETURNING MODIFIED NEW *"
        },
        given=[put("hash", pk="a")],
        answer={"Items": [wire(dict.fromkeys(MANY, 1))]},
    ),
]
