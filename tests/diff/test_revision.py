"""One side of a difference comes from git."""

import shutil
import subprocess

import pytest

from emulator.__main__ import main
from tests.diff.test_command import BASE, HEAD

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(*words):
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.com"]
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository whose last commit has another key than its working tree."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "main.tf").write_text(BASE)
    git("init", "-q", "-b", "main", ".")
    git("add", "-A")
    git("commit", "-qm", "base")
    (tmp_path / "infra" / "main.tf").write_text(HEAD)
    return tmp_path


@pytest.mark.parametrize("path", ["infra", "infra/main.tf", "."])
def test_a_path_is_compared_with_what_it_was(repository, capsys, path):
    assert main(["diff", "--base", "main", path]) == 1
    assert "key: orderId → status" in capsys.readouterr().out


def test_what_was_not_there_is_added(repository, capsys):
    (repository / "new").mkdir()
    (repository / "new" / "more.tf").write_text(BASE.replace("orders", "events"))
    assert main(["diff", "--base", "main", "new"]) == 0
    assert "aws_dynamodb_table.events: added" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--base", "nobody", "infra"), "--base nobody: git cannot read it: "),
        (("--base=--output", "infra"), "--base --output: expected a branch, tag or commit"),
        (("--base", "main", "infra", "infra"), "--base REVISION goes with one path"),
    ],
)
def test_a_revision_that_cannot_be_read_is_told(repository, capsys, words, complaint):
    assert main(["diff", *words]) == 2
    assert complaint in capsys.readouterr().err


def test_before_the_first_commit_there_was_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main", ".")
    (tmp_path / "main.tf").write_text(BASE)
    assert main(["diff", "--base", "HEAD"]) == 0
    assert "aws_dynamodb_table.orders: added" in capsys.readouterr().out


def test_a_change_that_nobody_can_read_is_a_finding(repository, capsys):
    """It was told as a table that is gone, which failed nothing."""
    (repository / "infra" / "main.tf").write_text('resource "aws_dynamodb_table" {{{')
    assert main(["diff", "--base", "main", "infra"]) == 1
    assert "unreadable" in capsys.readouterr().out


def test_a_former_finding_and_a_former_fault_name_the_path_of_the_project(repository, capsys):
    git("commit", "-qam", "a key of few values")
    (repository / "infra" / "main.tf").write_text(BASE)
    (repository / "plan.json").write_text("{")
    git("add", "plan.json")
    git("commit", "-qm", "a broken plan")
    assert main(["diff", "--base", "HEAD", "infra", "--format", "markdown", "--fail-on=never"]) == 0
    assert "`aws_dynamodb_table.orders`<br>infra/main.tf:6 |" in capsys.readouterr().out
    (repository / "plan.json").write_text("{}")
    assert main(["diff", "--base", "HEAD", "plan.json"]) == 2
    assert capsys.readouterr().err.startswith("dynamometer: HEAD:plan.json:1: not JSON: ")
