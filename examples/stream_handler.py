"""A stream handler and one bad record: four settings of its event source.

Scenario: a function sends a mail for each new order. Order 7 has no address, and the function
raises. With Lambda's defaults the batch that holds it comes again for a day and nothing behind it
is delivered; then it is dropped, and with it everything that has become a day old in the queue
behind it. Retries, bisecting and reports of failed items each lose less.

Time is virtual, so a day takes no time.
"""

import warnings
from typing import Any

from emulator import Emulator, ManualClock

ORDERS = 20
BAD = "o-07"
BATCH = 5
SETTINGS: dict[str, dict[str, Any]] = {
    "the defaults": {},
    "2 retries": {"retries": 2},
    "2 retries, bisecting": {"retries": 2, "bisect_on_error": True},
    "reports, bisecting": {"retries": 2, "bisect_on_error": True, "report_item_failures": True},
}


def create(emu: Emulator) -> None:
    emu.client().create_table(
        TableName="orders",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )
    for number in range(ORDERS):
        order = f"o-{number:02}"
        item = {"id": order} if order == BAD else {"id": order, "mail": f"{order}@example.org"}
        emu.table("orders").put_item(Item=item)


class Mailer:
    """The function under test; it reports what failed only if it is told to."""

    def __init__(self, *, reports: bool) -> None:
        self.reports = reports
        self.sent: list[str] = []

    def __call__(self, event: dict[str, Any], _context: Any) -> dict[str, Any]:
        failed = []
        for record in event["Records"]:
            change = record["dynamodb"]
            try:
                self.sent.append(change["NewImage"]["mail"]["S"])
            except KeyError:
                if not self.reports:
                    raise
                failed.append({"itemIdentifier": change["SequenceNumber"]})
        return {"batchItemFailures": failed}


def play(settings: dict[str, Any]) -> tuple[str, list[str]]:
    emu = Emulator(clock=ManualClock())
    create(emu)
    start = emu.clock.now()
    mailer = Mailer(reports=settings.get("report_item_failures", False))
    lost: list[dict[str, Any]] = []
    with (
        warnings.catch_warnings(record=True, action="always") as caught,
        emu.event_source(
            "orders", mailer, batch_size=BATCH, on_failure=lost.append, **settings
        ) as source,
    ):
        source.drain()
    dropped = sum(document["DDBStreamBatchInfo"]["batchSize"] for document in lost)
    hours = (emu.clock.now() - start) / 3600
    row = (
        f"{source.metrics.invocations:>6}{len(mailer.sent):>7}{len(set(mailer.sent)):>8}"
        f"{dropped:>6}{hours:>8.3f}"
    )
    return row, [str(warning.message) for warning in caught]


def main() -> None:
    print(f"{'setting':<22}{'calls':>6}{'mails':>7}{'orders':>8}{'lost':>6}{'hours':>8}")
    said: list[str] = []
    for name, settings in SETTINGS.items():
        row, sentences = play(settings)
        print(f"{name:<22}{row}")
        said += sentences
    for sentence in said:
        print(f"warning: {sentence}")


if __name__ == "__main__":
    main()
