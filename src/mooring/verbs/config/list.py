"""`list`: one row for each name, in the shape that the command line promises to other programs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from mooring.core.conversation.status_word import StatusWord
from mooring.core.definitions.approved import UNDECIDED, AllowRule, Standing, is_in_force
from mooring.core.definitions.config import (
    Broken,
    Connection,
    Http,
    InProcess,
    ServerConfig,
    Stdio,
    Transport,
    list_inputs,
    map_templates,
)
from mooring.core.definitions.problem import Problem
from mooring.core.definitions.template import (
    OWN_KEEPER,
    InputPart,
    KnownPart,
    Part,
    SecretPart,
    Template,
    VariablePart,
)
from mooring.core.text.secret import hide_in_arguments, hide_in_url
from mooring.discovery.choose import Choice
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.scan import RankedDefinition
from mooring.inventory.load import Inventory, RowSource, describe_source


class Shadow(Struct, frozen=True):
    """A definition that the one in the row wins over."""

    tool: str
    path: str | None
    differs: bool | UnsetType = UNSET
    """True if it would start or reach something else."""


class Proposal(Struct, frozen=True):
    """What an unapproved project would start under a name that is the person's own."""

    transport: Transport | Literal["memory"] | None
    command: str | None
    args: tuple[str, ...]
    url: str | None
    source: RowSource
    enabled: bool


class Row(Struct, frozen=True, kw_only=True, rename="camel"):
    """One definition and its status. Values that can hold secrets are not part of it."""

    name: str
    transport: Transport | Literal["memory"] | None
    command: str | None
    args: tuple[str, ...]
    url: str | None
    source: RowSource
    enabled: bool
    approved: bool
    status: StatusWord
    error: str | None
    inputs: tuple[str, ...] | UnsetType = UNSET
    """The values that its definition asks the person for and has no default for, if there are any."""
    server_info: Mapping[str, Any] | None = None
    tools: int | None = None
    timeout: float | None
    shadows: tuple[Shadow, ...] = ()
    shadowed_by: RowSource | None = None
    proposed: Proposal | None = None
    aliases: tuple[str, ...] = ()
    adopted_from: str | UnsetType = UNSET
    """The tool that recorded the approval, if it was adopted from there."""
    applied_rules: tuple[AllowRule, ...] | UnsetType = UNSET
    """The person's rules that they applied to a project's server when they approved it, if there are any."""


class ServerListing(Struct, frozen=True):
    """All rows and all problems."""

    version: int
    servers: tuple[Row, ...]
    problems: tuple[Problem, ...]
    waiting: tuple[str, ...] = ()
    """The project's servers that nobody has decided about as they are now."""


def list_servers(inventory: Inventory, *, all: bool = False) -> ServerListing:
    """Every name with the definition that wins; with `all`, each shadowed definition as well."""
    waiting = tuple(choice.name for choice in inventory.choices if _waits(choice))
    return ServerListing(1, tuple(_list_rows(inventory, all)), inventory.problems, waiting)


def _waits(choice: Choice) -> bool:
    """Whether an approval would let a project's server start; not if it is broken or switched off as well."""
    config = choice.definition.config
    return isinstance(config, ServerConfig) and config.enabled and choice.standing in UNDECIDED


def _list_rows(inventory: Inventory, all: bool) -> Iterator[Row]:
    for choice in inventory.choices:
        yield replace(describe_winner(inventory, choice), aliases=_name_aliases(choice))
        if all:
            yield from _describe_others(inventory, choice)


def _name_aliases(choice: Choice) -> tuple[str, ...]:
    """All other names in the row of the first, and the first in each other row.

    All of them in every row would be a million names for a thousand names of one definition.
    """
    first = choice.names[0]
    return choice.aliases if choice.name == first else (first,)


def _describe_others(inventory: Inventory, choice: Choice) -> Iterator[Row]:
    """A row for each definition that does not win, also for what an unapproved project proposes."""
    winner = describe_source(choice.definition.origin)
    proposed = (choice.proposed,) if choice.proposed else ()
    for definition in (*proposed, *choice.shadowed):
        standing = inventory.standing(definition)
        adopted = inventory.adopted_from(definition)
        yield _make_row(definition, standing, adopted_from=adopted or UNSET, shadowed_by=winner)


