"""Design files: the tables that a project's own infrastructure code declares.

It reads Terraform (files, directories, plans), CloudFormation, SAM, the Serverless Framework, the
``cdk.out`` folder of the CDK, NoSQL Workbench models, the data models of AWS's agent tools, what
``aws dynamodb describe-table`` prints, and CreateTable requests. All of them become CreateTable
requests, which the engine checks like any other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from emulator.designs.declared import DeclaredTable, NothingDeclaredError
from emulator.designs.findings import Finding, Severity
from emulator.service.errors import DocumentError

__all__ = ["DeclaredTable", "Finding", "Severity", "create_table_requests", "read_tables"]


def create_table_requests(path: str | Path) -> list[dict[str, Any]]:
    """Return the CreateTable requests of the tables that a file declares, in its order.

    Raises:
        DocumentError: The file cannot be read, or declares no table; the message says where.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as directory:
    ...     path = Path(directory, "main.tf")
    ...     _ = path.write_text('''
    ...         resource "aws_dynamodb_table" "events" {
    ...           name         = "events"
    ...           billing_mode = "PAY_PER_REQUEST"
    ...           hash_key     = "deviceId"
    ...           attribute {
    ...             name = "deviceId"
    ...             type = "S"
    ...           }
    ...         }
    ...     ''')
    ...     [request] = create_table_requests(path)
    >>> request["KeySchema"]
    [{'AttributeName': 'deviceId', 'KeyType': 'HASH'}]
    """
    return [table.request for table in read_tables(path)]


def read_tables(path: str | Path) -> list[DeclaredTable]:
    """Return the tables that a file declares, or all files of a directory.

    Raises:
        DocumentError: The file cannot be read, declares no table, or declares one that cannot be
            read or depends on what is decided elsewhere; the message says where.

    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> from emulator.strategies import create_request
    >>> with TemporaryDirectory() as directory:
    ...     path = Path(directory, "orders.json")
    ...     _ = path.write_text(json.dumps(create_request("orders", "id")))
    ...     [table.request["TableName"] for table in read_tables(path)]
    ['orders']
    """
    from emulator.designs.files import read_design  # its readers are many

    reading = read_design(Path(path))
    for finding in reading.findings:
        if finding.rule in ("unreadable", "unknown-value"):
            line = "" if finding.line is None else f":{finding.line}"
            raise DocumentError(
                f"{finding.file or path}{line}: {finding.subject}: {finding.message}"
            )
    if not reading.tables:
        raise NothingDeclaredError(path)
    return list(reading.tables)
