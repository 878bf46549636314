"""What this side of a connection offers a server, and which of its notifications it listens to."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.protocol.raw import read, read_as
from mooring.core.protocol.result import LogMessage, TaskState
from mooring.core.protocol.tool import Implementation
from mooring.errors import RpcError, Stage
from mooring.wire.rpc.inbound import Responder
from mooring.wire.rpc.message import INVALID_PARAMS
from mooring.wire.session.dialect import LOG, NotificationListener

ListName: TypeAlias = Literal["tools", "resources", "prompts"]
Respond: TypeAlias = Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers a server's request: takes its parameters and returns the result; an RpcError refuses it."""

META: Final = "io.modelcontextprotocol/"
"""How the keys in `_meta` begin that the protocol itself uses."""
TASKS: Final = f"{META}tasks"
"""The extension for calls that a server carries out as tasks."""

asked_as: ContextVar[str] = ContextVar("asked_as", default="")
"""What a server calls the question that the current task answers; only in the stateless era does it say."""

task_listener: ContextVar[Callable[[TaskState], None] | None] = ContextVar("task_listener", default=None)
"""Hears of the tasks that servers make of the calls of the current task: when one is created, and at each poll."""

_log = Decoder(LogMessage)


class Root(Struct, frozen=True, omit_defaults=True):
    """A folder that the server may work in."""

    uri: str
    name: str | None = None

    @classmethod
    def of(cls, folder: str) -> "Root":
        from pathlib import Path  # slow to load, and few servers ask for roots

        return cls(Path(folder).as_uri(), Path(folder).name or folder)


class Client(Struct, frozen=True, kw_only=True):
    """A field that is `None` is not offered to the server, or not listened to.

    The callbacks that begin with `on_` are plain functions. They are called from the event loop, and no more often
    than `Limits` allows.
    """

    program: Implementation = Implementation("mooring", "0.1.0")
    roots: Callable[[], Sequence[Root]] | None = None
    sample: Respond | None = None
    sample_with_tools: bool = False
    elicit: Respond | None = None
    elicit_by_url: bool = False
    on_change: Callable[[ListName], None] | None = None
    on_update: Callable[[str], None] | None = None
    on_log: Callable[[LogMessage], None] | None = None
    on_stage: Callable[[Stage], None] | None = None
    """A connection that is being opened has completed this stage."""
    on_elicited: Callable[[str], None] | None = None
    """An elicitation by URL is complete; called with its id."""

    def report_stage(self, stage: Stage) -> None:
        """Tell `on_stage`, if there is one."""
        if self.on_stage is not None:
            self.on_stage(stage)

    @property
    def capabilities(self) -> dict[str, Any]:
        """The capabilities to declare, as the handshake era writes them."""
        offered: dict[str, Any] = {}
        if self.roots is not None:
            offered["roots"] = {"listChanged": True}
        if self.sample is not None:
            offered["sampling"] = {"tools": {}} if self.sample_with_tools else {}
        if self.elicit is not None:
            offered["elicitation"] = {"form": {}, "url": {}} if self.elicit_by_url else {"form": {}}
        return offered

    def answers(self) -> dict[str, Responder]:
        """A function for each request that the server may make."""
        answers: dict[str, Responder] = {}
        if self.roots is not None:
            answers["roots/list"] = partial(_list_roots, self.roots)
        if self.sample is not None:
            answers["sampling/createMessage"] = partial(_respond, self.sample)
        if self.elicit is not None:
            answers["elicitation/create"] = partial(_respond, self.elicit)
        return answers

    def notes(self) -> dict[str, NotificationListener]:
        """A function for each notification that is listened to; one that cannot be read is ignored."""
        notes: dict[str, NotificationListener] = {}
        if (on_change := self.on_change) is not None:
            notes["notifications/tools/list_changed"] = lambda _: on_change("tools")
            notes["notifications/resources/list_changed"] = lambda _: on_change("resources")
            notes["notifications/prompts/list_changed"] = lambda _: on_change("prompts")
        if self.on_update is not None:
            notes["notifications/resources/updated"] = partial(_pass_text, "uri", self.on_update)
        if self.on_elicited is not None:
            notes["notifications/elicitation/complete"] = partial(_pass_text, "elicitationId", self.on_elicited)
        if self.on_log is not None:
            notes[LOG] = partial(_pass_log, self.on_log)
        return notes


def declare_capabilities(offered: Mapping[str, Any]) -> dict[str, Any]:
    """What a request in the stateless era says that its client can do. Tasks are always waited for on this side."""
    extensions = offered.get("extensions")
    known = extensions if isinstance(extensions, Mapping) else {}
    return {f"{META}clientCapabilities": {**offered, "extensions": {**known, TASKS: {}}}}


def report_task(state: TaskState) -> None:
    """Tell whoever listens what became of the task that a server made of the current call."""
    listener = task_listener.get()
    if listener is not None:
        listener(state)


async def _list_roots(roots: Callable[[], Sequence[Root]], params: Raw) -> Any:
    return {"roots": list(roots())}


async def _respond(respond: Respond, params: Raw) -> Any:
    return await respond(_read_object(params))


def _read_object(params: Raw) -> dict[str, Any]:
    try:
        found = read(params)
    except DecodeError as error:
        raise RpcError("", INVALID_PARAMS, f"Invalid params: {error}") from error
    if not isinstance(found, dict):
        raise RpcError("", INVALID_PARAMS, "Invalid params: expected an object")
    return found


def _pass_text(key: str, listener: Callable[[str], None], params: Raw) -> None:
    try:
        text = _read_object(params).get(key)
    except RpcError:
        return
    if isinstance(text, str):
        listener(text)


def _pass_log(listener: Callable[[LogMessage], None], params: Raw) -> None:
    try:
        message = read_as(_log, params)
    except DecodeError:
        return
    listener(message)
