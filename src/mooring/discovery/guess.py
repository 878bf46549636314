"""The servers of one file that a person names: its name, or else its content, tells which tool's format it has."""

import os
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.definitions.config import Scope, ServerConfig
from mooring.core.definitions.problem import Problem
from mooring.discovery.documents import ProjectBudget
from mooring.discovery.entry import read_entry
from mooring.discovery.format import Format, Place, ScanContext, Sheet, document_kind
from mooring.discovery.formats import FORMATS
from mooring.discovery.formats.common_shape import GENERIC
from mooring.discovery.formats.common_shape import VSCODE_FORMAT as VSCODE
from mooring.discovery.scan import RankedDefinition, gather_entries
from mooring.discovery.values import as_mapping
from mooring.errors import ConfigError, ParseError
from mooring.syntax.document import Document, Kind
from mooring.syntax.parse import parse

_SUFFIXES = (".json", ".jsonc", ".toml", ".yaml", ".yml", ".plist")
_SAMPLE = 50
"""How many entries tell a format. To read a thousand in each of forty would take seconds."""
NO_SERVERS = "has no servers in any format that is read here."
_ANY_KIND: tuple[Kind, ...] = ("json", "toml", "yaml")


class FoundServers(Struct, frozen=True):
    """What was found to choose from: definitions, highest rank first."""

    definitions: tuple[RankedDefinition, ...]
    problems: tuple[Problem, ...] = ()
    """What is wrong with the entries of a file, and which of them aren't servers."""
    is_bare: bool = False
    """They stand in the file as they are, without a key such as `mcpServers` around them."""


def read_servers(data: bytes, path: str, shown: str, context: ScanContext, *, foreign: bool) -> FoundServers:
    """The servers of a file's content; `shown` is what the person calls the file.

    With `foreign`, the file belongs to the project: its servers need an approval, and it may not hold too much.

    Raises:
        ConfigError: it cannot be understood, or there are no servers in it.
    """
    document = _parse(data, path, shown, ProjectBudget().parse if foreign else parse)
    scope: Scope = "project" if foreign else "user"
    found = _choose_format(path, document, context, scope)
    if found is None:
        raise _refuse(document.data, shown)
    servers = _read(*found, context, scope)
    is_bare = any(each.name in as_mapping(document.data) for each in servers.definitions)
    return replace(servers, is_bare=is_bare)


def is_file_of(tool: str, path: str) -> bool:
    """Whether a path is like one of those at which a tool keeps its servers."""
    places = [place for format in FORMATS if format.tool == tool for place in _list_files(format)]
    return any(_count_matching(path, place) for place in places)


def _choose_format(path: str, document: Document, context: ScanContext, scope: Scope) -> tuple[Format, Sheet] | None:
    """The format that fits a document best, and the document as one of its files; `None` if none has servers in it."""
    best: tuple[Format, Sheet] | None = None
    best_rating = (0, 0)
    for format, place, is_certain in _list_candidates(path, document.kind):
        sheet = Sheet(place, path, document)
        sample = _read(format, sheet, context, scope, _SAMPLE)
        if not sample.definitions:
            continue
        if is_certain:
            return format, sheet
        usable = sum(isinstance(each.config, ServerConfig) for each in sample.definitions)
        # `${env:TOKEN}`, say, is a fault where a tool takes it literally.
        faults = sum(problem.level in ("error", "warning") for problem in sample.problems)
        rating = (usable, -faults)
        if best is None or rating > best_rating:
            best, best_rating = (format, sheet), rating
            if not faults:
                break
    return best


def _refuse(data: Any, shown: str) -> ConfigError:
    if not as_mapping(data).keys().isdisjoint(("command", "url")):
        hint = "To add it: mooring mcp add-json NAME JSON"
        return ConfigError(f"{shown} describes one server, but does not name it.", hint)
    return ConfigError(f"{shown} {NO_SERVERS}")


# --- its syntax ---------------------------------------------------------------------------------------------


