"""The GitHub Action, step by step, on a scratch repository with a pull request (ICH-88).

``setup-python`` and ``gh`` are stand-ins: the first gives an interpreter whose environments hold
this checkout, the second keeps the comments of a pull request in a file.
"""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from emulator.testing.table_notation import create_request
from tests.diff.composite_action import Runner, filled, truth
from tests.diff.test_command import BASE, HEAD

ROOT = Path(__file__).parents[2]
GITHUB = '''#!{python}
"""gh api, of the comments of one pull request."""
import json, os, pathlib, re, sys
words = sys.argv[1:]
store = pathlib.Path(os.environ["COMMENTS"])
assert words.pop(0) == "api" and os.environ["GH_TOKEN"] == "token-of-the-job"
if not store.exists():
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
comments = json.loads(store.read_text())
body = [pathlib.Path(word.removeprefix("body=@")).read_text() for word in words if "@" in word]
[path] = [word for word in words if word.startswith("repos/")]
if "--jq" in words:
    marker = re.search(r'startswith\\("(.*)"\\)', words[words.index("--jq") + 1])[1]
    assert path == "repos/shop/infra/issues/7/comments"
    print(*(key for key, text in comments.items() if text.startswith(marker)), sep="\\n")
elif "POST" in words:
    comments[str(len(comments) + 1)] = body[0]
else:
    assert path.startswith("repos/shop/infra/issues/comments/")
    comments[path.rpartition("/")[2]] = body[0]
store.write_text(json.dumps(comments))
'''
PYTHON = """#!/bin/bash
[ "$1 $2" = "-m venv" ] || exit 64
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "$@" >> {log}\\n' > "$3/bin/python"
printf '#!/bin/sh\\nexec {python} -m emulator "$@"\\n' > "$3/bin/dynamometer"
chmod +x "$3"/bin/*
"""

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None or os.name == "nt", reason="needs git and bash"
)


def git(folder, *words):
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.com"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def script(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository whose last commit changes a key, and the commit before it."""
    origin = tmp_path_factory.mktemp("origin")
    (origin / "infra").mkdir()
    (origin / "infra" / "main.tf").write_text(BASE)
    git(origin, "init", "-q", "-b", "main", ".")
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "base")
    base = git(origin, "rev-parse", "HEAD")
    (origin / "infra" / "main.tf").write_text(HEAD)
    git(origin, "commit", "-qam", "head")
    return origin, base


@pytest.fixture
def runner(tmp_path, repository):
    """A runner with the shallow checkout of a pull request that changes a key."""
    origin, base = repository
    temporary = tmp_path / "temp"
    temporary.mkdir()
    git(tmp_path, "clone", "-q", "--depth=1", origin.as_uri(), "checkout")
    script(tmp_path / "bin" / "gh", GITHUB.format(python=sys.executable))
    log = tmp_path / "pip"
    script(tmp_path / "bin" / "python3.13", PYTHON.format(log=log, python=sys.executable))
    (tmp_path / "comments").write_text("{}")
    return Runner(
        action=ROOT,
        workspace=tmp_path / "checkout",
        temporary=temporary,
        used={"actions/setup-python": {"python-path": str(tmp_path / "bin" / "python3.13")}},
        environment={
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "COMMENTS": str(tmp_path / "comments"),
        },
        event_name="pull_request",
        event={"pull_request": {"number": 7, "base": {"sha": base}}},
    )


class Client:
    """Calls operations over HTTP, as an SDK does."""

    def __init__(self, url):
        self.url = url

    def __call__(self, operation, request):
        fields = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=a/1/eu-west-1/dynamodb/aws4_request, "
            "SignedHeaders=host, Signature=0",
        }
        sent = urllib.request.Request(self.url, json.dumps(request).encode(), fields)
        with urllib.request.urlopen(sent, timeout=10):
            pass


def comments(runner):
    return json.loads(Path(runner.environment["COMMENTS"]).read_text())


def test_a_pull_request_has_one_comment_that_is_replaced(runner):
    assert runner.run(command="diff", path="infra") == (False, {"exit-code": "1"})
    assert list(runner.printed) == ["Install", "Run", "Comment", "Result"]
    first = comments(runner)
    assert first["1"].startswith("<!-- dynamometer:diff:default -->\n")
    assert "| key | `orderId` | `status` |" in first["1"]
    assert runner.summary.read_text().count("<!-- dynamometer:diff:default -->") == 1
    tf = runner.workspace / "infra" / "main.tf"
    tf.write_text(BASE)
    assert runner.run(command="diff", path="infra") == (True, {"exit-code": "0"})
    assert list(comments(runner)) == ["1"]
    assert comments(runner) != first


