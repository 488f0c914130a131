"""Operations and statements, called in-process, with what a refusal may not change."""

import json
import time

from benchmarks.fuzz.requests import RequestMaker, statement_operations
from benchmarks.fuzz.spoil import is_finite, spoilt, spoilt_bytes, spoilt_text
from benchmarks.fuzz.tables import filled, has_tables, visible
from emulator import ApiError, Emulator
from emulator.protocol import encode_json
from emulator.service.catalogue import Kind, names_of

#: Refusals are played again from the same state, so many at a time, and must leave no trace.
_REFUSALS = 64
#: How many requests that were served become part of the state before it begins anew.
_ADOPTED = 60
#: Shares of what was served that become part of the state: of tables and backups, and of items.
_KEPT_CONTROL = 0.1
_KEPT_ITEMS = 0.03
_CONTROL = names_of(Kind.CONTROL)
#: Operations whose answers hold nothing that is not there if they leave no trace.
_TELLING = ("Describe", "Get", "List", "Query", "Scan")


class Operations:
    """Requests of every operation, most of them spoilt.

    Args:
        random: Chooses.
        tally: Is told.
        capacity: The mode of the emulator.
    """

    def __init__(self, random, tally, capacity="observe"):
        self._random = random
        self._tally = tally
        self._capacity = capacity
        self._begin()

    def _begin(self):
        self._maker = RequestMaker(self._random)
        self._emulator = filled(self._capacity, self._objects())
        for operation in ("ListBackups", "ListExports", "ListImports", "ListBulkOperations"):
            self._maker.learn(self._emulator.call(operation, {}))
        self._observer = Emulator(
            clock=self._emulator.clock, capacity="off", settings=self._emulator.settings
        )
        self._adopted = 0
        self._refused = []
        self._note_state()

    def _objects(self):
        """Return the files that imports and bulk puts read, some of them spoilt."""
        lines = [{"Item": self._maker.item()} for _ in range(6)]
        damaged = [spoilt(self._random, line, self._maker.value) for line in lines]
        whole, spoilt_lines = (
            b"".join(json.dumps(line).encode() + b"\n" for line in part)
            for part in (lines, damaged)
        )
        return {
            "items": whole,
            "spoilt/lines": spoilt_lines,
            "spoilt/bytes": spoilt_bytes(self._random, whole),
        }

    def _note_state(self):
        self._state = self._visible()
        self._snapshot = self._emulator.snapshot()

    def _visible(self):
        """Return what can be seen, by somebody whom no capacity keeps from looking."""
        self._observer.restore(self._emulator.snapshot())
        return visible(self._observer)

    def play(self):
        """Make one request."""
        self.play_request(*self._next())

    def _next(self):
        operation = self._maker.operation()
        return operation, self._damaged(self._maker.request(operation))

    def _damaged(self, request):
        for _ in range(self._random.choice((0, 1, 1, 2, 3))):
            request = spoilt(self._random, request, self._maker.value)
        return request

    def play_request(self, operation, request):
        """Make a request and judge what comes of it."""
        start = time.thread_time()
        try:
            answer = self._emulator.call(operation, request)
        except ApiError as error:
            seconds = time.thread_time() - start
            self._judge_refusal(operation, request, error)
        except Exception as failure:  # what the fuzzer is for
            self._tally.escaped(failure, (operation, request))
            self._begin()
            return
        else:
            seconds = time.thread_time() - start
            self._judge_answer(operation, request, answer)
        self._tally.time(
            seconds, (operation, request), lambda: self._emulator.call(operation, request)
        )

    def _judge_refusal(self, operation, request, error):
        self._tally.outcomes[error.code] += 1
        self._encode(error.body(), operation, request)
        if error.status >= 500:
            self._tally.find("500", error.code, (operation, request))
        self._refused.append((operation, request))
        if len(self._refused) >= _REFUSALS:
            self.check_refusals()

    def _judge_answer(self, operation, request, answer):
        self._tally.outcomes["ok"] += 1
        self._tally.served[operation] += 1
        self._encode(answer, operation, request)
        share = _KEPT_CONTROL if operation in _CONTROL else _KEPT_ITEMS
        if operation.startswith(_TELLING):
            self._maker.learn(answer)
        if self._random.random() > share or not has_tables(self._emulator):
            self._emulator.restore(self._snapshot)
            return
        adopted, self._adopted = self._emulator.snapshot(), self._adopted + 1
        self.check_refusals()
        if self._adopted > _ADOPTED:
            self._begin()
            return
        self._emulator.restore(adopted)
        self._maker.learn(answer)
        if self._random.random() < 0.2 and not self._advance():
            return
        self._note_state()

    def _advance(self):
        """Let time pass; return whether nothing broke that fell due."""
        seconds = self._random.choice((1, 60, 700, 100_000))
        try:
            self._emulator.clock.advance(seconds)
        except Exception as failure:  # what the fuzzer is for
            self._tally.escaped(failure, ("advance", seconds))
            self._begin()
            return False
        return True

    def check_refusals(self):
        """Play the refusals again from where they were made: nothing may have changed then."""
        self._emulator.restore(self._snapshot)
        for operation, request in self._refused:
            self._refuse(operation, request)
        if self._visible() != self._state:
            self._find_change()
        self._refused = []
        self._emulator.restore(self._snapshot)

    def _refuse(self, operation, request):
        try:
            self._emulator.call(operation, request)
        except ApiError:
            return
        # A request may depend on what only time or units have made; it was no refusal then.
        self._emulator.restore(self._snapshot)

    def _find_change(self):
        for operation, request in self._refused:
            self._emulator.restore(self._snapshot)
            self._refuse(operation, request)
            if self._visible() != self._state:
                self._tally.find("changed", f"after a refusal of {operation}", request)
                return

    def _encode(self, body, operation, request):
        try:
            encode_json(body)
        except Exception as failure:  # what the fuzzer is for
            if is_finite(request):
                self._tally.escaped(failure, (operation, request))

    def end(self):
        """Judge what is left."""
        self.check_refusals()


