"""`remove`: one entry is taken out of the file that it is in."""

from collections.abc import Iterator

from msgspec import Struct

from mooring.core.definitions.paths import Workspace
from mooring.discovery.edit import remove_entry
from mooring.discovery.targets import WriteScope
from mooring.display.text import describe_origin, safe, short_path
from mooring.errors import UnknownServer
from mooring.inventory.approval import list_definitions
from mooring.inventory.load import RowSource, describe_source, load
from mooring.syntax.parse import parse
from mooring.verbs.config.add import follow_link, update_config
from mooring.verbs.config.locate import LocatedEntry, locate_entry
from mooring.verbs.verb import VerbResult, show_notes


class Removal(Struct, frozen=True, rename="camel"):
    """What was removed, and from where."""

    name: str
    tool: str
    scope: str
    path: str
    leads_to: str | None = None
    """The file that was changed, if the path is a symbolic link."""
    remaining: tuple[RowSource, ...] = ()
    """Where the name is still defined; the first one wins now."""


def remove(workspace: Workspace, name: str, tool: str | None = None, scope: WriteScope | None = None) -> VerbResult:
    """Remove a server from Mooring's own file, or from the file of the tool that is named.

    Raises:
        UnknownServer: no server has that name.
        ConfigError: it is not there, is in several such files, or in one that is never written.
        FileError: the file cannot be read or written.
    """
    removal = remove_located(workspace, locate_entry(workspace, name, tool, scope, "remove"))
    return VerbResult({"removed": removal}, show_notes(describe_removal(removal, workspace.where.home)))


def remove_located(workspace: Workspace, entry: LocatedEntry) -> Removal:
    """Remove exactly this entry, whatever else has its name by now. Raises: as `remove`."""

    def change(data: bytes) -> bytes:
        return remove_entry(data, entry.path, entry.find_keys(parse(data, entry.kind).data))

    update_config(entry.path, change, workspace.where, entry.place.limit)
    origin = entry.definition.origin
    return Removal(
        name=entry.name,
        tool=origin.tool,
        scope=origin.scope,
        path=entry.path,
        leads_to=follow_link(entry.path),
        remaining=_find_remaining(workspace, entry.name),
    )


def describe_removal(removal: Removal, home: str) -> Iterator[str]:
    """What was done, then what a person should know about it."""
    yield f"Removed {safe(removal.name)} from {short_path(removal.path, home)}."
    if removal.leads_to:
        yield f"That is a link; the file is {safe(removal.leads_to)}."
    for source in removal.remaining:
        yield f"Still defined: {safe(describe_origin(source.tool, source.scope, source.path, home))}."


def _find_remaining(workspace: Workspace, name: str) -> tuple[RowSource, ...]:
    try:
        choice = load(workspace, remember=False).find(name)
    except UnknownServer:
        return ()
    if choice.name != name:
        return ()
    return tuple(describe_source(each.origin) for each in list_definitions(choice))
