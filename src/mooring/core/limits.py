"""What one server may send, and how long it may take: every figure is a setting."""

from msgspec import Struct

MIB = 1024 * 1024


class Timeout(Struct, frozen=True):
    """How long to wait, in seconds: `idle` starts anew with each sign of progress, `total` never does."""

    idle: float | None = 60.0
    total: float | None = 600.0


UNHURRIED = Timeout(None, None)
"""For a call that goes on by itself where it takes long: silence ends it only if its server's definition says so."""


class Limits(Struct, frozen=True, kw_only=True):
    """The budgets of one connection; sizes in bytes, times in seconds."""

    line: int = 16 * MIB
    """One message: a line of stdio, or the body of an HTTP answer once it is decompressed."""
    event: int = MIB
    """One event of a stream over HTTP."""
    inflation: int = 100
    """How many times its size on the wire a body of more than a megabyte may have."""
    header: int = 16 * 1024
    """One field of the head of an HTTP answer."""
    headers: int = 128
    unsent: int = 32 * MIB
    noise_lines: int = 50
    noise_width: int = 500
    notes_per_second: int = 1000
    logs_per_second: int = 100
    change_interval: float = 1.0
    inbound: int = 64
    in_flight: int | None = None
    """How many requests the server is given at once; 1 serialises, `None` holds nothing back."""
    connections: int = 100
    """How many HTTP requests may be under way at once; answers to the server are not held back."""
    resumes: int = 5
    """How often in a row a stream that brings nothing is opened again."""
    rounds: int = 10
    """How often a server may ask for more before it answers a request."""
    pages: int = 1000
    items: int = 100_000
    unused: float = 600.0
    """A lazy server that nobody used for so long is closed."""
    pulse: float = 30.0
    """How often a server that is to be kept alive is asked whether it is."""
    connect: float = 30.0
    probe: float = 1.0
    """How long of that to wait for a sign of which era of the protocol a server belongs to."""
    list: float = 30.0
    call: Timeout = Timeout()
    farewell: float = 1.0
    """How long to wait, once a server has gone silent for good, for its exit code and last words."""
