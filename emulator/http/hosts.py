"""Hosts: which names a server answers to.

A page that a browser has loaded from anywhere can let its own name lead to this machine
afterwards (DNS rebinding); its requests are then of one origin for the browser, and only their
Host field tells. So a server that listens for its own machine answers to names of that machine,
and one that listens to others keeps its private routes to itself
(docs/decisions/0023-browsers.md).

Source: RFC 6761 6.3, ``localhost`` and every name below it lead to the machine itself.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Final

_PORT = re.compile(r":[0-9]*\Z")
_ANY_ADDRESS: Final = ("0.0.0.0", "::")


def host_name(host: str) -> str:
    """Return the name or address of a Host field or an option, without port, in one spelling.

    >>> host_name("LocalHost.:8000"), host_name("[::1]:8000"), host_name("::1")
    ('localhost', '::1', '::1')
    """
    name = host.strip()
    if name.startswith("["):
        name = name[1:].partition("]")[0]
    elif name.count(":") <= 1:
        name = _PORT.sub("", name)
    return name.lower().removesuffix(".")


def is_loopback(name: str) -> bool:
    """Return whether a name or address leads to the machine itself, whoever asks.

    >>> [is_loopback(name) for name in ("app.localhost", "127.1.2.3", "::1", "localhost.evil")]
    [True, True, True, False]
    """
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


class Hosts:
    """The names of one server.

    Args:
        bound: The address given to listen on, and those that it led to.
        allowed: Further names, as of ``--allow-host``.

    >>> hosts = Hosts(["127.0.0.1"], ["dynamodb"])
    >>> hosts.answers_to("dynamodb:8000"), hosts.answers_to("evil.example:8000")
    (True, False)
    """

    def __init__(self, bound: Iterable[str], allowed: Iterable[str] = ()) -> None:
        names = {host_name(name) for name in bound}
        self._is_local = all(map(is_loopback, names))
        self._names = names.difference(_ANY_ADDRESS) | {host_name(name) for name in allowed}
        self._known: set[str] = set()  # Host fields that were trusted, as they were written

    def answers_to(self, host: str | None) -> bool:
        """Return whether the service is answered under a Host field.

        None has no name to judge: every browser sends one.
        """
        return not self._is_local or host in self._known or self.trusts(host)

    def trusts(self, host: str | None) -> bool:
        """Return whether private routes are answered under a Host field."""
        if host is None or host in self._known:
            return True
        name = host_name(host)
        if not is_loopback(name) and name not in self._names:
            return False
        if len(self._known) < _KNOWN_HOSTS:
            self._known.add(host)
        return True


_KNOWN_HOSTS: Final = 64
