"""The files of one scan, each read once, and what they say of servers elsewhere in them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.problem import Problem
from mooring.core.where import Where
from mooring.discovery import format as shapes
from mooring.discovery.format import (
    PROJECT,
    Folder,
    Folders,
    Format,
    Place,
    RawEntry,
    ScanContext,
    Sheet,
    Switch,
    locate,
)
from mooring.errors import FileError, ParseError
from mooring.syntax.document import Document
from mooring.syntax.parse import parse

MOST_MATCHES = 256
_NO_FOLDER = Folder()


class Documents:
    """The files of one scan, each read once, with the problems they gave."""

    def __init__(self, context: ScanContext, formats: Sequence[Format]) -> None:
        self.context = context
        self.problems: list[Problem] = []
        self.seen: list[str] = []
        self.looked: set[str] = set()
        """Everywhere a file was looked for, found or not; of a pattern, the folder."""
        self._documents: dict[str, Document | None] = {}
        self._folders: dict[int, tuple[Folder, ...]] = {}
        self._tools = frozenset(format.tool for format in formats)
        self._personal = frozenset(_personal(context, formats))

    def sheets(self, format: Format) -> tuple[Sheet, ...]:
        plain = [place for place in format.places if place.folders is None]
        once = {(place.scope, place.key, path): place for place, path in reversed([*self._paths(plain)])}
        found = [(place, path, self._around(place, path)) for (*_, path), place in once.items()][::-1]
        if len(plain) < len(format.places):
            inside = [row for place in format.places if place.folders for row in self._inside(place, place.folders)]
            found = inside + found if format.places[0].folders else found + inside
        sheets = (
            Sheet(place, path, document, folder)
            for place, path, folder in found
            if (document := self.document(place, path)) is not None
        )
        return tuple(
            each for sheet in sheets for each in (self._led(sheet) if sheet.place.may_name_files else (sheet,))
        )

    def _around(self, place: Place, path: str) -> Folder:
        """The folder of a file, where folders are switched off by name."""
        if not place.off or not os.path.lexists(path):
            return _NO_FOLDER
        return Folder(disabled_by=said(self, place.off).about(os.path.basename(os.path.dirname(path))))

    def _inside(self, place: Place, folders: Folders) -> Iterator[tuple[Place, str, Folder]]:
        """A place in each of the folders that another file names."""
        if id(folders) not in self._folders:
            self._folders[id(folders)] = self._named(folders)
        for folder in self._folders[id(folders)]:
            yield place, place.path.replace("{each}", folder.path, 1), folder

    def _named(self, folders: Folders) -> tuple[Folder, ...]:
        wanted = folders.registries if folders.tool in self._tools else ()
        listed = [each for switch in wanted for each in told(self, switch)]
        if not listed:
            return ()
        from mooring.discovery.plugins import named, settled  # only where there are such folders

        found = [each for path, value in listed for each in named(folders.tool, value, path, self.context)]
        off = said(self, folders.off)
        answers = [value for switch in folders.answers for _, value in told(self, switch)]
        whole = (
            settled(each, (off.about(each.id) if each.id else None) or each.disabled_by, answers) for each in found
        )
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
            self.looked.add(path)
            self._documents[path] = self._open(place, path)
        return self._documents[path]

    def _paths(self, places: Iterable[Place]) -> Iterator[tuple[Place, str]]:
        """Where the places are on this machine: a nearer folder first, and in it the places in their order."""
        places = tuple(places)
        for place in places:
            if not _walked(place) and (path := locate(place, self.context.where)):
                if place.path_list:
                    yield from ((place, one) for one in _several(path, self.context.where))
                else:
                    yield from ((place, match) for match in self._matches(place, path))
        walked = [place for place in places if _walked(place)]
        for folder, real in zip(self.context.folders, self.context.real, strict=True) if walked else ():
            for place in walked:
                path = os.path.join(folder, place.path)
                if os.path.join(real, place.path) not in self._personal:
                    yield from ((place, match) for match in self._matches(place, path))

    def _matches(self, place: Place, path: str) -> Iterable[str]:
        many = "*" in place.path and not place.literal
        self.looked.add(os.path.dirname(path.partition("*")[0]) if many else path)
        return files.matches(path, MOST_MATCHES) if many else (path,)

    def _open(self, place: Place, path: str) -> Document | None:
        try:
            data = self._inline(place) if place.inline else files.read(path, place.limit)
            if data is None:
                return None
            if not place.inline:
                self.seen.append(path)
            document = (
                _picked(data, place.extract)
                if place.extract and len(data) > files.MIB
                else parse(data, shapes.document_kind(path))
            )
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


def dig(data: Any, key: tuple[str, ...], context: ScanContext) -> Iterator[tuple[tuple[str, ...], Any]]:
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


class Words(Struct, frozen=True):
    """Which servers some lists name, or all of them, and where that stands."""

    everywhere: Mapping[str, str]
    in_project: Mapping[str, str]
    """What a project's own files say, which concerns the project's own servers alone."""
    all: str | None
    only: tuple[tuple[bool, frozenset[str], str], ...] = ()
    """Lists of the names that may run: whether a project's, the names, and where they stand."""
    fold: bool = False

    def of(self, entry: RawEntry) -> str | None:
        return self.about(entry.name, entry.origin.scope == "project" and not entry.origin.owned)

    def about(self, name: str, foreign: bool = False) -> str | None:
        name = name.casefold() if self.fold else name
        word = self.everywhere.get(name) or self.all or (self.in_project.get(name) if foreign else None)
        lists = ((names, where) for projects, names, where in self.only if foreign or not projects)
        return word or next((where for names, where in lists if name not in names), None)


