"""Contributor Insights by the control plane."""

import pytest

from tests.tables import emulator, index, refusal, schema, table

START = 1_767_225_600.0
TAB = {"TableName": "tab"}
INDEX = {**TAB, "IndexName": "gsi"}
BOTH_KEYS = "ACCESSED_AND_THROTTLED_KEYS"


def created(**members):
    emu = emulator()
    emu.call("CreateTable", table(names="pk g", GlobalSecondaryIndexes=[index("gsi", schema("g"))]))
    return emu


def switch(emu, action, place=TAB, **members):
    request = {**place, "ContributorInsightsAction": action, **members}
    return emu.call("UpdateContributorInsights", request)


@pytest.mark.parametrize("place", [TAB, INDEX])
def test_insights_are_off_at_first(place):
    """OTH-17."""
    found = created().call("DescribeContributorInsights", place)
    assert found == {**place, "ContributorInsightsStatus": "DISABLED"}


@pytest.mark.parametrize("place", [TAB, INDEX])
def test_insights_are_switched_on_and_off(place):
    """OTH-17."""
    emu = created()
    mode = {"ContributorInsightsMode": BOTH_KEYS}
    on = switch(emu, "ENABLE", place)
    assert on == {**place, "ContributorInsightsStatus": "ENABLING", **mode}
    found = emu.call("DescribeContributorInsights", place)
    name = "-".join(place.values())
    assert found == {
        **place,
        "ContributorInsightsStatus": "ENABLED",
        "LastUpdateDateTime": START,
        **mode,
        "ContributorInsightsRuleList": [
            f"DynamoDBContributorInsights-PKC-{name}-1767225600000",
            f"DynamoDBContributorInsights-PKT-{name}-1767225600000",
        ],
    }
    off = switch(emu, "DISABLE", place)
    assert off == {**place, "ContributorInsightsStatus": "DISABLING", **mode}
    found = emu.call("DescribeContributorInsights", place)
    assert found == {
        **place,
        "ContributorInsightsStatus": "DISABLED",
        "LastUpdateDateTime": START,
    }


def test_rules_follow_the_key_and_the_mode():
    """OTH-17: a sort key has rules of its own; throttled keys may be watched alone."""
    emu = emulator()
    emu.call("CreateTable", table("pk", "sk"))
    switch(emu, "ENABLE", ContributorInsightsMode="THROTTLED_KEYS")
    found = emu.call("DescribeContributorInsights", TAB)["ContributorInsightsRuleList"]
    assert [name.split("-")[1] for name in found] == ["PKT", "SKT"]


def test_tables_and_global_indexes_are_listed_page_by_page():
    """OTH-17."""
    emu = created()
    emu.call("CreateTable", table(TableName="abc"))
    switch(emu, "ENABLE", INDEX)
    seen, request = [], {"MaxResults": 2}
    while True:
        page = emu.call("ListContributorInsights", request)
        seen += page["ContributorInsightsSummaries"]
        if "NextToken" not in page:
            break
        request["NextToken"] = page["NextToken"]
    assert seen == [
        {"TableName": "abc", "ContributorInsightsStatus": "DISABLED"},
        {**TAB, "ContributorInsightsStatus": "DISABLED"},
        {**INDEX, "ContributorInsightsStatus": "ENABLED", "ContributorInsightsMode": BOTH_KEYS},
    ]
    listed = emu.call("ListContributorInsights", {"TableName": "abc"})
    assert listed["ContributorInsightsSummaries"] == seen[:1]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"TableName": "none"}, "Requested resource not found: Table: none not found"),
        (
            {**TAB, "IndexName": "none"},
            "Requested resource not found: Index none for table tab",
        ),
    ],
)
def test_an_unknown_place_is_named(place, message):
    """OTH-17, TBL-4."""
    request = {**place, "ContributorInsightsAction": "ENABLE"}
    refused = ("ResourceNotFoundException", message)
    assert refusal(created(), "DescribeContributorInsights", place) == refused
    assert refusal(created(), "UpdateContributorInsights", request) == refused


def test_an_action_is_required():
    """OTH-17."""
    assert refusal(created(), "UpdateContributorInsights", TAB)[1] == (
        "1 validation error detected: Value null at 'contributorInsightsAction' failed to satisfy "
        "constraint: Member must not be null"
    )
