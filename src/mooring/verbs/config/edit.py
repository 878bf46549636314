"""`edit`: one entry of a file is changed, field by field or as a text; every byte outside it stays."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.conversation.question import Ask
from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.paths import Workspace
from mooring.discovery.choose import Choice
from mooring.discovery.scan import RankedDefinition
from mooring.discovery.targets import WriteScope
from mooring.display.text import quote_argument, safe, short_path
from mooring.errors import ConfigError, NotApproved, ParseError, UnknownServer
from mooring.inventory.approval import list_definitions
from mooring.inventory.load import Inventory, RowSource, load
from mooring.syntax.edit import cut_excerpt, edit_bytes, find_value, put_excerpt
from mooring.syntax.parse import decode_text, parse
from mooring.verbs.config.add import (
    ChangedEntry,
    approve_entries,
    check_name,
    describe_other_winner,
    describe_refusal,
    find_other_winner,
    follow_link,
    refuse_unreadable,
    update_config,
)
from mooring.verbs.config.clearance import Clearance, SkippedServer
from mooring.verbs.config.fields import FieldChanges, apply_changes
from mooring.verbs.config.locate import LocatedEntry, locate_entry
from mooring.verbs.config.rules import refuse_below_mooring


class Edit(ChangedEntry, frozen=True, kw_only=True):
    """What was changed, and where."""

    changed: bool
    ignored: tuple[str, ...] = ()
    """What is wrong with the entry and is left out when it is used."""
    approved: bool = True
    """It may be started: it is the person's own, or it is approved in this project as it is now."""
    behind: RowSource | None = None
    """The definition of that name that wins, if it is another one."""
    declined: bool = False
    """The person saw what a project's entry would become and did not approve it, so that nothing was written."""


class EntryText(Struct, frozen=True):
    """An entry as it is in its file, for a person to edit."""

    located: LocatedEntry
    text: str

    @property
    def suffix(self) -> str:
        """How the name of a file with this text should end, so that an editor knows its syntax."""
        suffix = self.located.path.rpartition(".")[2]
        return f".{suffix}" if suffix.isalnum() else f".{self.located.kind}"

    def __repr__(self) -> str:
        # It may hold secrets.
        return f"EntryText({self.located.name}, {len(self.text)} characters)"


async def edit(
    workspace: Workspace,
    name: str,
    changes: FieldChanges,
    tool: str | None = None,
    scope: WriteScope | None = None,
    ask: Ask | None = None,
) -> Edit:
    """Change fields of a server's entry in Mooring's own file, or in the file of the tool that is named.

    What a person makes of a project's entry is approved. Whoever changes a field has not looked at the others, so an
    entry that was not approved before is shown to them as a whole, as it would be written, before anything is.

    Raises:
        UnknownServer: no server has that name.
        ConfigError: it is not there, is in a file that is never written, or would not be sound any more.
        FileError: the file cannot be read or written.
        NotApproved: nobody approved the project's entry, and nobody can be asked.
    """
    located = _locate(workspace, name, tool, scope)

    def change(text: str) -> str:
        return apply_changes(text, located, located.find_keys(text.encode()), changes)

    objection = await _find_objection(workspace, located)
    if objection is None:
        return _write(workspace, located, change, approve=True)
    if ask is None:
        raise NotApproved(located.name, f"was not changed: {objection.why}", hint=objection.hint)
    return await _ask_and_write(workspace, located, change, ask)


def read_entry_text(
    workspace: Workspace, name: str, tool: str | None = None, scope: WriteScope | None = None
) -> EntryText:
    """The text of a server's entry. Raises: as `edit`."""
    located = _locate(workspace, name, tool, scope)
    try:
        return EntryText(located, _cut(located, decode_text(_read_file(located))))
    except ParseError as error:
        raise ConfigError(f"{located.path} {error.reason}, so its entries cannot be edited one by one.") from None


def _locate(workspace: Workspace, name: str, tool: str | None, scope: WriteScope | None) -> LocatedEntry:
    refuse_below_mooring("mooring mcp edit")
    try:
        located = locate_entry(workspace, name, tool, scope, "edit")
    except UnknownServer:
        check_name(name)
        raise
    # Not before: that a plugin's `plugin:docs:search` is never written says more than that its name is odd.
    check_name(located.name)
    return located


def is_entry_unchanged(entry: EntryText) -> bool:
    """Whether the file still has the entry as it was read. Raises: FileError."""
    return _is_unchanged(entry, decode_text(_read_file(entry.located)))


def leave_entry(workspace: Workspace, entry: EntryText) -> Edit:
    """What came of an edit that changes nothing."""
    return _describe(workspace, entry.located, False, ())


def write_entry_text(workspace: Workspace, entry: EntryText, text: str) -> Edit:
    """Put a text in the place of an entry. Whoever wrote it has seen all of it, so a project's entry is approved.

    Raises:
        ConfigError: it is not sound, or somebody else changed the entry since it was read; the file stays as it is.
        FileError: the file cannot be read or written.
    """

    def change(now: str) -> str:
        if not _is_unchanged(entry, now):
            raise _refuse_changed(entry.located)
        return now if text == entry.text else _replace(entry.located, now, text)

    return _write(workspace, entry.located, change, approve=True)


