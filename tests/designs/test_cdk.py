"""The cdk.out folder (ICH-50)."""

import json
import shutil
from pathlib import Path

import pytest

from emulator.designs.files import read_design
from emulator.service.errors import DocumentError

ASSEMBLY = Path(__file__).parent / "projects" / "cdk" / "cdk.out"


def test_a_replica_is_that_of_the_stacks_region():
    tables = {table.resource: table for table in read_design(ASSEMBLY).tables}
    assert set(tables) == {"OrdersABC123", "Users1F2E"}
    assert tables["Users1F2E"].request["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert tables["Users1F2E"].scaled


def test_findings_name_the_template(tmp_path):
    assembly = tmp_path / "cdk.out"
    shutil.copytree(ASSEMBLY, assembly)
    (assembly / "assembly-Prod" / "Users.template.json").write_text("{", encoding="utf-8")
    reading = read_design(assembly)
    assert [table.resource for table in reading.tables] == ["OrdersABC123"]
    [finding] = reading.findings
    assert (finding.rule, Path(finding.file).name) == ("unreadable", "Users.template.json")


def test_an_assembly_without_stacks_is_told(tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": {}}), encoding="utf-8")
    with pytest.raises(DocumentError, match="the assembly has no stack; run 'cdk synth' first"):
        read_design(tmp_path)


def test_another_manifest_is_no_assembly(tmp_path):
    for text in ("{", "[]", '{"artifacts": 1}'):
        (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
        with pytest.raises(DocumentError, match="no DynamoDB table is declared in it"):
            read_design(tmp_path)


@pytest.mark.parametrize(
    ("given", "keys"), [("createdAt", ["createdAt"]), ({"Fn::GetAtt": ["Other", "Key"]}, [])]
)
def test_a_nested_stack_has_the_parameters_of_its_parent(tmp_path, given, keys):
    """What the parent cannot tell is undecided, and not the default."""
    shutil.copytree(ASSEMBLY, tmp_path / "cdk.out")
    parent = tmp_path / "cdk.out" / "Shop.template.json"
    template = json.loads(parent.read_text(encoding="utf-8"))
    [nested] = [
        resource
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::CloudFormation::Stack"
    ]
    nested["Properties"] = {"Parameters": {"Key": given}}
    parent.write_text(json.dumps(template), encoding="utf-8")
    key = {"Ref": "Key"}
    events = {
        "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    child = {
        "Parameters": {"Key": {"Type": "String", "Default": "id"}},
        "Resources": {"Events": {"Type": "AWS::DynamoDB::Table", "Properties": events}},
    }
    (tmp_path / "cdk.out" / "ShopNested.nested.template.json").write_text(json.dumps(child))

    tables = {table.resource: table for table in read_design(tmp_path / "cdk.out").tables}

    declared = tables["Events"].request["KeySchema"] if "Events" in tables else []
    assert [element["AttributeName"] for element in declared] == keys