class Statements(Operations):
    """PartiQL, through every operation that takes statements."""

    def __init__(self, random, tally, capacity="observe"):
        super().__init__(random, tally, capacity)
        self._operations = statement_operations()

    def _next(self):
        operation = self._random.choice(self._operations)
        request = self._with_statements(self._maker.request(operation))
        if self._random.random() < 0.2:
            request = self._damaged(request)
        return operation, request

    def _with_statements(self, node):
        if isinstance(node, list):
            return [self._with_statements(member) for member in node]
        if not isinstance(node, dict):
            return node
        node = {name: self._with_statements(value) for name, value in node.items()}
        if "Statement" in node:
            node["Statement"] = self._statement()
            node.pop("Parameters", None)
            count = node["Statement"].count("?")
            if count and self._random.random() < 0.9:
                node["Parameters"] = [self._maker.value() for _ in range(min(count, 100))]
        return node

    def _statement(self):
        choice = self._random.choice
        text = choice(_STATEMENTS)
        while "{" in text:
            name = text[text.index("{") + 1 : text.index("}")]
            text = text.replace(f"{{{name}}}", choice(_PARTS[name]), 1)
        text = text.replace("«", "{").replace("»", "}")
        return spoilt_text(self._random, text) if self._random.random() < 0.6 else text


_STATEMENTS = (
    "SELECT {columns} FROM {table} WHERE {condition}",
    "SELECT {columns} FROM {table}",
    "SELECT {columns} FROM {table} WHERE pk = {literal} ORDER BY pk {order}",
    "INSERT INTO {table} VALUE «'pk': {literal}, 'sk': {number}, 'z': {literal}»",
    "UPDATE {table} SET {path} = {literal} WHERE pk = {literal} AND sk = {number} {returning}",
    "UPDATE {table} SET l = list_append(l, [{literal}]) REMOVE {path} WHERE pk = 'x' AND sk = 1",
    "DELETE FROM {table} WHERE pk = {literal} AND sk = {number} {returning}",
    "EXISTS(SELECT * FROM {table} WHERE pk = 'x' AND sk = 1 AND {condition})",
)
_PARTS = {
    "columns": ("*", "pk", "pk, a", "m.a, l[0]", "pk, pk", '"pk"', "COUNT(*)"),
    "table": ("tab", '"tab"', "hash", "paid", '"tab"."wide"', '"tab"."gsi"', "absent", '"x y"'),
    "condition": (
        "pk = {literal}",
        "pk = {literal} AND sk > {number}",
        "pk IN [{literal}, {literal}]",
        "{path} = {literal} OR NOT {path} < {number}",
        "begins_with({path}, {literal}) AND {path} IS NOT MISSING",
        "sk BETWEEN {number} AND {number} AND pk = ?",
        "({condition}) AND ({condition})",
        "contains({path}, {literal}) OR size({path}) > {number}",
    ),
    "path": ("a", "m.a", "l[0]", '"a"', "pk", "m.a.b[1].c", "ss"),
    "literal": (
        "'x'",
        "'y'",
        "1",
        "-1.5e3",
        "?",
        "true",
        "null",
        "missing",
        "[1, 'a']",
        "«'a': 1»",
        "<<'a','b'>>",
        "''",
    ),
    "number": ("1", "0", "2.5", "?", "1e200", "'x'"),
    "order": ("ASC", "DESC", ""),
    "returning": ("", "RETURNING ALL OLD *", "RETURNING MODIFIED NEW *"),
}
