"""The first starts of servers: a turn waits for those whose tools nobody has seen, once in a conversation."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import time
from typing import TYPE_CHECKING, Final, TypeAlias
from weakref import WeakKeyDictionary, WeakSet

from mooring.core.conversation.status import NeedsInput
from mooring.core.protocol.failure import Failure
from mooring.display.text import quote_argument
from mooring.errors import MooringError, ServerError, TimedOut
from mooring.host.runtime import HostRuntime
from mooring.servers.fleet import needs_listing

if TYPE_CHECKING:
    from mooring.host.host import Host
    from mooring.servers.server import Server

OnWaiting: TypeAlias = Callable[[Sequence[str]], None]
"""Called with the servers that are waited for, whenever these change, and with none once the waiting is over."""

LATELY: Final = 600.0
"""Seconds for which a server that failed, or ran out of time, is not waited for."""
INSTALL_FACTOR: Final = 6
"""How many times as long a first start may take that has to download its program."""


def follow_first_starts(host: "Host", on_waiting: OnWaiting = lambda servers: None) -> "FirstStarts":
    """What has the turns of one conversation wait for servers whose tools were never seen."""
    return FirstStarts(host._runtime, on_waiting)


class FirstStarts:
    """The servers that one conversation has met so far, and waits for if they are new. `follow_first_starts` makes one.

    Not waited for are servers whose tools are remembered, those that failed lately in this process or another, and
    those that need a login, an input or an approval. All of them are tried in the background.
    """

    def __init__(self, runtime: HostRuntime, on_waiting: OnWaiting) -> None:
        self._runtime = runtime
        self._on_waiting = on_waiting
        self._met: WeakSet[Server] = WeakSet()
        self._first: WeakSet[Server] = WeakSet()
        """Servers that this conversation starts for the first time ever, as far as is known."""
        self._unwaited: dict[Server, float] = {}
        """Those that were not waited for yet, and for how many seconds they are."""
        self._earlier: WeakKeyDictionary[Server, Failure] = WeakKeyDictionary()
        """Why servers failed shortly before the conversation met them."""
        self._told: WeakSet[Server] = WeakSet()
        """Servers that an agent brought along and that failed at once: whoever opened the agent was told."""

    def begin(self) -> None:
        """Start every server whose tools have to be listed, without waiting for any."""
        fleet = self._runtime.fleet
        fleet.seek_missing()
        new = [server for server in fleet.servers.values() if server not in self._met]
        failures = fleet.find_failures(new, LATELY)
        for server in new:
            self._meet(server, failures.get(server.name))

    def _meet(self, server: "Server", failure: Failure | None) -> None:
        self._met.add(server)
        if server.error is not None and server.name in self._runtime.guests.approved:
            self._told.add(server)
        if not needs_listing(server):
            return
        needs_input = isinstance(server.status, NeedsInput)
        if failure is not None:
            self._earlier[server] = failure
        elif _is_under_way(server) and not needs_input:
            self._first.add(server)
            self._unwaited[server] = self._find_patience(server)
        server.start()

    def _find_patience(self, server: "Server") -> float:
        """For how many seconds a server is waited for."""
        seconds: float = self._runtime.settings["serverWait"]
        return seconds * INSTALL_FACTOR if server.may_install else seconds

    async def give_a_moment(self, seconds: float) -> None:
        """Wait briefly for servers that were never seen, to show those that connect or fail at once."""
        await _wait_for_each(dict.fromkeys(self._unwaited, seconds), lambda servers: None)

    async def wait(self) -> None:
        """Wait for servers that were never seen: before the first turn, and before another one for those added since.

        Each is waited for once. Canceling this ends the waiting alone; the servers go on connecting.
        """
        await self._runtime.catch_up()
        self.begin()
        due, self._unwaited = self._unwaited, {}
        for server in await _wait_for_each(due, self._on_waiting):
            if due[server]:
                self._runtime.fleet.record_late(server, due[server])

    async def finish(self) -> None:
        """Give first starts that are still under way as much time once more, so that their tools are remembered."""
        current = self._runtime.fleet.servers.values()
        due = {server: self._find_patience(server) for server in current if server in self._first}
        await _wait_for_each(due, self._on_waiting)

    def find_missing(self) -> dict[str, MooringError]:
        """The servers whose tools are still unknown, each with the reason; a `TimedOut` is one that still connects."""
        found = {}
        for name, server in self._runtime.fleet.servers.items():
            if server in self._met and server not in self._told and server.offer is None:
                found[name] = self._explain(server)
        return found

    def _explain(self, server: "Server") -> MooringError:
        if server.error is not None:
            return server.error
        failure = self._earlier.get(server)
        if failure is None:
            return TimedOut(server.name, "", self._find_patience(server), stage="connect")
        hint = f"`mooring tools {quote_argument(server.name)}` tries again."
        return ServerError(server.name, f"{failure.describe(time())}; {hint}")


def _is_under_way(server: "Server") -> bool:
    """Whether its first attempt to connect has no outcome yet."""
    return server.offer is None and server.error is None


async def _wait_for_each(patience: "Mapping[Server, float]", on_waiting: OnWaiting) -> "list[Server]":
    """Wait for the first attempts of these servers, each for its own time; those that had no outcome by then."""
    clock = asyncio.get_running_loop().time
    starts = {server.start(): server for server in patience if _is_under_way(server)}
    until = {future: clock() + patience[server] for future, server in starts.items()}
    late: list[Server] = []
    try:
        while until:
            on_waiting(sorted(starts[future].name for future in until))
            seconds = max(0.0, min(until.values()) - clock())
            await asyncio.wait(until, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            overdue = [future for future, end in until.items() if end <= clock() and not future.done()]
            late += [starts[future] for future in overdue]
            until = {future: end for future, end in until.items() if not future.done() and future not in overdue}
    finally:
        on_waiting(())
    return late