def test_a_fork_keeps_the_step_summary(runner):
    """The token of a fork may not write, and a strict one not even list."""
    Path(runner.environment["COMMENTS"]).unlink()
    assert runner.run(command="diff", path="infra") == (False, {"exit-code": "1"})
    assert "::notice::the comment could not be posted" in runner.printed["Comment"]
    assert "dynamometer:diff" in runner.summary.read_text()


def test_check_annotates_lines_and_posts_nothing(runner):
    success, outputs = runner.run(path="infra", arguments="--fail-on warning")
    assert (success, outputs) == (False, {"exit-code": "1"})
    assert runner.printed["Run"].startswith("::warning file=infra/main.tf,line=6,")
    assert list(runner.printed) == ["Install", "Run", "Result"]
    assert runner.run(path="infra") == (True, {"exit-code": "0"})


def test_a_push_is_compared_with_the_commit_before_it(runner):
    """A checkout has one commit; the one before is fetched."""
    runner.event_name, runner.event = "push", {}
    assert runner.run(command="diff", path="infra") == (False, {"exit-code": "1"})
    assert "Comment" not in runner.printed
    assert comments(runner) == {}


def test_an_environment_of_its_own_is_installed(runner, tmp_path):
    runner.run(path="infra")
    assert (tmp_path / "pip").read_text() == (
        f"-m pip install --quiet --disable-pip-version-check {ROOT}[lab]\n"
    )


@pytest.mark.skipif(shutil.which("node") is None, reason="actions in JavaScript need node")
@pytest.mark.parametrize("kinds", ["scan", "throttle"])
def test_a_server_for_the_steps_of_a_job_reports_at_its_end(runner, tmp_path, kinds):
    """A step in between scans a table; the end of the job fails if it was to fail on that."""
    report = tmp_path / "report.json"
    arguments = f"--fail-on {kinds} --report {report}"
    assert runner.run(command="serve", arguments=arguments) == (True, {"exit-code": ""})
    assert list(runner.printed) == ["Install", "Serve", "serve.cjs"]
    url = runner.environment["AWS_ENDPOINT_URL_DYNAMODB"]
    client = Client(url)
    client("CreateTable", create_request("orders"))
    client("Scan", {"TableName": "orders"})
    assert runner.end() is (kinds == "throttle")
    assert [test["calls"] for test in json.loads(report.read_text())["tests"]] == [2]
    assert "most expensive:" in runner.printed["post serve.cjs"]


@pytest.mark.skipif(shutil.which("node") is None, reason="actions in JavaScript need node")
def test_a_server_that_cannot_be_had_fails_at_its_step(runner):
    assert runner.run(command="serve", arguments="--budget no.yaml") == (False, {"exit-code": ""})
    said = "::error::dynamometer: no.yaml: cannot be read: No such file or directory"
    assert said in runner.printed["serve.cjs"]
    assert "AWS_ENDPOINT_URL_DYNAMODB" not in runner.environment
    assert runner.end()


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"command": "deploy"}, "::error::command is check, lab, diff or serve, not deploy"),
        ({"path": "$(touch pwned)"}, "$(touch pwned)"),
        ({"command": "diff", "path": "nowhere"}, "nowhere"),
        ({"command": "diff", "tag": 'a"; touch pwned; "'}, "a tag has letters, digits and . _ -"),
        ({"arguments": "--fail-on everything; touch pwned"}, "invalid choice: 'everything;'"),
    ],
    ids=["command", "path", "no path", "tag", "arguments"],
)
def test_wrong_inputs_fail_with_one_sentence_and_run_nothing_else(runner, inputs, told):
    assert runner.run(**inputs) == (False, {"exit-code": "2"})
    assert told in runner.printed["Run"]
    assert "Traceback" not in runner.printed["Run"]
    assert not list(runner.workspace.rglob("pwned"))
    assert comments(runner) == {}


def test_expressions_are_those_of_the_documentation():
    contexts = {"github": {"event": {"n": 5}, "name": "it's"}, "inputs": {"a": "true"}}
    assert filled("${{ github.event.n }}-${{ github.event.gone.x }}", contexts) == "5-"
    assert truth("${{ !cancelled() && inputs.a == 'true' }}", contexts, success=False)
    assert not truth("success() && (inputs.a != 'x' || failure())", contexts, success=False)
    assert truth("github.name == 'it''s'", contexts, success=True)
