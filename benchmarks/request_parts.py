"""(g) What the parts of one request over HTTP cost our server, without the network.

    python -m benchmarks.request_parts [--rounds 12]

The same bytes as in ``benchmarks.server_load``, over 1,000 keys, each part alone and then all of
them in a row. The figure is the best batch, in microseconds of processor time. All parts in a row
take longer than their sum: each finds the caches full of the others. What a request takes of a
running server beyond that is the event loop and the system, about 30 microseconds
(``benchmarks.server_load`` has the whole under CPU).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import time

from benchmarks.measure import table
from benchmarks.server_load import KEYS, OPERATIONS, TABLE, message
from emulator import Emulator, protocol
from emulator.http.http_protocol import HttpResponse, ResponseWriter
from emulator.http.server import HttpServer, ServerOptions

ACCESS_KEY = "local"  # as ``benchmarks.servers.HEADERS`` are signed
MEASURED = ("GetItem", "PutItem", "Query, 10 items")


def main(rounds=12):
    columns = {title: best(parts(*OPERATIONS[title]), rounds) for title in MEASURED}
    first = columns[MEASURED[0]]
    rows = [[part, *(f"{taken[part]:.1f}" for taken in columns.values())] for part in first]
    table("Parts of a request over HTTP: us", ["part", *columns], rows)
    return rows


def parts(operation, make):
    """Return what does each part for the request of a number."""
    emulator = Emulator()
    emulator.call("CreateTable", TABLE, access_key=ACCESS_KEY)
    for number in range(KEYS):
        emulator.call("PutItem", OPERATIONS["PutItem"][1](number), access_key=ACCESS_KEY)
    server = asyncio.run(_server(emulator))
    parser = server.parser()
    messages = [message(operation, make(number)) for number in range(KEYS)]

    def read(number):
        parser.feed(messages[number])
        return parser.take()

    def call(number):
        return emulator.call(operation, members[number], access_key=ACCESS_KEY)

    requests = [read(number) for number in range(KEYS)]
    members = [protocol.decode_json(request.body) for request in requests]
    answers = [call(number) for number in range(KEYS)]
    bodies = [protocol.encode_json(answer) for answer in answers]
    responses = [HttpResponse(200, protocol.AMZ_JSON, body) for body in bodies]
    writer = ResponseWriter(now=time.time, seed=1)
    return {
        "read the head": read,
        "read the JSON": lambda number: protocol.decode_json(requests[number].body),
        "key and region": lambda number: protocol.credentials_of(requests[number].fields),
        "Emulator.call": call,
        "write the JSON": lambda number: protocol.encode_json(answers[number]),
        "write the head": lambda number: writer.render(responses[number]),
        "all in a row": lambda number: server.answer(read(number), keep_alive=True),
    }


async def _server(emulator):
    return HttpServer(emulator, ServerOptions(keys_apart=True))


def best(found, rounds):
    """Return the microseconds of each part, in turns, by its best round."""
    least = {}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, part in found.items():
                started = time.process_time_ns()
                for number in range(KEYS):
                    part(number)
                taken = (time.process_time_ns() - started) / KEYS / 1e3
                least[name] = min(taken, least.get(name, taken))
            gc.collect()
    finally:
        gc.enable()
    return least


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=12)
    main(parser.parse_args().rounds)
