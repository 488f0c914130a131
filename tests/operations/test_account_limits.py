"""DescribeLimits and DescribeEndpoints."""

from tests.tables import emulator


def test_limits_are_the_settings_quotas():
    """OTH-1, CAP-615."""
    assert emulator().call("DescribeLimits", {}) == {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }
    found = emulator(table_quota=1, account_quota=2).call("DescribeLimits", {})
    assert list(found.values()) == [2, 2, 1, 1]


def test_the_endpoint_is_the_region_s():
    """OTH-2."""
    assert emulator().call("DescribeEndpoints", {}, region="eu-west-1") == {
        "Endpoints": [{"Address": "dynamodb.eu-west-1.amazonaws.com", "CachePeriodInMinutes": 1440}]
    }
