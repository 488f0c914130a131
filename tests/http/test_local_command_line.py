"""DynamoDB Local's command line: how set-ups start it, and what they wait for (WIR-24, WIR-25)."""

import argparse

import pytest

from emulator import __version__
from emulator.http.local_command_line import (
    add_local_flags,
    first_lines,
    is_meant,
    words_of_serve,
)

#: How set-ups start DynamoDB Local, each with what is left of it for ``serve``.
STARTS = {
    "the image's own command": ("-jar DynamoDBLocal.jar -inMemory", "-inMemory"),
    "a compose file": (
        "-jar DynamoDBLocal.jar -sharedDb -dbPath ./data",
        "-sharedDb -dbPath ./data",
    ),
    "testcontainers-go": (
        "-Djava.library.path=./DynamoDBLocal_lib -jar DynamoDBLocal.jar -sharedDb",
        "-sharedDb",
    ),
    "Aspire": (
        "-Djava.library.path=./DynamoDBLocal_lib -jar DynamoDBLocal.jar -dbPath /storage "
        "-disableTelemetry",
        "-dbPath /storage -disableTelemetry",
    ),
    "dynamodb-local of npm": (
        "-Xrs -Djava.library.path=./DynamoDBLocal_lib -jar DynamoDBLocal.jar -port 8000 -inMemory",
        "-port 8000 -inMemory",
    ),
    "serverless-dynamodb": (
        "-Xms1024m -Xmx1024m -Djava.library.path=/x/DynamoDBLocal_lib -jar DynamoDBLocal.jar "
        "-cors * -port 8000 -inMemory -delayTransientStatuses",
        "-cors * -port 8000 -inMemory -delayTransientStatuses",
    ),
    "with options of ours": (
        "serve -jar DynamoDBLocal.jar --capacity enforce -inMemory",
        "--capacity enforce -inMemory",
    ),
    "an option with its value": ("-port=8000", "-port=8000"),
    "a jar that is not named": ("-sharedDb -jar", "-sharedDb"),
}


@pytest.mark.parametrize(("started", "left"), STARTS.values(), ids=STARTS)
def test_a_start_of_dynamodb_local_is_one_of_serve(started, left):
    assert is_meant(started.split())
    assert words_of_serve(started.split()) == left.split()


@pytest.mark.parametrize(
    "ours", ["", "serve", "serve --port 8000", "-h", "--version", "lab -cors x", "lab -sharedDb"]
)
def test_other_command_lines_are_not_meant(ours):
    assert not is_meant(ours.split())


@pytest.mark.parametrize("words", ["-foo", "-jar DynamoDBLocal.jar -foo", "serve -inMemory -foo=1"])
def test_another_flag_gets_the_complaint_of_dynamodb_local(words):
    with pytest.raises(ValueError) as refused:
        words_of_serve(words.split())
    flag = words.split()[-1]
    assert str(refused.value) == f"Error while parsing options. Unrecognized option: {flag}"


def arguments_of(*words):
    parser = argparse.ArgumentParser()
    parser.add_argument("-cors", default="local")
    add_local_flags(parser)
    return parser.parse_args(words)


def test_the_first_lines_are_those_of_dynamodb_local():
    """Without ``-cors`` pages of this machine may call, and no others; DynamoDB Local says null."""
    assert list(first_lines(arguments_of(), 8000)) == [
        "Initializing DynamoDB Local with the following configuration:",
        "Port:\t8000",
        "InMemory:\ttrue",
        f"Version:\tdynamometer {__version__}",
        "DbPath:\tnull",
        "SharedDb:\tfalse",
        "shouldDelayTransientStatuses:\tfalse",
        "CorsParams:\tlocal",
    ]


def test_the_first_lines_say_what_was_asked_for():
    words = ("-dbPath", "./data", "-sharedDb", "-delayTransientStatuses", "-cors", "*")
    lines = dict(line.split("\t") for line in list(first_lines(arguments_of(*words), 4567))[1:])
    assert lines == {
        "Port:": "4567",
        "InMemory:": "false",
        "Version:": f"dynamometer {__version__}",
        "DbPath:": "./data",
        "SharedDb:": "true",
        "shouldDelayTransientStatuses:": "true",
        "CorsParams:": "*",
    }
