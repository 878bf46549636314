"""`add`: a server that a person described becomes an entry in a tool's file; and `undo`, which takes it out again."""

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.auth.store import StoredSecret
from mooring.core.definitions.config import Origin, Scope, ServerConfig
from mooring.core.definitions.paths import Paths, Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.text.secret import list_secrets, redact_data
from mooring.core.text.suggestions import nearest
from mooring.discovery.edit import find_entry_path, list_entries, put_entries, remove_entry, write_entry
from mooring.discovery.entry import read_entry
from mooring.discovery.format import Format, Place, RawEntry, ScanContext, document_kind
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.scan import RankedDefinition, make_context
from mooring.discovery.targets import WriteScope, WriteTarget, find_target, list_writers, locate_target
from mooring.discovery.template import list_written_secrets
from mooring.display.text import describe_origin, safe, short_path
from mooring.errors import ConfigError, ParseError
from mooring.inventory.approval import ApprovalQuestion, decide, list_definitions, list_questions
from mooring.inventory.load import Inventory, RowSource, describe_source, load
from mooring.syntax.document import Document
from mooring.syntax.parse import parse
from mooring.verbs.config.locate import check_files_are_read, check_stays_inside
from mooring.verbs.config.rules import refuse_below_mooring
from mooring.verbs.config.secrets import remove_secret

LONGEST_NAME = 100
_NAME = r"[a-zA-Z0-9_.-]+"


class ChangedEntry(Struct, frozen=True, kw_only=True, rename="camel"):
    """An entry that was added, changed or removed, and the file that it is or was in."""

    name: str
    tool: str
    scope: Scope | Literal["local"]
    path: str
    leads_to: str | None = None
    """The file that was changed, if the path is a symbolic link."""

    def describe_link(self, home: str) -> Iterator[str]:
        if self.leads_to:
            yield f"That is a link; the file is {safe(short_path(self.leads_to, home))}."


class Addition(ChangedEntry, frozen=True, kw_only=True):
    """What was written, and where."""

    scope: WriteScope
    not_expressed: tuple[str, ...] = ()
    """The keys of the definition that the tool cannot express; they were left out."""
    ignored: tuple[str, ...] = ()
    """What was wrong with the description, and left out."""
    approved: bool = False
    """It is in a project's file, and what was typed is approved there."""
    behind: RowSource | None = None
    """The definition of that name that wins, if it is another one."""


class Preview(Struct, frozen=True):
    """What `add` would write, and where."""

    path: str
    leads_to: str | None
    text: str
    """The entry in the syntax of the file, as if it were the only one there; its secrets are left out."""
    not_expressed: tuple[str, ...]


def add(
    workspace: Workspace, name: str, raw: Mapping[str, Any], scope: WriteScope = "user", tool: str = OWN.tool
) -> Addition:
    """Add a server to a tool's file; `raw` is an entry as in Mooring's own files.

    In a project's file it is approved, exactly as described: whoever typed it has decided.

    Raises:
        ConfigError: the description is not sound, the name is taken, or the tool cannot express it.
        FileError: the file cannot be read or written.
        Denied: a program that Mooring started would add it.
    """
    refuse_below_mooring("mooring mcp add")
    config, ignored = understand(name, raw)
    destination = find_destination(workspace, tool, scope, name)
    entry = write_entry(config, destination.target.format)
    update_config(destination.path, partial(destination.put, name, entry.raw), workspace.where, destination.place.limit)
    approved = approve_entries(workspace, destination.path, {name: entry.raw}) if scope == "project" else ()
    return Addition(
        name=name,
        tool=tool,
        scope=scope,
        path=destination.path,
        leads_to=follow_link(destination.path),
        not_expressed=_list_lost(entry.lost, raw),
        ignored=ignored,
        approved=bool(approved),
        behind=find_other_winner(workspace, name, destination.path),
    )


def preview(workspace: Workspace, name: str, raw: Mapping[str, Any], scope: WriteScope, tool: str) -> Preview:
    """What `add` would write, with nothing written yet. Raises: as `add`, unless the file itself is the reason."""
    config, _ = understand(name, raw)
    destination = find_destination(workspace, tool, scope, name)
    entry = write_entry(config, destination.target.format)
    secrets = list_written_secrets(config.written or config.connection)
    shown = redact_data(dict(entry.raw), list_secrets(secrets))
    return Preview(
        path=destination.path,
        leads_to=follow_link(destination.path),
        text=destination.put(name, shown, b"").decode().rstrip(),
        not_expressed=_list_lost(entry.lost, raw),
    )


