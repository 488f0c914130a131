"""A batch loader that is restarted loads everything, once.

It notes how far it got. Noting the progress before the batch loses rows in a crash between the
two; not looking at UnprocessedItems loses rows without any crash.
"""

from emulator import Emulator
from emulator.strategies import create_request
from emulator.testing import every_crash

ROWS = [f"row-{number}" for number in range(4)]
PROGRESS = {"TableName": "target", "Key": {"pk": {"S": "progress"}}, "ConsistentRead": True}


def load_batch(emu, rows, *, looks):
    left = {"target": [{"PutRequest": {"Item": {"pk": {"S": row}}}} for row in rows]}
    while left:
        left = emu.call("BatchWriteItem", {"RequestItems": left})["UnprocessedItems"]
        if not looks:
            return


def note(emu, done):
    item = {"pk": {"S": "progress"}, "n": {"N": str(done)}}
    emu.call("PutItem", {"TableName": "target", "Item": item})


def load(emu, *, notes_first=False, looks=True):
    progress = emu.call("GetItem", PROGRESS).get("Item", {"n": {"N": "0"}})
    for done in range(int(progress["n"]["N"]), len(ROWS), 2):
        if notes_first:
            note(emu, done + 2)
        load_batch(emu, ROWS[done : done + 2], looks=looks)
        if not notes_first:
            note(emu, done + 2)


def surprise(kind, **options):
    emu = Emulator()
    emu.call("CreateTable", create_request("target", "pk"))
    runs = every_crash(emu, lambda: load(emu, **options), kind=kind)
    for crash in runs:
        load(emu, **options)  # after the restart
        missing = set(ROWS) - {item["pk"] for item in emu.table("target").scan()["Items"]}
        if missing:
            return f"{crash.schedule} leaves out {', '.join(sorted(missing))}"
    return f"all rows are there after {runs.played} interruptions"


def main():
    print("notes first, crash:         ", surprise("crash", notes_first=True))
    print("notes afterwards, crash:    ", surprise("crash"))
    print("does not look, unprocessed: ", surprise("unprocessed", looks=False))
    print("looks, unprocessed:         ", surprise("unprocessed"))


if __name__ == "__main__":
    main()
