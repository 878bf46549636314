"""`why`: which definitions of a name exist, which one wins, by which rule, and how the others differ."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from mooring.core.definitions.approved import Standing
from mooring.core.definitions.config import Broken, Http, InProcess, ServerConfig, Stdio
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.template import written_text
from mooring.discovery.choose import explain
from mooring.discovery.scan import RankedDefinition
from mooring.display.text import count_noun, describe_origin, describe_trust, mask, quote_command, safe
from mooring.inventory.load import Inventory, RowSource, describe_source, load
from mooring.verbs.config.list import split_target
from mooring.verbs.verb import LineStyle, ShownLine, VerbResult


class Difference(Struct, frozen=True):
    """One field in which a definition differs from the one that wins; `None` where one of them lacks it.

    Values are masked as everywhere: two that look the same differ in what is hidden.
    """

    field: str
    """The key, such as `args` or `env.TOKEN`."""
    here: str | tuple[str, ...] | None
    winner: str | tuple[str, ...] | None


class Candidate(Struct, frozen=True, rename="camel"):
    """One definition of the name and why it wins or does not."""

    source: RowSource
    key: tuple[str | int, ...]
    wins: bool
    standing: str
    reason: str
    adopted_from: str | None = None
    """The tool that recorded the approval, if it was adopted from there."""
    trusted_by: str | None = None
    """Where another tool lets it start: information only."""
    differences: tuple[Difference, ...] = ()
    """What it would start or reach differently than the one that wins."""


class Reasons(Struct, frozen=True):
    """Every definition of one name, highest first, and the other names of the same connection."""

    name: str
    candidates: tuple[Candidate, ...]
    aliases: tuple[str, ...]


def why(workspace: Workspace, name: str) -> VerbResult:
    """Which definitions of a name exist and why one wins. Raises: as `explain_choice`."""
    reasons = explain_choice(load(workspace), name)
    return VerbResult(reasons, _show_reasons(reasons, workspace.where.home))


def explain_choice(inventory: Inventory, name: str) -> Reasons:
    """Every definition of a name, highest first.

    Raises:
        UnknownServer: no server has that name.
    """
    choice = inventory.find(name)
    definitions = [choice.definition, *choice.shadowed]
    # What an unapproved project proposes ranks above the person's own, and still does not win.
    if choice.proposed:
        definitions.append(choice.proposed)
    ranked = sorted(definitions, key=lambda definition: definition.rank)
    candidates = tuple(_describe_candidate(inventory, choice.definition, definition) for definition in ranked)
    return Reasons(choice.name, candidates, choice.aliases)


def _describe_candidate(inventory: Inventory, winner: RankedDefinition, definition: RankedDefinition) -> Candidate:
    standing = inventory.standing(definition)
    wins = definition is winner
    reason = _describe_winner(definition, standing) if wins else explain(winner, definition, standing)
    return Candidate(
        describe_source(definition.origin),
        definition.origin.key,
        wins,
        standing,
        reason,
        adopted_from=inventory.adopted_from(definition),
        trusted_by=definition.trusted_by,
        differences=list_differences(winner.config, definition.config),
    )


def _describe_winner(definition: RankedDefinition, standing: Standing) -> str:
    config = definition.config
    if config.disabled_by:
        return f"wins, but is disabled by {config.disabled_by}"
    if isinstance(config, Broken):
        return f"wins, but cannot be used: it {config.problem.message}"
    return _STANDINGS[standing]


_STANDINGS: dict[Standing, str] = {
    "own": "wins",
    "approved": "wins",
    "rejected": "does not start: you rejected it for this project",
    "changed": "does not start: it changed since you decided about it",
    "unseen": "does not start: it comes from the project and is not approved",
}
"""What a definition that no other one displaces comes to."""


# --- in words --------------------------------------------------------------------------------------------------------


def _show_reasons(reasons: Reasons, home: str) -> Iterator[ShownLine]:
    for candidate in reasons.candidates:
        mark, style = _choose_mark(candidate)
        source = candidate.source
        yield ShownLine(f"{mark} {describe_origin(source.tool, source.shown_scope, source.path, home)}", style)
        yield from map(ShownLine, _describe_standing(candidate))
    if reasons.aliases:
        yield ShownLine(f"The same connection also goes by: {safe(', '.join(reasons.aliases))}")


def _choose_mark(candidate: Candidate) -> tuple[str, LineStyle]:
    if not candidate.wins:
        return "·", "plain"
    return ("●", "good") if candidate.standing in ("own", "approved") else ("○", "doubtful")


def _describe_standing(candidate: Candidate) -> Iterator[str]:
    """Whether a definition wins, why, and how it differs from the one that does."""
    yield f"    {'' if candidate.wins else 'not used: '}{safe(candidate.reason)}"
    for line in _describe_differences(candidate.differences):
        yield f"    {line}"
    if candidate.adopted_from:
        yield f"    approved: adopted from {safe(candidate.adopted_from)}"
    elif candidate.trusted_by:
        yield f"    {describe_trust(candidate.trusted_by)}"


_MOST_DIFFERENCES = 20
"""How many fields are shown; `--json` has them all."""


def _describe_differences(differences: Sequence[Difference]) -> Iterator[str]:
    for difference in differences[:_MOST_DIFFERENCES]:
        field = safe(difference.field)
        if difference.here == difference.winner:
            yield f"{field}: not the same value as the winner's"
        else:
            yield f"{field}: {_show(difference.here)} (winner: {_show(difference.winner)})"
    left = len(differences) - _MOST_DIFFERENCES
    if left > 0:
        yield f"{count_noun(left, 'more difference')}; `mooring mcp why --json` shows all of them"


def _show(value: str | tuple[str, ...] | None) -> str:
    if not value:
        return "none"
    return safe(value) if isinstance(value, str) else quote_command(value)


# --- how definitions differ -------------------------------------------------------------------------------------------


def list_differences(winner: ServerConfig | Broken, other: ServerConfig | Broken) -> tuple[Difference, ...]:
    """What another definition would start or reach differently; nothing if one of them cannot be understood."""
    if isinstance(winner, Broken) or isinstance(other, Broken):
        return ()
    wins, has = dict(_list_parts(winner)), dict(_list_parts(other))
    differences = []
    for field in wins | has:
        here, there = has.get(field, _LACKING), wins.get(field, _LACKING)
        if here.value != there.value:
            differences.append(Difference(field, here.shown, there.shown))
    return tuple(differences)


class _Part(NamedTuple):
    """What a field of a definition holds, and what of that can be shown."""

    value: object
    shown: str | tuple[str, ...] | None


_LACKING = _Part(None, None)


def _list_parts(config: ServerConfig) -> Iterator[tuple[str, _Part]]:
    command, args, url = split_target(config)
    match config.connection:
        case Stdio() as program:
            yield "command", _Part(program.command, command or "")
            yield "args", _Part(program.args, args)
            yield from _list_program_parts(program)
        case Http() as remote:
            yield "url", _Part(remote.url, url or "")
            yield "type", _Part(remote.transport, remote.transport)
            for name, value in remote.headers.items():
                yield f"headers.{name}", _Part(value, mask(value))
            if remote.headers_helper:
                yield "headersHelper", _Part(remote.headers_helper, mask(remote.headers_helper))
        case InProcess(server):
            yield "object", _Part(id(server), type(server).__qualname__)


def _list_program_parts(program: Stdio) -> Iterator[tuple[str, _Part]]:
    for name, value in program.env.items():
        yield f"env.{name}", _Part(value, mask(value))
    if program.pass_env:
        yield "pass_env", _Part(program.pass_env, program.pass_env)
    if program.env_file:
        yield "envFile", _Part(program.env_file, written_text(program.env_file) or "")
    if program.cwd:
        yield "cwd", _Part(program.cwd, written_text(program.cwd) or "")
