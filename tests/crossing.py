"""A proxy around a host and its conversations, as if they were in another process: only plain values get through.

Every argument and every result is written as JSON and read again. A function may go to the host, which calls it back
with values. An async iterator comes back item by item, and what a face holds on to, such as a conversation, is a proxy
in turn. Whatever else would cross is an error that names the method.
"""

import inspect
import json
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Any, Self

from msgspec import UNSET, Raw, Struct

from mooring.conversation.calls import Calls
from mooring.conversation.conversation import Conversation
from mooring.conversation.events import EventStream
from mooring.conversation.requests import Requests
from mooring.conversation.skills import ServerSkills
from mooring.core.protocol.raw import ABSENT
from mooring.errors import MooringError
from mooring.host.first_starts import FirstStarts
from mooring.host.gateway import GatewayClient
from mooring.host.gateway_server import Preapprovals
from mooring.host.handover import HandedServers
from mooring.host.host import Host
from mooring.permissions.audit import AuditLog
from mooring.permissions.policy import Policy
from mooring.serve.handshake import HandshakeClient
from mooring.serve.stateless import StatelessClients

HANDLES = (
    Host,
    Conversation,
    EventStream,
    ServerSkills,
    FirstStarts,
    GatewayClient,
    HandedServers,
    Requests,
    Calls,
    Preapprovals,
    AuditLog,
)
"""What a face holds on to and calls: each would be a number in a message, and is a proxy here."""

CALLED_BACK = (HandshakeClient, StatelessClients)
"""What the host calls by its methods, each of which is a function of the face."""

AS_THEY_ARE: dict[str, str] = {
    "Host.guard": "it starts programs of the agent's side, which needs one of its own in another process",
    "Host.conversation(more=)": "an agent's own tools are its code; in another process, the agent would be called back",
}
"""What is no value, and why it has to cross all the same for now."""


class NotPlainError(AssertionError):
    """Something that is no value would have crossed."""


