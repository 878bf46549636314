"""How much one server may send and how long it may take, how far a turn may go, and how code waits."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.protocol.units import MIB

Sleep: TypeAlias = Callable[[float], Awaitable[object]]
"""Waits for so many seconds, as `asyncio.sleep` does."""

INSTALL_TIMEOUT = 180.0
"""Seconds for a start that may include a download: the usual 30 s would end a first `npx` in the middle of it."""


class Timeout(Struct, frozen=True):
    """How long to wait, in seconds: `idle` starts again with each sign of progress, `total` never does."""

    idle: float | None = 60.0
    total: float | None = 600.0


def make_timeout(timeout: float | Timeout) -> Timeout:
    """A number of seconds for everything as a `Timeout`; a `Timeout` as it is.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(timeout, Timeout):
        return timeout
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"timeout takes a number of seconds or a mooring.Timeout, not {timeout!r}.")
    return Timeout(None, timeout)


def find_seconds(timeout: float | Timeout | None) -> float | None:
    """How long to wait for something that reports no progress; `None` sets no limit. Raises: as `make_timeout`."""
    if timeout is None:
        return None
    limit = make_timeout(timeout)
    return min((seconds for seconds in (limit.idle, limit.total) if seconds is not None), default=None)


_LOOKS = 8
"""In how many parts a wait is divided, each measured: a stop of this process that is shorter than one isn't noticed."""
_SHORTEST_LOOK = 0.5
_NOTICEABLE = 0.5
"""Seconds by which a part has to be too long to count as a stop."""


def choose_look(seconds: float) -> float:
    """How much of a wait to take at once, so that a stop of this process is noticed by the part that it prolongs."""
    return min(seconds, max(seconds / _LOOKS, _SHORTEST_LOOK))


def measure_stop(late: float) -> float:
    """How long this process was stopped, if a part of a wait ended so many seconds too late."""
    return late if late > _NOTICEABLE else 0.0


UNHURRIED = Timeout(None, None)
"""For a call that goes on in the background if it takes long: only its server's definition can set a timeout."""


class Limits(Struct, frozen=True, kw_only=True):
    """The budgets of one connection; sizes in bytes, times in seconds."""

    line: int = 16 * MIB
    """One message: a line of stdio, a body over HTTP after decompression, or an event of a stream."""
    inflation: int = 100
    """How many times larger than on the wire a body of more than a megabyte may be after decompression."""
    header: int = 16 * 1024
    """One header field of an HTTP response."""
    headers: int = 128
    """How many header fields an HTTP response may have."""
    unsent: int = 32 * MIB
    """How much may wait to be sent to a server that does not read."""
    noise_lines: int = 50
    """How many lines that are not messages are kept for a report."""
    noise_width: int = 500
    """How many characters of each are kept."""
    notes_per_second: int = 1000
    """How many reports of progress, and how many other notifications, are handled in a second; the rest are dropped."""
    logs_per_second: int = 100
    """The same for log messages."""
    change_interval: float = 1.0
    """How many seconds lie between two reports that the same list has changed."""
    inbound: int = 64
    """How many requests of the server may be pending at a time."""
    in_flight: int | None = None
    """How many requests the server is sent at a time; 1 serializes them, `None` sets no limit."""
    connections: int = 100
    """How many HTTP requests may be pending at a time, not including answers to the server's requests."""
    resumes: int = 5
    """How many times in a row a stream that delivers nothing is reopened."""
    rounds: int = 10
    """How many times a server may ask for input before it answers a request."""
    pages: int = 1000
    """How many pages a list may have."""
    items: int = 100_000
    """How many entries a list may have."""
    unused: float = 600.0
    """A lazy server that was not used for this long is closed."""
    pulse: float = 30.0
    """How often a keep-alive server is pinged."""
    connect: float = 30.0
    """How long it may take to start or reach a server, to agree on the protocol and to list the tools."""
    reserve: float = 0.0
    """How much of that is kept back: whoever waits as long would learn only that the time is up."""
    probe: float = 1.0
    """How long of that to wait for a sign of the era before the handshake is tried as well."""
    list: float = 30.0
    """How long all pages of a list may take together."""
    call: Timeout = Timeout()
    farewell: float = 1.0
    """How long to wait at the end: for the exit code and last lines of a server that closed its output, or for our last
    messages to go out."""


MOST_REQUESTS = 100
"""How many times a model is asked in a turn, unless somebody chose another number."""
MOST_SUB_AGENT_REQUESTS = 200
"""How many times at most a sub-agent's model is asked: nobody reads along while it works."""


class TurnLimits(Struct, frozen=True):
    """How far one turn may go. Each is looked at before the model is asked; a reply that is under way is not cut."""

    max_turns: int | None = None
    """How many times the model is asked, if somebody chose a number."""
    max_cost: float | None = None
    """In US dollars, with what sub-agents cost."""
    token_budget: int | None = None
    """Tokens in and out, with those of sub-agents."""

    @property
    def most_requests(self) -> int:
        """How many times the model is asked."""
        return self.max_turns or MOST_REQUESTS

    def narrow(self, max_turns: int | None) -> "TurnLimits":
        """The same limits for an agent whose definition has a number of its own: it can only lower the number."""
        if max_turns is None or max_turns >= self.most_requests:
            return self
        return replace(self, max_turns=max_turns)

    def narrow_for_sub_agent(self, max_turns: int | None) -> "TurnLimits":
        """The limits of a sub-agent whose definition may have a number of its own."""
        chosen = [number for number in (self.max_turns, max_turns) if number is not None]
        return replace(self, max_turns=min([MOST_SUB_AGENT_REQUESTS, *chosen]))