def _list_lost(lost: tuple[str, ...], raw: Mapping[str, Any]) -> tuple[str, ...]:
    """What the person described and the tool cannot express. A transport that nobody named is not missed."""
    return tuple(key for key in lost if key != "transport" or "type" in raw)


async def undo(workspace: Workspace, addition: Addition, stored: Iterable[StoredSecret]) -> None:
    """Take a server out again that was just added, and what was stored for it.

    Raises:
        ConfigError, FileError: the file cannot be changed.
        StoreUnavailable: a secret cannot be removed.
    """
    destination = find_destination(workspace, addition.tool, addition.scope, addition.name)
    change = partial(destination.remove, addition.name)
    await asyncio.to_thread(update_config, destination.path, change, workspace.where, destination.place.limit)
    for secret in stored:
        await remove_secret(workspace.where, secret.name)


def describe_addition(addition: Addition, home: str) -> Iterator[str]:
    """What was done, then what a person should know about it."""
    name = safe(addition.name)
    yield f"Added {name} to {short_path(addition.path, home)}."
    yield from addition.describe_link(home)
    for key in addition.not_expressed:
        yield f"{addition.tool} cannot express `{safe(key)}`, so it was left out."
    for message in addition.ignored:
        yield f"{name}: {safe(message)}."
    yield from describe_other_winner(addition.name, addition.behind, home)


def describe_other_winner(name: str, winner: RowSource | None, home: str) -> Iterator[str]:
    """The definition of a name that wins, if it is not the one that was written."""
    if winner is not None:
        origin = describe_origin(winner.tool, winner.shown_scope, winner.path, home)
        yield f"Another definition of {safe(name)} wins: {safe(origin)}."


class Destination(Struct, frozen=True):
    """The file that entries go into."""

    target: WriteTarget
    place: Place
    path: str
    context: ScanContext

    def put(self, name: str, raw: Mapping[str, Any], data: bytes) -> bytes:
        return put_entries(data, self.path, self.target, self.place, {name: raw}, self.context)

    def check_free(self, name: str) -> None:
        """Refuse a name that the file has already. Raises: ConfigError, FileError."""
        # A file that cannot be read is refused when it is written, in a sentence of its own.
        with suppress(ParseError):
            self.put(name, {}, files.read(self.path, self.place.limit) or b"")

    def put_all(self, entries: Mapping[str, Mapping[str, Any]], data: bytes) -> bytes:
        """A file's bytes with these entries, in place of those that have their names."""
        return put_entries(data, self.path, self.target, self.place, entries, self.context, replace=True)

    def list(self, data: bytes) -> dict[str, Mapping[str, Any]]:
        """The entries in a file's bytes, by their names."""
        return list_entries(data, self.path, self.target, self.place, self.context)

    def remove(self, name: str, data: bytes) -> bytes:
        content = parse(data, document_kind(self.path)).data
        return remove_entry(data, self.path, find_entry_path(content, self.target, self.place, name, self.context))


def find_destination(workspace: Workspace, tool: str, scope: WriteScope, name: str | None = None) -> Destination:
    """Where entries are written, or one of that name. Raises: ConfigError if nothing can be written there."""
    check_files_are_read(workspace)
    target = _find_target(tool, scope)
    if name is not None:
        check_target_name(name, target.format)
    if scope != "user" and not workspace.project:
        raise ConfigError("--no-project leaves the project's files out, so nothing is written there.")
    context = make_context(workspace.where, workspace.cwd, workspace.project)
    place, path = locate_target(target, context)
    if scope == "project":
        check_stays_inside(path, context.root)
    return Destination(target, place, path, context)


def check_name(name: str) -> None:
    """Refuse a name that no file should have. Raises: ConfigError."""
    if not name:
        raise ConfigError("Invalid server config: the name is empty.")
    if len(name) > LONGEST_NAME:
        raise ConfigError(f"Invalid server config: the name is longer than {LONGEST_NAME} characters.")
    if not re.fullmatch(_NAME, name):
        raise ConfigError("Invalid server config: the name may have letters, digits, `_`, `.` and `-` only.")