class Crossing:
    """The way between a face and a host. `crossed` counts what was called."""

    def __init__(self) -> None:
        self.crossed: dict[str, int] = {}
        self._types: dict[str, type] = {}
        self._functions: list[Callable[..., Any]] = []
        self._returned: dict[Callable[..., Any], Callable[..., Any]] = {}
        """For each function that went to the host what it has instead: two are equal where the functions are."""

    def wrap(self, host: Host) -> Any:
        """A host that is reached through here alone."""
        return Proxy(self, host)

    # --- from the face to the host, and back ----------------------------------------------------------------------

    def send(self, value: Any, what: str) -> Any:
        """What the host gets of an argument, or of what a function of the face returns."""
        if what in AS_THEY_ARE:
            return value
        if isinstance(value, Proxy):
            return value._target
        if isinstance(value, CALLED_BACK):
            return _CallbackObject(self, value)
        if inspect.isasyncgen(value) or inspect.isawaitable(value):
            raise NotPlainError(f"{what}: {type(value).__name__}")
        if isinstance(value, map | filter | zip) or inspect.isgenerator(value):
            value = list(value)
        return self._copy(value, what, functions=True)

    def receive(self, value: Any, what: str) -> Any:
        """What the face gets of a result."""
        if what in AS_THEY_ARE:
            return value
        if isinstance(value, HANDLES):
            return Proxy(self, value)
        if inspect.isawaitable(value):
            return self._await(value, what)
        if isinstance(value, AsyncIterator):
            return self._iterate(value, what)
        if isinstance(value, AbstractAsyncContextManager):
            return self._enter(value, what)
        return self._copy(value, what, functions=False)

    async def _await(self, value: Any, what: str) -> Any:
        try:
            return self.receive(await value, what)
        except MooringError as error:
            raise self.receive(error, what) from None

    async def _iterate(self, items: AsyncIterator[Any], what: str) -> AsyncIterator[Any]:
        async for item in items:
            yield self.receive(item, what)

    @asynccontextmanager
    async def _enter(self, manager: Any, what: str) -> AsyncIterator[Any]:
        async with manager as value:
            yield self.receive(value, what)

    def call(self, function: Callable[..., Any], what: str, args: Any, options: Mapping[str, Any]) -> Any:
        """Call a method of the host's side."""
        self.crossed[what] = self.crossed.get(what, 0) + 1
        sent = [self.send(value, f"{what}({number})") for number, value in enumerate(args)]
        named = {name: self.send(value, f"{what}({name}=)") for name, value in options.items()}
        try:
            return self.receive(function(*sent, **named), what)
        except MooringError as error:
            raise self.receive(error, what) from None

    def _call_back(self, function: Callable[..., Any], what: str) -> Callable[..., Any]:
        """What the host calls instead of a function of the face."""
        if function in self._returned:
            return self._returned[function]

        def call(*args: Any, **options: Any) -> Any:
            given = [self._copy(value, f"{what}: argument", functions=False) for value in args]
            named = {name: self._copy(value, f"{what}: {name}=", functions=False) for name, value in options.items()}
            try:
                result = function(*given, **named)
            except MooringError as error:
                raise self._copy(error, what, functions=False) from None
            return self._await_back(result, what) if inspect.isawaitable(result) else self.send(result, what)

        self._returned[function] = call
        return call

    async def _await_back(self, value: Any, what: str) -> Any:
        try:
            return self.send(await value, f"{what}: result")
        except MooringError as error:
            raise self._copy(error, what, functions=False) from None

    # --- values ---------------------------------------------------------------------------------------------------

    def _copy(self, value: Any, what: str, *, functions: bool) -> Any:
        written = json.dumps(self._encode(value, what, functions))
        return self._decode(json.loads(written), what)

    def _encode(self, value: Any, what: str, functions: bool) -> Any:
        def encode(part: Any) -> Any:
            return self._encode(part, what, functions)

        match value:
            case None | bool() | int() | str() if type(value) in (type(None), bool, int, str):
                return value
            case float():
                return {"float": repr(value)}
            case bytes():
                return {"bytes": b64encode(value).decode()}
            case Raw():
                return {"raw": b64encode(bytes(value)).decode()}
            case datetime():
                return {"datetime": value.isoformat()}
            case list():
                return {"list": [encode(part) for part in value]}
            case tuple():
                return {"tuple": [encode(part) for part in value]}
            case set() | frozenset():
                return {type(value).__name__: [encode(part) for part in value]}
            case Mapping():
                return {"dict": [[encode(key), encode(part)] for key, part in value.items()]}
            case Struct() if type(value).__module__.startswith("mooring."):
                fields = {name: encode(getattr(value, name)) for name in value.__struct_fields__}
                return {"struct": self._name(value), "fields": fields}
            case MooringError():
                return {"error": self._name(value), "args": encode(value.args), "state": encode(vars(value))}
            case Policy():
                return {"policy": encode(_take_apart(value))}
            case _ if value is UNSET:
                return {"unset": True}
            case _ if functions and callable(value):
                self._functions.append(value)
                return {"function": len(self._functions) - 1}
        raise NotPlainError(f"{what}: {type(value).__module__}.{type(value).__qualname__}")

    def _name(self, value: object) -> str:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        self._types[name] = kind
        return name

    def _decode(self, written: Any, what: str) -> Any:
        def decode(part: Any) -> Any:
            return self._decode(part, what)

        match written:
            case {"float": text}:
                return float(text)
            case {"bytes": text}:
                return b64decode(text)
            case {"raw": ""}:
                return ABSENT  # what was not sent is told by this very value
            case {"raw": text}:
                return Raw(b64decode(text))
            case {"datetime": text}:
                return datetime.fromisoformat(text)
            case {"list": parts}:
                return [decode(part) for part in parts]
            case {"tuple": parts}:
                return tuple(decode(part) for part in parts)
            case {"set": parts}:
                return {decode(part) for part in parts}
            case {"frozenset": parts}:
                return frozenset(decode(part) for part in parts)
            case {"dict": pairs}:
                return {decode(key): decode(part) for key, part in pairs}
            case {"struct": name, "fields": fields}:
                return self._types[name](**{field: decode(part) for field, part in fields.items()})
            case {"error": name, "args": args, "state": state}:
                error = self._types[name].__new__(self._types[name])
                error.args = decode(args)
                vars(error).update(decode(state))
                return error
            case {"policy": parts}:
                return Policy(**decode(parts))
            case {"unset": True}:
                return UNSET
            case {"function": number}:
                return self._call_back(self._functions[number], what)
        return written


def _take_apart(policy: Policy) -> dict[str, Any]:
    """What a policy is made of. It holds nothing but rules, and compiles them itself."""
    return {
        "layers": policy.layers,
        "mode": policy.mode,
        "trusted": tuple(policy.trusted),
        "doubts": policy.doubts,
        "bypass_reason": policy.bypass_reason,
        "foreign": policy.foreign,
    }


class Proxy:
    """What a face has instead of something of the host's side."""

    def __init__(self, crossing: Crossing, target: Any) -> None:
        self._crossing = crossing
        self._target = target
        self._kind = next(kind.__name__ for kind in HANDLES if isinstance(target, kind))

    def __getattr__(self, name: str) -> Any:
        what = f"{self._kind}.{name}"
        if name.startswith("_"):
            raise NotPlainError(f"{what} is the host's own")
        if inspect.isroutine(inspect.getattr_static(type(self._target), name, None)):
            method = getattr(self._target, name)
            return lambda *args, **options: self._crossing.call(method, what, args, options)
        return self._crossing.call(lambda: getattr(self._target, name), what, (), {})

    async def __aenter__(self) -> Self:
        await self._target.__aenter__()
        return self

    async def __aexit__(self, *ending: Any) -> None:
        await self._target.__aexit__(*ending)


class _CallbackObject:
    """What the host has instead of an object of the face."""

    def __init__(self, crossing: Crossing, thing: Any) -> None:
        self._crossing = crossing
        self._thing = thing

    def __getattr__(self, name: str) -> Any:
        return self._crossing.send(getattr(self._thing, name), f"{type(self._thing).__name__}.{name}")
