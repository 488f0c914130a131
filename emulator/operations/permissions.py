"""Who may do what: the policies of tables and streams, applied to a caller (OTH-22).

Only with ``Settings(enforce_policies=True)``. A table or stream that has no policy is open to
everybody; one that has a policy, to those whom the policy allows. What a request is, for the
conditions of policies, ``request_context`` says (OTH-23).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from emulator.engine import Account, Table, tables_of
from emulator.engine.option_values import ResourcePolicy
from emulator.operations import policies, request_context
from emulator.operations.policy_conditions import Context
from emulator.partiql import Delete, Exists, Insert, Select, UpdateStatement, parse
from emulator.service.catalogue import OPERATIONS, STREAMS
from emulator.service.errors import AccessDeniedException, ApiError

# Source: IAM User Guide, access denied error messages.
NOT_ALLOWED: Final = (
    "User: {user} is not authorized to perform: {action} on resource: {resource} because no "
    "resource-based policy allows the {action} action"
)
DENIED: Final = (
    "User: {user} is not authorized to perform: {action} on resource: {resource} with an explicit "
    "deny in a resource-based policy"
)

#: Source: Service Authorization Reference, Actions of DynamoDB: what members of a transaction and
#: PartiQL statements need.
_OF_MEMBERS: Final = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}
_OF_STATEMENTS: Final = {
    Insert: "PartiQLInsert",
    UpdateStatement: "PartiQLUpdate",
    Delete: "PartiQLDelete",
}
#: Operations whose resource is an index, if they name one (VIX-51).
_ON_INDEXES: Final = frozenset(("Query", "Scan", "SearchVectors"))
#: Members that name a table which a job reads as a whole.
_SOURCES: Final = ("TableArn", "SourceTableName", "SourceTableArn")
#: What a request needs no permission of a resource for: it makes the resource.
_MAKES: Final = frozenset(("CreateTable", "ImportTable"))


class Need(NamedTuple):
    """An action, the resource it is on, the policy of that resource, and what is done to it."""

    action: str
    resource: str
    policy: ResourcePolicy | None
    context: Context


def authorize(
    account: Account,
    access_key: str,
    operation: str,
    request: Mapping[str, Any],
    source_ip: str | None = None,
) -> None:
    """Refuse what the policies of the resources that a request names do not let a caller do.

    Raises:
        AccessDeniedException: for the first resource that does not.
    """
    caller = policies.Caller(account.account_id, access_key)
    common = request_context.of_request(account, caller, request, source_ip)
    for need in _needs(account, operation, request):
        if need.policy is None:
            continue
        statements = policies.parse(need.policy.text) or ()
        action = f"dynamodb:{need.action}"
        context = {**common, **need.context}
        verdict = policies.judge(statements, caller, action, need.resource, context)
        if verdict is not policies.Verdict.ALLOWED:
            sentence = DENIED if verdict is policies.Verdict.DENIED else NOT_ALLOWED
            raise AccessDeniedException(
                sentence.format(user=caller.arn, action=action, resource=need.resource)
            )


def _needs(account: Account, operation: str, request: Mapping[str, Any]) -> Iterator[Need]:
    """Yield what a request needs, as far as it is well-formed; the rest is refused later."""
    if operation in _MAKES or operation not in OPERATIONS:
        return
    if "Statement" in operation or operation == "ExecuteTransaction":
        yield from _of_statements(account, operation, request)
        return
    if operation.startswith("Transact"):
        yield from _of_transaction(account, operation, request)
        return
    if OPERATIONS[operation].api == STREAMS or "ResourceArn" in request:
        yield from _of_arn(account, operation, request)
        return
    index = request.get("IndexName") if operation in _ON_INDEXES else None
    batches = request.get("RequestItems")
    for name in tables_of(request):
        body = batches.get(name) if isinstance(batches, Mapping) else request
        yield from _of_table(account, operation, name, body, index)
    for member in _SOURCES:
        if isinstance(request.get(member), str):
            yield from _of_table(account, operation, request[member], request)


def _of_table(
    account: Account, action: str, name: object, body: Any, index: object = None
) -> Iterator[Need]:
    """Yield what an action on a table, or on one of its indexes, needs."""
    table = _named(account, str(name))
    if table is not None:
        resource = f"{table.arn}/index/{index}" if isinstance(index, str) else table.arn
        context = {
            **request_context.of_tags(table.options.tags),
            **request_context.of_body(action, body, table, index),
        }
        yield Need(action, resource, table.options.policy, context)


def _named(account: Account, name: str) -> Table | None:
    """Return a table by its name or its ARN; one of another region is not asked."""
    head, _, table_name = name.rpartition("table/")
    if head and head.split(":")[3:4] != [account.region]:
        return None
    return account.find_table(table_name)


def _of_arn(account: Account, action: str, request: Mapping[str, Any]) -> Iterator[Need]:
    """Yield what an action on a stream or on what an ARN names needs."""
    written = request.get("ResourceArn") or request.get("StreamArn") or ""
    arn = str(written or str(request.get("ShardIterator", "")).partition("|")[0])
    stream = account.visible_streams().get(arn)
    if stream is not None:
        yield Need(action, arn, stream.policy, request_context.of_tags(stream.tags))
    elif "/stream/" not in arn:
        yield from _of_table(account, action, arn, request)


def _of_transaction(account: Account, operation: str, request: Mapping[str, Any]) -> Iterator[Need]:
    actions = request.get("TransactItems")
    for action in actions if isinstance(actions, list) else ():
        for kind, body in action.items() if isinstance(action, Mapping) else ():
            if kind in _OF_MEMBERS and isinstance(body, Mapping):
                needs = _of_table(account, _OF_MEMBERS[kind], body.get("TableName"), body)
                yield from _enclosed(needs, operation)


def _enclosed(needs: Iterator[Need], operation: str) -> Iterator[Need]:
    """Yield needs that say which operation they are part of."""
    for need in needs:
        enclosing = {"dynamodb:enclosingoperation": (operation,)}
        yield need._replace(context={**need.context, **enclosing})


def _of_statements(account: Account, operation: str, request: Mapping[str, Any]) -> Iterator[Need]:
    """Yield what PartiQL statements need."""
    members = {"ExecuteTransaction": "TransactStatements", "BatchExecuteStatement": "Statements"}
    holders = [request] if operation == "ExecuteStatement" else request.get(members[operation])
    for holder in holders if isinstance(holders, list) else ():
        if isinstance(holder, Mapping) and isinstance(holder.get("Statement"), str):
            needs = _of_statement(account, holder["Statement"], holder.get("Parameters"))
            is_enclosed = operation == "ExecuteTransaction"
            yield from _enclosed(needs, operation) if is_enclosed else needs


def _of_statement(account: Account, text: str, parameters: Any) -> Iterator[Need]:
    try:
        statement = parse(text).statement
    except (ApiError, RecursionError):
        return
    if isinstance(statement, Exists):
        statement = statement.select
    index = None
    if isinstance(statement, Select):
        name, index, action = statement.source.table, statement.source.index, "PartiQLSelect"
    else:
        name, action = statement.table, _OF_STATEMENTS[type(statement)]
    for need in _of_table(account, action, name, {}, index):
        table = _named(account, str(name))
        assert table is not None, "a need is of a table"
        context = request_context.of_statement(text, parameters, table, index)
        yield need._replace(context={**need.context, **context})
