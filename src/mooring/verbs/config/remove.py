"""`remove`: one entry is taken out of the file that it is in."""

from collections.abc import AsyncIterator, Iterator
from itertools import chain

from mooring.auth.store import read_stored
from mooring.core.conversation.question import Ask, No, ServerDetail, Yes
from mooring.core.definitions.config import Broken, ServerConfig, list_templates
from mooring.core.definitions.paths import Workspace
from mooring.discovery.edit import remove_entry
from mooring.discovery.targets import WriteScope
from mooring.display.text import describe_origin, quote_argument, safe, short_path
from mooring.errors import UnknownServer
from mooring.inventory.approval import list_definitions
from mooring.inventory.load import RowSource, describe_source, load
from mooring.verbs.config.add import ChangedEntry, follow_link, update_config
from mooring.verbs.config.locate import LocatedEntry, locate_entry
from mooring.verbs.config.rules import refuse_below_mooring
from mooring.verbs.config.secrets import remove_secret


class Removal(ChangedEntry, frozen=True, kw_only=True):
    """What was removed, and from where."""

    remaining: tuple[RowSource, ...] = ()
    """Where the name is still defined; the first one wins now."""
    unused_secrets: tuple[str, ...] = ()
    """The stored secrets that it named, and that nothing else names."""


def remove(workspace: Workspace, name: str, tool: str | None = None, scope: WriteScope | None = None) -> Removal:
    """Remove a server from Mooring's own file, or from the file of the tool that is named.

    Raises:
        UnknownServer: no server has that name.
        ConfigError: it is not there, is in several such files, or in one that is never written.
        FileError: the file cannot be read or written.
    """
    return remove_located(workspace, locate_entry(workspace, name, tool, scope, "remove"))


def remove_located(workspace: Workspace, entry: LocatedEntry) -> Removal:
    """Remove exactly this entry, whatever else has its name by now. Raises: as `remove`."""
    refuse_below_mooring("mooring mcp remove")

    def change(data: bytes) -> bytes:
        return remove_entry(data, entry.path, entry.find_keys(data))

    update_config(entry.path, change, workspace.where, entry.place.limit)
    origin = entry.definition.origin
    return Removal(
        name=entry.name,
        tool=origin.tool,
        scope=origin.scope,
        path=entry.path,
        leads_to=follow_link(entry.path),
        remaining=_find_remaining(workspace, entry.name),
        unused_secrets=tuple(_find_unused_secrets(workspace, entry.definition.config)),
    )


def describe_removal(removal: Removal, home: str) -> Iterator[str]:
    """What was done, then what a person should know about it."""
    yield f"Removed {safe(removal.name)} from {short_path(removal.path, home)}."
    yield from removal.describe_link(home)
    for source in removal.remaining:
        yield f"Still defined: {safe(describe_origin(source.tool, source.shown_scope, source.path, home))}."


async def offer_to_forget(ask: Ask | None, workspace: Workspace, removal: Removal) -> AsyncIterator[str]:
    """Ask whether to remove the secrets that nothing names any more; what was done, or can be done, in sentences.

    Raises: StoreUnavailable, FileError.
    """
    if not removal.unused_secrets:
        return
    names = ", ".join(removal.unused_secrets)
    note = f"Nothing else names {safe(names)}."
    detail = ServerDetail(removal.name, "Remove what is stored for it too", (note,), "no", ("no", "yes"))
    answer = await ask(detail) if ask is not None else No()
    for name in removal.unused_secrets:
        if isinstance(answer, Yes) and answer.content == "yes":
            await remove_secret(workspace.where, name)
            yield f"Removed the secret {safe(name)}."
        else:
            yield f"The secret {safe(name)} is still stored. To remove it: mooring secret rm {quote_argument(name)}"


def _find_unused_secrets(workspace: Workspace, removed: ServerConfig | Broken) -> Iterator[str]:
    named = set(_list_secrets(removed))
    if not named:
        return
    choices = load(workspace, remember=False).choices
    definitions = chain.from_iterable(map(list_definitions, choices))
    used = set(chain.from_iterable(_list_secrets(each.config) for each in definitions))
    stored = {each.name for each in read_stored(workspace.where) if each.kind == "secret"}
    yield from sorted(name for name in named - used if name in stored)


def _list_secrets(config: ServerConfig | Broken) -> Iterator[str]:
    if isinstance(config, ServerConfig):
        for _, template in list_templates(config.written or config.connection, config.oauth):
            yield from template.own_secrets


def _find_remaining(workspace: Workspace, name: str) -> tuple[RowSource, ...]:
    try:
        choice = load(workspace, remember=False).find(name)
    except UnknownServer:
        return ()
    if choice.name != name:
        return ()
    return tuple(describe_source(each.origin) for each in list_definitions(choice))
