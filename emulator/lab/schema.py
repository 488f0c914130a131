"""The JSON Schema of the lab file, and the command ``dynamometer schema`` (ICH-110).

It is generated from the forms that read the file, and shipped as a file, so that an editor can
point to it and printing it needs no extra.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from emulator.command_line import FINE

#: The schema as it is shipped.
SHIPPED: Final = Path(__file__).with_name("lab-file.schema.json")
DRAFT: Final = "http://json-schema.org/draft-07/schema#"

_EPILOG: Final = """\
examples:
  dynamometer schema lab > lab-file.schema.json
  dynamometer schema lab --path

Editors with the YAML language server complete and check a lab file whose first line is:

  # yaml-language-server: $schema=lab-file.schema.json
"""


def add_schema_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dynamometer schema``."""
    parser.description = "Print the JSON Schema of a file that dynamometer reads."
    parser.epilog = _EPILOG
    parser.add_argument("what", metavar="WHAT", choices=("lab",), help="lab: the lab file")
    parser.add_argument("--path", action="store_true", help="print the path of the schema instead")


def run_schema(arguments: argparse.Namespace) -> int:
    """Print the schema, or its path."""
    sys.stdout.write(f"{SHIPPED}\n" if arguments.path else SHIPPED.read_text(encoding="utf-8"))
    return FINE


def lab_file_schema() -> dict[str, Any]:
    """Return the schema of the lab file, read off the forms of its reader.

    >>> sorted(lab_file_schema()["required"])
    ['designs', 'workload']
    """
    from emulator.lab.files import LAB_FILE
    from emulator.lab.inputs.forms import all_records

    root, *others = all_records(LAB_FILE)
    return {
        "$schema": DRAFT,
        "title": "dynamometer lab file",
        **root.schema(),
        "definitions": {record.title: record.schema() for record in others},
    }
