"""Pure: definitions and their standing into the one that wins each name, and those it keeps out.

No entries are merged between tools: one definition wins, the others are shadowed and stay visible. A winner
that is disabled or broken still owns its name. A project's definition that is not approved displaces nothing.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.definitions.approved import Standing, is_in_force
from mooring.core.definitions.config import Http, InProcess, ServerConfig, Stdio
from mooring.discovery.scan import DORMANT, RankedDefinition


class Choice(Struct, frozen=True):
    """One name: the definition that wins, its standing, and the others."""

    definition: RankedDefinition
    standing: Standing
    shadowed: tuple[RankedDefinition, ...] = ()
    proposed: RankedDefinition | None = None
    """What an unapproved project would put in this one's place."""
    names: tuple[str, ...] = ()
    """Every name under which the very same thing would be started; sorted, and one tuple for all of these choices."""

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def aliases(self) -> tuple[str, ...]:
        """The other names under which the very same thing would be started."""
        # Cut out of the shared tuple: a thousand names of one definition have a million aliases.
        own = bisect_left(self.names, self.name)
        return self.names[:own] + self.names[own + 1 :]

    @property
    def approved(self) -> bool:
        return is_in_force(self.standing)


def choose(
    definitions: Iterable[RankedDefinition], standing: Callable[[RankedDefinition], Standing]
) -> tuple[Choice, ...]:
    """One choice for each name, sorted by name; `definitions` come highest rank first."""
    by_name: dict[str, list[RankedDefinition]] = {}
    for definition in definitions:
        by_name.setdefault(definition.name, []).append(definition)
    choices = [_choose_one(candidates, standing) for candidates in by_name.values()]
    return tuple(sorted(_add_names(choices), key=lambda choice: (choice.name.casefold(), choice.name)))


def explain(winner: RankedDefinition, loser: RankedDefinition, loser_standing: Standing) -> str:
    """Why one definition wins over another, in words."""
    if not is_in_force(loser_standing) and loser.rank < winner.rank:
        return _NOT_IN_FORCE.get(loser_standing, "it comes from the project and is not approved")
    if loser.rank[0] == DORMANT:
        return "its plugin is turned off"
    if winner.rank[0] != loser.rank[0]:
        return f"{_SCOPES[winner.origin.shown_scope]} wins over {_SCOPES[loser.origin.shown_scope]}"
    if winner.rank[1] != loser.rank[1]:
        return f"{_source_name(winner)} wins over {_source_name(loser)}"
    return "another file of the same tool wins"


_NOT_IN_FORCE: dict[Standing, str] = {
    "rejected": "you rejected it for this project",
    "changed": "it changed since you decided about it",
}
_SCOPES = {
    "cli": "the command line",
    "managed": "the machine's managed configuration",
    "project": "the project",
    "local": "your own for this project",
    "user": "the user's own configuration",
}


def _source_name(definition: RankedDefinition) -> str:
    # `.mcp.json` is read by many tools and ranks behind Claude Code's own files, though it is one of them.
    tool, path = definition.origin.tool, definition.origin.path or ""
    return ".mcp.json" if tool == "claude-code" and path.endswith("/.mcp.json") else tool


_PREFERENCE: dict[Standing, int] = {"own": 0, "approved": 0, "unseen": 1, "changed": 1, "rejected": 2}


def _choose_one(candidates: Sequence[RankedDefinition], standing: Callable[[RankedDefinition], Standing]) -> Choice:
    judged = [(definition, standing(definition)) for definition in candidates]
    # The highest that is in force; else the highest that may still be approved; else the highest of all.
    winner, winner_standing = min(judged, key=lambda pair: _PREFERENCE[pair[1]])
    proposed = _find_proposed(judged, winner)
    shadowed = tuple(each for each in candidates if each is not winner and each is not proposed)
    return Choice(winner, winner_standing, shadowed, proposed)


def _find_proposed(
    judged: list[tuple[RankedDefinition, Standing]], winner: RankedDefinition
) -> RankedDefinition | None:
    """The highest that would win if it were approved; none comes before a winner that is not in force itself."""
    waiting = (definition for definition, standing in judged if standing in ("unseen", "changed"))
    return next((definition for definition in waiting if definition.rank < winner.rank), None)


def _add_names(choices: list[Choice]) -> Iterable[Choice]:
    """The choices, in no certain order, each with the names of all those that would start or reach the same thing."""
    groups: dict[Hashable, list[Choice]] = {}
    for choice in choices:
        groups.setdefault(_connection_key(choice), []).append(choice)
    for twins in groups.values():
        names = tuple(sorted(twin.name for twin in twins))
        for twin in twins:
            yield replace(twin, names=names)


def _connection_key(choice: Choice) -> Hashable:
    """What would be started or reached, by meaning; if nothing would, the name, which no other choice has."""
    config = choice.definition.config
    if not isinstance(config, ServerConfig) or not config.enabled:
        return choice.name
    match config.connection:
        case Stdio(command, args, env, pass_env, env_file, cwd):
            return command, args, frozenset(env.items()), pass_env, env_file, cwd
        case Http(url, headers, headers_helper, transport):
            return url, frozenset(headers.items()), headers_helper, transport
        case InProcess(server):
            return id(server)
