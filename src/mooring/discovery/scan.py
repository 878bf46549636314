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
from mooring.discovery import format as shapes
from mooring.discovery.dialect import Inputs
from mooring.discovery.format import (
    MIB,
    PROJECT,
    Context,
    Entry,
    Folder,
    Folders,
    Format,
    Place,
    Policy,
    Sheet,
    Switch,
    Unreadable,
    locate,
)
from mooring.discovery.values import kind
from mooring.errors import FileError, ParseError
from mooring.syntax import Document, parse

MOST_SERVERS = 1000
MOST_MATCHES = 256
_NO_FOLDER = Folder()
SCOPES: tuple[Scope, ...] = ("cli", "managed", "project", "user")
DORMANT = len(SCOPES)
"""The rank of what lies in a plugin that is switched off: it keeps nothing out."""


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
            folders = [cwd]
            break
        folders.append(parent)
    return Context(where, cwd, tuple(folders), tuple(map(os.path.realpath, folders)))


def scan(context: Context, formats: Sequence[Format], *, keep: bool = False) -> Scan:
    """Read every format's files. Never raises for what a file holds, never expands, runs or follows anything in it.

    With `keep`, programs that only lead to an address stay programs.
    """
    shelf = _Shelf(context, formats)
    found: list[Definition] = []
    for order, format in enumerate(formats):
        found.extend(_definitions(shelf, format, order, keep))
        for program in format.unreadable:
            shelf.problems.extend(_out_of_reach(shelf, program))
    found.sort(key=lambda definition: definition.rank)
    return Scan(tuple(found), tuple(shelf.problems), tuple(shelf.seen))


class _Shelf:
    """The files of one scan, each read once, with the problems they gave."""

    def __init__(self, context: Context, formats: Sequence[Format]) -> None:
        self.context = context
        self.problems: list[Problem] = []
        self.seen: list[str] = []
        self._documents: dict[str, Document | None] = {}
        self._folders: dict[int, tuple[Folder, ...]] = {}
        self._personal = frozenset(_personal(context, formats))

    def sheets(self, format: Format) -> tuple[Sheet, ...]:
        plain = [place for place in format.places if place.each is None]
        once = {(place.scope, place.key, path): place for place, path in reversed([*self._paths(plain)])}
        found = [(place, path, self._around(place, path)) for (*_, path), place in once.items()][::-1]
        if len(plain) < len(format.places):
            inside = [row for place in format.places if place.each for row in self._inside(place, place.each)]
            found = inside + found if format.places[0].each else found + inside
        sheets = (
            Sheet(place, path, document, folder)
            for place, path, folder in found
            if (document := self.document(place, path)) is not None
        )
        return tuple(each for sheet in sheets for each in (self._led(sheet) if sheet.place.leads else (sheet,)))

    def _around(self, place: Place, path: str) -> Folder:
        """The folder of a file, where folders are switched off by name."""
        if not place.off or not os.path.lexists(path):
            return _NO_FOLDER
        return Folder(off=_said(self, place.off).about(os.path.basename(os.path.dirname(path))))

    def _inside(self, place: Place, folders: Folders) -> Iterator[tuple[Place, str, Folder]]:
        """A place in each of the folders that another file names."""
        if id(folders) not in self._folders:
            self._folders[id(folders)] = self._named(folders)
        for folder in self._folders[id(folders)]:
            yield place, place.path.replace("{each}", folder.path, 1), folder

    def _named(self, folders: Folders) -> tuple[Folder, ...]:
        listed = [said for switch in folders.listed for said in _told(self, switch)]
        if not listed:
            return ()
        from mooring.discovery.plugins import named, settled  # only where there are such folders

        found = [each for path, value in listed for each in named(folders.whose, value, path, self.context)]
        off = _said(self, folders.off)
        answers = [value for switch in folders.answers for _, value in _told(self, switch)]
        whole = (settled(each, (off.about(each.id) if each.id else None) or each.off, answers) for each in found)
        return tuple(folder for folder in whole if folder is not None)

    def _led(self, sheet: Sheet) -> Iterator[Sheet]:
        from mooring.discovery.plugins import Elsewhere, parts  # only where there are plugins

        for part in parts(sheet):
            match part:
                case Sheet():
                    yield part
                case Problem():
                    self.problems.append(part)
                case Elsewhere(path, place):
                    if (document := self.document(place, path)) is not None:
                        yield Sheet(place, path, document, sheet.folder)

    def text(self, place: Place, path: str) -> bytes | None:
        """The bytes of a file that is not configuration but a program; `None` where there is none to be read."""
        try:
            return files.read(path, place.limit)
        except FileError:
            return None

    def paths(self, place: Place) -> Iterator[str]:
        return (path for _, path in self._paths((place,)))

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
                if place.several:
                    yield from ((place, one) for one in _several(path, self.context.where))
                else:
                    yield from ((place, match) for match in _matches(place, path))
        walked = [place for place in places if _walked(place)]
        for folder, real in zip(self.context.folders, self.context.real, strict=True) if walked else ():
            for place in walked:
                path = os.path.join(folder, place.path)
                if os.path.join(real, place.path) not in self._personal:
                    yield from ((place, match) for match in _matches(place, path))

    def _open(self, place: Place, path: str) -> Document | None:
        try:
            data = self._inline(place) if place.inline else files.read(path, place.limit)
            if data is None:
                return None
            if not place.inline:
                self.seen.append(path)
            document = _picked(data, place.pick) if place.pick and len(data) > MIB else parse(data, shapes.kind(path))
        except FileError as error:
            self.problems.append(Problem(path, f"The file {error.reason}", "mend or remove it"))
            return None
        except ParseError as error:
            hint = "mend it there; until then none of its servers are known"
            self.problems.append(Problem(path, f"The file {error.reason}", hint, line=error.line))
            return None
        self._report_duplicates(path, document)
        return document

    def _inline(self, place: Place) -> bytes:
        return self.context.where.env[place.path].encode("utf-8", "surrogateescape")[: place.limit]

    def _report_duplicates(self, path: str, document: Document) -> None:
        for key in document.duplicates[:8]:
            name = ".".join(map(str, key))
            message, line = f"The key `{name}` is written more than once; the last one counts", document.line(key)
            self.problems.append(Problem(path, message, "keep one of them", line=line, level="warning"))


