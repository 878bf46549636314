"""The files of one scan: where they are on this machine, each read and parsed once, within a budget for a project."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec
from msgspec.structs import replace

from mooring import files
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.units import MIB
from mooring.discovery.format import PROJECT, Format, Place, ScanContext, document_kind, locate
from mooring.display.text import quote_argument
from mooring.errors import FileError, ParseError, TooManyValues
from mooring.syntax.document import Document, Kind
from mooring.syntax.parse import parse

MOST_MATCHES = 256
LET_IN = "let yourself in: "
"""Comes before the command that opens a folder."""


class Documents:
    """The files of one scan, each read once, with the problems they gave."""

    def __init__(self, context: ScanContext, formats: Sequence[Format]) -> None:
        self.context = context
        self.problems: list[Problem] = []
        self.seen: list[str] = []
        self.looked: set[str] = set()
        """Everywhere a file was looked for, found or not; for a pattern, its folder."""
        self._documents: dict[str, Document | None] = {}
        self._closed_folders: set[str] = set()
        self.budget = ProjectBudget()
        self._personal = _find_personal(context.where, formats)

    def read(self, place: Place, path: str) -> Document | None:
        """A file of a place; `None` if there is none, or none that can be read: then that is among the problems."""
        if path not in self._documents:
            self.looked.add(path)
            self._documents[path] = self._open(place, path)
        return self._documents[path]

    def read_all(self, place: Place) -> Iterator[tuple[str, Document]]:
        """The files of one place, nearest first."""
        for _, path in self.paths((place,)):
            document = self.read(place, path)
            if document is not None:
                yield path, document

    def read_program(self, place: Place, path: str) -> bytes | None:
        """The bytes of a file that is a program rather than configuration; `None` if it cannot be read."""
        try:
            return files.read(path, place.limit)
        except FileError:
            return None

    def find_present(self, places: Iterable[Place]) -> str | None:
        """The first of these places where there is something, readable or not."""
        return next((path for _, path in self.paths(places) if os.path.lexists(path)), None)

    def paths(self, places: Iterable[Place]) -> Iterator[tuple[Place, str]]:
        """Where the places are on this machine: a nearer folder first, and in it the places in their order."""
        places = tuple(places)
        for place in places:
            if not place.walked:
                yield from self._fixed_paths(place)
        walked = [place for place in places if place.walked]
        for folder, real in zip(self.context.folders, self.context.real, strict=True):
            for place in walked:
                yield from self._paths_in(place, folder, real)

    def _fixed_paths(self, place: Place) -> Iterator[tuple[Place, str]]:
        path = locate(place, self.context.where)
        if path is None:
            return
        found = _split_several(path, self.context.where) if place.path_list else self._matches(place, path)
        for match in found:
            yield place, match

    def _paths_in(self, place: Place, folder: str, real: str) -> Iterator[tuple[Place, str]]:
        # Someone who works in their home folder has no project there: `~/.mcp.json` needs no approval.
        if os.path.join(real, place.path) in self._personal:
            return
        for match in self._matches(place, os.path.join(folder, place.path)):
            yield place, match

    def _matches(self, place: Place, path: str) -> Iterable[str]:
        if place.literal or "*" not in place.path:
            self.looked.add(path)
            return (path,)
        self.looked.add(os.path.dirname(path.partition("*")[0]))
        return files.match_paths(path, MOST_MATCHES)

    def _open(self, place: Place, path: str) -> Document | None:
        try:
            document = self._parse(place, path)
        except FileError as error:
            self._report_unreadable(path, error)
            return None
        except ParseError as error:
            hint = "fix it there; until then, its servers are unknown"
            self.problems.append(Problem(path, f"The file {error.reason}", hint, line=error.line, hides_servers=True))
            return None
        if document is not None:
            self._report_duplicates(path, document)
        return document

    def _report_unreadable(self, path: str, error: FileError) -> None:
        folder = _find_closed_folder(path)
        if folder is None:
            fix = error.fix or "fix or remove it"
            self.problems.append(Problem(path, f"The file {error.reason}", fix, hides_servers=True))
        elif folder not in self._closed_folders:
            # Once: dozens of tools may have files in a folder such as `~/.config`.
            self._closed_folders.add(folder)
            message = f"The folder {folder} cannot be opened: permission denied"
            fix = f"{LET_IN}chmod u+rx {quote_argument(folder)}"
            self.problems.append(Problem(path, message, fix, hides_servers=True))

    def _parse(self, place: Place, path: str) -> Document | None:
        if place.inline:
            value = self.context.where.env[place.path]
            return parse(value.encode("utf-8", "surrogateescape")[: place.limit], document_kind(path))
        if place.read_program is not None:
            return self._parse_program(place, path, place.read_program)
        draft = self.context.drafts.get(path)
        data = _read_bytes(place, path) if draft is None else draft
        if data is None:
            return None
        self.seen.append(path)
        kind = document_kind(path)
        if place.scope == "project" and not place.owned:
            return self.budget.parse(data, kind)
        # Claude Code's `~/.claude.json` grows to hundreds of megabytes with everything else it keeps there.
        if place.extract is not None and len(data) > MIB:
            return _extract(data, place.extract)
        return parse(data, kind)

    def _parse_program(
        self, place: Place, path: str, read_program: Callable[[bytes], Document | None]
    ) -> Document | None:
        data = self.read_program(place, path)
        document = None if data is None else read_program(data)
        # Most programs in such a folder are about something else; they are not among the files of any server.
        if document is not None:
            self.seen.append(path)
        return document

    def _report_duplicates(self, path: str, document: Document) -> None:
        for key in document.duplicates:
            name = ".".join(map(str, key))
            message, line = f"The key `{name}` is written more than once; the last one wins", document.line(key)
            self.problems.append(Problem(path, message, "keep one of them", line=line, level="warning"))


def _find_closed_folder(path: str) -> str | None:
    """The outermost folder on the way to a file that this person may not look into."""
    parents = []
    while (parent := os.path.dirname(path)) != path:
        parents.append(parent)
        path = parent
    return next((each for each in reversed(parents) if os.path.isdir(each) and not os.access(each, os.X_OK)), None)


def dig(data: Any, key: tuple[str, ...], context: ScanContext) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What is under a key path. `PROJECT` in it is each of the project's folders in turn, nearest first."""
    if PROJECT not in key:
        yield from _follow(data, key)
        return
    at = key.index(PROJECT)
    for folder in context.known_as:
        yield from _follow(data, (*key[:at], folder, *key[at + 1 :]))


