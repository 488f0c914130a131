"""The SDK's methods while a mock is active: wrappers, none of which imports the SDK.

Each takes the original and returns what stands in its place. All of them ask ``serving``, which
is set while a DynamoDB client is created, called or waited with, and step aside without it.
"""

from __future__ import annotations

import functools
import io
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Final
from weakref import WeakKeyDictionary

from emulator import clients, protocol
from emulator.sdk import scopes
from emulator.service.errors import ApiError, EmulatorError

SERVICES: Final = frozenset({"dynamodb", "dynamodbstreams"})

# A request that is served here has an address that cannot be reached, whatever other tools do
# with it: moto, too, lets it pass. Source: RFC 2606 reserves the top-level domain.
NOWHERE: Final = "https://dynamodb.emulator.invalid/"

WOULD_LEAVE: Final = (
    "a DynamoDB request to {url} would leave this machine: inside mock_dynamodb, send it "
    "with a boto3, botocore or aiobotocore client"
)

_NO_SIGNATURE: Final = "0" * 64
_ACCOUNT_ID: Final = "AWS::Auth::AccountId"  # what endpoint rules call it
#: What a client's configuration adds to its user agent, and how many user agents are kept.
_IN_AGENT: Final = (
    "_supplied_user_agent",
    "endpoint_discovery_enabled",
    "retries",
    "user_agent",
    "user_agent_appid",
    "user_agent_extra",
)
_USER_AGENTS: Final = 64


# What is served: calls, the creation of clients, and waits


def serve_call(original: Any) -> Any:
    """BaseClient._make_api_call: by the scope's fast lane, or as the SDK does it."""

    @functools.wraps(original)
    def make_api_call(self: Any, operation_name: str, api_params: Any) -> Any:
        scope = _scope_of_client(self)
        if scope is not None and scope.fast:
            return _answer_fast(self, scope, operation_name, api_params)
        token = scopes.serving.set(scope)
        try:
            return original(self, operation_name, api_params)
        finally:
            scopes.serving.reset(token)

    return make_api_call


def serve_call_async(original: Any) -> Any:
    """AioBaseClient._make_api_call."""

    @functools.wraps(original)
    async def make_api_call(self: Any, operation_name: str, api_params: Any) -> Any:
        scope = _scope_of_client(self)
        if scope is not None and scope.fast:
            return await _answer_fast_async(self, scope, operation_name, api_params)
        token = scopes.serving.set(scope)
        try:
            return await original(self, operation_name, api_params)
        finally:
            scopes.serving.reset(token)

    return make_api_call


def serve(original: Any, scope_of: Callable[..., scopes.Scope | None]) -> Any:
    """Let a scope serve while a method runs; None for another service's."""

    @functools.wraps(original)
    def served(self: Any, *args: Any, **kwargs: Any) -> Any:
        token = scopes.serving.set(scope_of(self, args, kwargs))
        try:
            return original(self, *args, **kwargs)
        finally:
            scopes.serving.reset(token)

    return served


def serve_async(original: Any, scope_of: Callable[..., scopes.Scope | None]) -> Any:
    """Let a scope serve while a coroutine runs."""

    @functools.wraps(original)
    async def served(self: Any, *args: Any, **kwargs: Any) -> Any:
        token = scopes.serving.set(scope_of(self, args, kwargs))
        try:
            return await original(self, *args, **kwargs)
        finally:
            scopes.serving.reset(token)

    return served


def _scope_of_client(client: Any) -> scopes.Scope | None:
    return scopes.innermost() if client.meta.service_model.service_name in SERVICES else None


def scope_of_waiter(waiter: Any, *_call: Any) -> scopes.Scope | None:
    """Return the scope of a waiter; its class has a name such as DynamoDB.Waiter.TableExists."""
    return scopes.innermost() if type(waiter).__name__.startswith("DynamoDB") else None