def _definitions(shelf: _Shelf, format: Format, order: int, keep: bool) -> Iterator[Definition]:
    if shelf.context.where.platform == "win32" and (other := format.dialect.on_windows):
        format = replace(format, dialect=other)
    sheets = shelf.sheets(format)
    off, on = _said(shelf, format.off), _said(shelf, format.on)
    policies = tuple(_policies(shelf, format.policies))
    approved = _said(shelf, [switch for switch in format.approved_in if switch.place.scope == "user"])
    trusted = _said(shelf, [switch for switch in format.trust_marks if switch.place.scope == "user"])
    owner = shelf.present(format.exclusive)
    found = tuple((format.gather or maps)(format, sheets, shelf.context))
    mine = {entry.name for entry in found if entry.origin.scope == "user"} if format.user_first else frozenset()
    for entry in found:
        blocked = f"{owner} has exclusive control" if owner and entry.origin.scope != "managed" else None
        said = blocked or off.of(entry) or entry.off
        result = entries.read(entry, format, said, keep=keep, forced=on.of(entry) is not None)
        shelf.problems.extend(result.problems)
        if result.definition is not None:
            scope, place = DORMANT if entry.off else SCOPES.index(entry.origin.scope), entry.order
            if entry.origin.scope == "project" and entry.name in mine:
                scope, place = SCOPES.index("user"), entry.order + len(sheets)
            foreign = entry.origin.scope == "project" and not entry.origin.owned
            words = (approved.of(entry), trusted.of(entry)) if foreign else (None, None)
            yield Definition(_under(policies, result.definition), (scope, order, place), *words)
    shelf.problems.extend(problem for sheet in sheets for problem in _misplaced(format, sheet, shelf.context))


def _under(policies: tuple[Policy, ...], config: ServerConfig | Broken) -> ServerConfig | Broken:
    if not policies or isinstance(config, Broken) or not config.enabled:
        return config
    from mooring.discovery.policy import refused  # only where a person or a machine has such rules

    return replace(config, disabled_by=refused(config, policies))


