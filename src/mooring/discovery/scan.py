"""Every definition found, and every problem: reads files by each tool's own rules, and nothing else."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.config import Broken, Origin, Scope, ServerConfig
from mooring.core.problem import Problem
from mooring.core.where import Where
from mooring.discovery import entry as entries
from mooring.discovery.dialect import Inputs
from mooring.discovery.format import MIB, PROJECT, Context, Entry, Format, Place, Sheet, Switch, locate
from mooring.discovery.values import kind
from mooring.errors import FileError, ParseError
from mooring.syntax import Document, parse

MOST_SERVERS = 1000
MOST_MATCHES = 256
SCOPES: tuple[Scope, ...] = ("cli", "managed", "project", "user")


class Definition(Struct, frozen=True):
    """One definition and its rank: the lower wins."""

    config: ServerConfig | Broken
    rank: tuple[int, int, int]
    """Scope, tool, and place inside the tool."""
    vouched_by: str | None = None
    """The person's own file in which the tool recorded that they approved of this server."""
    marked_by: str | None = None
    """The person's own file in which the tool calls this whole project trusted: information, never a grant."""

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def origin(self) -> Origin:
        return self.config.origin


class Scan(Struct, frozen=True):
    """What the files say: definitions by rank, highest first, and what is wrong."""

    definitions: tuple[Definition, ...]
    problems: tuple[Problem, ...]
    files: tuple[str, ...]


def context(where: Where, cwd: str, with_project: bool = True) -> Context:
    """The folders to search from `cwd`: up to the nearest that holds `.git`, else `cwd` alone."""
    if not with_project:
        return Context(where, cwd, ())
    folders = [cwd]
    while not os.path.lexists(os.path.join(folders[-1], ".git")):
        parent = os.path.dirname(folders[-1])
        if parent == folders[-1]:
            return Context(where, cwd, (cwd,))
        folders.append(parent)
    return Context(where, cwd, tuple(folders))


def scan(context: Context, formats: Sequence[Format]) -> Scan:
    """Read every format's files. Never raises for what a file holds, never expands, runs or follows anything in it."""
    shelf = _Shelf(context, formats)
    found: list[Definition] = []
    for order, format in enumerate(formats):
        found.extend(_definitions(shelf, format, order))
    found.sort(key=lambda definition: definition.rank)
    return Scan(tuple(found), tuple(shelf.problems), tuple(shelf.seen))


class _Shelf:
    """The files of one scan, each read once, with the problems they gave."""

    def __init__(self, context: Context, formats: Sequence[Format]) -> None:
        self.context = context
        self.problems: list[Problem] = []
        self.seen: list[str] = []
        self._documents: dict[str, Document | None] = {}
        self._personal = frozenset(_personal(context, formats))
        self._real = {folder: os.path.realpath(folder) for folder in context.folders}

    def sheets(self, format: Format) -> tuple[Sheet, ...]:
        return tuple(
            Sheet(place, path, document)
            for place, path in self._paths(format.places)
            if (document := self.document(place, path)) is not None
        )

    def all(self, place: Place) -> Iterator[tuple[str, Document]]:
        """The files of one place, nearest first."""
        for _, path in self._paths((place,)):
            if (document := self.document(place, path)) is not None:
                yield path, document

    def present(self, places: Iterable[Place]) -> str | None:
        """The first of these places where something stands, readable or not."""
        return next((path for _, path in self._paths(places) if os.path.lexists(path)), None)

    def document(self, place: Place, path: str) -> Document | None:
        if path not in self._documents:
            self._documents[path] = self._open(place, path)
        return self._documents[path]

    def _paths(self, places: Iterable[Place]) -> Iterator[tuple[Place, str]]:
        """Where the places are on this machine: a nearer folder first, and in it the places in their order."""
        places = tuple(places)
        for place in places:
            if not _walked(place) and (path := locate(place, self.context.where)):
                yield from ((place, match) for match in _matches(place, path))
        for folder in self.context.folders:
            for place in filter(_walked, places):
                path = os.path.join(folder, place.path)
                if os.path.join(self._real[folder], place.path) not in self._personal:
                    yield place, path

    def _open(self, place: Place, path: str) -> Document | None:
        try:
            data = files.read(path, place.limit)
            if data is None:
                return None
            self.seen.append(path)
            document = _picked(data, place.pick) if place.pick and len(data) > MIB else parse(data, place.kind)
        except FileError as error:
            self.problems.append(Problem(path, f"The file {error.reason}", "mend or remove it"))
            return None
        except ParseError as error:
            hint = "mend it there; until then none of its servers are known"
            self.problems.append(Problem(path, f"The file {error.reason}", hint, line=error.line))
            return None
        self._report_duplicates(path, document)
        return document

    def _report_duplicates(self, path: str, document: Document) -> None:
        for key in document.duplicates[:8]:
            name = ".".join(map(str, key))
            message, line = f"The key `{name}` is written more than once; the last one counts", document.line(key)
            self.problems.append(Problem(path, message, "keep one of them", line=line, level="warning"))


