"""What this side of a connection offers a server, and what it wants to hear from it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeAlias

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.hello import Implementation
from mooring.core.raw import read, read_as
from mooring.core.result import LogMessage
from mooring.errors import RpcError, Stage
from mooring.wire.rpc.inbound import Answer
from mooring.wire.rpc.message import INVALID_PARAMS
from mooring.wire.rpc.notes import LOG, Note

List: TypeAlias = Literal["tools", "resources", "prompts"]
Respond: TypeAlias = Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers a server's request: its parameters in, the result out; an RpcError refuses."""


class Root(Struct, frozen=True, omit_defaults=True):
    """A folder that the server may work in."""

    uri: str
    name: str | None = None

    @classmethod
    def of(cls, folder: str) -> "Root":
        from pathlib import Path  # few servers ask

        return cls(Path(folder).as_uri(), Path(folder).name or folder)


class Client(Struct, frozen=True, kw_only=True):
    """What is `None` is not offered to the server, or not listened for.

    The callbacks that begin with `on_` are plain functions, called from the event loop, never faster than
    `Limits` allows.
    """

    program: Implementation = Implementation("mooring", "0.1.0")
    roots: Callable[[], Sequence[Root]] | None = None
    sample: Respond | None = None
    sample_with_tools: bool = False
    elicit: Respond | None = None
    elicit_by_url: bool = False
    on_change: Callable[[List], None] | None = None
    on_update: Callable[[str], None] | None = None
    on_log: Callable[[LogMessage], None] | None = None
    on_stage: Callable[[Stage], None] | None = None
    """A connection that is being opened has come through this stage."""
    on_elicited: Callable[[str], None] | None = None
    """An elicitation that went by a URL is complete; the id says which."""

    def passed(self, stage: Stage) -> None:
        if self.on_stage is not None:
            self.on_stage(stage)

    @property
    def capabilities(self) -> dict[str, Any]:
        offered: dict[str, Any] = {}
        if self.roots is not None:
            offered["roots"] = {"listChanged": True}
        if self.sample is not None:
            offered["sampling"] = {"tools": {}} if self.sample_with_tools else {}
        if self.elicit is not None:
            offered["elicitation"] = {"form": {}, "url": {}} if self.elicit_by_url else {"form": {}}
        return offered

    def answers(self) -> dict[str, Answer]:
        """What to do with each request a server may make."""
        answers: dict[str, Answer] = {}
        if self.roots is not None:
            answers["roots/list"] = _list_roots(self.roots)
        if self.sample is not None:
            answers["sampling/createMessage"] = _respond(self.sample)
        if self.elicit is not None:
            answers["elicitation/create"] = _respond(self.elicit)
        return answers

    def notes(self) -> dict[str, Note]:
        """What to do with each notification a server may send; one that makes no sense is passed over."""
        notes: dict[str, Note] = {}
        if (on_change := self.on_change) is not None:
            notes["notifications/tools/list_changed"] = lambda _: on_change("tools")
            notes["notifications/resources/list_changed"] = lambda _: on_change("resources")
            notes["notifications/prompts/list_changed"] = lambda _: on_change("prompts")
        if self.on_update is not None:
            notes["notifications/resources/updated"] = _take_text("uri", self.on_update)
        if self.on_elicited is not None:
            notes["notifications/elicitation/complete"] = _take_text("elicitationId", self.on_elicited)
        if self.on_log is not None:
            notes[LOG] = _take_log(self.on_log)
        return notes


def _list_roots(roots: Callable[[], Sequence[Root]]) -> Answer:
    async def answer(params: Raw) -> Any:
        return {"roots": list(roots())}

    return answer


def _respond(respond: Respond) -> Answer:
    async def answer(params: Raw) -> Any:
        return await respond(_object(params))

    return answer


def _object(params: Raw) -> dict[str, Any]:
    try:
        found = read(params)
    except DecodeError as error:
        raise RpcError("", INVALID_PARAMS, f"Invalid params: {error}") from error
    if not isinstance(found, dict):
        raise RpcError("", INVALID_PARAMS, "Invalid params: expected an object")
    return found


def _take_text(key: str, listener: Callable[[str], None]) -> Note:
    def take(params: Raw) -> None:
        with suppress(RpcError):
            if isinstance(text := _object(params).get(key), str):
                listener(text)

    return take


def _take_log(listener: Callable[[LogMessage], None]) -> Note:
    def take(params: Raw) -> None:
        with suppress(DecodeError):
            listener(read_as(_log, params))

    return take


_log = Decoder(LogMessage)