def _policies(shelf: _Shelf, switches: Iterable[Switch]) -> Iterator[Policy]:
    managed_only = False
    for switch in switches:
        managed = switch.place.scope == "managed"
        for path, value in _told(shelf, switch):
            managed_only = managed_only or (switch.says == "true" and managed and value is True)
            if switch.says != "true" and not (switch.says == "allowed" and managed_only and not managed):
                # What is no list allows nothing, as in Claude Code.
                rules = tuple(rule for rule in value if isinstance(rule, Mapping)) if isinstance(value, list) else ()
                yield Policy(switch.says, rules, f"`{switch.key[-1]}` in {path}", switch.place.scope)


def _out_of_reach(shelf: _Shelf, program: Unreadable) -> Iterator[Problem]:
    for path in shelf.paths(program.place):
        text = shelf.text(program.place, path)
        if text is not None and all(word in text for word in program.words):
            yield Problem(path, program.message, program.hint, level="note")


def maps(format: Format, sheets: tuple[Sheet, ...], context: Context) -> Iterator[Entry]:
    """The usual way to collect entries: a map of names under the format's key, in each file."""
    for order, sheet in enumerate(sheets):
        data = sheet.document.data
        for key, container in _containers(format, sheet, context):
            if isinstance(container, Mapping):
                yield from _map(format, sheet, key, container, order)
            elif isinstance(container, list) and format.listed:
                yield from _list(format, sheet, key, container, order)
        if format.bare and _is_bare(data):
            bare = {name: raw for name, raw in data.items() if isinstance(raw, Mapping)}
            yield from _map(format, sheet, (), bare, order)
        if format.single and isinstance(data, Mapping) and {"command", "url"} & data.keys():
            yield _entry(format, sheet, (), os.path.basename(sheet.path).partition(".")[0], data, order)


def _containers(format: Format, sheet: Sheet, context: Context) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key in (sheet.place.key,) if sheet.place.key else (format.key, *format.also):
        yield from dig(sheet.document.data, key, context)


def _map(
    format: Format, sheet: Sheet, key: tuple[str, ...], container: Mapping[str, Any], order: int
) -> Iterator[Entry]:
    for name, raw in list(container.items())[:MOST_SERVERS]:
        if name:
            yield _entry(format, sheet, (*key, name), name, raw, order)


def _list(format: Format, sheet: Sheet, key: tuple[str, ...], container: list[Any], order: int) -> Iterator[Entry]:
    for index, raw in enumerate(container[:MOST_SERVERS]):
        name = raw.get("name") if isinstance(raw, Mapping) else None
        if isinstance(name, str) and name:
            yield _entry(format, sheet, (*key, index), name, raw, order)


_GIVEN = ("PLUGIN_ROOT", "PLUGIN_DATA")


def _entry(format: Format, sheet: Sheet, key: tuple[str | int, ...], name: str, raw: Any, order: int) -> Entry:
    origin = Origin(format.tool, sheet.place.scope, sheet.path, key, sheet.place.owned)
    folder = sheet.folder
    base = folder.path or os.path.dirname(sheet.path)
    fixed = {**dict.fromkeys(sheet.place.here, base), **folder.fixed}
    given = {name: value for name, value in fixed.items() if name.endswith(_GIVEN)} if sheet.place.each else {}
    inputs = _inputs(sheet.document.data, key)
    return Entry(
        folder.prefix + name, raw, origin, sheet.document, order, inputs, fixed, folder.off, given,
        base if format.relative else "", folder.id, sheet.place.prepare,
    )  # fmt: skip


def _inputs(data: Any, key: tuple[str | int, ...]) -> Inputs:
    """The questions defined beside the map of servers, by their ids."""
    for step in key[:-2]:
        data = data.get(step) if isinstance(data, Mapping) else None
    listed = data.get("inputs") if isinstance(data, Mapping) else None
    asked = listed if isinstance(listed, list) else []
    return {item["id"]: item for item in asked if isinstance(item, Mapping) and isinstance(item.get("id"), str)}


def dig(data: Any, key: tuple[str, ...], context: Context) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What stands under a key path. `PROJECT` in it is each of the project's folders in turn, nearest first."""
    if PROJECT not in key:
        yield from _reached(data, key)
        return
    both = zip(context.folders, context.real, strict=True)
    for name in dict.fromkeys(name for pair in both for name in pair):
        yield from _reached(data, tuple(name if step == PROJECT else step for step in key))


