"""Carries out the steps of a composite GitHub Action, as the runner documents it.

Steps that run a script run it with ``bash --noprofile --norc -eo pipefail``; expressions may use
the contexts ``inputs``, ``github`` and ``steps``, comparisons, ``&&``, ``||``, ``!`` and the status
functions. A step that uses another action is answered by whoever calls, unless that action is one
in JavaScript and lies in the workspace.

Source: GitHub documentation, workflow syntax, expressions and contexts.
"""

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import yaml

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
_TOKEN = re.compile(r"\s*('(?:[^']|'')*'|[A-Za-z_][\w.-]*|\(|\)|&&|\|\||==|!=|!)")
_STATUS = re.compile(r"\b(always|cancelled|failure|success)\(\)")


@dataclass
class Runner:
    """A machine with one repository checked out, in which an action is used."""

    action: Path
    workspace: Path
    temporary: Path
    #: Outputs of the actions that the action uses, by their names without the version.
    used: dict[str, dict[str, str]]
    environment: dict[str, str]
    event_name: str = "push"
    event: dict = field(default_factory=dict)
    #: What steps printed, by name, in the order in which they ran.
    printed: dict[str, str] = field(default_factory=dict)
    _ends: list = field(default_factory=list)

    @property
    def summary(self):
        return self.temporary / "summary"

    def run(self, **inputs):
        """Use the action; return whether it succeeded, and its outputs."""
        document = yaml.safe_load((self.action / "action.yml").read_text())
        github = {
            "event": self.event,
            "event_name": self.event_name,
            "token": "token-of-the-job",
            "repository": "shop/infra",
        }
        contexts = {"github": github, "steps": {}, "inputs": {}}
        for name, declared in document["inputs"].items():
            given = inputs.pop(name, declared.get("default", ""))
            contexts["inputs"][name] = filled(given, contexts)
        assert not inputs, f"the action has no input {inputs}"
        self.printed.clear()
        success = True
        for step in document["runs"]["steps"]:
            condition = str(step.get("if", "success()"))
            if not _STATUS.search(condition):
                condition = f"success() && ({_EXPRESSION.sub(lambda found: found[1], condition)})"
            if not truth(condition, contexts, success=success):
                continue
            outputs, succeeded = self._step(step, contexts)
            contexts["steps"][step.get("id", "")] = {"outputs": outputs}
            success = success and succeeded
        outputs = {
            name: filled(declared["value"], contexts)
            for name, declared in document["outputs"].items()
        }
        return success, outputs

    def _step(self, step, contexts):
        if step.get("uses", "").startswith("./"):
            return {}, self._use_javascript(step, contexts)
        if "uses" in step:
            return self.used[step["uses"].partition("@")[0]], True
        output, event = self.temporary / "output", self.temporary / "event.json"
        output.write_text("")
        event.write_text(json.dumps(self.event))
        assert step["shell"] == "bash"
        script = self.temporary / "step.sh"
        script.write_text(filled(step["run"], contexts))
        own = {name: filled(value, contexts) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace,
            env=self.environment
            | {
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(self.action),
                "GITHUB_EVENT_NAME": self.event_name,
                "GITHUB_EVENT_PATH": str(event),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_REPOSITORY": "shop/infra",
                "GITHUB_STEP_SUMMARY": str(self.summary),
                "GITHUB_WORKSPACE": str(self.workspace),
                "RUNNER_TEMP": str(self.temporary),
            }
            | own,
            capture_output=True,
            text=True,
            check=False,
        )
        self.printed[step["name"]] = done.stdout + done.stderr
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return outputs, done.returncode == 0

    def _use_javascript(self, step, contexts):
        """Run the main step of an action in JavaScript; its last step is for the end of the job."""
        folder = self.workspace / step["uses"]
        runs = yaml.safe_load((folder / "action.yml").read_text())["runs"]
        given = {
            f"INPUT_{name.upper()}": filled(text, contexts) for name, text in step["with"].items()
        }
        succeeded, state = self._node(folder / runs["main"], given, name=runs["main"])
        self._ends.append((folder / runs["post"], given | state, f"post {runs['post']}"))
        return succeeded

    def end(self):
        """End the job; return whether the last steps of actions succeeded."""
        return all(self._node(file, own, name=name)[0] for file, own, name in self._ends)

    def _node(self, file, own, *, name):
        variables, state = self.temporary / "variables", self.temporary / "state"
        variables.write_text("")
        state.write_text("")
        files = {"GITHUB_ENV": str(variables), "GITHUB_STATE": str(state)}
        files |= {"RUNNER_TEMP": str(self.temporary)}
        done = subprocess.run(
            ["node", str(file)],
            cwd=self.workspace,
            env=self.environment | files | own,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        self.printed[name] = done.stdout + done.stderr
        self.environment |= dict(line.split("=", 1) for line in variables.read_text().splitlines())
        kept = dict(line.split("=", 1) for line in state.read_text().splitlines())
        return done.returncode == 0, {f"STATE_{name}": value for name, value in kept.items()}


def filled(text, contexts):
    """Return a text with its expressions replaced."""
    return _EXPRESSION.sub(lambda found: shown(value(found[1], contexts)), str(text))


def shown(result):
    return "" if result is None else str(result).lower() if result in (True, False) else str(result)


def truth(text, contexts, *, success):
    return bool(value(_EXPRESSION.sub(lambda found: found[1], text), contexts, success=success))


def value(text, contexts, *, success=True):
    """Return what an expression comes to."""
    tokens = _TOKEN.findall(text.replace("()", ""))
    assert "".join(tokens).replace(" ", "") == re.sub(r"\s|\(\)", "", text), text
    result = _either(tokens, contexts, success)
    assert not tokens, text
    return result


def _either(tokens, contexts, success):
    result = _both(tokens, contexts, success)
    while tokens[:1] == ["||"]:
        tokens.pop(0)
        other = _both(tokens, contexts, success)
        result = result or other
    return result


def _both(tokens, contexts, success):
    result = _compared(tokens, contexts, success)
    while tokens[:1] == ["&&"]:
        tokens.pop(0)
        other = _compared(tokens, contexts, success)
        result = result and other
    return result


def _compared(tokens, contexts, success):
    left = _single(tokens, contexts, success)
    if tokens[:1] in (["=="], ["!="]):
        equal = tokens.pop(0) == "=="
        return (left == _single(tokens, contexts, success)) is equal
    return left


def _single(tokens, contexts, success):
    token = tokens.pop(0)
    if token == "!":
        return not _single(tokens, contexts, success)
    if token == "(":
        result = _either(tokens, contexts, success)
        assert tokens.pop(0) == ")"
        return result
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    status = {"success": success, "failure": not success, "always": True, "cancelled": False}
    if token in status:
        return status[token]
    result = contexts
    for name in token.split("."):
        result = result.get(name) if isinstance(result, dict) else None
    return result
