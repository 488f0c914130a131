"""TagResource, UntagResource and ListTagsOfResource (TAG-1 to TAG-3, ERR-OTH-5)."""

from __future__ import annotations

from typing import Final

from emulator.engine import Account, Stream
from emulator.operations import definitions, shapes, tokens
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import arns
from emulator.operations.rules.tags import load_tags, tags_are_not_too_many
from emulator.service.errors import ValidationException

NO_TAGS: Final = "Atleast one Tag needs to be provided as Input."
NO_KEYS: Final = "Atleast one Tag Key needs to be provided as Input."


@operation(
    "TagResource",
    shape=shapes.structure(ResourceArn=arns.RESOURCE_ARN.required, Tags=definitions.TAGS),
)
def tag_resource(account: Account, request: Request) -> Response:
    """Add tags, replacing those of the same keys."""
    if not request.get("Tags"):
        raise ValidationException(NO_TAGS)
    tags = _tags_of(account, request["ResourceArn"])
    added = load_tags(request["Tags"])
    tags_are_not_too_many(tags | added)
    tags.update(added)
    return {}


@operation(
    "UntagResource",
    shape=shapes.structure(
        ResourceArn=arns.RESOURCE_ARN.required, TagKeys=shapes.List(shapes.STRING)
    ),
)
def untag_resource(account: Account, request: Request) -> Response:
    """Remove tags; unknown keys are ignored."""
    if not request.get("TagKeys"):
        raise ValidationException(NO_KEYS)
    tags = _tags_of(account, request["ResourceArn"])
    for key in request["TagKeys"]:
        tags.pop(key, None)
    return {}


@operation(
    "ListTagsOfResource",
    shape=shapes.structure(ResourceArn=arns.RESOURCE_ARN.required, NextToken=shapes.STRING),
)
def list_tags(account: Account, request: Request) -> Response:
    """Return all tags, by key (TAG-1)."""
    tags = _tags_of(account, request["ResourceArn"])
    if request.get("NextToken") is not None:  # no answer ever had one
        raise ValidationException(tokens.BAD_TOKEN)
    return {"Tags": [{"Key": key, "Value": tags[key]} for key in sorted(tags)]}


def _tags_of(account: Account, arn: str) -> dict[str, str]:
    """Return the tags of the table or stream that an ARN names, to be read or changed."""
    resource = arns.existing_resource(account, arn)
    return resource.tags if isinstance(resource, Stream) else resource.options.tags
