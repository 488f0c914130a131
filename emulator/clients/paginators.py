"""Paginators: every page of an operation, as ``client.get_paginator`` gives them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from emulator.clients.conversion import Wire, client_response
from emulator.service.catalogue import Paging

_STARTING_TOKEN_FAULT: Final = "{token!r} is not a StartingToken that a paginator gave out"


class Paginator:
    """The pages of one operation."""

    def __init__(self, method: Callable[..., Wire], paging: Paging) -> None:
        self._method = method
        self._paging = paging

    def paginate(self, *, PaginationConfig: Wire | None = None, **request: Any) -> Pages:  # noqa: N803  # the SDK's name
        """Return the pages of a request.

        Args:
            PaginationConfig: ``MaxItems`` in all, ``PageSize`` per call, ``StartingToken``.
            **request: The members of the operation's request.
        """
        return Pages(self._method, self._paging, request, PaginationConfig or {})


class Pages:
    """An iterable of response pages; each iteration sends its own requests.

    Attributes:
        resume_token: Where to go on, if ``MaxItems`` cut the last iteration short.
    """

    def __init__(
        self, method: Callable[..., Wire], paging: Paging, request: Wire, config: Wire
    ) -> None:
        self._method = method
        self._paging = paging
        self._request = dict(request)
        if config.get("PageSize") is not None and paging.limit is not None:
            self._request[paging.limit] = int(config["PageSize"])
        limit = config.get("MaxItems")
        self._max_items = None if limit is None else int(limit)
        self._start, self._skipped = _read_token(config.get("StartingToken"))
        self.resume_token: str | None = None

    def __iter__(self) -> Iterator[Wire]:
        start, skipped, seen = self._start, self._skipped, 0
        while True:
            page = self._page(start, skipped)
            left = self._entries_left(page, seen)
            if left is not None and left < 0:
                self._cut(page, left)
                entries_sent = skipped + len(page[self._paging.results[0]])
                self.resume_token = _write_token(start, entries_sent)
                yield page
                return
            yield page
            start, skipped = page.get(self._paging.end), 0
            if start is None:
                return
            if left == 0:
                self.resume_token = _write_token(start, 0)
                return
            seen += len(page.get(self._paging.results[0], ()))

    def build_full_result(self) -> Wire:
        """Return all pages as one response, with ``NextToken`` if ``MaxItems`` cut it short."""
        whole: Wire = {}
        for page in self:
            if not whole:
                whole = {name: page[name] for name in self._paging.once if name in page}
            for name in self._paging.results:
                whole[name] = whole[name] + page[name] if name in whole else page[name]
        if self.resume_token is not None:
            whole["NextToken"] = self.resume_token
        return whole

    def _page(self, start: Any, skipped: int) -> Wire:
        request = self._request if start is None else {**self._request, self._paging.start: start}
        page = self._method(**request)
        if skipped:
            entries = self._paging.results[0]
            page[entries] = page[entries][skipped:]
        return page

    def _entries_left(self, page: Wire, seen: int) -> int | None:
        """Return how many entries may still come after this page; negative if it has too many."""
        if self._max_items is None:
            return None
        return self._max_items - seen - len(page.get(self._paging.results[0], ()))

    def _cut(self, page: Wire, left: int) -> None:
        entries = self._paging.results[0]
        page[entries] = page[entries][:left]


def _write_token(start: Any, skipped: int) -> str:
    text = json.dumps([start, skipped], default=lambda data: base64.b64encode(data).decode())
    return base64.b64encode(text.encode()).decode()


def _read_token(token: str | None) -> tuple[Any, int]:
    if token is None:
        return None, 0
    try:
        start, skipped = json.loads(base64.b64decode(token, validate=True))
    except ValueError:
        raise ValueError(_STARTING_TOKEN_FAULT.format(token=token)) from None
    return client_response(start), skipped
