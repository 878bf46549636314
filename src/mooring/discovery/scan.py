"""Every definition found, and every problem: reads files by each tool's own rules, and nothing else."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from mooring import files
from mooring.core.config import Broken, Origin, Scope, ServerConfig
from mooring.core.problem import Problem
from mooring.core.where import Where
from mooring.discovery import entry as entries
from mooring.discovery.dialect import Inputs
from mooring.discovery.format import PROJECT, Context, Entry, Format, Place, Sheet, Switch, locate
from mooring.errors import FileError, ParseError
from mooring.syntax import Document, Kind, parse

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
        # A person who stands in their home folder has no project there: those files are theirs.
        self._personal = frozenset(
            path
            for format in formats
            for place in format.places
            if place.scope == "user" and (path := locate(place, context.where))
        )

    def sheets(self, format: Format) -> tuple[Sheet, ...]:
        return tuple(
            Sheet(place, path, document)
            for place, path in self._paths(format.places)
            if (document := self.document(path, place.kind, format.limit, format.pick)) is not None
        )

    def first(self, place: Place) -> Iterator[tuple[str, Document]]:
        """The files of one place, nearest first."""
        for _, path in self._paths((place,)):
            if (document := self.document(path, place.kind)) is not None:
                yield path, document

    def document(
        self, path: str, kind: Kind, limit: int = files.LIMIT, pick: type[Struct] | None = None
    ) -> Document | None:
        if path not in self._documents:
            self._documents[path] = self._open(path, kind, limit, pick)
        return self._documents[path]

    def _paths(self, places: Iterable[Place]) -> Iterator[tuple[Place, str]]:
        """Where the places are on this machine: a nearer folder first, and in it the places in their order."""
        places = tuple(places)
        for place in places:
            if not _walked(place) and (path := locate(place, self.context.where)):
                yield from ((place, match) for match in _matches(path))
        for folder in self.context.folders:
            for place in filter(_walked, places):
                path = os.path.join(folder, place.path)
                if path not in self._personal:
                    yield place, path

    def _open(self, path: str, kind: Kind, limit: int, pick: type[Struct] | None) -> Document | None:
        try:
            data = files.read(path, limit)
            if data is None:
                return None
            self.seen.append(path)
            document = _picked(data, pick) if pick and len(data) > files.LIMIT else parse(data, kind)
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
    off = _names_in(shelf, format.off)
    vouched = _names_in(shelf, format.approved_in, own_files_only=True)
    marked = _names_in(shelf, format.trust_marks, own_files_only=True).get(ALL)
    owner = _exclusive(shelf, format)
    for entry in (format.gather or maps)(format, sheets, shelf.context):
        blocked = f"{owner} has exclusive control" if owner and entry.origin.scope != "managed" else None
        reason = blocked or off.get(entry.name) or off.get(ALL)
        result = entries.read(entry, format, reason)
        shelf.problems.extend(result.problems)
        if result.definition is not None:
            rank = (SCOPES.index(entry.origin.scope), order, entry.order)
            foreign = entry.origin.scope == "project" and not entry.origin.owned
            approval = (vouched.get(entry.name) or vouched.get(ALL), marked) if foreign else (None, None)
            yield Definition(result.definition, rank, *approval)
    shelf.problems.extend(problem for sheet in sheets for problem in _misplaced(format, sheet, shelf.context))


def maps(format: Format, sheets: tuple[Sheet, ...], context: Context) -> Iterator[Entry]:
    """The usual way to collect entries: a map of names under the format's key, in each file."""
    for order, sheet in enumerate(sheets):
        for key, container in dig(sheet.document.data, sheet.place.key or format.key, context):
            if isinstance(container, Mapping):
                yield from _map(format, sheet, key, container, order)
        if format.bare and _is_bare(sheet.document.data, format):
            yield from _map(format, sheet, (), sheet.document.data, order)


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
    """What stands under a key path. `PROJECT` in it is the nearest of the project's folders that is named there."""
    path: tuple[str, ...] = ()
    for step in key:
        names = (context.cwd, *context.folders) if step == PROJECT else (step,)
        found = next((name for name in names if isinstance(data, Mapping) and name in data), None)
        if found is None:
            return
        data, path = data[found], (*path, found)
    yield path, data


# --- switches in other files --------------------------------------------------------------------------------

ALL = "*"


def _names_in(shelf: _Shelf, switches: tuple[Switch, ...], own_files_only: bool = False) -> dict[str, str]:
    """Each name that some list holds, with where it stands; `ALL` for a plain true."""
    found: dict[str, str] = {}
    for switch in switches:
        if own_files_only and switch.place.scope == "project":
            continue
        for path, document in shelf.first(switch.place):
            for _, value in dig(document.data, switch.key, shelf.context):
                names = [ALL] if value in (True, "trusted") else value if isinstance(value, list) else []
                for name in names:
                    if isinstance(name, str):
                        found.setdefault(name, f"`{switch.key[-1]}` in {path}")
    return found


def _exclusive(shelf: _Shelf, format: Format) -> str | None:
    return next((path for place in format.exclusive for path, _ in shelf.first(place)), None)


# --- shapes -------------------------------------------------------------------------------------------------


def _misplaced(format: Format, sheet: Sheet, context: Context) -> Iterator[Problem]:
    data, key = sheet.document.data, sheet.place.key or format.key
    if not isinstance(data, Mapping):
        yield Problem(sheet.path, f"The file should hold an object, but holds {entries.kind(data)}", "", line=1)
        return
    for path, container in dig(data, key, context):
        line = sheet.document.line(path)
        if not isinstance(container, Mapping):
            message = f"`{'.'.join(path)}` should be an object, but is {entries.kind(container)}"
            yield Problem(sheet.path, message, "write it as a map of names to servers", line=line)
        elif len(container) > MOST_SERVERS:
            message = f"`{'.'.join(path)}` holds more than {MOST_SERVERS} servers; the rest is left out"
            yield Problem(sheet.path, message, "", line=line)
        elif "" in container:
            yield Problem(sheet.path, "A server has an empty name and is left out", "name it", line=line)
    if key == ("mcpServers",) and key[0] not in data and isinstance(data.get("servers"), Mapping):
        line = sheet.document.line(("servers",))
        yield Problem(sheet.path, "The key `servers` is not read here", "rename it to `mcpServers`", line=line)


def _is_bare(data: Any, format: Format) -> bool:
    """A file that is itself the map: nothing but entries that say what to start or where to connect."""
    return (
        isinstance(data, Mapping)
        and bool(data)
        and format.key[0] not in data
        and all(isinstance(raw, Mapping) and ("command" in raw or "url" in raw) for raw in data.values())
    )


def _walked(place: Place) -> bool:
    return place.scope == "project" and not place.owned


def _matches(path: str) -> Iterable[str]:
    return files.matches(path, MOST_MATCHES) if "*" in path else (path,)


def _picked(data: bytes, pick: type[Struct]) -> Document:
    """The wanted part of a file too large to be read whole; the rest is skipped, not built."""
    try:
        return Document(msgspec.to_builtins(msgspec.json.decode(data, type=pick)))
    except (msgspec.DecodeError, RecursionError):
        raise ParseError("is not the JSON it should be") from None
