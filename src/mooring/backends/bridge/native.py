"""The approved, enabled servers in full, for an agent that starts and reaches them itself."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

NativeTransport: TypeAlias = Literal["http", "sse"]


class NativeProgram(Struct, frozen=True):
    """A program to start, with everything filled in."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    """All that Mooring would start it with. It holds secrets."""
    cwd: str

    def __repr__(self) -> str:
        return f"<NativeProgram {self.command!r}>"


class NativeAddress(Struct, frozen=True):
    """An address to reach, with everything filled in. Both may hold secrets."""

    url: str
    headers: Mapping[str, str]
    transport: NativeTransport

    def __repr__(self) -> str:
        return f"<NativeAddress, {self.transport}>"


class NativeServer(Struct, frozen=True, kw_only=True):
    """One server, for an agent's own configuration."""

    name: str
    """What the agent is to call it."""
    server: str
    """The name in the configuration."""
    connection: NativeProgram | NativeAddress
    start_timeout: float | None = None
    """Seconds; `None` where the configuration says nothing, infinity where it asks for no limit."""
    timeout: float | None = None
    """The same, for a call."""
    tools: tuple[str, ...] | None = None
    """The tools that it may offer, by their own names; `None` for all of them."""


class LeftOut(Struct, frozen=True):
    """A server that can't be given to an agent, and why, in words to be read after its name."""

    server: str
    reason: str
