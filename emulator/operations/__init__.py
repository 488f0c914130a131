"""What may be asked: one file per API operation, request shapes as data, rules as functions.

This room decides the order of checks and every message; it alone speaks the wire's words.
"""

from emulator.operations import (  # noqa: F401 - importing a file registers its operation
    account_limits,
    backups,
    batch_execute_statement,
    batch_get_item,
    batch_write_item,
    continuous_backups,
    contributor_insights,
    create_table,
    delete_item,
    delete_table,
    describe_table,
    execute_statement,
    execute_transaction,
    get_item,
    global_tables,
    kinesis_destinations,
    list_tables,
    put_item,
    query,
    replicas,
    resource_policies,
    restores,
    scan,
    streams,
    tags,
    time_to_live,
    transact_get_items,
    transact_write_items,
    transfers,
    update_item,
    update_table,
)
from emulator.operations.registry import OPERATIONS, run

NAMES = frozenset(OPERATIONS)

__all__ = ["NAMES", "OPERATIONS", "run"]
