"""A filter does not lower the cost, and a key does (L4).

For any items of an organisation and any filter, a Query costs the same with the filter as
without. The last lines put a figure on it: two designs answer the same question, and a budget
shows which one pays for what it throws away.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import Emulator
from emulator.strategies import create_request, filters, items

MEMBERS = create_request("members", "org", "id")
QUERY = {
    "TableName": "members",
    "KeyConditionExpression": "org = :org",
    "ExpressionAttributeValues": {":org": {"S": "acme"}},
}


def holding(rows):
    emu = Emulator(capacity="off")
    emu.call("CreateTable", MEMBERS)
    for row in rows:
        emu.call("PutItem", {"TableName": "members", "Item": row})
    return emu


def units(emu, request):
    emu.call("Query", request)
    return emu.last_receipt.total


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    st.lists(items(MEMBERS, attributes={"org": st.just("acme"), "title": "S", "total": "N"})),
    filters(attributes={"title": "S", "total": "N"}),
)
def a_filter_never_changes_the_cost(rows, condition):
    emu = holding(rows)
    values = QUERY["ExpressionAttributeValues"] | condition.get("ExpressionAttributeValues", {})
    filtered = QUERY | condition | {"ExpressionAttributeValues": values}
    assert units(emu, filtered) == units(emu, QUERY)


def main():
    a_filter_never_changes_the_cost()
    print("60 tables and filters: a filter never changed the cost of a Query")
    emu = Emulator()
    table = create_request("members", "org", "id")
    emu.call("CreateTable", table)
    members = emu.table("members")
    for number in range(1000):
        status = "active" if number < 5 else "retired"
        row = {"org": "acme", "id": f"{status}#{number:04}", "status": status, "note": "x" * 100}
        members.put_item(Item=row)
    try:
        with emu.budget(rcu=2):
            members.query(
                KeyConditionExpression="org = :org",
                FilterExpression="#status = :active",
                ExpressionAttributeNames={"#status": "status"},
                ExpressionAttributeValues={":org": "acme", ":active": "active"},
            )
    except AssertionError as error:
        print("by filter:", str(error).splitlines()[0])
        print(f"           {error.ledger.filtered} items were read and thrown away")
    with emu.budget(rcu=2, filtered=0) as ledger:
        members.query(
            KeyConditionExpression="org = :org AND begins_with(id, :active)",
            ExpressionAttributeValues={":org": "acme", ":active": "active#"},
        )
    print(f"by key:    {ledger.read_units:g} read units were consumed")


if __name__ == "__main__":
    main()
