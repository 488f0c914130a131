from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator import Emulator, ManualClock
from emulator.clients import Client
from emulator.clients.client import snake_case
from emulator.service.catalogue import OPERATIONS

ITEMS = 23


@pytest.fixture(scope="module")
def client():
    emulator = Emulator(clock=ManualClock())
    client = Client(emulator.call)
    client.create_table(
        TableName="pages",
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "B"},
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    for number in range(ITEMS):
        client.put_item(
            TableName="pages", Item={"pk": {"S": "a"}, "sk": {"B": bytes([number, 255])}}
        )
    return client


REQUEST = {
    "TableName": "pages",
    "KeyConditionExpression": "pk = :a",
    "ExpressionAttributeValues": {":a": {"S": "a"}},
}


def numbers(page):
    return [item["sk"]["B"][0] for item in page["Items"]]


def test_pages_follow_each_other_to_the_end(client):
    pages = client.get_paginator("query").paginate(**REQUEST, PaginationConfig={"PageSize": "10"})
    assert [numbers(page) for page in pages] == [
        list(range(10)),
        list(range(10, 20)),
        list(range(20, 23)),
    ]
    assert pages.resume_token is None
    assert pages.build_full_result()["Count"] == ITEMS


@given(page_size=st.integers(1, 30), cuts=st.lists(st.integers(1, 30), max_size=4))
def test_cuts_and_resumptions_concatenate_to_the_whole(client, page_size, cuts):
    seen, token = [], None
    for max_items in [*cuts, None]:
        config = {"PageSize": page_size, "MaxItems": max_items, "StartingToken": token}
        whole = client.get_paginator("query").paginate(**REQUEST, PaginationConfig=config)
        result = whole.build_full_result()
        got = numbers(result)
        assert max_items is None or len(got) <= max_items
        seen += got
        token = result.get("NextToken")
        if token is None:
            break
    assert seen == list(range(ITEMS))


@pytest.mark.parametrize("page_size", [3, 7, 23, 50])
@pytest.mark.parametrize("max_items", [1, 7, 14, 23, 99])
def test_the_pages_are_those_that_botocore_gives(client, page_size, max_items):
    boto3 = pytest.importorskip("boto3")
    mock_dynamodb = pytest.importorskip("emulator.sdk.boto").mock_dynamodb
    config = {"PageSize": page_size, "MaxItems": max_items}

    class Emulated:
        clock, region, account_id = ManualClock(), "us-east-1", "0" * 12
        call = client._call

    with mock_dynamodb(Emulated()):
        paginator = boto3.client("dynamodb").get_paginator("query")
        theirs = paginator.paginate(**REQUEST, PaginationConfig=config).build_full_result()
    ours = client.get_paginator("query").paginate(**REQUEST, PaginationConfig=config)
    result = ours.build_full_result()
    assert (numbers(result), result["Count"], "NextToken" in result) == (
        numbers(theirs),
        theirs["Count"],
        "NextToken" in theirs,
    )


def test_table_names_are_paged_too():
    client = Client(Emulator(clock=ManualClock()).call)
    names = [f"table-{number}" for number in range(5)]
    for name in names:
        client.create_table(
            TableName=name,
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
    pages = client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 2})
    assert [page["TableNames"] for page in pages] == [names[:2], names[2:4], names[4:]]


def test_what_stands_once_is_taken_from_the_first_page(client):
    pages = client.get_paginator("scan").paginate(
        TableName="pages", ReturnConsumedCapacity="TOTAL", PaginationConfig={"PageSize": 20}
    )
    first = next(iter(pages))
    whole = pages.build_full_result()
    assert whole["ConsumedCapacity"] == first["ConsumedCapacity"]
    assert whole["ScannedCount"] == ITEMS


def test_an_operation_without_a_limit_ignores_the_page_size():
    requests = []

    def call(_operation, request, *, region=None):
        requests.append(request)
        return {"Tags": [{"Key": "a"}], **({"NextToken": "t"} if len(requests) == 1 else {})}

    pages = (
        Client(call)
        .get_paginator("list_tags_of_resource")
        .paginate(ResourceArn="arn", PaginationConfig={"PageSize": 1})
    )
    assert len(list(pages)) == 2
    assert requests == [{"ResourceArn": "arn"}, {"ResourceArn": "arn", "NextToken": "t"}]


@pytest.mark.parametrize("token", ["%%%", "e30=", "bm90IGpzb24="])
def test_a_foreign_starting_token_is_refused(client, token):
    with pytest.raises(ValueError, match="is not a StartingToken that a paginator gave out"):
        client.get_paginator("scan").paginate(PaginationConfig={"StartingToken": token})


def test_the_paged_operations_are_those_of_the_sdk():
    session = pytest.importorskip("botocore.session").get_session()
    xform_name = pytest.importorskip("botocore").xform_name
    theirs = session.get_component("data_loader").load_service_model("dynamodb", "paginators-1")
    expected = {}
    for name, paging in theirs["pagination"].items():
        results = paging["result_key"]
        expected[xform_name(name)] = (
            paging["input_token"],
            paging["output_token"],
            paging.get("limit_key"),
            tuple([results] if isinstance(results, str) else results),
            tuple(paging.get("non_aggregate_keys", ())),
        )
    ours = {
        snake_case(name): tuple(row.paging)
        for name, row in OPERATIONS.items()
        if row.paging is not None
    }
    # An older SDK than the catalogue lacks those of bulk puts.
    newer = {"list_bulk_operations"} - expected.keys()
    assert {name: paging for name, paging in ours.items() if name not in newer} == expected
    assert list(itertools.islice(ours, 1)) == ["list_backups"]
