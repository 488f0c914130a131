"""PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy (OTH-18, ERR-OTH-6).

Policies are checked, kept and given back; none is evaluated (OTH-22).
"""

from __future__ import annotations

from typing import Final

from emulator.engine import Account, Stream, TableOptions
from emulator.engine.option_values import ResourcePolicy
from emulator.model.wire import INVALID
from emulator.operations import shapes
from emulator.operations.policies import is_policy
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import arns
from emulator.service.errors import PolicyNotFoundException, ValidationException

NO_POLICY: Final = "Resource-based policy not found for the provided ResourceArn: {reason}"
# Observed: moto's tests that are marked as verified on AWS.
OTHER_REVISION: Final = (
    "Requested update for policy with revision id {expected}, but the policy associated to "
    "target table {name} has revision id {revision}."
)
NONE_EXPECTED: Final = (
    "Requested policy update expecting none to be present for table {name}, but a policy exists "
    "with revision id {revision}."
)
BAD_POLICY: Final = INVALID + "Invalid policy document: {text}"
LONG_POLICY: Final = INVALID + "Maximum policy size of 20480 bytes exceeded"
_MOST_BYTES: Final = 20_480
_NONE_EXPECTED: Final = "NO_POLICY"

_REVISION = shapes.String(1, 255)


@operation(
    "PutResourcePolicy",
    shape=shapes.structure(
        ResourceArn=arns.RESOURCE_ARN.required,
        Policy=shapes.STRING.required,
        ExpectedRevisionId=_REVISION,
        ConfirmRemoveSelfResourceAccess=shapes.BOOLEAN,
    ),
)
def put_resource_policy(account: Account, request: Request) -> Response:
    """Attach a policy to a table or stream; the same text again keeps its revision."""
    arn, text = request["ResourceArn"], request["Policy"]
    holder = _holder(account, arn)
    policy_is_well_formed(text)
    revision_is_expected(account, holder.policy, request)
    if holder.policy is None or holder.policy.text != text:
        holder.policy = new_policy(account, arn, text)
    return {"RevisionId": holder.policy.revision}


@operation(
    "GetResourcePolicy",
    shape=shapes.structure(ResourceArn=arns.RESOURCE_ARN.required),
)
def get_resource_policy(account: Account, request: Request) -> Response:
    """Return the policy of a table or stream."""
    policy = _holder(account, request["ResourceArn"]).policy
    if policy is None:
        raise PolicyNotFoundException(NO_POLICY.format(reason=request["ResourceArn"]))
    return {"Policy": policy.text, "RevisionId": policy.revision}


@operation(
    "DeleteResourcePolicy",
    shape=shapes.structure(
        ResourceArn=arns.RESOURCE_ARN.required,
        ExpectedRevisionId=_REVISION,
    ),
)
def delete_resource_policy(account: Account, request: Request) -> Response:
    """Detach the policy of a table or stream; without one, nothing happens."""
    holder = _holder(account, request["ResourceArn"])
    revision_is_expected(account, holder.policy, request)
    policy, holder.policy = holder.policy, None
    return {} if policy is None else {"RevisionId": policy.revision}


def _holder(account: Account, arn: str) -> TableOptions | Stream:
    named = arns.resource_of(account, arn)
    if named.stream is None:
        return account.described_table(named.table).options
    resource = arns.existing_resource(account, arn)
    return resource if isinstance(resource, Stream) else resource.options


def new_policy(account: Account, arn: str, text: str) -> ResourcePolicy:
    """Return a policy with a revision of its own.

    Assumed: a revision is the time in milliseconds, followed by some digits.
    """
    mark = int(account.new_id(f"policy/{arn}")[:6], 16)
    return ResourcePolicy(text, f"{account.now_ns // 1_000_000}{mark:08}")


def policy_is_well_formed(text: str) -> None:
    """Refuse a policy that is too long, or whose statements do not say what they must (ERR-OTH-6).

    Assumed: a policy without statements is accepted.
    """
    if len(text.encode()) > _MOST_BYTES:
        raise ValidationException(LONG_POLICY)
    if not is_policy(text):
        raise ValidationException(BAD_POLICY.format(text=text))


def revision_is_expected(account: Account, policy: ResourcePolicy | None, request: Request) -> None:
    """Refuse to change a policy of another revision than the caller knows (OTH-18).

    Assumed: the text, if there is no policy at all.
    """
    expected, arn = request.get("ExpectedRevisionId"), request["ResourceArn"]
    if expected is None or expected == (_NONE_EXPECTED if policy is None else policy.revision):
        return
    if policy is None:
        raise PolicyNotFoundException(NO_POLICY.format(reason=arn))
    name = arns.resource_of(account, arn).table
    reason = NONE_EXPECTED if expected == _NONE_EXPECTED else OTHER_REVISION
    reason = reason.format(expected=expected, name=name, revision=policy.revision)
    raise PolicyNotFoundException(NO_POLICY.format(reason=reason))
