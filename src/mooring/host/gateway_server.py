"""One server of a host as an agent of the person's own conversation sees it: under its own names, and nothing else.

The questions about its calls, and those of the server, go to the person in that conversation. The agent's program is
not asked: it could answer by itself.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any, Final, TypeAlias

from msgspec import json

from mooring.conversation.requests import Requests
from mooring.core.conversation.host_event import HostEvent, Reloaded
from mooring.core.conversation.question import Answer, Ask, Question
from mooring.core.conversation.verdict import Verdict
from mooring.core.protocol.era import EraName
from mooring.core.protocol.limits import Timeout
from mooring.core.protocol.request_metadata import RequestMetadata
from mooring.core.protocol.result import Progress, Result
from mooring.errors import Denied
from mooring.host.gateway import GatewayClient
from mooring.host.links import FoundAddress, OwnLinks
from mooring.host.runtime import HostRuntime
from mooring.serve.upstream import ClientSide
from mooring.servers.server import Server
from mooring.tools.catalog.catalog import CatalogEntry

BEAT_SECONDS: Final = 5.0
"""How often an agent hears that its call still waits for the person. Some give up after 30 silent seconds."""
_BEAT_STEP: Final = 1e-6
"""Progress may only grow, so what is said while waiting stays below whatever a server reports later."""

_report_waiting: ContextVar[Callable[[Progress], None] | None] = ContextVar("report_waiting", default=None)
"""Reports progress of the call that the current task works on."""

GrantKey: TypeAlias = tuple[str, str, bytes]
"""A server, a tool, and the arguments as they are written in exactly one way."""


class Preapprovals:
    """The decisions of one turn of one conversation. Nothing of them outlives the turn."""

    def __init__(self) -> None:
        self._granted: dict[GrantKey, list[Verdict]] = {}
        """One verdict for each call that may pass."""
        self._refused: dict[GrantKey, Denied] = {}

    def grant(self, server: str, tool: str, arguments: Mapping[str, Any], verdict: Verdict) -> None:
        """Let one call of a tool with these arguments pass."""
        key = make_key(server, tool, arguments)
        self._granted.setdefault(key, []).append(verdict)
        # The person was asked again, and changed their mind.
        self._refused.pop(key, None)

    def refuse(self, server: str, tool: str, arguments: Mapping[str, Any], denied: Denied) -> None:
        """Refuse calls of a tool with these arguments, in the same words."""
        self._refused[make_key(server, tool, arguments)] = denied

    def use(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Verdict | None:
        """What permitted this call before, if anything did; that is used up. Raises: Denied if it was refused."""
        if not self._granted and not self._refused:
            # Most calls of an agent that does not ask: no key need be made.
            return None
        key = make_key(server, tool, arguments)
        verdicts = self._granted.get(key)
        if verdicts:
            return verdicts.pop()
        if key in self._refused:
            raise self._refused[key]
        return None

    def drop(self) -> None:
        """Forget everything: the turn ended."""
        self._granted.clear()
        self._refused.clear()


def make_key(server: str, tool: str, arguments: Mapping[str, Any]) -> GrantKey:
    return server, tool, json.encode(_settle(arguments), order="sorted")


def _settle(value: Any) -> Any:
    """A value as every program writes it: JavaScript has no other way to say 1.0 than 1."""
    if isinstance(value, Mapping):
        return {str(key): _settle(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_settle(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


class GatewayServer(GatewayClient):
    """One server behind one path. `mooring.serve.upstream.Upstream` explains what each method does."""

    def __init__(
        self, runtime: HostRuntime, client: ClientSide, requests: Requests, server: str, preapprovals: Preapprovals
    ) -> None:
        """`requests` are those of the person's conversation, which outlives this client."""
        self._server = server
        self._preapprovals = preapprovals
        super().__init__(runtime, client, requests, OwnLinks(), names="raw")

    @property
    def _servers(self) -> list[Server]:
        # Disabled or removed meanwhile, it offers nothing; it may come back.
        found = self._runtime.lookup.servers.get(self._server)
        return [] if found is None else [found]

    @property
    def _era(self) -> EraName | None:
        found = self._servers
        # A program is one process in the person's conversation, whichever agents take part in it. What the program asks
        # goes to the person, so that the agent's own era gains nothing.
        is_program = bool(found) and found[0].config.transport == "stdio"
        return None if is_program else self._client.era

    def _close_conversation(self) -> None:
        """Leave the conversation open: it is the person's, not this client's."""

    def _list_entries(self) -> Iterable[CatalogEntry]:
        if not self._servers:
            return ()
        return self._runtime.lookup.tools_by_server.get(self._server, {}).values()

    async def _find_tool(self, name: str) -> CatalogEntry:
        # Raises what is wrong with the server, if it may not be used any more.
        self._runtime.lookup.server(self._server)
        return await super()._find_tool(name)

    async def _call(
        self,
        entry: CatalogEntry,
        arguments: Mapping[str, Any],
        extras: RequestMetadata,
        on_progress: Callable[[Progress], None],
    ) -> Result:
        approved = self._preapprovals.use(entry.server, entry.tool, arguments) or False
        _report_waiting.set(on_progress)
        # Without an end to the whole: what is silent ends, but a person may take minutes for an answer.
        usual = self._runtime.lookup.server(entry.server).limits.call
        limit = usual if usual.idle is None else Timeout(usual.idle, None)
        return await self._requests.calls.call(entry, arguments, limit, on_progress, None, approved, extras)

    async def _find_address(self, uri: str) -> FoundAddress:
        server = self._runtime.lookup.server(self._server).name
        return FoundAddress(server, uri, self._links.has(server, uri))

    def _find_logins(self) -> dict[str, Server]:
        # The person logs in where they talk to the agent.
        return {}

    def _concerns(self, event: HostEvent) -> bool:
        if isinstance(event, Reloaded):
            return True
        return getattr(event, "server", None) == self._server


def keep_waiting(ask: Ask, beat: float = BEAT_SECONDS) -> Ask:
    """The same `ask`; while it waits for the person, the agent whose call it is about hears that it does.

    That comes every `beat` seconds, as progress of the call: clients that take it don't give up.
    """

    async def ask_and_report(question: Question) -> Answer:
        report = _report_waiting.get()
        if report is None:
            return await ask(question)
        beating = asyncio.get_running_loop().create_task(_report_beats(report, beat))
        try:
            return await ask(question)
        finally:
            beating.cancel()

    return ask_and_report


async def _report_beats(report: Callable[[Progress], None], beat: float) -> None:
    beats = 0
    while True:
        await asyncio.sleep(beat)
        beats += 1
        report(Progress(beats * _BEAT_STEP, None, "Waiting for an answer"))
