"""Where an entry is written: which tools have files that are changed, and where those files are."""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from glob import escape
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.definitions.config import Origin
from mooring.discovery.format import Format, Place, ScanContext, locate
from mooring.discovery.formats import FORMATS
from mooring.errors import ConfigError

WriteScope: TypeAlias = Literal["user", "project", "local"]
"""`local` is Claude Code's: for the person alone, in this project."""


class WriteTarget(Struct, frozen=True):
    """A tool's format and the places where one of its files may be."""

    format: Format
    places: tuple[Place, ...]


def list_writers() -> tuple[str, ...]:
    """The tools whose files are written, in the order of their precedence."""
    return tuple(dict.fromkeys(format.tool for format in FORMATS if format.writes))


def find_target(tool: str, scope: WriteScope) -> WriteTarget | None:
    """Where a tool keeps its servers; `None` if it has no such file, or it is never written."""
    for format in _list_written_formats(tool):
        places = format.list_written_places(scope)
        if places:
            return WriteTarget(format, places)
    return None


def _list_written_formats(tool: str) -> Iterator[Format]:
    return (format for format in FORMATS if format.tool == tool and format.writes)


def locate_target(target: WriteTarget, context: ScanContext) -> tuple[Place, str]:
    """The file to write: the first of the target's places that exists, else the first.

    Raises:
        ConfigError: no variable says where it is.
    """
    found = [(place, path) for place in target.places if (path := _find_path(place, context))]
    if not found:
        raise ConfigError(f"{target.format.title} has no such file on this machine.")
    return next((each for each in found if os.path.lexists(each[1])), found[0])


def _find_path(place: Place, context: ScanContext) -> str | None:
    return os.path.join(context.root, place.path) if place.walked else locate(place, context.where)


def find_written_place(origin: Origin, context: ScanContext) -> WriteTarget | None:
    """The format and the place that a definition came from, if it is in a file that may be written."""
    if origin.path is None or origin.scope not in ("user", "project"):
        return None
    for format in _list_written_formats(origin.tool):
        for place in format.places:
            if place.scope == origin.scope and _is_at(place, origin.path, context):
                return WriteTarget(format, (place,))
    return None


def _is_at(place: Place, path: str, context: ScanContext) -> bool:
    # What a plugin or a variable holds is not a file of the person's to edit.
    if place.folders or place.inline:
        return False
    if place.walked:
        patterns = [os.path.join(escape(folder), place.path) for folder in context.folders]
    else:
        located = locate(place, context.where)
        patterns = [located] if located else []
    return path in patterns or any(fnmatchcase(path, pattern) for pattern in patterns)
