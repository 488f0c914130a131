"""One design in every language it may be declared in, read to the same tables.

``projects/`` has a folder for each: a shop with orders, found by status, and users.
"""

import shutil
from pathlib import Path

import pytest

from emulator import Emulator
from emulator.designs import create_table_requests, read_tables
from emulator.designs.files import declares_tables, read_design
from emulator.service.errors import DocumentError

PROJECTS = Path(__file__).parent / "projects"
FOLDERS = sorted(path.name for path in PROJECTS.iterdir())


def key(**roles):
    return [{"AttributeName": name, "KeyType": role} for name, role in roles.items()]


ORDERS = {
    "TableName": "shop-orders",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": key(customerId="HASH", orderedAt="RANGE"),
    "AttributeDefinitions": [
        {"AttributeName": "customerId", "AttributeType": "S"},
        {"AttributeName": "orderedAt", "AttributeType": "N"},
        {"AttributeName": "status", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "byStatus",
            "KeySchema": key(status="HASH", orderedAt="RANGE"),
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total"]},
        }
    ],
}
USERS = {
    "TableName": "shop-users",
    "BillingMode": "PROVISIONED",
    "KeySchema": key(userId="HASH"),
    "AttributeDefinitions": [{"AttributeName": "userId", "AttributeType": "S"}],
    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
}


def test_every_format_has_its_project():
    assert len(FOLDERS) == 13


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_project_is_read_to_the_same_tables(folder):
    """ICH-10, ICH-30, ICH-40 to ICH-51: Terraform in four forms, CloudFormation in four, models."""
    reading = read_design(PROJECTS / folder)
    assert reading.findings == ()
    requests = sorted((table.request for table in reading.tables), key=lambda one: one["TableName"])
    for request in requests:
        request["AttributeDefinitions"].sort(key=lambda one: one["AttributeName"])
    assert requests == [ORDERS, USERS]
    emulator = Emulator()
    for request in requests:
        emulator.call("CreateTable", request)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_key_of_the_index_has_its_place(folder):
    """ICH-5: the line of a finding is that of what it is about, in the file that has it."""
    tables = read_design(PROJECTS / folder).tables
    [orders] = [table for table in tables if table.request["TableName"] == "shop-orders"]
    place = orders.places.get(("byStatus", "KeySchema"), orders.places["byStatus", ""])
    lines = Path(orders.file).read_text(encoding="utf-8").splitlines()
    near = "\n".join(lines[place.line - 1 : place.line + 12])
    words = ("status", "index.value", "global_secondary_indexes")
    assert any(word in near for word in words)


def test_all_of_them_together_are_a_repository(tmp_path):
    shutil.copytree(PROJECTS, tmp_path / "repository")
    (tmp_path / "repository" / "node_modules").mkdir()
    (tmp_path / "repository" / "node_modules" / "main.tf").write_text("}{", encoding="utf-8")
    (tmp_path / "repository" / "package.json").write_text("{}", encoding="utf-8")
    (tmp_path / "repository" / "values.yaml").write_text("a: {{ .Values.b }}", encoding="utf-8")
    reading = read_design(tmp_path / "repository")
    assert len(reading.tables) == 2 * len(FOLDERS)
    assert reading.findings == ()


def test_a_directory_is_all_its_files(tmp_path):
    for name in ("orders", "users"):
        source = PROJECTS / "describe-table" / f"{name}.json"
        shutil.copy(source, tmp_path / f"{name}.json")
    names = [request["TableName"] for request in create_table_requests(tmp_path)]
    assert names == ["shop-orders", "shop-users"]


@pytest.mark.parametrize("folder", ["agent-toolkit", "mcp-server"])
def test_a_model_is_known_by_its_members(folder, tmp_path):
    """ICH-1: two formats share a file name, and either may have another."""
    path = tmp_path / "orders.json"
    path.write_text((PROJECTS / folder / "dynamodb_data_model.json").read_text())
    assert len(read_tables(path)) == 2


def test_a_file_of_samples_lends_them(tmp_path):
    [_, users] = read_tables(PROJECTS / "mcp-server" / "dynamodb_data_model.json")
    assert users.samples == ({"userId": {"S": "u1"}},)


def test_what_only_mentions_a_table_is_no_design(tmp_path):
    """Schemas, policies and test reports of a repository name tables, and are not wrong."""
    shutil.copytree(PROJECTS / "terraform", tmp_path / "terraform")
    (tmp_path / "schema.json").write_text('{"typeName": "AWS::DynamoDB::Table"}')
    (tmp_path / "expected.yaml").write_text('pass: ["aws_dynamodb_table.pass"]')
    (tmp_path / "list.json").write_text('[1, {"type": "aws_dynamodb_table"}]')
    reading = read_design(tmp_path)
    assert len(reading.tables) == 2
    assert not reading.findings


def test_a_folder_of_mentions_declares_nothing(tmp_path):
    (tmp_path / "schema.json").write_text('{"typeName": "AWS::DynamoDB::Table"}')
    with pytest.raises(DocumentError, match="no DynamoDB table is declared in it"):
        read_design(tmp_path)


def test_descriptions_may_stand_one_after_another(tmp_path):
    """As a shell loop over ``aws dynamodb describe-table`` prints them."""
    texts = [path.read_text() for path in sorted((PROJECTS / "describe-table").iterdir())]
    path = tmp_path / "tables.json"
    path.write_text("".join(texts), encoding="utf-8")
    assert [table.request["TableName"] for table in read_tables(path)] == [
        "shop-orders",
        "shop-users",
    ]
    path.write_text("".join([texts[0], '{"Table": {}}', texts[1]]), encoding="utf-8")
    reading = read_design(path)
    assert len(reading.tables) == 2
    [finding] = reading.findings
    assert (finding.rule, finding.subject) == ("unreadable", "[1]")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('{"TableNames": ["a"]}', "names only; give what 'aws dynamodb describe-table' prints"),
        ('{"version": 4, "terraform_version": "1", "lineage": ""}', "'terraform show -json'"),
        ('{"version": "48", "artifacts": {}}', "manifest of a cloud assembly; give its folder"),
    ],
    ids=["list-tables", "state", "assembly"],
)
def test_what_is_nearly_a_design_says_what_would_be_one(tmp_path, text, hint):
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError, match=hint):
        read_design(path)


def test_a_model_without_keys_is_reported_in_a_folder_too(tmp_path):
    (tmp_path / "model.json").write_text('{"DataModel": [{"TableName": "orders"}]}')
    [finding] = read_design(tmp_path).findings
    assert (finding.rule, finding.subject) == ("unreadable", "DataModel[0]")


LOADED = {
    "lab.yaml": "title: x\nworkload: {}\n",
    "lab.json": '{"workload": {}}',
    "other.yaml": "a: 1\n",
    "model.json": '{"tables": [{"table_name": "t"}], "access_patterns": []}',
}
DECLARING = {
    "main.tf": "",
    "template.yaml": "Resources: {t: {Type: AWS::DynamoDB::Table}}\n",
    "tables.json": '{"Table": {}}',
}


@pytest.mark.parametrize("name", [*LOADED, *DECLARING, "folder"])
def test_a_file_with_a_load_of_its_own_is_no_design(tmp_path, name):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    else:
        path.write_text((LOADED | DECLARING)[name])
    assert declares_tables(path) == (name not in LOADED)
