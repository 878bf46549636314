"""Which servers other files switch off or on, approve or trust, and where they say so."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mooring.discovery.documents import Documents, dig
from mooring.discovery.format import PROJECT, RawEntry, ScanContext, Switch
from mooring.discovery.untyped import as_mapping, as_texts


class AllowList(Struct, frozen=True):
    """A list of the only names that may run, and where it is."""

    names: frozenset[str]
    where: str
    by_project: bool
    """A project's own file holds it, so that it concerns the project's own servers alone."""


class Mentions(Struct, frozen=True):
    """The servers that some switches name, or all of them, and where."""

    everywhere: Mapping[str, str]
    in_project: Mapping[str, str]
    """What a project's own files name, which concerns the project's own servers alone."""
    all: str | None
    only: tuple[AllowList, ...] = ()
    fold: bool = False
    """Names are compared without regard to case."""

    def find(self, entry: RawEntry) -> str | None:
        """Where an entry is named; `None` if it is not."""
        foreign = entry.origin.scope == "project" and not entry.origin.owned
        return self.find_name(entry.name, foreign)

    def find_name(self, name: str, foreign: bool = False) -> str | None:
        """Where a name is mentioned; `foreign` if it comes from a project's own file."""
        if self.fold:
            name = name.casefold()
        where = self.everywhere.get(name) or self.all
        if where is None and foreign:
            where = self.in_project.get(name)
        return where or self._find_list_without(name, foreign)

    def _find_list_without(self, name: str, foreign: bool) -> str | None:
        for allowed in self.only:
            concerned = foreign or not allowed.by_project
            if concerned and name not in allowed.names:
                return allowed.where
        return None


_NONE = Mentions({}, {}, None)
_RARE = frozenset({"chosen", "paths", "folders", "approved", "rejected", "servers"})


def find_mentions(documents: Documents, switches: Iterable[Switch]) -> Mentions:
    """What all these switches say, taken together."""
    mentions = _NONE
    for switch in switches:
        for path, value in read_switch(documents, switch):
            common, common_value = _simplify(switch, value, documents.context)
            mentions = _add(replace(mentions, fold=switch.fold), common, common_value, _describe(switch, path))
    return mentions


def _simplify(switch: Switch, value: Any, context: ScanContext) -> tuple[Switch, Any]:
    if switch.says not in _RARE:
        return switch, value
    from mooring.discovery.marks import simplify  # only where a tool says it in such a way

    return simplify(switch, value, context)


def read_switch(documents: Documents, switch: Switch) -> Iterator[tuple[str, Any]]:
    """The values of a switch, and the files that hold them."""
    for path, document in documents.read_all(switch.place):
        for _, value in dig(document.data, switch.key, documents.context):
            yield path, value


def _describe(switch: Switch, path: str) -> str:
    # A project's path is no key that a person would look for.
    if not switch.key or switch.key[-1] == PROJECT:
        return path
    return f"`{switch.key[-1]}` in {path}"


def _add(mentions: Mentions, switch: Switch, value: Any, where: str) -> Mentions:
    by_project = switch.place.scope == "project"
    match switch.says:
        case "true":
            return _add_all(mentions, where) if value is True else mentions
        case "trusted":
            return _add_all(mentions, where) if value == "trusted" else mentions
        case "only":
            names = frozenset(_read_names(switch, value))
            # An empty list says nothing; it does not switch everything off.
            is_limit = isinstance(value, list) and bool(value)
            limit = (AllowList(names, where, by_project),) if is_limit else ()
            return replace(mentions, only=mentions.only + limit)
        case _:
            # What was mentioned first, by a higher place, wins.
            named = dict.fromkeys(_read_names(switch, value), where)
            if by_project:
                return replace(mentions, in_project={**named, **mentions.in_project})
            return replace(mentions, everywhere={**named, **mentions.everywhere})


def _add_all(mentions: Mentions, where: str) -> Mentions:
    return replace(mentions, all=mentions.all or where)


def _read_names(switch: Switch, value: Any) -> list[str]:
    names = _switched_off(value) if switch.says == "states" else as_texts(value)
    return [name.casefold() for name in names] if switch.fold else names


def _switched_off(states: Any) -> list[str]:
    """The names that are mapped to false or to `{"enabled": false}`."""
    return [name for name, state in as_mapping(states).items() if _is_off(state)]


def _is_off(state: Any) -> bool:
    return state is False or as_mapping(state).get("enabled") is False
