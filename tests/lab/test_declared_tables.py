"""dynamometer lab PATH: declared tables under a load that flags or answers state."""

import io
import math
import sys

import pytest

from emulator.__main__ import main
from emulator.lab import progress

MAIN_TF = """\
resource "aws_dynamodb_table" "app" {
  name         = "app"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pk"
  attribute {
    name = "pk"
    type = "S"
  }
  attribute {
    name = "status"
    type = "S"
  }
  global_secondary_index {
    name            = "gsi1"
    hash_key        = "status"
    projection_type = "ALL"
  }
}
"""
QUICK = ["--quick", "--no-html"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working directory with a Terraform folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "_PAUSE", math.inf)
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "main.tf").write_text(MAIN_TF, encoding="utf-8")
    return tmp_path


def test_the_first_line_says_what_was_assumed_and_the_limits_come_before_the_verdict(place, capsys):
    assert main(["lab", "infra", "--rate", "9000", "--age", "lived", *QUICK]) == 0
    lines = capsys.readouterr().out.replace("\u202f", " ").splitlines()
    assert lines[0] == (
        "assumed, since it was not given: --writes 0.3 --mean 0.3 --keys 10000 --skew 80/20 "
        "--item-size 1KB"
    )
    assert lines[1].startswith("app (pk): holds 2,700 writes/s while no value of pk gets over 37")
    assert lines[2].startswith("app.gsi1 (status): holds 2,700 writes/s while no value of status")
    assert lines[3] == (
        "app.gsi1 has no grade: how many values status has is not stated (--keys app.gsi1=N); it "
        "is played with a value for each item"
    )
    assert lines[6].endswith("; tables that have lived with the load")
    assert any(line.startswith("[fine] As declared holds") for line in lines)


def test_few_values_of_an_index_are_judged_once_they_are_stated(place, capsys):
    flags = ["--rate", "9000", "--keys", "app.gsi1=3", "--skew", "app.gsi1=one-tenant"]
    assert main(["lab", "infra", *flags, *QUICK]) == 0
    out = capsys.readouterr().out
    assert "has no grade" not in out
    assert "The key 'status-0' takes 50" in out.replace("\n  ", " ")


def test_what_is_saved_is_what_was_played(place, capsys):
    flags = ["--rate", "50", "--save", "lab.yaml", *QUICK]
    assert main(["lab", "infra", *flags, "--json", "first.json"]) == 0
    assert capsys.readouterr().out.endswith("\nwrote lab.yaml\n")
    assert main(["lab", "lab.yaml", *QUICK, "--json", "again.json"]) == 0
    assert (place / "first.json").read_text() == (place / "again.json").read_text()


def test_without_any_rate_there_are_limits_and_no_verdict(place, capsys):
    other = MAIN_TF.replace('"app"', '"other"')
    (place / "infra" / "other.tf").write_text(other, encoding="utf-8")
    assert main(["lab", "infra", "--rate", "other=5", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "app (pk): one value of pk holds at most 1,000 writes/s or 6,000 reads/s of 1" in out
    assert "other (pk): holds 1.5 writes/s and 3.5 reads/s, even if one value" in out


WRONG = {
    "no such folder": (["none"], "none: cannot be read: No such file or directory"),
    "no table": (["empty"], "empty: no DynamoDB table is declared in it"),
    "a rate of 0": (
        ["infra", "--rate", "0"],
        "command line: --rate: expected a number above 0, found 0",
    ),
    "a misspelt skew": (
        ["infra", "--skew", "zip"],
        "a skew is uniform, 80/20, zipf:S, hotspot:KEYS,SHARE or one-tenant, such as zipf:1.1, "
        "not 'zip'",
    ),
    "keys of no table": (
        ["infra", "--keys", "ap=3"],
        "--keys: no table or index is called 'ap'; did you mean 'app'?; there are app, app.gsi1",
    ),
    "a load of a lab file": (
        ["shop.yaml", "--rate", "5"],
        "--rate is about tables that a design file declares; shop.yaml states its own load",
    ),
    "a place that is none": (
        ["infra", "--save", "none/lab.yaml"],
        "none/lab.yaml: there is no directory to write it in",
    ),
    "several to save": (
        ["infra", "infra", "--no-html", "--save", "lab.yaml"],
        "--save writes one lab file: name one design",
    ),
}


@pytest.mark.parametrize(("arguments", "complaint"), WRONG.values(), ids=WRONG)
def test_wrong_usage_is_one_sentence_and_writes_nothing(place, capsys, arguments, complaint):
    (place / "empty").mkdir()
    (place / "shop.yaml").write_text("designs: []\n", encoding="utf-8")
    before = sorted(place.rglob("*"))
    assert main(["lab", *arguments]) == 2
    assert capsys.readouterr() == ("", f"dynamometer: {complaint}\n")
    assert sorted(place.rglob("*")) == before


class Terminal(io.StringIO):
    """Text that a person types or sees."""

    def isatty(self):
        """Return that it is a terminal."""
        return True


def test_a_terminal_is_asked_five_questions_and_empty_answers_take_the_default(place, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal("50\n\n\nmany\n500 app.gsi1=3 one-tenant\n\n"))
    monkeypatch.setattr(sys, "stdout", shown)
    assert main(["lab", "infra", *QUICK]) == 0
    questions = shown.getvalue().partition("app (pk)")[0]
    assert questions.count("]: ") == 6  # one of them a second time
    assert "a skew is uniform, 80/20" in questions
    assert "requests a second at the peak, to each table (--rate) [500]: " in questions
    assert "hottest key" in shown.getvalue()


def test_what_flags_say_is_not_asked(place, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    monkeypatch.setattr(sys, "stdout", shown)
    flags = ["--rate", "5", "--writes", "1", "--mean", "1", "--keys", "9", "--item-size", "100"]
    assert main(["lab", "infra", *flags, *QUICK]) == 0
    assert shown.getvalue().startswith("app (pk): holds 5 writes/s")