def _reached(data: Any, key: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
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
    only: tuple[tuple[bool, frozenset[str], str], ...] = ()
    """Lists of the names that may run: whether a project's, the names, and where they stand."""
    fold: bool = False

    def of(self, entry: Entry) -> str | None:
        return self.about(entry.name, entry.origin.scope == "project" and not entry.origin.owned)

    def about(self, name: str, foreign: bool = False) -> str | None:
        name = name.casefold() if self.fold else name
        word = self.everywhere.get(name) or self.all or (self.in_project.get(name) if foreign else None)
        lists = ((names, where) for projects, names, where in self.only if foreign or not projects)
        return word or next((where for names, where in lists if name not in names), None)


def _said(shelf: _Shelf, switches: Iterable[Switch]) -> _Words:
    words = _Words({}, {}, None)
    for switch in switches:
        for path, value in _told(shelf, switch):
            word = f"`{switch.key[-1]}` in {path}" if switch.key and switch.key[-1] != PROJECT else path
            said = (switch, value)
            if switch.says in _RARE:
                from mooring.discovery.marks import plain  # only where a tool has said such a thing

                said = plain(switch, value, shelf.context)
            words = _heard(replace(words, fold=switch.fold), *said, word)
    return words


_RARE = frozenset({"chosen", "paths", "folders", "approved", "rejected", "servers"})


def _told(shelf: _Shelf, switch: Switch) -> Iterator[tuple[str, Any]]:
    """What stands where a switch is, and in which files."""
    for path, document in shelf.all(switch.place):
        for _, value in dig(document.data, switch.key, shelf.context):
            yield path, value


def _heard(words: _Words, switch: Switch, value: Any, where: str) -> _Words:
    if switch.says in ("true", "trusted"):
        meant = value is True if switch.says == "true" else value == "trusted"
        return replace(words, all=words.all or where) if meant else words
    names = [name.casefold() if switch.fold else name for name in _listed(switch, value)]
    projects = switch.place.scope == "project"
    if switch.says == "only":
        limit = ((projects, frozenset(names), where),) if isinstance(value, list) and value else ()
        return replace(words, only=words.only + limit)
    named = dict.fromkeys(names, where)
    if projects:
        return replace(words, in_project={**named, **words.in_project})
    return replace(words, everywhere={**named, **words.everywhere})


def _listed(switch: Switch, value: Any) -> list[str]:
    if switch.says == "states":
        states = value if isinstance(value, Mapping) else {}
        return [name for name, state in states.items() if state is False or _is_off(state)]
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _is_off(state: Any) -> bool:
    return isinstance(state, Mapping) and state.get("enabled") is False


# --- shapes -------------------------------------------------------------------------------------------------


def _misplaced(format: Format, sheet: Sheet, context: Context) -> Iterator[Problem]:
    data, key = sheet.document.data, sheet.place.key or format.key
    if not isinstance(data, Mapping):
        yield Problem(sheet.path, f"The file should hold an object, but holds {kind(data)}", "mend it", line=1)
        return
    for path, container in dig(data, key, context):
        if (complaint := _complaint(format, path, container)) is not None:
            message, hint = complaint
            yield Problem(sheet.path, message, hint, line=sheet.document.line(path) or 1)
    yield from _wrong_container(format, sheet)


def _complaint(format: Format, path: tuple[str, ...], container: Any) -> tuple[str, str] | None:
    key = ".".join(path) or "the file"
    if format.listed and isinstance(container, list):
        nameless = any(not (isinstance(raw, Mapping) and isinstance(raw.get("name"), str)) for raw in container)
        hint = "name it, or move what a hub keeps into the file"
        return ("A server in the list has no name of its own and is left out", hint) if nameless else None
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
    if sheet.place.key or not format.key or format.single or format.key[0] in sheet.document.data:
        return
    others = CONTAINERS - {key[0] for key in format.also}
    for word in sorted(others & sheet.document.data.keys()):
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


def _several(paths: str, where: Where) -> Iterable[str]:
    listed = paths.split(";" if where.platform == "win32" else ":")
    return (path for path in reversed(listed) if os.path.isabs(path))


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
    home = os.path.realpath(where.home)
    bare = replace(where, env={})
    for format in formats:
        for place in format.places:
            if place.scope == "user" and place.each is None:
                for machine in (where, bare) if "$" in place.path or place.path[0] != "~" or place.unless else (where,):
                    if path := locate(place, machine):
                        yield home + path[len(where.home) :] if path.startswith(where.home + "/") else path
