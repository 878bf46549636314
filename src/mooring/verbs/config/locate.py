"""Finds the entry that `remove` and `edit` change: the file that it is in, if that may be written."""

import os
from typing import Literal

from msgspec import Struct

from mooring.core.definitions.paths import Workspace
from mooring.discovery.choose import Choice
from mooring.discovery.edit import find_entry_path
from mooring.discovery.entry import ParsedEntry
from mooring.discovery.format import Place, ScanContext, Sheet, document_kind
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.scan import RankedDefinition, make_context, read_sheet_entry
from mooring.discovery.targets import WriteScope, WriteTarget, find_written_place
from mooring.display.text import quote_argument
from mooring.errors import ConfigError
from mooring.inventory.approval import list_definitions
from mooring.inventory.load import load
from mooring.syntax.document import Kind
from mooring.syntax.parse import parse

_OPTIONS = {"remove": "--from", "edit": "--in"}
"""How each verb names another tool's file."""


class LocatedEntry(Struct, frozen=True):
    """An entry, and the file of the person's or the project's that it is in."""

    name: str
    definition: RankedDefinition
    path: str
    target: WriteTarget
    context: ScanContext

    @property
    def place(self) -> Place:
        return self.target.places[0]

    @property
    def kind(self) -> Kind:
        return document_kind(self.path)

    def find_keys(self, data: bytes) -> tuple[str | int, ...]:
        """The keys that lead to it in the file's bytes, as they are now. Raises: ParseError."""
        content = parse(data, self.kind).data
        key = self.definition.origin.key
        if not isinstance(key[-1], int):
            return key
        # In a list, others may have moved it.
        return find_entry_path(content, self.target, self.place, self.name, self.context)

    def read(self, text: str) -> ParsedEntry | None:
        """What a text of the file says about the server; `None` if it says nothing. Raises: ParseError."""
        sheet = Sheet(self.place, self.path, parse(text.encode(), self.kind))
        return read_sheet_entry(self.target.format, sheet, self.context, self.name)


def locate_entry(
    workspace: Workspace, name: str, tool: str | None, scope: WriteScope | None, verb: Literal["remove", "edit"]
) -> LocatedEntry:
    """Find a server's entry in Mooring's own file, or in the file of the tool that is named.

    Raises:
        UnknownServer: no server has that name.
        ConfigError: it is not there, is in several such files, or in one that is never written.
    """
    check_files_are_read(workspace)
    choice = load(workspace, remember=False).find(name)
    context = make_context(workspace.where, workspace.cwd, workspace.project)
    definition = _choose(choice, context, tool, scope, verb)
    origin = definition.origin
    target = find_written_place(origin, context)
    # Without keys, the whole file is the entry.
    if target is None or origin.path is None or not origin.key:
        raise ConfigError(f"{choice.name} is in {origin.path or 'no file'}, which is never written; {verb} it there.")
    if origin.foreign:
        check_stays_inside(origin.path, context.root)
    return LocatedEntry(choice.name, definition, origin.path, target, context)


def check_files_are_read(workspace: Workspace) -> None:
    """Refuse to write what would not be read again. Raises: ConfigError."""
    if workspace.demo:
        raise ConfigError("--demo leaves all files out, so nothing is written; try it without --demo.")


def check_stays_inside(path: str, root: str) -> None:
    """See that a repository's link does not lead an edit to a file of the person's own. Raises: ConfigError."""
    if not os.path.realpath(path).startswith(os.path.realpath(root) + os.sep):
        raise ConfigError(f"{path} leads out of the project, so it was left as it is.")


def _choose(
    choice: Choice, context: ScanContext, tool: str | None, scope: WriteScope | None, verb: str
) -> RankedDefinition:
    every = list_definitions(choice)
    # A project's file comes before the person's own entry for the project, which Claude Code calls local.
    named = [each for each in every if scope in (None, each.origin.shown_scope)]
    in_scope = named or [each for each in every if each.origin.scope == scope]
    wanted = [each for each in in_scope if each.origin.tool == (tool or OWN.tool)]
    # Next to a file of a plugin or of an administrator, the one that may be written is meant.
    written = [each for each in wanted if find_written_place(each.origin, context)]
    for only in (written, wanted):
        if len(only) == 1:
            return only[0]
    if wanted:
        places = ", ".join(f"{each.origin.shown_scope}: {each.origin.path}" for each in wanted)
        raise ConfigError(f"{choice.name} is defined more than once ({places}); choose one with -s.")
    whose = tool or "Mooring's own file"
    others = ", ".join(f"{each.origin.tool} ({each.origin.path})" for each in every)
    hint = f"mooring mcp {verb} {quote_argument(choice.name)} {_OPTIONS[verb]} {every[0].origin.tool}"
    raise ConfigError(f"{choice.name} is not defined in {whose}, but in {others}. To {verb} it there: {hint}")
