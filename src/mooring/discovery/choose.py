"""Pure: definitions and how each stands, into the one that counts for each name, and what it keeps out.

No entries are merged between tools: one definition wins, the others are shadowed and stay visible. A winner
that is disabled or broken still owns its name. A project's definition that is not approved displaces nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from mooring.core.approved import Standing, in_force
from mooring.core.config import Http, ServerConfig, Stdio
from mooring.discovery.scan import DORMANT, RankedDefinition


class Choice(Struct, frozen=True):
    """One name: the definition that counts, how it stands, and the others."""

    definition: RankedDefinition
    standing: Standing
    shadowed: tuple[RankedDefinition, ...] = ()
    proposed: RankedDefinition | None = None
    """What an unapproved project would put in this one's place."""
    aliases: tuple[str, ...] = ()
    """Other names under which the very same thing would be started."""

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def approved(self) -> bool:
        return in_force(self.standing)


def choose(
    definitions: Iterable[RankedDefinition], standing: Callable[[RankedDefinition], Standing]
) -> tuple[Choice, ...]:
    """One choice for each name, sorted by name; `definitions` come highest rank first."""
    names: dict[str, list[RankedDefinition]] = {}
    for definition in definitions:
        names.setdefault(definition.name, []).append(definition)
    choices = [_choice(candidates, standing) for candidates in names.values()]
    return tuple(sorted(_with_aliases(choices), key=lambda choice: (choice.name.casefold(), choice.name)))


def rule(winner: RankedDefinition, loser: RankedDefinition, loser_standing: Standing) -> str:
    """Why the one counts and the other does not, in words."""
    if not in_force(loser_standing) and loser.rank < winner.rank:
        return {
            "rejected": "you rejected it for this project",
            "changed": "it changed since you decided about it",
        }.get(loser_standing, "it comes from the project and is not approved")
    if loser.rank[0] == DORMANT:
        return "the plugin it lies in is switched off"
    if winner.rank[0] != loser.rank[0]:
        return f"{_SCOPES[winner.origin.scope]} counts before {_SCOPES[loser.origin.scope]}"
    if winner.rank[1] != loser.rank[1]:
        return f"{_named(winner)} counts before {_named(loser)}"
    return "of one tool's files, this one counts first"


_SCOPES = {
    "cli": "the command line",
    "managed": "the machine's managed configuration",
    "project": "the project",
    "user": "the user's own configuration",
}


def _named(definition: RankedDefinition) -> str:
    tool, path = definition.origin.tool, definition.origin.path or ""
    return ".mcp.json" if tool == "claude-code" and path.endswith("/.mcp.json") else tool


def _choice(candidates: Sequence[RankedDefinition], standing: Callable[[RankedDefinition], Standing]) -> Choice:
    stands = [(definition, standing(definition)) for definition in candidates]
    winner, how = (
        next((pair for pair in stands if in_force(pair[1])), None)
        or next((pair for pair in stands if pair[1] != "rejected"), None)
        or stands[0]
    )
    proposed = next(
        (d for d, s in stands if in_force(how) and s in ("unseen", "changed") and d.rank < winner.rank), None
    )
    shadowed = tuple(d for d in candidates if d is not winner and d is not proposed)
    return Choice(winner, how, shadowed, proposed)


def _with_aliases(choices: list[Choice]) -> Iterable[Choice]:
    twins: dict[Any, list[str]] = {}
    for choice in choices:
        if (key := _connection_key(choice)) is not None:
            twins.setdefault(key, []).append(choice.name)
    for choice in choices:
        same = twins.get(_connection_key(choice), [])
        yield Choice(
            choice.definition,
            choice.standing,
            choice.shadowed,
            choice.proposed,
            tuple(name for name in sorted(same) if name != choice.name),
        )


def _connection_key(choice: Choice) -> Any:
    """What would be started or reached, by meaning; `None` where nothing would."""
    config = choice.definition.config
    if not isinstance(config, ServerConfig) or not config.enabled:
        return None
    match config.connection:
        case Stdio(command, args, env, pass_env, env_file, cwd):
            return command, args, frozenset(env.items()), pass_env, env_file, cwd
        case Http(url, headers, headers_helper, transport):
            return url, frozenset(headers.items()), headers_helper, transport