def _follow(data: Any, key: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for step in key:
        if not isinstance(data, Mapping) or step not in data:
            return
        data = data[step]
    yield key, data


def _read_bytes(place: Place, path: str) -> bytes | None:
    # What other tools keep is for them to protect; what others could write into our own folder is not believed.
    is_ours = place.path.startswith("{mooring}")
    return files.read_own(path, place.limit) if is_ours else files.read(path, place.limit)


def _split_several(paths: str, where: Paths) -> Iterable[str]:
    """The files that a variable lists as `$PATH` does. The last wins: Goose layers GOOSE_ADDITIONAL_CONFIG_FILES so."""
    separator = ";" if where.platform == "win32" else ":"
    return [path for path in reversed(paths.split(separator)) if os.path.isabs(path)]


def _extract(data: bytes, extract: Callable[[bytes], Any]) -> Document:
    """The wanted part of a file too large to be read whole; the rest is skipped, not built."""
    try:
        return Document(extract(data))
    except (msgspec.DecodeError, RecursionError):
        reason = "is not JSON"
    # Outside the `except` block: an error in its context would hold the data.
    raise ParseError(reason)


def _find_personal(where: Paths, formats: Sequence[Format]) -> frozenset[str]:
    """The paths that are the person's own: never a project's, even for someone who works in their home folder."""
    real_home = os.path.realpath(where.home)
    paths = _personal_paths(where, formats)
    return frozenset(_resolve_home(path, where.home, real_home) for path in paths if path)


def _personal_paths(where: Paths, formats: Sequence[Format]) -> Iterator[str | None]:
    unmoved = replace(where, env={})
    for place in chain.from_iterable(format.places for format in formats):
        if place.scope != "user" or place.folders:
            continue
        yield locate(place, where)
        # A variable may move a file away from its usual path, which stays the person's own. Most paths are fixed, and
        # to work each out twice would be felt in every listing.
        if "$" in place.path or place.path[0] != "~" or place.unless_set:
            yield locate(place, unmoved)


def _resolve_home(path: str, home: str, real_home: str) -> str:
    """The same path where the home folder is a link: a project's folders are compared by where links lead to."""
    return real_home + path.removeprefix(home) if path.startswith(home + "/") else path


MOST_BYTES = 2 * MIB
MOST_VALUES = 50_000
"""How many keys and list elements. Ordinary files of all tools in one project have a few hundred."""
MOST_SERVERS = 1000
# Python's own parser of TOML takes ten times as long as that of JSON, which is written in C.
_WEIGHTS: dict[Kind, int] = {"toml": 4}
_TOO_MUCH = (
    f"is skipped: the files of a project can have {MOST_BYTES // MIB} MiB and {MOST_VALUES:,} values together "
    f"(TOML a quarter of that)"
)


class ProjectBudget:
    """What the files of a project may still cost. A file that does not fit is refused, and a smaller one may fit.

    The person's own files are never charged to it, so that no project keeps them from being read.
    """

    def __init__(self) -> None:
        self._bytes = MOST_BYTES
        self._values = MOST_VALUES
        self._servers = MOST_SERVERS

    def parse(self, data: bytes, kind: Kind) -> Document:
        """Read the bytes of one of the project's files.

        Raises:
            ParseError: they are not valid, or the files before it left too little for it.
        """
        cost = len(data) * _WEIGHTS.get(kind, 1)
        if cost > self._bytes:
            raise ParseError(_TOO_MUCH)
        # Charged before the file is parsed: one that cannot be used has cost its time as well.
        self._bytes -= cost
        try:
            document = parse(data, kind, self._values)
        except TooManyValues:
            raise ParseError(_TOO_MUCH) from None
        self._values -= document.values
        return document

    def allows_server(self) -> bool:
        """Whether one more server of the project may be looked at."""
        self._servers -= 1
        return self._servers >= 0

    @property
    def problem(self) -> Problem | None:
        """What to say of the servers that were left out, if any were."""
        if self._servers >= 0:
            return None
        left_out = f"The project's files define {-self._servers} servers more than the {MOST_SERVERS:,} that are read"
        return Problem(None, left_out, "remove what is not needed")
