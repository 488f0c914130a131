"""PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy."""

import pytest

from tests.tables import ARN, INVALID, described, emulator, refusal, table

POLICY = '{"Version": "2012-10-17", "Statement": []}'
OTHER = '{"Statement": []}'
PLACE = {"ResourceArn": ARN}


def not_found(reason):
    text = f"Resource-based policy not found for the provided ResourceArn: {reason}"
    return "PolicyNotFoundException", text


NOT_FOUND = not_found(ARN)


def created(**members):
    emu = emulator()
    emu.call("CreateTable", table(**members))
    return emu


def attach(emu, policy=POLICY, place=PLACE, **members):
    return emu.call("PutResourcePolicy", {**place, "Policy": policy, **members})["RevisionId"]


def test_a_policy_is_attached_found_and_detached():
    """OTH-18."""
    emu = created()
    assert refusal(emu, "GetResourcePolicy", PLACE) == NOT_FOUND
    revision = attach(emu)
    assert emu.call("GetResourcePolicy", PLACE) == {"Policy": POLICY, "RevisionId": revision}
    assert emu.call("DeleteResourcePolicy", PLACE) == {"RevisionId": revision}
    assert refusal(emu, "GetResourcePolicy", PLACE) == NOT_FOUND
    assert emu.call("DeleteResourcePolicy", PLACE) == {}


def test_the_same_text_keeps_its_revision_and_another_has_its_own():
    """OTH-18."""
    emu = created()
    revisions = [attach(emu), attach(emu), attach(emu, OTHER)]
    assert revisions[0] == revisions[1] != revisions[2]


def test_a_table_may_begin_with_a_policy():
    """CT-11."""
    found = created(ResourcePolicy=POLICY).call("GetResourcePolicy", PLACE)
    assert found["Policy"] == POLICY


def test_a_policy_goes_with_its_table():
    """DT-1."""
    emu = created(ResourcePolicy=POLICY)
    emu.call("DeleteTable", {"TableName": "tab"})
    emu.call("CreateTable", table())
    assert refusal(emu, "GetResourcePolicy", PLACE) == NOT_FOUND


def test_a_stream_has_a_policy_of_its_own():
    """OTH-18."""
    emu = created(StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    stream = {"ResourceArn": described(emu)["LatestStreamArn"]}
    revision = attach(emu, place=stream)
    assert emu.call("GetResourcePolicy", stream)["RevisionId"] == revision
    assert refusal(emu, "GetResourcePolicy", PLACE) == NOT_FOUND


def test_a_revision_that_is_not_the_caller_s_is_refused():
    """OTH-18: NO_POLICY means that there must be none."""
    emu = created()
    request = {**PLACE, "Policy": POLICY, "ExpectedRevisionId": "1"}
    assert refusal(emu, "PutResourcePolicy", request) == NOT_FOUND
    revision = attach(emu, ExpectedRevisionId="NO_POLICY")
    none_expected = {**PLACE, "Policy": OTHER, "ExpectedRevisionId": "NO_POLICY"}
    assert refusal(emu, "PutResourcePolicy", none_expected) == not_found(
        "Requested policy update expecting none to be present for table tab, but a policy exists "
        f"with revision id {revision}."
    )
    other = {**PLACE, "ExpectedRevisionId": "1"}
    assert refusal(emu, "DeleteResourcePolicy", other) == not_found(
        "Requested update for policy with revision id 1, but the policy associated to target "
        f"table tab has revision id {revision}."
    )
    known = {**PLACE, "ExpectedRevisionId": revision}
    assert emu.call("DeleteResourcePolicy", known) == {"RevisionId": revision}


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("none", "Invalid policy document: none"),
        ("[]", "Invalid policy document: []"),
        ("[" * 10_000, f"Invalid policy document: {'[' * 10_000}"),
        (f'{{"a": "{"x" * 20_480}"}}', "Maximum policy size of 20480 bytes exceeded"),
    ],
)
def test_a_policy_that_is_none_is_refused(policy, message):
    """ERR-OTH-6."""
    request = {**PLACE, "Policy": policy}
    assert refusal(created(), "PutResourcePolicy", request) == (
        "ValidationException",
        INVALID + message,
    )


@pytest.mark.parametrize(
    ("operation", "members"),
    [
        ("PutResourcePolicy", {"Policy": POLICY}),
        ("GetResourcePolicy", {}),
        ("DeleteResourcePolicy", {}),
    ],
)
def test_an_unknown_table_is_named(operation, members):
    """OTH-18."""
    assert refusal(emulator(), operation, PLACE | members) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: tab not found",
    )


def test_a_policy_refuses_no_request():
    """OTH-22: whatever it says."""
    emu = created()
    denial = '{"Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*"}'
    attach(emu, f'{{"Statement": {denial}}}')
    assert emu.call("Scan", {"TableName": "tab"})["Count"] == 0