def check_target_name(name: str, format: Format) -> None:
    """Refuse a name that a tool would not accept. Raises: ConfigError."""
    if format.name_pattern is not None and not re.fullmatch(format.name_pattern, name):
        raise ConfigError(f"Invalid server config: {format.title} does not accept such a name.")


def update_config(path: str, change: Callable[[bytes], bytes], where: Paths, limit: int = files.LIMIT) -> bool:
    """Change a configuration file in one step, whoever else writes it; whether anything was changed.

    Raises:
        ConfigError: it is not understood well enough to be changed; it is left as it was.
        FileError: it cannot be read or written.
    """
    with refuse_unreadable(path):
        return files.update(path, change, f"{where.state}/locks", limit)


@contextmanager
def refuse_unreadable(path: str) -> Iterator[None]:
    """Say about a file that is not understood that it was left as it was. Raises: ConfigError."""
    try:
        yield
    except ParseError as error:
        line = f" (line {error.line})" if error.line else ""
        raise ConfigError(f"{path} {error.reason}{line}, so it was left as it is.") from None


def follow_link(path: str) -> str | None:
    """Where a path leads, if a part of it is a symbolic link."""
    real = os.path.realpath(path)
    is_link = os.path.islink(path) or os.path.realpath(os.path.dirname(path)) != os.path.dirname(path)
    return real if is_link else None


def understand(name: str, raw: Mapping[str, Any]) -> tuple[ServerConfig, tuple[str, ...]]:
    """The definition that an entry means, and what in it is ignored. Raises: ConfigError if it means none."""
    check_name(name)
    origin = Origin(OWN.tool, "user", None)
    read = read_entry(RawEntry(name, raw, origin, Document({}), 0), OWN)
    problems = [problem.message for problem in read.problems]
    if not isinstance(read.definition, ServerConfig):
        raise ConfigError(f"Invalid server config: {describe_refusal(read.problems[-1])}.")
    return read.definition, tuple(problems)


def describe_refusal(problem: Problem) -> str:
    """Why an entry cannot be used, as the end of a sentence."""
    # A message that begins with a key has its subject already.
    what = problem.message if problem.message.startswith("`") else f"it {problem.message}"
    return f"{what} ({problem.hint})" if problem.hint else what


def _find_target(tool: str, scope: WriteScope) -> WriteTarget:
    target = find_target(tool, scope)
    if target is not None:
        return target
    if scope == "local" and tool in list_writers():
        raise ConfigError(f"{tool} has no local scope.", "Use -s user (everywhere) or -s project (for the project).")
    if tool not in list_writers():
        near = nearest(tool, list_writers(), 1)
        hint = f"Did you mean {near[0]}?" if near else f"These are: {', '.join(list_writers())}."
        raise ConfigError(f"{tool} is not a tool whose files are written. {hint}")
    whose = "of a project" if scope == "project" else "of your own"
    raise ConfigError(f"{tool} has no file {whose} that is written; try the other scope with -s.")


def approve_entries(workspace: Workspace, path: str, entries: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Approve what was written into a project's file, and nothing else that its files may say about these names.

    Returns:
        The names that are approved now: those of which no other definition of the project comes first.
    """
    inventory = load(workspace, remember=False)
    questions = [_ask_about(inventory, name, workspace.where, path, raw) for name, raw in entries.items()]
    written = [question for question in questions if question is not None]
    return decide(inventory, written, workspace.where, True) if written else ()


def _ask_about(
    inventory: Inventory, name: str, where: Paths, path: str, raw: Mapping[str, Any]
) -> ApprovalQuestion | None:
    """The question about what was written under a name; `None` if another definition of the project comes first."""
    choice = inventory.find(name)
    question = list_questions(replace(inventory, choices=(choice,)), (name,), where)[0]
    is_written = any(_is_typed(each, path, raw) for each in list_definitions(choice))
    return question if is_written and question.source.path == path else None


def _is_typed(definition: RankedDefinition, path: str, raw: Mapping[str, Any]) -> bool:
    config = definition.config
    return config.origin.path == path and isinstance(config, ServerConfig) and config.raw == raw


def find_other_winner(workspace: Workspace, name: str, path: str) -> RowSource | None:
    """The definition of a name that wins, if it is not the one in that file."""
    origin = load(workspace, remember=False).find(name).definition.origin
    return None if origin.path == path else describe_source(origin)