def _definitions(shelf: _Shelf, format: Format, order: int) -> Iterator[Definition]:
    sheets = shelf.sheets(format)
    off = _said(shelf, format.off)
    approved = _said(shelf, [switch for switch in format.approved_in if switch.place.scope == "user"])
    trusted = _said(shelf, [switch for switch in format.trust_marks if switch.place.scope == "user"])
    owner = shelf.present(format.exclusive)
    for entry in (format.gather or maps)(format, sheets, shelf.context):
        blocked = f"{owner} has exclusive control" if owner and entry.origin.scope != "managed" else None
        result = entries.read(entry, format, blocked or off.about(entry))
        shelf.problems.extend(result.problems)
        if result.definition is not None:
            rank = (SCOPES.index(entry.origin.scope), order, entry.order)
            foreign = entry.origin.scope == "project" and not entry.origin.owned
            words = (approved.about(entry), trusted.about(entry)) if foreign else (None, None)
            yield Definition(result.definition, rank, *words)
    shelf.problems.extend(problem for sheet in sheets for problem in _misplaced(format, sheet, shelf.context))


def maps(format: Format, sheets: tuple[Sheet, ...], context: Context) -> Iterator[Entry]:
    """The usual way to collect entries: a map of names under the format's key, in each file."""
    for order, sheet in enumerate(sheets):
        for key, container in dig(sheet.document.data, sheet.place.key or format.key, context):
            if isinstance(container, Mapping):
                yield from _map(format, sheet, key, container, order)
        if format.bare and _is_bare(sheet.document.data):
            bare = {name: raw for name, raw in sheet.document.data.items() if isinstance(raw, Mapping)}
            yield from _map(format, sheet, (), bare, order)


def _map(
    format: Format, sheet: Sheet, key: tuple[str, ...], container: Mapping[str, Any], order: int
) -> Iterator[Entry]:
    inputs = _inputs(sheet.document.data, key)
    for name, raw in list(container.items())[:MOST_SERVERS]:
        if name:
            where = Origin(format.tool, sheet.place.scope, sheet.path, (*key, name), sheet.place.owned)
            yield Entry(name, raw, where, sheet.document, order, inputs)


def _inputs(data: Any, key: tuple[str, ...]) -> Inputs:
    """The questions defined beside the map of servers, by their ids."""
    for step in key[:-1]:
        data = data.get(step) if isinstance(data, Mapping) else None
    listed = data.get("inputs") if isinstance(data, Mapping) else None
    asked = listed if isinstance(listed, list) else []
    return {item["id"]: item for item in asked if isinstance(item, Mapping) and isinstance(item.get("id"), str)}


def dig(data: Any, key: tuple[str, ...], context: Context) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What stands under a key path. `PROJECT` in it is each of the project's folders in turn, nearest first."""
    if PROJECT not in key:
        yield from _under(data, key)
        return
    both = ((folder, os.path.realpath(folder)) for folder in context.folders)
    for name in dict.fromkeys(name for pair in both for name in pair):
        yield from _under(data, tuple(name if step == PROJECT else step for step in key))


