"""Batches that are posted to a function at a URL."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from emulator import Emulator
from emulator.__main__ import main
from emulator.http.event_sources import FunctionError, ServedSources, UrlFunction
from emulator.streams import InvocationRefused
from tests.streams.sources import keys_of
from tests.streams.test_handlers import context
from tests.tables import table

STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


class Runtime:
    """A local runtime: keeps what it is posted, and answers in turn with what it is given."""

    def __init__(self, *answers):
        self.posted = []
        self.arrived = threading.Event()
        runtime, waiting = self, list(answers)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                runtime.posted.append((self.path, json.loads(body)))
                status, answer = waiting.pop(0) if waiting else (200, b"null")
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
                if not waiting:
                    runtime.arrived.set()

            def log_message(self, *args):
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *raised):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def test_an_event_is_posted_and_the_answer_is_the_functions():
    """EVS-33."""
    with Runtime((200, b'{"batchItemFailures": []}')) as runtime:
        answer = UrlFunction(runtime.url)({"Records": []}, context())
    assert answer == {"batchItemFailures": []}
    assert runtime.posted == [("/2015-03-31/functions/function/invocations", {"Records": []})]


def test_a_url_with_a_path_keeps_it():
    """EVS-33."""
    with Runtime((200, b"")) as runtime:
        assert UrlFunction(f"{runtime.url}/on-change?x=1")({}, context()) is None
    assert runtime.posted == [("/on-change?x=1", {})]


@pytest.mark.parametrize(
    ("answer", "error", "sentence"),
    [
        ((200, b'{"errorType": "KeyError", "errorMessage": "id"}'), FunctionError, "KeyError: id"),
        ((200, b'{"errorMessage": "late"}'), FunctionError, "late"),
        ((200, b"Task timed out"), FunctionError, "answered what is not JSON"),
        ((500, b"{}"), FunctionError, "answered 500"),
        ((429, b"{}"), InvocationRefused, "^$"),
    ],
)
def test_an_answer_that_is_an_error_is_a_function_error(answer, error, sentence):
    """EVS-33."""
    with Runtime(answer) as runtime, pytest.raises(error, match=sentence):
        UrlFunction(runtime.url)({}, context())


def test_where_nobody_listens_the_call_is_refused():
    """EVS-33: it uses no retry."""
    with Runtime() as runtime:
        pass
    with pytest.raises(InvocationRefused):
        UrlFunction(runtime.url)({}, context())


def test_a_table_that_is_created_later_in_any_namespace_is_found():
    emu = Emulator()
    with Runtime((200, b"null")) as runtime:
        sources = ServedSources(emu, [("tab", runtime.url)])
        try:
            emu.call("CreateTable", table(StreamSpecification=STREAM), access_key="someone")
            item = {"TableName": "tab", "Item": {"pk": {"S": "a"}}}
            emu.call("PutItem", item, access_key="someone")
            assert runtime.arrived.wait(20)
        finally:
            sources.close()
    assert [keys_of(event) for _, event in runtime.posted] == [["a"]]


def test_a_table_that_is_created_again_is_read_again():
    emu, first, second = Emulator(), table(StreamSpecification=STREAM), table()
    sources = ServedSources(emu, [])
    emu.call("CreateTable", first)
    [view] = emu.namespaces()
    look = (view.namespace, "tab", "http://localhost:9")
    sources._look(*look)
    sources._look(*look)
    [(arn, source)] = sources._open.values()
    emu.call("DeleteTable", {"TableName": "tab"})
    sources._look(*look)
    emu.call("CreateTable", second)
    sources._look(*look)
    assert list(sources._open.values()) == [(arn, source)]
    emu.call("DeleteTable", {"TableName": "tab"})
    emu.call("CreateTable", first)
    sources._look(*look)
    [(later, opened)] = sources._open.values()
    assert later != arn
    assert opened is not source
    sources.close()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--event-source", "orders"], "an event source is TABLE=URL, such as"),
        (["--event-source", "orders=localhost:9000"], "not 'orders=localhost:9000'"),
        (["--event-source", "a=http://x", "--clock", "manual"], "needs --clock system"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(options, sentence, capsys):
    assert main(["serve", "--port", "0", *options]) == 2
    assert sentence in capsys.readouterr().err
