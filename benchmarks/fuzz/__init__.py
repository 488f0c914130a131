"""A fuzzer of every door: requests, statements, bytes of HTTP, private routes and files.

    python -m benchmarks.fuzz [--requests 1000000] [--seed 0] [--part NAME] [--findings FILE]

It looks for four things: an error that is not the service's (or, of files and routes, not one
sentence), a failure of the server, a change after a refusal, and a request that takes more than
250 ms of processor time. Every operation is also to be served, 50 times in a million requests,
unless the service refuses it whatever is asked.

Requests are made from the shapes that the catalogue leads to, so an operation that is added is
fuzzed without an edit here. What was found once is a pinned case of the tests.
"""
