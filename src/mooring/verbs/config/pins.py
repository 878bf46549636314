"""`pins`: the tools that were approved, and those that are held back because they are not what was approved."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from mooring.conversation.consent import list_changed_tools
from mooring.core.conversation.question import ChangedTool
from mooring.core.definitions.paths import Paths
from mooring.display.text import count_noun, problem_line
from mooring.display.times import format_local
from mooring.host.host import Host
from mooring.permissions import pins
from mooring.permissions.pins import HeldTools

INSTRUCTIONS = "what it tells models"
NONE_PINNED = "No tools are pinned yet: that happens with a server's first allowed call."


class PinnedServer(Struct, frozen=True, kw_only=True):
    """One server: how many of its tools were approved, when, and which are held back."""

    server: str
    tools: int = 0
    at: str | None = None
    off: bool = False
    """Pinning is turned off: whatever the server lists may be called."""
    held: tuple[ChangedTool, ...] = ()
    problem: str | None = None
    """Why the record of what was approved cannot be used."""


def list_pinned(host: Host, where: Paths, server: str | None = None) -> tuple[PinnedServer, ...]:
    """Every server whose tools are pinned, as far as its tools are known; with a name, that one alone.

    Raises: as `Host.server`.
    """
    held = host.held()
    if server is not None:
        return (_describe_pin(host, host.find_name(server), where, held),)
    rows = [_describe_pin(host, name, where, held) for name in sorted(host.servers)]
    # A server whose tools were never approved has nothing to show, unless the person asks about it.
    return tuple(row for row in rows if row.at is not None or row.problem is not None)


def approve_tools(host: Host, server: str) -> tuple[str, ...]:
    """Let a server's tools be called, and models be told what it says, as known now; returns what was held back.

    Raises: as `Host.server`; FileError if it cannot be recorded.
    """
    name = host.find_name(server)
    held = host.held().get(name, HeldTools())
    host.approve(name, held)
    return (*sorted(held.names), *([INSTRUCTIONS] if held.instructions else []))


def describe_pin(row: PinnedServer) -> str:
    """When the tools of a server were approved, and how many."""
    if row.off:
        return f"pinning is off since {format_local(row.at or '')}; whatever it lists may be called"
    if row.at is None:
        return f"{count_noun(row.tools, 'tool')}, none approved yet"
    return f"{count_noun(row.tools, 'tool')}, approved {format_local(row.at)}"


def _describe_pin(host: Host, name: str, where: Paths, held: Mapping[str, HeldTools]) -> PinnedServer:
    key = pins.make_key(host.approved(name))
    pin, problem = pins.load(where, key) if key is not None else (None, None)
    row = PinnedServer(
        server=name,
        held=list_changed_tools(held.get(name, HeldTools())),
        problem=problem_line(problem, where.home) if problem else None,
    )
    if pin is None:
        return row
    return replace(row, tools=len(pin.tools), at=pin.at or None, off=pin.off)
