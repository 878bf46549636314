"""Which servers other files switch off or on, approve or trust, and where they say so."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from mooring.discovery.documents import Documents, dig
from mooring.discovery.format import ALL, NONE, PROJECT, Named, RawEntry, Says, ScanContext, Switch
from mooring.discovery.values import as_list, as_mapping, as_texts


class Mention(Struct, frozen=True):
    """The servers that one file names, and where."""

    named: Named
    where: str
    by_project: bool
    """A project's own file holds it, so that it concerns the project's own servers alone."""
    fold: bool
    """Names are compared without regard to case."""

    def covers(self, name: str, foreign: bool) -> bool:
        if self.by_project and not foreign:
            return False
        is_named = (name.casefold() if self.fold else name) in self.named.names
        return is_named != self.named.all_but


class Mentions(Struct, frozen=True):
    """What several switches say, taken together; the first that covers a server is the one that is shown."""

    mentions: tuple[Mention, ...]

    def find(self, entry: RawEntry) -> str | None:
        """Where an entry is named; `None` if it is not."""
        return self.find_name(entry.name, entry.origin.foreign)

    def find_name(self, name: str, foreign: bool = False) -> str | None:
        """Where a name is mentioned; `foreign` if it comes from a project's own file."""
        return next((mention.where for mention in self.mentions if mention.covers(name, foreign)), None)


def find_mentions(documents: Documents, switches: Iterable[Switch]) -> Mentions:
    """What all these switches say."""
    found: list[Mention] = []
    for switch in switches:
        for path, value in read_switch(documents, switch):
            named = _read_names(switch.says, value, documents.context)
            found.append(_make_mention(switch, named, path))
    return Mentions(tuple(sorted(found, key=_precedence)))


def read_switch(documents: Documents, switch: Switch) -> Iterator[tuple[str, Any]]:
    """The values of a switch, and the files that hold them."""
    for path, document in documents.read_all(switch.place):
        for _, value in dig(document.data, switch.key, documents.context):
            yield path, value


def _make_mention(switch: Switch, named: Named, path: str) -> Mention:
    if switch.fold:
        named = Named(frozenset(map(str.casefold, named.names)), named.all_but)
    return Mention(named, _describe(switch, path), switch.place.scope == "project", switch.fold)


def _describe(switch: Switch, path: str) -> str:
    # A project's path is not a key that a person would look for.
    if not switch.key or switch.key[-1] == PROJECT:
        return path
    return f"`{switch.key[-1]}` in {path}"


def _precedence(mention: Mention) -> int:
    """A file that names a server comes before one that names all others, and the person's before the project's."""
    return 2 if mention.named.all_but else int(mention.by_project)


# --- the common ways to name servers ------------------------------------------------------------------------


def _read_names(says: Says, value: Any, context: ScanContext) -> Named:
    if says in _READERS:
        return _READERS[says](value)
    from mooring.discovery.marks import READERS  # only where a tool says it in such a way

    return READERS[says](value, context)


def _read_list(value: Any) -> Named:
    return Named(frozenset(as_texts(value)))


def _read_only(value: Any) -> Named:
    # An empty list says nothing; it does not switch everything off.
    return Named(frozenset(as_texts(value)), all_but=bool(as_list(value)))


def _read_states(value: Any) -> Named:
    states = as_mapping(value)
    return Named(frozenset(name for name in states if _is_off(states[name])))


def _is_off(state: Any) -> bool:
    return state is False or as_mapping(state).get("enabled") is False


_READERS: Mapping[Says, Callable[[Any], Named]] = {
    "names": _read_list,
    "only": _read_only,
    "states": _read_states,
    "true": lambda value: ALL if value is True else NONE,
    "trusted": lambda value: ALL if value == "trusted" else NONE,
}