def scope_of_creation(
    session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> scopes.Scope | None:
    """Return the scope of a new client; without a region, it gets that emulator's."""
    service_name = args[0] if args else kwargs["service_name"]
    scope = scopes.innermost() if service_name in SERVICES else None
    if (
        scope is not None
        and len(args) < 2
        and not (
            kwargs.get("region_name")
            or getattr(kwargs.get("config"), "region_name", None)
            or getattr(session.get_default_client_config(), "region_name", None)
            or session.get_config_variable("region")
        )
    ):
        kwargs["region_name"] = scope.emulator.region
    return scope


# A request, from its signature to its answer


def address_nowhere(original: Any) -> Any:
    """Endpoint.prepare_request, the asynchronous one's too: signed, and not yet sent."""

    @functools.wraps(original)
    def prepare_request(self: Any, request: Any) -> Any:
        prepared = original(self, request)
        if scopes.serving.get() is not None:
            prepared.url = NOWHERE
            prepared.context = request.context  # older versions leave it behind
        return prepared

    return prepare_request


def answer(original: Any, response_class: Any) -> Any:
    """Endpoint._send: where a request would leave."""

    @functools.wraps(original)
    def send(self: Any, request: Any) -> Any:
        scope = scopes.serving.get()
        if scope is None:
            return original(self, request)
        status, body = _respond(scope, request)
        return response_class(request.url, status, _headers(scope, body), _Body(body))

    return send


def answer_async(original: Any, response_class: Any) -> Any:
    """AioEndpoint._send."""

    @functools.wraps(original)
    async def send(self: Any, request: Any) -> Any:
        scope = scopes.serving.get()
        if scope is None:
            return await original(self, request)
        status, body = _respond(scope, request)
        headers = _headers(scope, body)
        return response_class(request.url, status, headers, _AsyncBody(body, headers))

    return send


def _respond(scope: scopes.Scope, request: Any) -> tuple[int, bytes]:
    """Return status and body of the answer to a prepared request."""
    try:
        operation = request.headers["X-Amz-Target"].decode().partition(".")[2]
        response = scope.emulator.call(
            operation,
            protocol.decode_json(request.body),
            region=_region_of(request),
        )
    except ApiError as error:
        return error.status, protocol.encode_json(error.body())
    return 200, protocol.encode_json(response)


def _region_of(request: Any) -> str | None:
    """Return the region a request is signed for; an unsigned one has its client's."""
    authorization: bytes = request.headers.get("Authorization") or b""
    return protocol.signed_region(authorization.decode()) or request.context.get("client_region")


def _headers(scope: scopes.Scope, body: bytes) -> dict[str, str]:
    seconds = int(scope.emulator.clock.now())
    request_id = protocol.next_request_id()
    return protocol.response_fields(
        body, content_type=protocol.AMZ_JSON, seconds=seconds, request_id=request_id
    )


class _Body(io.BytesIO):
    """A body as botocore reads it."""

    def stream(self, *_args: Any, **_kwargs: Any) -> Iterator[bytes]:
        yield self.read()


class _AsyncBody:
    """A body as aiobotocore reads it; version 2.13 looks here for the headers, too."""

    def __init__(self, body: bytes, headers: dict[str, str]) -> None:
        self._body = body
        self._headers = headers

    async def read(self) -> bytes:
        return self._body

    @property
    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        return [(name.encode(), value.encode()) for name, value in self._headers.items()]


def reuse_user_agent(original: Any) -> Any:
    """UserAgentString.to_string: written once for clients configured alike, not twice per request.

    It is a quarter of what the SDK spends on a small call, and it is never received; of its
    content only the record of SDK features can differ from call to call.
    """
    of_client: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
    of_content: dict[tuple[str, ...], str] = {}

    @functools.wraps(original)
    def to_string(self: Any) -> str:
        if scopes.serving.get() is None:
            return str(original(self))
        text = of_client.get(self)
        if text is None:
            content = _content_of(self)
            text = of_content.get(content)
            if text is None:
                if len(of_content) >= _USER_AGENTS:
                    of_content.clear()
                text = of_content[content] = original(self)
            of_client[self] = text
        return text

    return to_string


def _content_of(user_agent: Any) -> tuple[str, ...]:
    """Return all that a user agent is written from: its own fields, and some of its client's."""
    fields = vars(user_agent).copy()
    config = fields.pop("_client_config", None)
    return (*map(str, fields.values()), *[str(getattr(config, name, None)) for name in _IN_AGENT])


def reuse_endpoint(original: Any) -> Any:
    """EndpointRulesetResolver.construct_endpoint: found once per client and operation.

    The address is replaced before anything is sent; what else comes with it, the signing
    region and headers, is the client's and does not depend on the call.
    """
    known: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()

    @functools.wraps(original)
    def construct_endpoint(self: Any, operation_model: Any, *args: Any, **kwargs: Any) -> Any:
        if scopes.serving.get() is None:
            return original(self, operation_model, *args, **kwargs)
        by_operation = known.setdefault(self, {})
        endpoint = by_operation.get(operation_model.name)
        if endpoint is None:
            endpoint = original(self, operation_model, *args, **kwargs)
            by_operation[operation_model.name] = endpoint
        return endpoint

    return construct_endpoint


def tell_the_account(original: Any) -> Any:
    """EndpointRulesetResolver._resolve_param_as_builtin: an address may name the account.

    It is the emulator's, and the client's own credentials are not asked: they may have none, or be
    expired.
    """

    @functools.wraps(original)
    def resolve(self: Any, builtin_name: Any, builtins: Any) -> Any:
        scope = scopes.serving.get()
        if scope is None or builtin_name != _ACCOUNT_ID:
            return original(self, builtin_name, builtins)
        return scope.emulator.account_id

    return resolve


def refuse_to_send(original: Any) -> Any:
    """URLLib3Session.send and its like: no client's request comes this far."""

    @functools.wraps(original)
    def send(self: Any, request: Any) -> Any:
        if asks_dynamodb(request) and scopes.is_any_active():
            raise EmulatorError(WOULD_LEAVE.format(url=request.url))
        return original(self, request)

    return send


def asks_dynamodb(request: Any) -> bool:
    """Return whether a request that is ready to be sent is one to DynamoDB."""
    return target_of(request).startswith("DynamoDB")


def target_of(request: Any) -> str:
    """Return the API and the operation that a request is for, or nothing."""
    target: bytes | str = request.headers.get("X-Amz-Target") or ""
    return target.decode() if isinstance(target, bytes) else target


# The fast lane


def _answer_fast(client: Any, scope: scopes.Scope, operation: str, params: Any) -> Any:
    """Answer before the SDK serialises; its events for parameters and responses still fire."""
    model = client.meta.service_model.operation_model(operation)
    context = _fast_context(client)
    params = client._emit_api_params(params, model, context)
    http, parsed = _respond_fast(client, scope, operation, params)
    client.meta.events.emit(
        _after_call(model), http_response=http, parsed=parsed, model=model, context=context
    )
    return _parsed_or_raised(client, operation, http, parsed)


async def _answer_fast_async(client: Any, scope: scopes.Scope, operation: str, params: Any) -> Any:
    """Answer as ``_answer_fast`` does, where the SDK's events are awaited."""
    model = client.meta.service_model.operation_model(operation)
    context = _fast_context(client)
    params = await client._emit_api_params(params, model, context)
    http, parsed = _respond_fast(client, scope, operation, params)
    await client.meta.events.emit(
        _after_call(model), http_response=http, parsed=parsed, model=model, context=context
    )
    return _parsed_or_raised(client, operation, http, parsed)


def _fast_context(client: Any) -> dict[str, Any]:
    return {"client_region": client.meta.region_name, "client_config": client.meta.config}


def _after_call(model: Any) -> str:
    return f"after-call.{model.service_model.service_id.hyphenize()}.{model.name}"


def _respond_fast(client: Any, scope: scopes.Scope, operation: str, params: Any) -> tuple[Any, Any]:
    """Return a stand-in for the HTTP response, and the parsed response."""
    try:
        response = scope.emulator.call(
            operation,
            clients.wire_request(params),
            region=client.meta.region_name,
        )
    except ApiError as error:
        return SimpleNamespace(status_code=error.status, headers={}), clients.error_response(error)
    parsed = {
        **clients.client_response(response),
        "ResponseMetadata": clients.response_metadata(200),
    }
    return SimpleNamespace(status_code=200, headers={}), parsed


def _parsed_or_raised(client: Any, operation: str, http: Any, parsed: Any) -> Any:
    if http.status_code < 300:
        return parsed
    raise client.exceptions.from_code(parsed["Error"]["Code"])(parsed, operation)


# Credentials


def at_once(answer: Any) -> Any:
    """Return an answer as it is, for a method of botocore."""
    return answer


async def awaited(answer: Any) -> Any:
    """Return an answer as a coroutine, for aiobotocore."""
    return answer


def hide_credentials(
    original: Any, credentials_class: Any, answer_with: Callable[[Any], Any] = at_once
) -> Any:
    """Session.get_credentials: no file is read and no metadata service is asked."""

    @functools.wraps(original)
    def get_credentials(self: Any) -> Any:
        if scopes.serving.get() is None and not scopes.credentials_are_hidden():
            return original(self)
        return answer_with(_nobody(credentials_class))

    return get_credentials


def _nobody(credentials_class: Any) -> Any:
    scope = scopes.serving.get()
    return _credentials(credentials_class, None if scope is None else scope.emulator.account_id)


@functools.cache
def _credentials(credentials_class: Any, account_id: str | None) -> Any:
    credentials = credentials_class(scopes.ACCESS_KEY, scopes.ACCESS_KEY)
    # Set, not passed: older versions know no account, and need none.
    credentials.account_id = account_id
    return credentials


def sign_as_nobody(original: Any, answer_with: Callable[[Any], Any] = at_once) -> Any:
    """RequestSigner.get_auth_instance."""

    @functools.wraps(original)
    def get_auth_instance(
        self: Any, signing_name: str, region_name: str, *args: Any, **kwargs: Any
    ) -> Any:
        scope = scopes.serving.get()
        if scope is None:
            return original(self, signing_name, region_name, *args, **kwargs)
        return answer_with(_Signature(scope, signing_name, region_name))

    return get_auth_instance


class _Signature:
    """Signs nothing and names the region: a signature is a quarter of a small call, and unchecked.

    The headers are those of version 4, so a hook that looks at them finds them.
    """

    def __init__(self, scope: scopes.Scope, service: str, region: str) -> None:
        self.moment = _signing_moment(int(scope.emulator.clock.now()))
        self.key = f"{scopes.ACCESS_KEY}/{self.moment[:8]}/{region}/{service}/aws4_request"

    def add_auth(self, request: Any) -> None:
        """Put the headers of a signature on a request, in place of an earlier attempt's."""
        headers = request.headers
        del headers["X-Amz-Date"]
        headers["X-Amz-Date"] = self.moment
        del headers["Authorization"]
        headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.key}, SignedHeaders=host;x-amz-date, "
            f"Signature={_NO_SIGNATURE}"
        )


@functools.lru_cache(maxsize=1)
def _signing_moment(seconds: int) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))