_SILENT = Words({}, {}, None)


def said(shelf: Documents, switches: Iterable[Switch]) -> Words:
    """What is said where these switches stand, taken together."""
    words = _SILENT
    for switch in switches:
        for path, value in told(shelf, switch):
            word = f"`{switch.key[-1]}` in {path}" if switch.key and switch.key[-1] != PROJECT else path
            common = (switch, value)
            if switch.says in _RARE:
                from mooring.discovery.marks import plain  # only where a tool has said such a thing

                common = plain(switch, value, shelf.context)
            words = _heard(replace(words, fold=switch.fold), *common, word)
    return words


_RARE = frozenset({"chosen", "paths", "folders", "approved", "rejected", "servers"})


def told(shelf: Documents, switch: Switch) -> Iterator[tuple[str, Any]]:
    """What stands where a switch is, and in which files."""
    for path, document in shelf.all(switch.place):
        for _, value in dig(document.data, switch.key, shelf.context):
            yield path, value


def _heard(words: Words, switch: Switch, value: Any, where: str) -> Words:
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


# --- where files are ----------------------------------------------------------------------------------------


def _walked(place: Place) -> bool:
    return place.scope == "project" and not place.owned


def _several(paths: str, where: Where) -> Iterable[str]:
    listed = paths.split(";" if where.platform == "win32" else ":")
    return (path for path in reversed(listed) if os.path.isabs(path))


def _picked(data: bytes, pick: Callable[[bytes], Any]) -> Document:
    """The wanted part of a file too large to be read whole; the rest is skipped, not built."""
    try:
        return Document(pick(data))
    except (msgspec.DecodeError, RecursionError):
        reason = "is not the JSON it should be"
    raise ParseError(reason)


def _personal(context: ScanContext, formats: Sequence[Format]) -> Iterator[str]:
    """The paths that are the person's own, wherever a variable may have moved them to: no project's, even at home."""
    where = context.where
    home = os.path.realpath(where.home)
    bare = replace(where, env={})
    for format in formats:
        for place in format.places:
            if place.scope == "user" and place.folders is None:
                for machine in (
                    (where, bare) if "$" in place.path or place.path[0] != "~" or place.unless_set else (where,)
                ):
                    if path := locate(place, machine):
                        yield home + path[len(where.home) :] if path.startswith(where.home + "/") else path
