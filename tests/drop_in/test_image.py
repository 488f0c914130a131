"""The image, started and awaited as modules for containers do it; read in their sources, 2026.

There is no container engine: the steps of the Containerfile are carried out in a folder, and the
entry point is found by its search path, as an engine finds it.
"""

import json
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from benchmarks.release import ROOT, list_tables, steps

GO_ENTRY = ("java", "-Djava.library.path=./DynamoDBLocal_lib")
SECONDS = 10.0


def until(holds):
    """Wait until something holds, as wait strategies do."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def status(address, method="GET"):
    try:
        request = urllib.request.Request(address, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except urllib.error.URLError:
        return None


def tables(address):
    with urllib.request.urlopen(list_tables(address), timeout=SECONDS) as answer:
        return json.load(answer)["TableNames"]


def listens(address):
    host, _, port = address.removeprefix("http://").partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=SECONDS).close()
    except OSError:
        return False
    return True


def test_docker_run_without_a_command(image):
    assert shutil.which("java", path=image.environment()["PATH"]).startswith(str(image.root))
    with image.running() as (_, address):
        assert tables(address) == []


def test_testcontainers_go_has_its_own_entry_point(image):
    with image.running("-jar", "DynamoDBLocal.jar", "-sharedDb", entry=GO_ENTRY) as (_, address):
        until(lambda: listens(address))
        assert tables(address) == []


def test_testcontainers_dotnet_waits_for_400(image):
    with image.running() as (_, address):
        until(lambda: status(address) == 400)


def test_a_compose_file_with_its_folder_and_its_health_check(image):
    """``curl -I`` expects 400; the folder is one of the image, and is kept from run to run."""
    command = ("-jar", "DynamoDBLocal.jar", "-sharedDb", "-dbPath", "./data")
    with image.running(*command) as (server, address):
        until(lambda: status(address, "HEAD") == 400)
        server.send_signal(signal.SIGTERM)
        assert server.wait(SECONDS) == 0
    assert (image.directory / "data" / "dynamometer.snapshot").exists()


def test_aspire_mounts_storage(image, tmp_path):
    command = ("-jar", "DynamoDBLocal.jar", "-dbPath", str(tmp_path), "-disableTelemetry")
    with image.running(*command) as (_, address):
        assert tables(address) == []


def test_a_health_command_of_the_image_runs_inside(image):
    with image.running("--capacity", "enforce") as (_, address):
        words = [word.replace("http://127.0.0.1:8000", address) for word in image.health]
        assert subprocess.run(words, check=False).returncode == 0


def test_another_flag_ends_the_container(image):
    done = subprocess.run(
        ["/usr/bin/env", "java", "-foo"],
        env=image.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    said = "Error while parsing options. Unrecognized option: -foo\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_what_the_containerfile_copies_is_not_ignored():
    """``docker build`` sees only what ``.dockerignore`` lets through."""
    let_through = (ROOT / ".dockerignore").read_text().split()
    copied = [
        name
        for instruction, rest in steps()
        if instruction == "COPY" and not rest.startswith("--")
        for name in rest.split()[:-1]
    ]
    assert [name for name in copied if f"!{name}" not in let_through] == []


def test_the_image_is_not_run_as_root_and_stops_by_a_signal():
    instructions = dict(steps())
    assert (instructions["USER"], instructions["STOPSIGNAL"]) == ("10001:10001", "SIGTERM")