def _under(data: Any, key: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for step in key:
        if not isinstance(data, Mapping) or step not in data:
            return
        data = data[step]
    yield key, data


# --- words on servers in other files ------------------------------------------------------------------------


class _Words(Struct, frozen=True):
    """Which servers some lists name, or all of them, and where that stands."""

    everywhere: Mapping[str, str]
    in_project: Mapping[str, str]
    """What a project's own files say, which concerns the project's own servers alone."""
    all: str | None

    def about(self, entry: Entry) -> str | None:
        word = self.everywhere.get(entry.name) or self.all
        foreign = entry.origin.scope == "project" and not entry.origin.owned
        return word or (self.in_project.get(entry.name) if foreign else None)


def _said(shelf: _Shelf, switches: Iterable[Switch]) -> _Words:
    words = _Words({}, {}, None)
    for switch in switches:
        for path, document in shelf.all(switch.place):
            for _, value in dig(document.data, switch.key, shelf.context):
                words = _heard(words, switch, value, f"`{switch.key[-1]}` in {path}")
    return words


def _heard(words: _Words, switch: Switch, value: Any, where: str) -> _Words:
    match switch.says:
        case "true":
            return replace(words, all=words.all or where) if value is True else words
        case "trusted":
            return replace(words, all=words.all or where) if value == "trusted" else words
        case "names":
            listed = value if isinstance(value, list) else []
            named = {name: where for name in listed if isinstance(name, str)}
            if switch.place.scope == "project":
                return replace(words, in_project={**named, **words.in_project})
            return replace(words, everywhere={**named, **words.everywhere})


# --- shapes -------------------------------------------------------------------------------------------------


def _misplaced(format: Format, sheet: Sheet, context: Context) -> Iterator[Problem]:
    data, key = sheet.document.data, sheet.place.key or format.key
    if not isinstance(data, Mapping):
        yield Problem(sheet.path, f"The file should hold an object, but holds {kind(data)}", "mend it", line=1)
        return
    for path, container in dig(data, key, context):
        if (complaint := _complaint(".".join(path), container)) is not None:
            message, hint = complaint
            yield Problem(sheet.path, message, hint, line=sheet.document.line(path))
    yield from _wrong_container(format, sheet)


def _complaint(key: str, container: Any) -> tuple[str, str] | None:
    if not isinstance(container, Mapping):
        return f"`{key}` should be an object, but is {kind(container)}", "write it as a map of names to servers"
    if len(container) > MOST_SERVERS:
        return f"`{key}` holds more than {MOST_SERVERS} servers; the rest is left out", "remove what is not needed"
    if "" in container:
        return "A server has an empty name and is left out", "name it"
    return None


CONTAINERS = frozenset({"mcpServers", "servers", "mcp_servers", "mcp-servers", "context_servers", "mcp"})


def _wrong_container(format: Format, sheet: Sheet) -> Iterator[Problem]:
    """Another tool's word for the map, where this tool's own is missing."""
    if sheet.place.key or format.key[0] in sheet.document.data:
        return
    for word in sorted(CONTAINERS & sheet.document.data.keys()):
        if _holds_entries(sheet.document.data[word]):
            message, line = f"The key `{word}` is not read here", sheet.document.line((word,))
            yield Problem(sheet.path, message, f"rename it to `{format.key[0]}`", line=line)


def _is_bare(data: Any) -> bool:
    """A file that is itself the map: some of its values say what to start or where to connect."""
    return isinstance(data, Mapping) and not CONTAINERS & data.keys() and _holds_entries(data)


def _holds_entries(data: Any) -> bool:
    return isinstance(data, Mapping) and any(
        isinstance(raw, Mapping) and ("command" in raw or "url" in raw) for raw in data.values()
    )


def _walked(place: Place) -> bool:
    return place.scope == "project" and not place.owned


def _matches(place: Place, path: str) -> Iterable[str]:
    return files.matches(path, MOST_MATCHES) if "*" in place.path and not place.literal else (path,)


def _picked(data: bytes, pick: Callable[[bytes], Any]) -> Document:
    """The wanted part of a file too large to be read whole; the rest is skipped, not built."""
    try:
        return Document(pick(data))
    except (msgspec.DecodeError, RecursionError):
        reason = "is not the JSON it should be"
    raise ParseError(reason)


def _personal(context: Context, formats: Sequence[Format]) -> Iterator[str]:
    """The paths that are the person's own, wherever a variable may have moved them to: no project's, even at home."""
    where = context.where
    for machine in (where, replace(where, env={})):
        for format in formats:
            for place in format.places:
                if place.scope == "user" and (path := locate(place, machine)):
                    folder, name = where.home + "/", path.removeprefix(where.home + "/")
                    yield os.path.join(os.path.realpath(folder), name) if path.startswith(folder) else path