def describe_edit(done: Edit, home: str) -> Iterator[str]:
    """What was done, then what a person should know about it."""
    name = safe(done.name)
    if done.declined:
        yield f"Nothing was written: you did not approve {name} as it would be."
        return
    if not done.changed:
        yield "Nothing changed."
        return
    yield f"Changed {name} in {short_path(done.path, home)}."
    yield from done.describe_link(home)
    for message in done.ignored:
        yield f"{name}: {safe(message)}."
    if not done.approved:
        yield f"It comes from the project and is not approved: mooring mcp approve {quote_argument(done.name)}"
    yield from describe_other_winner(done.name, done.behind, home)


# --- texts --------------------------------------------------------------------------------------------------


def _read_file(located: LocatedEntry) -> bytes:
    return files.read(located.path, located.place.limit) or b""


def _cut(located: LocatedEntry, text: str) -> str:
    return cut_excerpt(text, located.kind, located.find_keys(text.encode()))


def _is_unchanged(entry: EntryText, now: str) -> bool:
    try:
        return _cut(entry.located, now) == entry.text
    except ParseError:
        return False


def _replace(located: LocatedEntry, now: str, text: str) -> str:
    keys = located.find_keys(now.encode())
    try:
        return put_excerpt(now, located.kind, keys, text)
    except ParseError as error:
        line = f" (line {error.line})" if error.line else ""
        raise ConfigError(f"Invalid server config: it {error.reason}{line}.") from None


def _find_raw(located: LocatedEntry, text: str) -> Any:
    """The entry as data. Raises: ParseError, LookupError."""
    return find_value(parse(text.encode(), located.kind).data, located.find_keys(text.encode()))


def _refuse_changed(located: LocatedEntry) -> ConfigError:
    whose = f"{located.name} in {located.path}"
    return ConfigError(f"{whose} was changed by another program in the meantime, so it was left as it is.")


def _check(located: LocatedEntry, text: str) -> tuple[str, ...]:
    """What is wrong with the entry of a new text and would be ignored. Raises: ConfigError if it cannot be used."""
    read = located.read(text)
    if read is None:
        raise ConfigError("Invalid server config: its name has to stay.")
    if not isinstance(read.definition, ServerConfig):
        raise ConfigError(f"Invalid server config: {describe_refusal(read.problems[-1])}.")
    return tuple(problem.message for problem in read.problems)


# --- approval -----------------------------------------------------------------------------------------------


async def _ask_and_write(workspace: Workspace, located: LocatedEntry, change: Callable[[str], str], ask: Ask) -> Edit:
    """Show a project's entry as it would be; a yes approves exactly that, and writes it."""
    before = _read_file(located)
    with refuse_unreadable(located.path):
        draft = edit_bytes(before, change)
    if draft == before:
        return _describe(workspace, located, False, ())
    _check(located, decode_text(draft))
    shown = _find_raw(located, decode_text(draft))
    if await _find_objection(workspace, located, draft, ask) is not None:
        return replace(_describe(workspace, located, False, ()), declined=True)

    def change_as_shown(text: str) -> str:
        made = change(text)
        if _find_raw(located, made) != shown:
            raise _refuse_changed(located)
        return made

    return _write(workspace, located, change_as_shown, approve=False)


async def _find_objection(
    workspace: Workspace, located: LocatedEntry, draft: bytes | None = None, ask: Ask | None = None
) -> SkippedServer | None:
    """Why a project's entry is not approved, as it is or as a draft would make it; `None` if it is or needs not be."""
    if not located.definition.origin.foreign:
        return None
    inventory = load(workspace, remember=False, drafts={} if draft is None else {located.path: draft})
    definition = _find_definition(inventory, located)
    if definition is None or not isinstance(definition.config, ServerConfig):
        hint = "Run this in a terminal to look and decide."
        return SkippedServer(located.name, "nobody can approve it as it is", "unapproved", hint)
    choice = Choice(definition, inventory.standing(definition))
    return await Clearance(workspace, inventory, ask).find_objection(choice, is_named=True)


def _find_definition(inventory: Inventory, located: LocatedEntry) -> RankedDefinition | None:
    """The definition in that file, whichever of its name wins."""
    definitions = list_definitions(inventory.find(located.name))
    return next((each for each in definitions if each.origin.path == located.path), None)


# --- writing ------------------------------------------------------------------------------------------------


def _write(workspace: Workspace, located: LocatedEntry, change: Callable[[str], str], *, approve: bool) -> Edit:
    ignored: tuple[str, ...] = ()
    raw: Any = None

    def change_bytes(data: bytes) -> bytes:
        nonlocal ignored, raw
        made = edit_bytes(data, change)
        # An entry that is left as it is may be as unsound as it was.
        if made != data:
            text = decode_text(made)
            ignored = _check(located, text)
            raw = _find_raw(located, text)
        return made

    changed = update_config(located.path, change_bytes, workspace.where, located.place.limit)
    if changed and approve and located.definition.origin.foreign:
        approve_entries(workspace, located.path, {located.name: raw})
    return _describe(workspace, located, changed, ignored)


def _describe(workspace: Workspace, located: LocatedEntry, changed: bool, ignored: tuple[str, ...]) -> Edit:
    origin = located.definition.origin
    return Edit(
        name=located.name,
        tool=origin.tool,
        scope=origin.scope,
        path=located.path,
        changed=changed,
        leads_to=follow_link(located.path),
        ignored=ignored,
        approved=_is_approved(workspace, located),
        behind=find_other_winner(workspace, located.name, located.path),
    )


def _is_approved(workspace: Workspace, located: LocatedEntry) -> bool:
    """Whether the entry may be started as it is now."""
    if not located.definition.origin.foreign:
        return True
    inventory = load(workspace, remember=False)
    definition = _find_definition(inventory, located)
    return definition is not None and inventory.standing(definition) == "approved"