def _parse(data: bytes, path: str, shown: str, parse_as: Callable[[bytes, Kind], Document]) -> Document:
    """The document in the syntax of its suffix; without one that says it, in the first syntax that it follows."""
    is_json = data.lstrip().startswith(b"{")
    kinds = _list_kinds(path, is_json)
    errors: list[ParseError] = []
    for kind in kinds:
        try:
            document = parse_as(data, kind)
        except ParseError as error:
            errors.append(error)
            continue
        # Nearly every text is YAML of some kind.
        if isinstance(document.data, Mapping) or len(kinds) == 1:
            return document
    if not errors or len(kinds) > 1:
        raise ConfigError(f"{shown} {NO_SERVERS}")
    first = errors[0]
    line = f" (line {first.line})" if first.line else ""
    raise ConfigError(f"{shown} {first.reason}{line}.")


def _list_kinds(path: str, is_json: bool) -> tuple[Kind, ...]:
    if path.endswith(_SUFFIXES):
        return (document_kind(path),)
    # Broken JSON can be sound YAML that means something else.
    return ("json",) if is_json else _ANY_KIND


# --- its format ---------------------------------------------------------------------------------------------


def _list_candidates(path: str, kind: Kind) -> Iterator[tuple[Format, Place, bool]]:
    """The formats that a file may have, the likeliest first, each with a place of theirs, and whether that is certain.

    A path such as `.cursor/mcp.json` tells whose file it is; an `mcp.json` by itself could be anybody's.
    """
    named: list[tuple[int, Format, Place]] = []
    for format in FORMATS:
        for place in _list_files(format):
            length = _count_matching(path, place)
            if length:
                named.append((length, format, place))
    for _, format, place in sorted(named, key=lambda each: -each[0]):
        yield format, place, format is not GENERIC
    # `servers` is VS Code's word, though others read it too. Without any key, everything would be a server.
    for format in (GENERIC, VSCODE, *(format for format in FORMATS if format.key)):
        # A file that is one entry is named after itself, which is no name for a snippet.
        without_single = replace(format, single_entry=False)
        same_kind = [place for place in _list_files(format) if format is GENERIC or document_kind(place.path) == kind]
        for place in {place.key: place for place in reversed(same_kind)}.values():
            yield without_single, place, False


def _list_files(format: Format) -> list[Place]:
    """The places of a format that are files of a person or a project, and not of a plugin."""
    return [place for place in format.places if not (place.folders or place.inline or place.scope == "managed")]


def _count_matching(path: str, place: Place) -> int:
    """How many parts at the end of a path are those of a place; 0 unless the whole place matches."""
    wanted = _find_end(place.path).split("/")
    parts = path.split("/")[-len(wanted) :]
    is_match = all(map(fnmatchcase, parts, wanted)) and len(parts) == len(wanted) and wanted != [""]
    return len(wanted) if is_match else 0


def _find_end(path: str) -> str:
    """A place's path without what differs from machine to machine: `.codex/config.toml`."""
    before, _, rest = path.partition("${")
    variable, _, after = rest.partition("}")
    fallback = variable.partition(":-")[2]
    if rest:
        path = before + fallback + after
    path = path.replace("{mooring}", "~/mooring")
    for start in ("~", "{"):
        if path.startswith(start):
            path = path.partition("/")[2]
    return path.strip("/")


# --- its servers --------------------------------------------------------------------------------------------


def _read(format: Format, sheet: Sheet, context: ScanContext, scope: Scope, most: int | None = None) -> FoundServers:
    """The servers of a file, or only its first ones, as a format reads them."""
    definitions: dict[str, RankedDefinition] = {}
    problems: list[Problem] = []
    entries = (format.gather or gather_entries)(format, (sheet,), context)
    base = os.path.dirname(sheet.path) if format.relative_paths else ""
    for order, entry in enumerate(islice(entries, most)):
        # OpenCode merges the person's own entries into the project's, so that both come from one file here.
        if entry.name in definitions:
            continue
        origin = replace(entry.origin, scope=scope, path=sheet.path or None, owned=False)
        read = read_entry(replace(entry, origin=origin, base=base), format)
        problems += read.problems
        if read.definition is not None:
            definitions[entry.name] = RankedDefinition(read.definition, (0, 0, order))
    return FoundServers(tuple(definitions.values()), tuple(problems))
