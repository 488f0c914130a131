"""The rules: every id that ``dynamometer check`` and the lab's advice may name (ICH-4).

Each has a page, ``docs/checks/<id>.md``, with the reason, an example, the cure and the source.
The severity is that of a finding unless the figures say that it is graver.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from emulator.designs.findings import Severity

#: What a rule goes by: how a file was read, the tables that it declares, a workload, or the calls
#: that tests make.
Basis = Literal["reading", "tables", "load", "calls"]


class KnownRule(NamedTuple):
    """A rule as lists show it."""

    id: str
    severity: Severity
    title: str
    basis: Basis


def _rules(basis: Basis, rows: str) -> dict[str, KnownRule]:
    listed = {}
    for row in rows.strip().splitlines():
        rule, severity, title = row.split(maxsplit=2)
        listed[rule] = KnownRule(rule, _SEVERITY[severity], title, basis)
    return listed


_SEVERITY: Final[dict[str, Severity]] = {
    "problem": "problem",
    "warning": "warning",
    "info": "info",
}

RULES: Final[dict[str, KnownRule]] = (
    _rules(
        "reading",
        """
        unreadable              problem  A table cannot be read
        unknown-value           warning  A value is decided elsewhere
        assumed-value           info     A value is assumed
        unread-member           info     A member is not read
        unread-module           warning  A module declares tables that are not read
        key-as-list             warning  A key is written as a list, which no provider accepts
        unknown-ignore          warning  A comment or setting ignores a rule that does not exist
        unused-ignore           info     A comment or setting ignores nothing
        ignore-without-reason   info     A rule is ignored without a reason
        """,
    )
    | _rules(
        "tables",
        """
        refused                 problem  The service refuses the table
        table-replaced          problem  The plan replaces a table, and its data is lost
        time-key                warning  The partition key follows the clock
        low-cardinality-key     warning  The partition key has few values
        index-back-pressure     warning  An index has less write capacity than its table
        redundant-index         warning  An index has the key of its table or of another index
        many-indexes            warning  Many indexes multiply the cost of writes
        collection-limit        warning  Local indexes bound the size of item collections
        scaling-without-policy  warning  An auto scaling target has no policy
        generic-key             info     The name of a partition key tells nothing
        wide-projection         info     An index copies every attribute
        concatenated-key        info     An index key joins several attributes in a text
        stream-view-type        info     A stream carries less than it can, for good
        no-ttl                  info     Items ordered by time are kept for ever
        spread                  info     Capacity is divided among partitions
        fixed-capacity          info     Provisioned capacity does not scale
        sample-skew             info     Most sample items share a key
        """,
    )
    | _rules(
        "load",
        """
        cardinality             problem  Fewer key values than the load needs
        hot-partition           problem  One partition gets too much of the traffic
        popular-key             problem  One key gets too much of the traffic
        ascending-sort-key      problem  A busy key's sort keys ascend, and cannot be split
        sequential-key          info     Partition keys are sequential ids
        index-throttles-table   problem  Writes wait for an index
        index-falls-behind      problem  An index falls behind, and will close the table
        index-amplification     warning  Indexes multiply the cost of a write
        frequent-scan           problem  A frequent pattern reads the whole table
        filter-instead-of-key   problem  A filter does the work of a key
        collection-growth       problem  An item collection grows to its limit
        vertical-split          warning  Small updates pay for a large item
        size-rounding           info     Items are just over the edge of a unit
        billing-mode            info     Another way to pay is cheaper
        table-class             info     The other table class is cheaper
        no-rate                 warning  An access pattern has no rate
        vector-index-not-simulated  warning  A vector index is not simulated
        """,
    )
    | _rules(
        "calls",
        """
        expiry-format           warning  An expiry time is no number of seconds
        large-item              warning  An item is large, or grows large
        all-pages               warning  Pages are read to the end
        unread-index            warning  No test reads an index
        """,
    )
)
