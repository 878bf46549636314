"""`remove`: one entry is taken out of the file that it is in."""

from msgspec import Struct

from mooring.actions.add import follow_link, update_config
from mooring.core.where import Viewpoint
from mooring.discovery.choose import Choice
from mooring.discovery.edit import find_entry_path, remove_entry
from mooring.discovery.format import document_kind
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.scan import RankedDefinition, make_context
from mooring.discovery.targets import WriteScope, find_written_place
from mooring.display.text import quote_argument
from mooring.errors import ConfigError, UnknownServer
from mooring.inventory.approval import list_definitions
from mooring.inventory.load import RowSource, describe_source, load
from mooring.syntax.parse import parse


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


def remove(request: Viewpoint, name: str, tool: str | None = None, scope: WriteScope | None = None) -> Removal:
    """Remove a server from Mooring's own file, or from the file of the tool that is named.

    Raises:
        UnknownServer: no server has that name.
        ConfigError: it is not there, is in several such files, or in one that is never written.
        FileError: the file cannot be read or written.
    """
    choice = load(request, remember=False).find(name)
    definition = _choose(choice, tool, scope)
    origin = definition.origin
    context = make_context(request.where, request.cwd, request.project)
    target = find_written_place(origin, context)
    if target is None or origin.path is None:
        raise ConfigError(f"{choice.name} is in {origin.path or 'no file'}, which is never written; remove it there.")
    path, place, key = origin.path, target.places[0], origin.key

    def change(data: bytes) -> bytes:
        if not isinstance(key[-1], int):
            return remove_entry(data, path, key)
        # In a list, others may have moved it.
        content = parse(data, document_kind(path)).data
        return remove_entry(data, path, find_entry_path(content, target, place, choice.name, context))

    update_config(path, change, request.where, place.limit)
    return Removal(
        name=choice.name,
        tool=origin.tool,
        scope=origin.scope,
        path=path,
        leads_to=follow_link(path),
        remaining=_find_remaining(request, choice.name),
    )


def _choose(choice: Choice, tool: str | None, scope: WriteScope | None) -> RankedDefinition:
    every = list_definitions(choice)
    in_scope = [each for each in every if scope in (None, each.origin.scope)]
    wanted = [each for each in in_scope if each.origin.tool == (tool or OWN.tool)]
    if len(wanted) == 1:
        return wanted[0]
    if wanted:
        places = ", ".join(f"{each.origin.scope}: {each.origin.path}" for each in wanted)
        raise ConfigError(f"{choice.name} is defined more than once ({places}); choose one with -s.")
    whose = tool or "Mooring's own file"
    others = ", ".join(f"{each.origin.tool} ({each.origin.path})" for each in every)
    hint = f"mooring mcp remove {quote_argument(choice.name)} --from {every[0].origin.tool}"
    raise ConfigError(f"{choice.name} is not defined in {whose}, but in {others}. To remove it there: {hint}")


def _find_remaining(request: Viewpoint, name: str) -> tuple[RowSource, ...]:
    try:
        choice = load(request, remember=False).find(name)
    except UnknownServer:
        return ()
    if choice.name != name:
        return ()
    return tuple(describe_source(each.origin) for each in list_definitions(choice))
