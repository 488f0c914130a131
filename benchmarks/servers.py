"""The servers that there are to compare with, and how each is started.

A server that is not installed is skipped. Where they are found:

- moto: its server by ``moto_server`` on the PATH (``pip install moto[server]``)
- dynalite: ``dynalite`` on the PATH, or the command in DYNALITE (``npm install dynalite``)
- DynamoDB Local: the folder with DynamoDBLocal's jar and its libraries in DYNAMODB_LOCAL (Maven)
- dynoxide: ``dynoxide`` on the PATH, or the command in DYNOXIDE (``npm, @dynoxide/linux-x64``)
"""

import http.client
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=0",
}


class Server(NamedTuple):
    """A running server: where it is, its process, and a connection to it."""

    port: int
    pid: int
    call: "HttpCaller"


def installed():
    """Return the names of the servers that can be started, ours first; say which cannot."""
    found = []
    for name, command in commands(0).items():
        if not command:
            print(f"  {name}: not installed, skipped")
        elif not starts(name):
            print(f"  {name}: does not start, skipped")
        else:
            found.append(name)
    return found


@cache
def starts(name):
    """Return whether a server answers: a part of it may be missing."""
    try:
        with running(name):
            return True
    except RuntimeError:
        return False


@contextmanager
def running(name, command=None):
    """Run a server until the block ends, in a folder of its own, since some leave files.

    Args:
        name: Of the server.
        command: Takes a port and returns what to run, if not the one of that name.
    """
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command(port) if command else commands(port)[name],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        try:
            yield Server(port, process.pid, _answering(name, port, process))
        finally:
            process.kill()
            process.wait(10)


def _answering(name, port, process):
    """Return a caller once the server answers."""
    for _ in range(300):
        if process.poll() is not None:
            break
        try:
            caller = HttpCaller(port)
            caller("ListTables", {})
        except (OSError, RuntimeError, http.client.HTTPException):
            time.sleep(0.1)
        else:
            return caller
    raise RuntimeError(f"{name} did not answer on port {port}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def commands(port):
    """Return the command that starts each peer on a port, None for those not found."""
    local = os.environ.get("DYNAMODB_LOCAL")
    dynalite = os.environ.get("DYNALITE") or shutil.which("dynalite")
    dynoxide = os.environ.get("DYNOXIDE") or shutil.which("dynoxide")
    moto = shutil.which("moto_server")
    return {
        "dynamometer": [sys.executable, "-m", "emulator", "serve", "--port", str(port)],
        "dynoxide": dynoxide and [*shlex.split(dynoxide), "--port", str(port)],
        "dynalite": dynalite
        and [*shlex.split(dynalite), "--port", str(port), "--createTableMs", "0"],
        "DynamoDB Local": local
        and [
            "java",
            f"-Djava.library.path={local}",
            "-cp",
            f"{local}/*",
            _local_main(local),
            "-inMemory",
            "-disableTelemetry",
            "-port",
            str(port),
        ],
        "moto server": moto and [moto, "-p", str(port)],
    }


def _local_main(folder):
    """Return the main class of DynamoDB Local; version 3 renamed its packages."""
    is_new = any(Path(folder).glob("DynamoDBLocal-3*.jar"))
    package = "software.amazon.dynamodb.services" if is_new else "com.amazonaws.services.dynamodbv2"
    return f"{package}.local.main.ServerRunner"


class HttpCaller:
    """One keep-alive connection that posts requests and reads answers."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __call__(self, operation, request):
        try:
            answer, body = self._post(operation, request)
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            self.connection.close()  # a server may close what was idle
            answer, body = self._post(operation, request)
        if answer.status != 200:
            raise RuntimeError(f"{operation}: {answer.status} {body[:300]!r}")
        return json.loads(body)

    def _post(self, operation, request):
        headers = {**HEADERS, "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        self.connection.request("POST", "/", json.dumps(request), headers)
        answer = self.connection.getresponse()
        return answer, answer.read()
