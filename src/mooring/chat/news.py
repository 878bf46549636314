"""Which news about servers a person is told, and which they know already."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from mooring.core.conversation.host_event import (
    HostEvent,
    ListChanged,
    Logged,
    Reloaded,
    StatusChanged,
    ToolsChanged,
    Troubled,
    Updated,
)
from mooring.core.conversation.status import Connected, Connecting, Failed, NeedsAuth
from mooring.display.lines import describe_event
from mooring.display.text import count_noun, safe
from mooring.errors import MooringError
from mooring.host.host import Host
from mooring.tools.catalog.catalog import CatalogEntry

MOST_OUTPUT = 20
"""How many lines of a server's stderr are kept for what is said of a call that fails."""


class ServerNews:
    """Announces what changes about the servers of one chat, from `start` on."""

    def __init__(self, host: Host, notice: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self.missing: dict[str, str] = {}
        """Servers that are unavailable, and what the person was last told about each."""
        self.expects_reload = False
        """The next reload is one that the person asked for."""
        self._host = host
        self._notice = notice
        self._tools: Mapping[str, Mapping[str, CatalogEntry]] = host.tools_by_server
        """The tools by server, as they were when they were last looked at."""
        self._awaited: str | None = None
        """The server that the person waits for just now."""
        # Nothing is announced before `start`: the greeting shows all of it at once.
        self._started = False
        self._clock = clock
        self._output: dict[str, deque[tuple[float, str]]] = {}
        """What each server's program wrote to stderr last, and when."""

    async def follow(self) -> None:
        """Announce what happens, for as long as the host is open."""
        async for event in self._host.events():
            # One event that cannot be described must not end the news for good.
            with suppress(MooringError):
                self._report(event)

    def start(self) -> None:
        """Announce what changes from now on."""
        self.record_tools()
        self.missing = {}
        for name in self._host.status():
            self._record_status(name)
        self._started = True

    def record_tools(self) -> None:
        """The person knows of the tools as they are now."""
        self._tools = self._host.tools_by_server

    @contextmanager
    def attend(self, server: str) -> Iterator[None]:
        """Announce nothing about a server meanwhile: the person waits for it, and is told how it went."""
        self._awaited = server
        try:
            yield
        finally:
            self._awaited = None
            # News about it may still be on its way; if it says what the person knows by now, it is none.
            self._record_status(server)

    def _record_status(self, server: str) -> None:
        status = self._host.status().get(server)
        if isinstance(status, Connecting | Failed | NeedsAuth):
            self.missing[server] = describe_event(StatusChanged(server, status))
        else:
            self.missing.pop(server, None)

    def _report(self, event: HostEvent) -> None:
        """Announce what changed about servers, if a person wants to know."""
        match event:
            case StatusChanged(server, Connected()):
                self._report_connected(server)
            case StatusChanged(server, Failed() | NeedsAuth()):
                self._report_missing(server, describe_event(event))
            case ToolsChanged(server):
                self._report_tools(server, describe_event(event))
            case Reloaded():
                self._report_reloaded(event)
            case ListChanged() | Updated() | Troubled():
                self._announce(describe_event(event))
            case Logged(server, "stderr", text):
                self._output.setdefault(server, deque(maxlen=MOST_OUTPUT)).append((self._clock(), text))
            case StatusChanged() | Logged():
                pass

    def find_output(self, server: str, since: float) -> list[str]:
        """What a server's program wrote to stderr since a moment of the clock: its last lines."""
        return [text for moment, text in self._output.get(server, ()) if moment >= since]

    def _report_connected(self, server: str) -> None:
        was_missing = self.missing.pop(server, None) is not None
        if was_missing and server != self._awaited:
            count = len(self._host.tools_by_server.get(server, ()))
            self._announce(f"{safe(server)} is connected now: {count_noun(count, 'tool')}")

    def _report_missing(self, server: str, text: str) -> None:
        # A server that keeps failing for the same reason is news only once.
        is_news = self.missing.get(server) != text
        self.missing[server] = text
        if is_news and server != self._awaited:
            self._announce(text)

    def _report_tools(self, server: str, text: str) -> None:
        had_tools = bool(self._tools.get(server))
        self.record_tools()
        # The tools of a server that was missing are announced with "is connected now".
        if had_tools and server not in self.missing:
            self._announce(text)

    def _report_reloaded(self, event: Reloaded) -> None:
        self.record_tools()
        for server in event.removed:
            self.missing.pop(server, None)
        changed = event.added or event.removed or event.replaced
        # A reload that the person asked for was answered already.
        if changed and not self.expects_reload:
            self._announce(describe_event(event))
        self.expects_reload = False

    def _announce(self, text: str) -> None:
        if self._started:
            self._notice(text)