def describe_winner(inventory: Inventory, choice: Choice) -> Row:
    """The row of the definition that wins, with every alias."""
    return _make_row(
        choice.definition,
        choice.standing,
        adopted_from=inventory.adopted_from(choice.definition) or UNSET,
        applied_rules=inventory.applied_rules(choice.definition) or UNSET,
        shadows=tuple(
            Shadow(other.origin.tool, other.origin.path, _differs(other, choice.definition) or UNSET)
            for other in choice.shadowed
        ),
        proposed=_describe_proposal(choice.proposed) if choice.proposed else None,
        aliases=choice.aliases,
    )


def _differs(other: RankedDefinition, winner: RankedDefinition) -> bool:
    """Whether a definition starts or reaches something else than the one that wins, which may be a copy of it."""
    wins, has = _find_connection(winner), _find_connection(other)
    if wins == has or wins is None or has is None:
        return wins != has
    is_copy = winner.origin.tool == OWN.tool != other.origin.tool
    return not is_copy or _read_as_copy(winner.name, wins) != _read_as_copy(winner.name, has)


def _read_as_copy(server: str, connection: Connection) -> Connection:
    """What an import makes of a definition, as far as that is something else than what it was."""
    from mooring.verbs.config.secrets import name_secret  # most lists show no copies

    def change(part: Part) -> Part:
        match part:
            case KnownPart("home"):
                return VariablePart("HOME")
            case VariablePart("HOME" | "USERPROFILE", None):
                return VariablePart("HOME")
            case InputPart(id):
                return SecretPart(name_secret(server, id), OWN_KEEPER)
            case _:
                return part

    def read(_: str, template: Template) -> Template:
        return Template(template.text, tuple(map(change, template.parts)))

    return map_templates(connection, read)


def _find_connection(definition: RankedDefinition) -> Connection | None:
    return None if isinstance(definition.config, Broken) else definition.config.connection


def _make_row(definition: RankedDefinition, standing: Standing, **rest: Any) -> Row:
    config = definition.config
    command, args, url = split_target(config)
    inputs = list_needed_inputs(config)
    return Row(
        name=config.name,
        transport=config.transport,
        command=command,
        args=args,
        url=url,
        source=describe_source(config.origin),
        enabled=config.enabled,
        approved=is_in_force(standing),
        status=_find_status(config, standing),
        error=config.problem.message if isinstance(config, Broken) else None,
        inputs=inputs or UNSET,
        timeout=None if isinstance(config, Broken) else finite_seconds(config.call_timeout),
        **rest,
    )


def split_target(config: ServerConfig | Broken) -> tuple[str | None, tuple[str, ...], str | None]:
    """Command, arguments and address as written, without the secrets in them."""
    if isinstance(config, Broken):
        return None, (), None
    match config.connection:
        case Stdio(command, args):
            return command.text, _hide_secrets(args), None
        case Http(url):
            return None, (), hide_in_url(url.text)
        case InProcess():
            return None, (), None


def _hide_secrets(args: Sequence[Template]) -> tuple[str, ...]:
    """The arguments as written, without the secrets among them; a placeholder is only the name of one."""
    texts = [arg.text for arg in args]
    shown = zip(args, hide_in_arguments(texts), strict=True)
    return tuple(arg.text if arg.plain is None else hidden for arg, hidden in shown)


def _describe_proposal(definition: RankedDefinition) -> Proposal:
    config = definition.config
    command, args, url = split_target(config)
    return Proposal(config.transport, command, args, url, describe_source(config.origin), config.enabled)


def _find_status(config: ServerConfig | Broken, standing: Standing) -> StatusWord:
    # In this order: one that is switched off is listed as such, even if it is broken or was never approved.
    if not config.enabled:
        return "disabled"
    if isinstance(config, Broken):
        return "failed"
    if standing == "rejected":
        return "rejected"
    if not is_in_force(standing):
        return "unapproved"
    return "needs-input" if list_needed_inputs(config) else "idle"


def list_needed_inputs(config: ServerConfig | Broken) -> tuple[str, ...]:
    """What the person has to be asked for before the server can start: the inputs without a default, by their ids."""
    if isinstance(config, Broken):
        return ()
    needed = [part.id for part in list_inputs(config.connection) if part.default is None]
    return tuple(dict.fromkeys(needed))


def finite_seconds(seconds: float | None) -> float | None:
    """The seconds, or `None` for no limit: JSON has no infinity."""
    if seconds is None or math.isinf(seconds):
        return None
    return seconds


def make_problem_data(problem: Problem) -> dict[str, object]:
    """A problem in the shape that other programs rely on."""
    keys = ("path", "server", "line", "message", "hint")
    return {key: getattr(problem, key) or None for key in keys}
