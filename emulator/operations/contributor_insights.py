"""Contributor Insights by the control plane (OTH-17); ``emu.insights`` needs no switch."""

from __future__ import annotations

from typing import Any, Final

from emulator.engine import Account, Table
from emulator.engine.option_values import InsightsRule
from emulator.operations import descriptions, shapes, tokens
from emulator.operations.definitions import TABLE_NAME, table_request
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules.updates import NO_INDEX
from emulator.service.errors import ResourceNotFoundException

ACCESSED_AND_THROTTLED: Final = "ACCESSED_AND_THROTTLED_KEYS"
_MODES: Final = (ACCESSED_AND_THROTTLED, "THROTTLED_KEYS")
_PAGE: Final = 100
_GRAPHS: Final = {"PKC": "accessed", "PKT": "throttled", "SKC": "accessed", "SKT": "throttled"}

UPDATE_SHAPE = table_request(
    IndexName=shapes.INDEX_NAME,
    ContributorInsightsAction=shapes.String(enum=("ENABLE", "DISABLE")).required,
    ContributorInsightsMode=shapes.String(enum=_MODES),
)


@operation("DescribeContributorInsights", shape=table_request(IndexName=shapes.INDEX_NAME))
def describe(account: Account, request: Request) -> Response:
    """Return whether insights are on, for a table or a global index; off by default."""
    table, index = _existing(account, request)
    rule = table.options.insights.get(index)
    response = _named(table, index)
    if rule is None:
        return response | {"ContributorInsightsStatus": "DISABLED"}
    response["ContributorInsightsStatus"] = "ENABLED" if rule.is_enabled else "DISABLED"
    response["LastUpdateDateTime"] = descriptions.seconds(rule.changed_ns)
    if rule.is_enabled:
        response["ContributorInsightsMode"] = rule.mode
        response["ContributorInsightsRuleList"] = _rule_names(table, index, rule)
    return response


@operation("UpdateContributorInsights", shape=UPDATE_SHAPE)
def update(account: Account, request: Request) -> Response:
    """Switch insights on or off; the answer says ENABLING or DISABLING."""
    table, index = _existing(account, request)
    is_enabled = request["ContributorInsightsAction"] == "ENABLE"
    known = table.options.insights.get(index)
    mode = request.get("ContributorInsightsMode") or (
        ACCESSED_AND_THROTTLED if known is None else known.mode
    )
    table.options.insights[index] = InsightsRule(is_enabled, mode, account.now_ns)
    status = "ENABLING" if is_enabled else "DISABLING"
    return _named(table, index) | {
        "ContributorInsightsStatus": status,
        "ContributorInsightsMode": mode,
    }


@operation(
    "ListContributorInsights",
    shape=shapes.structure(
        TableName=TABLE_NAME,
        NextToken=shapes.STRING,
        MaxResults=shapes.Integer(most=_PAGE),
    ),
)
def list_insights(account: Account, request: Request) -> Response:
    """Return a page of tables and global indexes with the state of their insights."""
    account.forget_deleted()
    if request.get("TableName") is not None:
        tables = [account.described_table(request["TableName"])]
    else:
        tables = [table for _, table in sorted(account.visible_tables().items())]
    summaries = [_summary(table, index) for table in tables for index in _resources(table)]
    token = request.get("NextToken")
    if token is not None:
        after = tokens.open_token(token)
        summaries = [summary for summary in summaries if _place(summary) > after]
    most = max(1, request.get("MaxResults", _PAGE))
    response: Response = {"ContributorInsightsSummaries": summaries[:most]}
    if len(summaries) > most:
        response["NextToken"] = tokens.seal(*_place(summaries[most - 1]))
    return response


def _existing(account: Account, request: Request) -> tuple[Table, str | None]:
    table = account.described_table(request["TableName"])
    name = request.get("IndexName")
    if name is not None:
        index = table.indexes.get(name)
        if index is None or not index.schema.is_global:
            raise ResourceNotFoundException(NO_INDEX.format(index=name, table=table.name))
    return table, name


def _resources(table: Table) -> list[str | None]:
    return [None, *sorted(index.schema.name for index in table.global_indexes)]


def _named(table: Table, index: str | None) -> dict[str, Any]:
    named = {"TableName": table.name}
    return named if index is None else named | {"IndexName": index}


def _summary(table: Table, index: str | None) -> dict[str, Any]:
    rule = table.options.insights.get(index)
    is_enabled = rule is not None and rule.is_enabled
    summary = _named(table, index)
    summary["ContributorInsightsStatus"] = "ENABLED" if is_enabled else "DISABLED"
    if rule is not None and is_enabled:
        summary["ContributorInsightsMode"] = rule.mode
    return summary


def _place(summary: dict[str, Any]) -> tuple[str, ...]:
    return summary["TableName"], summary.get("IndexName", "")


def _rule_names(table: Table, index: str | None, rule: InsightsRule) -> list[str]:
    """Return the names of the rules that insights make, by key and by what they count.

    Source: Developer Guide, Contributor Insights, rules created for a table.
    """
    key = table.key if index is None else table.indexes[index].schema.key
    resource = table.name if index is None else f"{table.name}-{index}"
    stamp = rule.changed_ns // 1_000_000
    return [
        f"DynamoDBContributorInsights-{graph}-{resource}-{stamp}"
        for graph, counted in _GRAPHS.items()
        if (key.sort or graph.startswith("P"))
        and (rule.mode == ACCESSED_AND_THROTTLED or counted == "throttled")
    ]
