"""DescribeLimits and DescribeEndpoints (OTH-1, OTH-2)."""

from __future__ import annotations

from typing import Final

from emulator.engine import Account
from emulator.operations.registry import Request, Response, operation
from emulator.operations.shapes import structure

_CACHE_MINUTES: Final = 1440


@operation("DescribeLimits", shape=structure())
def describe_limits(account: Account, _: Request) -> Response:
    """Return how much may be provisioned, by account and by table (CAP-615)."""
    settings = account.settings
    return {
        "AccountMaxReadCapacityUnits": settings.account_quota,
        "AccountMaxWriteCapacityUnits": settings.account_quota,
        "TableMaxReadCapacityUnits": settings.table_quota,
        "TableMaxWriteCapacityUnits": settings.table_quota,
    }


@operation("DescribeEndpoints", shape=structure())
def describe_endpoints(account: Account, _: Request) -> Response:
    """Return the regional endpoint."""
    address = f"dynamodb.{account.region}.amazonaws.com"
    return {"Endpoints": [{"Address": address, "CachePeriodInMinutes": _CACHE_MINUTES}]}
