"""`pins`: the tools that were approved, and those that are held back because they are not what was."""

from msgspec import Struct

from mooring.core.where import Where
from mooring.host import Host
from mooring.permissions import pins
from mooring.permissions.pins import Change, Held


class HeldTool(Struct, frozen=True):
    """One tool that is held back, and what is different about it; the server's own words."""

    tool: str
    kind: str
    """`new` or `changed`."""
    diff: str


class Pinned(Struct, frozen=True):
    """One server: how many of its tools were approved, when, and which wait."""

    server: str
    tools: int
    at: str | None
    held: tuple[HeldTool, ...]


def pinned(host: Host, where: Where, server: str | None = None) -> tuple[Pinned, ...]:
    """Every server whose tools are pinned, as far as its tools are known; with a name, that one alone.

    Raises: as `Host.server`.
    """
    names = [host.server(server).name] if server is not None else list(host.servers)
    held = host.held()
    rows = []
    for name in sorted(names):
        key = pins.key(host.servers[name].approved)
        pin = pins.load(where, key)[0] if key is not None else None
        if pin is not None or server is not None:
            waiting = _waiting(held.get(name, Held()))
            rows.append(Pinned(name, len(pin.tools) if pin else 0, pin.at or None if pin else None, waiting))
    return tuple(rows)


def approve(host: Host, server: str) -> tuple[str, ...]:
    """Let a server's tools be called as they are known now; returns the names of those that were held back.

    Raises: as `Host.server`; FileError where it cannot be put on record.
    """
    name = host.server(server).name
    held = host.held().get(name, Held())
    host.approve(name, held)
    return tuple(sorted(held.names))


def _waiting(held: Held) -> tuple[HeldTool, ...]:
    def shown(kind: str, changes: tuple[Change, ...]) -> list[HeldTool]:
        return [HeldTool(change.tool, kind, change.diff) for change in changes]

    return (*shown("changed", held.changed), *shown("new", held.new))
