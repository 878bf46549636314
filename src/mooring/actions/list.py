"""`list`: one row for each name, exactly as the command line promises it."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.core.approved import is_in_force
from mooring.core.config import Broken, Http, Origin, ServerConfig, Stdio, Transport
from mooring.core.problem import Problem
from mooring.core.secret import hide_in_url
from mooring.discovery.choose import Choice
from mooring.discovery.scan import RankedDefinition
from mooring.inventory.load import Inventory

Status: TypeAlias = Literal["connected", "idle", "pending", "unapproved", "failed", "disabled", "needs-auth", "unknown"]


class RowSource(Struct, frozen=True):
    tool: str
    scope: str
    path: str | None


class Shadow(Struct, frozen=True):
    tool: str
    path: str | None


class Proposal(Struct, frozen=True):
    """What an unapproved project would start under a name that is the person's own."""

    transport: Transport | None
    command: str | None
    args: tuple[str, ...]
    url: str | None
    source: RowSource
    enabled: bool


class Row(Struct, frozen=True, kw_only=True, rename="camel"):
    """One definition, and how it stands. Values that can hold secrets are not part of it."""

    name: str
    transport: Transport | None
    command: str | None
    args: tuple[str, ...]
    url: str | None
    source: RowSource
    enabled: bool
    approved: bool
    status: Status
    error: str | None
    server_info: Mapping[str, Any] | None = None
    tools: int | None = None
    timeout: float | None
    shadows: tuple[Shadow, ...] = ()
    shadowed_by: RowSource | None = None
    proposed: Proposal | None = None
    aliases: tuple[str, ...] = ()


class ServerListing(Struct, frozen=True):
    """All rows and all problems."""

    version: int
    servers: tuple[Row, ...]
    problems: tuple[Problem, ...]
    waiting: tuple[str, ...] = ()
    """The project's servers that nobody has judged as they are now."""


def list_servers(inventory: Inventory, *, all: bool = False) -> ServerListing:
    """Every name with the definition that counts; with `all`, each shadowed definition as well."""
    waiting = tuple(choice.name for choice in inventory.choices if choice.standing in ("unseen", "changed"))
    return ServerListing(1, tuple(_rows(inventory, all)), inventory.problems, waiting)


def _rows(inventory: Inventory, all: bool) -> Iterator[Row]:
    for choice in inventory.choices:
        yield winner(choice)
        for definition in choice.shadowed if all else ():
            approved = is_in_force(inventory.standing(definition))
            yield _row(definition, approved, shadowed_by=source(choice.definition.origin))


def winner(choice: Choice) -> Row:
    """The row of the definition that counts."""
    return _row(
        choice.definition,
        choice.approved,
        shadows=tuple(Shadow(other.origin.tool, other.origin.path) for other in choice.shadowed),
        proposed=_proposal(choice.proposed) if choice.proposed else None,
        aliases=choice.aliases,
    )


def _row(definition: RankedDefinition, approved: bool, **rest: Any) -> Row:
    config = definition.config
    command, args, url = target(config)
    return Row(
        name=config.name,
        transport=config.transport,
        command=command,
        args=args,
        url=url,
        source=source(config.origin),
        enabled=config.enabled,
        approved=approved,
        status=_status(config, approved),
        error=config.problem.message if isinstance(config, Broken) else None,
        timeout=_timeout(config),
        **rest,
    )


def source(origin: Origin) -> RowSource:
    return RowSource(origin.tool, origin.scope, origin.path)


def target(config: ServerConfig | Broken) -> tuple[str | None, tuple[str, ...], str | None]:
    """Command, arguments and address as written, but for a password in the address."""
    if isinstance(config, Broken):
        return None, (), None
    match config.connection:
        case Stdio(command, args):
            return command.text, tuple(arg.text for arg in args), None
        case Http(url):
            return None, (), hide_in_url(url.text)


def _proposal(definition: RankedDefinition) -> Proposal:
    config = definition.config
    command, args, url = target(config)
    return Proposal(config.transport, command, args, url, source(config.origin), config.enabled)


def _status(config: ServerConfig | Broken, approved: bool) -> Status:
    if not config.enabled:
        return "disabled"
    if isinstance(config, Broken):
        return "failed"
    return "idle" if approved else "unapproved"


def _timeout(config: ServerConfig | Broken) -> float | None:
    seconds = None if isinstance(config, Broken) else config.call_timeout
    return None if seconds is None or math.isinf(seconds) else seconds
