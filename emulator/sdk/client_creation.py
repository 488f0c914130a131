"""Parts that the SDK builds for every session and client: here built once, as they never change.

Each function takes the original and returns what stands in its place while a mock is active; for
clients of other services, and without a mock, that is the original. A client of its own stays one:
its events, configuration, region, credentials and class are never shared.
"""

from __future__ import annotations

import functools
import os
import sys
from contextvars import ContextVar
from os.path import isdir
from typing import Any, Final
from weakref import WeakKeyDictionary

from emulator.sdk import scopes

#: Where proxies are not from the environment alone.
_SYSTEMS_WITH_PROXIES: Final = ("darwin", "win32")
#: What a node of the tree of event handlers has, in the versions whose trees are copied here.
_NODE_MEMBERS: Final = {"chunk", "children", "values"}
#: What the profiles of sessions say, while a client is made.
_profiles: ContextVar[dict[Any, Any] | None] = ContextVar("emulator_profiles", default=None)


def reuse_data(original: Any, folder: str) -> Any:
    """Loader.load_service_model and load_data_with_path: a file is read once, not once per session.

    Only what comes with the SDK, from the folder that its packages are in: models of the user's
    own may change from test to test.
    """
    known: dict[Any, Any] = {}

    @functools.wraps(original)
    def load(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not scopes.is_any_active() or not _reads_packages_only(self, folder):
            return original(self, *args, **kwargs)
        key = (*self.search_paths, args, *kwargs.items())
        if key not in known:
            known[key] = original(self, *args, **kwargs)
        return known[key]

    return load


def _reads_packages_only(loader: Any, folder: str) -> bool:
    """Return whether a loader reads files as usual and finds no data but that of packages."""
    if type(loader.file_loader) is not loader.FILE_LOADER_CLASS:
        return False
    return all(path.startswith(folder) or not isdir(path) for path in loader.search_paths)


def reuse_service_model(original: Any) -> Any:
    """ClientCreator._load_service_model: operations and shapes are looked up once per model."""
    known: dict[str, Any] = {}

    @functools.wraps(original)
    def load_service_model(self: Any, service_name: str, *args: Any, **kwargs: Any) -> Any:
        made = original(self, service_name, *args, **kwargs)
        if scopes.serving.get() is None:
            return made
        model = known.setdefault(service_name, made)
        if model._service_description is not made._service_description:
            model = known[service_name] = made
        return model

    return load_service_model


def reuse_rules(original: Any) -> Any:
    """regions.EndpointProvider: the rules of a service's addresses are parsed once."""
    known: list[tuple[Any, Any, Any]] = []

    @functools.wraps(original, updated=())
    def endpoint_provider(ruleset_data: Any, partition_data: Any, *args: Any, **kwargs: Any) -> Any:
        if scopes.serving.get() is None:
            return original(ruleset_data, partition_data, *args, **kwargs)
        for rules, partitions, provider in known:
            if rules is ruleset_data and partitions is partition_data:
                return provider
        provider = original(ruleset_data, partition_data, *args, **kwargs)
        known[:] = [*known[-1:], (ruleset_data, partition_data, provider)]
        return provider

    return endpoint_provider


def reuse_aliases(original: Any) -> Any:
    """EventAliaser.__copy__: copies have the same aliases, so what one has found all know."""

    @functools.wraps(original)
    def copy(self: Any) -> Any:
        copied = original(self)
        if scopes.serving.get() is not None and hasattr(self, "_alias_name_cache"):
            copied._alias_name_cache = self._alias_name_cache
        return copied

    return copy


def reuse_methods(original: Any) -> Any:
    """ClientCreator._create_methods: a client's class is its own, the functions in it are not."""
    known: dict[tuple[type, str], tuple[Any, dict[str, Any]]] = {}

    @functools.wraps(original)
    def create_methods(self: Any, service_model: Any) -> Any:
        if scopes.serving.get() is None:
            return original(self, service_model)
        key = type(self), service_model.service_name
        of_model, methods = known.get(key, (None, {}))
        if of_model is not service_model:
            methods = original(self, service_model)
            known[key] = service_model, methods
        return methods.copy()

    return create_methods


def copy_handlers(original: Any) -> Any:
    """_PrefixTrie.__copy__: a client's tree of event handlers, of which it changes few branches.

    The branches are those of a copy that is kept of the session's tree; a client copies a branch
    when it first changes it.
    """
    kept: list[dict[str, Any]] = [{}]

    @functools.wraps(original)
    def copy(self: Any) -> Any:
        root = self._root
        if scopes.serving.get() is None or root.keys() != _NODE_MEMBERS:
            return original(self)
        if kept[0] != root:
            kept[0] = _copied_node(root)
        return _sharing(self.__class__)(kept[0])

    return copy


@functools.cache
def _sharing(tree: Any) -> Any:
    """Return the class of trees that have branches in common until they change them."""

    class SharingTree(tree):  # type: ignore[misc]  # a class of the SDK, which is not loaded yet
        def __init__(self, root: dict[str, Any]) -> None:
            self._root = {**root, "children": root["children"].copy()}
            self._shared_branches = set(root["children"])

        def append_item(self, key: str, *args: Any, **kwargs: Any) -> None:
            self._own_branch(key)
            super().append_item(key, *args, **kwargs)

        def remove_item(self, key: str, *args: Any, **kwargs: Any) -> None:
            self._own_branch(key)
            super().remove_item(key, *args, **kwargs)

        def __copy__(self) -> Any:
            copied = tree()
            copied._root = _copied_node(self._root)
            return copied

        def _own_branch(self, key: str) -> None:
            name = key.partition(".")[0]
            if name in self._shared_branches:
                self._shared_branches.remove(name)
                branches = self._root["children"]
                branches[name] = _copied_node(branches[name])

    return SharingTree


def _copied_node(node: dict[str, Any]) -> dict[str, Any]:
    """Return a node with new dictionaries, and new lists of the same handlers."""
    children, handlers = node["children"], node["values"]
    return {
        **node,
        "children": {name: _copied_node(child) for name, child in children.items()}
        if children
        else {},
        "values": handlers and type(handlers)(*map(list, handlers)),  # first, middle, last
    }


def remember_signature(original: Any) -> Any:
    """hooks.accepts_kwargs: asked of the same methods of every client."""
    known: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    @functools.wraps(original)
    def accepts_kwargs(func: Any) -> Any:
        function = getattr(func, "__func__", None)
        if function is None or scopes.serving.get() is None:
            return original(func)
        if function not in known:
            known[function] = original(func)
        return known[function]

    return accepts_kwargs


def look_for_proxies(original: Any) -> Any:
    """endpoint.get_environ_proxies: where no variable names one, there is none."""

    @functools.wraps(original)
    def get_environ_proxies(url: Any) -> Any:
        is_simple = scopes.serving.get() is not None and sys.platform not in _SYSTEMS_WITH_PROXIES
        if is_simple and not any(name.lower().endswith("_proxy") for name in os.environ):
            return {}
        return original(url)

    return get_environ_proxies


def reuse_retry_config(original: Any) -> Any:
    """translate.build_retry_config: merged once for clients that are configured alike."""
    known: list[tuple[Any, tuple[Any, ...], Any]] = []

    @functools.wraps(original)
    def build_retry_config(
        endpoint_prefix: Any, retry_model: Any, definitions: Any, client_retry_config: Any = None
    ) -> Any:
        if scopes.serving.get() is None:
            return original(endpoint_prefix, retry_model, definitions, client_retry_config)
        asked = endpoint_prefix, definitions, dict(client_retry_config or {})
        for of_model, of_asked, config in known:
            if of_model is retry_model and of_asked == asked:
                return config
        config = original(endpoint_prefix, retry_model, definitions, client_retry_config)
        known[:] = [*known[-3:], (retry_model, asked, config)]
        return config

    return build_retry_config


def look_at_the_profile_once(original: Any) -> Any:
    """Session.get_scoped_config: asked for fifty times while a client is made, of one profile."""

    @functools.wraps(original)
    def get_scoped_config(self: Any) -> Any:
        known = _profiles.get()
        if known is None:
            return original(self)
        if self not in known:
            known[self] = original(self)
        return known[self]

    return get_scoped_config


def make_client(original: Any) -> Any:
    """ClientCreator.create_client: meanwhile, no session's profile changes."""

    @functools.wraps(original)
    def create_client(self: Any, *args: Any, **kwargs: Any) -> Any:
        token = _profiles.set(None if scopes.serving.get() is None else {})
        try:
            return original(self, *args, **kwargs)
        finally:
            _profiles.reset(token)

    return create_client


def send_on_demand(original: Any, session_class: Any) -> Any:
    """EndpointCreator.create_endpoint: what sends requests is made when one is sent."""

    @functools.wraps(original)
    def create_endpoint(self: Any, *args: Any, **kwargs: Any) -> Any:
        if scopes.serving.get() is not None:
            made_by = kwargs.get("http_session_cls", session_class)
            kwargs["http_session_cls"] = functools.partial(_SessionOnDemand, made_by)
        return original(self, *args, **kwargs)

    return create_endpoint


class _SessionOnDemand:
    """Stands for the session that a client sends by: inside a mock it never does.

    A client that outlives the mock has its session with the first request, as it was configured.
    """

    def __init__(self, session_class: Any, **options: Any) -> None:
        self._session_class = session_class
        self._options = options

    @functools.cached_property
    def _session(self) -> Any:
        return self._session_class(**self._options)

    def send(self, request: Any) -> Any:
        """Send a request, as the SDK does."""
        return self._session.send(request)

    def close(self) -> None:
        """Close the connections, if there are any."""
        if "_session" in vars(self):
            self._session.close()
