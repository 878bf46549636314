"""`pins`: the tools that were approved, and those that are held back because they are not what was."""

from msgspec import Struct

from mooring.core.approved import Approved
from mooring.core.where import Where
from mooring.display.text import problem_line
from mooring.host.host import Host
from mooring.permissions import pins
from mooring.permissions.pins import HeldTools, ToolChange


class HeldTool(Struct, frozen=True):
    """One tool that is held back, and what is different about it; the server's own words."""

    tool: str
    kind: str
    """`new` or `changed`."""
    diff: str


class PinnedServer(Struct, frozen=True):
    """One server: how many of its tools were approved, when, and which wait."""

    server: str
    tools: int
    at: str | None
    held: tuple[HeldTool, ...]
    problem: str | None = None
    """Why the record of what was approved cannot be used."""


def pinned(host: Host, where: Where, server: str | None = None) -> tuple[PinnedServer, ...]:
    """Every server whose tools are pinned, as far as its tools are known; with a name, that one alone.

    Raises: as `Host.server`.
    """
    names = [host.server(server).name] if server is not None else list(host.servers)
    held = host.held()
    rows = [_row(host.servers[name].approved, where, held.get(name, HeldTools())) for name in sorted(names)]
    return tuple(row for row in rows if row.at is not None or row.problem is not None or server is not None)


def _row(approved: Approved, where: Where, held: HeldTools) -> PinnedServer:
    key = pins.make_key(approved)
    pin, problem = pins.load(where, key) if key is not None else (None, None)
    known, at = (len(pin.tools), pin.at or None) if pin is not None else (0, None)
    return PinnedServer(
        approved.name, known, at, _waiting(held), problem_line(problem, where.home) if problem else None
    )


def approve(host: Host, server: str) -> tuple[str, ...]:
    """Let a server's tools be called as they are known now; returns the names of those that were held back.

    Raises: as `Host.server`; FileError where it cannot be put on record.
    """
    name = host.server(server).name
    held = host.held().get(name, HeldTools())
    host.approve(name, held)
    return tuple(sorted(held.names))


def _waiting(held: HeldTools) -> tuple[HeldTool, ...]:
    def shown(kind: str, changes: tuple[ToolChange, ...]) -> list[HeldTool]:
        return [HeldTool(change.tool, kind, change.diff) for change in changes]

    return (*shown("changed", held.changed), *shown("new", held.new))
