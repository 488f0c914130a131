"""Dead names: what the package itself never uses is public, called by others, or listed here.

Tests do not count as users: a name that only tests call is dead.
"""

from pathlib import Path

import pytest

vulture = pytest.importorskip("vulture", reason="vulture comes with the extra dev")

ROOT = Path(__file__).parents[2]
PATHS = [str(ROOT / "emulator"), str(ROOT / "pytest_dynamometer.py")]
#: Functions that their decorator hands to somebody else.
DECORATORS = ["@operation*", "@rule*", "@invariant*", "@precondition*", "@pytest.*", "@draw.*"]
#: Names that the package defines for others, by who uses them.
USED_BY_OTHERS = {
    "those who test with the emulator": {
        "accessed_keys", "adrain", "consumed_read", "consumed_write",
        "import_table", "interleaved", "invoked", "last_receipt", "oldest_wait", "p50_bytes",
        "p99_bytes", "peak_read", "peak_write", "sequence_numbers", "serial", "throttled_keys",
        "throttled_read", "throttled_write",
        "usd_kept_month",
        "waiting_write",
    },
    "those who write handlers for Lambda": {
        "client_context", "get_remaining_time_in_millis",
        "invoked_function_arn", "log_group_name", "log_stream_name", "memory_limit_in_mb",
    },
    "those who know boto3's client, table and conditions": {
        "attribute_type", "batch_writer", "build_full_result", "can_paginate", "delete_item",
        "get_item", "get_paginator", "gte", "is_in", "lte", "method_to_api_mapping", "ne",
        "not_exists", "paginate", "query_all", "reload", "scan_all", "wait_until_exists",
        "wait_until_not_exists", "waiter_names",
    },
    "those who catch by the names of client.exceptions": {
        "BackupInUseException", "ContinuousBackupsUnavailableException",
        "GlobalTableAlreadyExistsException", "IndexNotFoundException",
        "ReplicaAlreadyExistsException", "ReplicaNotFoundException",
        "TransactionInProgressException",
    },
    "asyncio": {
        "buffer_updated", "connection_lost", "connection_made", "exc", "get_buffer",
        "pause_writing", "resume_writing", "sizehint",
    },
    "botocore and aiohttp": {"raw_headers"},
    "test classes that are decorated": {"_emulator_context"},
    "pytest": {
        "fixture_name", "longrepr", "pytest_addoption", "pytest_configure", "pytest_enter_pdb",
        "pytest_runtest_logreport", "pytest_sessionfinish", "pytest_terminal_summary",
    },
    "the console's page, which reads them as JSON": {
        "usd_hour", "usd_read_unit", "usd_write_unit",
    },
    "hypothesis": {"teardown"},
    "Python": {"__getattr__", "__signature__", "_value_", "showwarning"},
    "the command line, which loads commands by name": {
        "add_check_arguments", "add_cloudwatch_queries_arguments", "run_cloudwatch_queries",
        "add_design_arguments", "run_design",
        "add_diff_arguments", "add_lab_arguments", "add_mcp_arguments", "add_schema_arguments",
        "add_sweep_arguments",
        "run_check", "run_diff", "run_lab", "run_mcp", "run_schema", "run_sweep",
    },
    "agents, who read the answers as JSON": {"first_throttle_seconds", "ok"},
    "those who write the schema that is shipped": {"lab_file_schema"},
    "notebooks": {"_repr_html_", "to_frame"},
    "the script of a page": {"range_name"},
    "tables of attribute types, by position": {"current_name", "older_name"},
}  # fmt: skip


def test_a_name_is_used_or_listed_with_its_user():
    finder = vulture.Vulture(ignore_decorators=DECORATORS)
    finder.scavenge(PATHS)
    unused = {
        item.name: f"{item.filename}:{item.first_lineno}" for item in finder.get_unused_code()
    }
    listed = set().union(*USED_BY_OTHERS.values())
    assert {name: place for name, place in unused.items() if name not in listed} == {}
    assert listed - set(unused) == set()
