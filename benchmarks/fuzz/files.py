"""Files: snapshots whose checksum fits, files of the lab, and designs in every language."""

import contextlib
import hashlib
import json
import re
import tempfile
import time
from pathlib import Path

from benchmarks.fuzz.requests import RequestMaker
from benchmarks.fuzz.spoil import spoilt, spoilt_bytes, spoilt_text
from benchmarks.fuzz.tables import filled
from emulator import Emulator, ManualClock
from emulator.service.errors import EmulatorError, ResourceNotFoundException

#: Files are read by who wrote them, once; a parser of YAML takes its time.
MOST_FILE_SECONDS = 5.0


class _Files:
    """Spoilt files of one kind, read one after the other."""

    def __init__(self, random, tally):
        self._random = random
        self._tally = tally
        self._maker = RequestMaker(random)
        self._folder = Path(tempfile.mkdtemp(prefix="fuzz"))
        tally.most_seconds = MOST_FILE_SECONDS

    def play(self):
        """Read one file."""
        name, data = self._next()
        path = self._folder / name
        path.write_bytes(data)
        start = time.thread_time()
        try:
            self._read(path)
        except EmulatorError as error:
            seconds = time.thread_time() - start
            self._tally.outcomes["refused"] += 1
            if "\n" in str(error).strip() or not str(error):
                self._tally.find("not a sentence", str(error)[:100], data)
        except Exception as failure:  # what the fuzzer is for
            self._tally.escaped(failure, data)
            return
        else:
            seconds = time.thread_time() - start
            self._tally.outcomes["ok"] += 1
        self._tally.time(seconds, data, lambda: self._read(path))

    def end(self):
        """Remove what was written."""
        for path in self._folder.iterdir():
            path.unlink()
        self._folder.rmdir()


class Snapshots(_Files):
    """Snapshot files, damaged inside and signed again, or damaged outside."""

    def __init__(self, random, tally):
        super().__init__(random, tally)
        emulator = filled("observe")
        emulator.save(self._folder / "whole")
        header, *lines = (self._folder / "whole").read_bytes().splitlines()
        self._header = json.loads(header)
        self._lines = [json.loads(line) for line in lines]

    def _next(self):
        random = self._random
        lines = list(self._lines)
        for _ in range(random.choice((1, 1, 2))):
            at = random.randrange(len(lines))
            chance = random.random()
            if chance < 0.1:
                del lines[at]
            elif chance < 0.2:
                lines.insert(at, random.choice(lines))
            else:
                lines[at] = spoilt(random, lines[at], self._maker.value)
            lines = lines or [{}]
        body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        if random.random() < 0.1:
            body = spoilt_bytes(random, body)
        header = self._header | {"sha256": hashlib.sha256(body).hexdigest()}
        if random.random() < 0.1:
            header["version"] = random.choice((1, 2, 3, 99, "x", None))
        data = json.dumps(header).encode() + b"\n" + body
        return "spoilt", spoilt_bytes(random, data) if random.random() < 0.05 else data

    def _read(self, path):
        emulator = Emulator.load(path, clock=ManualClock())
        for table in emulator.call("ListTables", {})["TableNames"]:
            with contextlib.suppress(ResourceNotFoundException):  # it may be still CREATING
                emulator.call("Scan", {"TableName": table})
            emulator.call("DescribeTable", {"TableName": table})


class LabFiles(_Files):
    """Files of the lab: read and held against the workload, not run."""

    def __init__(self, random, tally):
        super().__init__(random, tally)
        import yaml

        self._documents = [
            yaml.safe_load(text) for text in _LAB_FILE.findall(_LAB_PAGE.read_text())
        ]

    def _next(self):
        random = self._random
        document = random.choice(self._documents)
        for _ in range(random.choice((1, 1, 2, 3))):
            document = spoilt(random, document, lambda: random.choice((1, -1, "x", 0.5, [], {})))
        text = json.dumps(document)  # which is YAML
        if random.random() < 0.2:
            text = spoilt_text(random, text)
        return "spoilt.yaml", text.encode(errors="replace")

    def _read(self, path):
        from emulator.lab import files

        files.load(path)


class Designs(_Files):
    """Designs as Terraform, CloudFormation, Workbench and DescribeTable write them."""

    def __init__(self, random, tally):
        super().__init__(random, tally)
        self._documents = tuple(_DESIGNS.items())

    def _next(self):
        random = self._random
        name, document = random.choice(self._documents)
        if isinstance(document, str):
            return name, spoilt_text(random, document).encode(errors="replace")
        for _ in range(random.choice((1, 1, 2, 3))):
            document = spoilt(random, document, self._maker.value)
        return name, json.dumps(document).encode()

    def _read(self, path):
        from emulator import designs

        designs.create_table_requests(path)


_LAB_PAGE = Path(__file__).parents[2] / "docs/how-to/lab.md"
_LAB_FILE = re.compile(r"^```yaml \S+\n(.*?^workload:.*?)^```", re.DOTALL | re.MULTILINE)
_KEYS = {
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
_DESIGNS = {
    "main.tf": """
resource "aws_dynamodb_table" "orders" {
  name         = "orders"
  billing_mode = "PROVISIONED"
  read_capacity = 5
  write_capacity = var.write
  hash_key     = "pk"
  range_key    = "sk"
  attribute { name = "pk" type = "S" }
  attribute { name = "sk" type = "N" }
  attribute { name = "g" type = "S" }
  ttl { attribute_name = "ttl" enabled = true }
  global_secondary_index {
    name = "gsi"
    hash_key = "g"
    projection_type = "INCLUDE"
    non_key_attributes = ["a", "b"]
    read_capacity = 1
    write_capacity = 1
  }
}
variable "write" { default = 7 }
""",
    "template.json": {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Parameters": {"Units": {"Type": "Number", "Default": 5}},
        "Resources": {
            "Orders": {
                "Type": "AWS::DynamoDB::Table",
                "Properties": _KEYS
                | {
                    "TableName": {"Fn::Sub": "orders-${AWS::Region}"},
                    "ProvisionedThroughput": {
                        "ReadCapacityUnits": {"Ref": "Units"},
                        "WriteCapacityUnits": 5,
                    },
                    "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True},
                    "GlobalSecondaryIndexes": [
                        {
                            "IndexName": "gsi",
                            "KeySchema": _KEYS["KeySchema"],
                            "Projection": {"ProjectionType": "ALL"},
                        }
                    ],
                },
            }
        },
    },
    "template.yaml": """
Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "orders-${AWS::StackName}"
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - AttributeName: pk
          AttributeType: S
      KeySchema:
        - AttributeName: pk
          KeyType: HASH
""",
    "described.json": {
        "Table": _KEYS | {"TableName": "orders", "TableStatus": "ACTIVE", "ItemCount": 3}
    },
    "model.json": {
        "ModelName": "orders",
        "ModelMetadata": {"Version": "3.0"},
        "DataModel": [
            {
                "TableName": "orders",
                "KeyAttributes": {"PartitionKey": {"AttributeName": "pk", "AttributeType": "S"}},
                "NonKeyAttributes": [{"AttributeName": "a", "AttributeType": "N"}],
                "TableData": [{"pk": {"S": "x"}, "a": {"N": "1"}}],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "gsi",
                        "KeyAttributes": {
                            "PartitionKey": {"AttributeName": "a", "AttributeType": "N"}
                        },
                        "Projection": {"ProjectionType": "ALL"},
                    }
                ],
                "BillingMode": "PROVISIONED",
                "ProvisionedCapacitySettings": {
                    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
                },
            }
        ],
    },
}
