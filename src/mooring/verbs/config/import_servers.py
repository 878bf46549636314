"""`import` and `export`: copy servers of other tools into Mooring's own file, or servers into another tool's."""

import os
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.conversation.question import Ask
from mooring.core.definitions.config import Origin
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.text.suggestions import nearest
from mooring.discovery.choose import choose
from mooring.discovery.formats import FORMATS
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.guess import FoundServers, is_file_of, read_servers
from mooring.discovery.scan import RankedDefinition, make_context
from mooring.errors import ConfigError
from mooring.inventory.approval import list_definitions
from mooring.inventory.load import Inventory, load
from mooring.verbs.config.add import find_destination
from mooring.verbs.config.clearance import is_of_project
from mooring.verbs.config.copy_servers import (
    BY_DEFAULT,
    Copied,
    CopyCandidate,
    CopyOptions,
    SkippedServer,
    copy_servers,
    list_candidates,
)

STDIN = "-"
_FENCED = rb"(?s)\s*```[^\n]*\n(.*)\n[ \t]*```\s*"


class ImportSource(Struct, frozen=True):
    """Where definitions are taken from: a tool or a file, by what the person calls it."""

    word: str = ""
    """A tool's id, a path, or `-`; empty for every tool but Mooring."""
    text: bytes = b""
    """What was read from the standard input, for `-`."""


EVERY_TOOL = ImportSource()


async def import_servers(
    workspace: Workspace,
    source: ImportSource = EVERY_TOOL,
    names: Sequence[str] = (),
    options: CopyOptions = BY_DEFAULT,
    ask: Ask | None = None,
) -> Copied:
    """Copy the servers of these names, or all that the source has, into Mooring's own file.

    Without a source, every definition is taken that wins and whose name Mooring's own files lack.

    Raises:
        UnknownServer: the source has no server of one of the names.
        ConfigError: the source is not known or cannot be understood, or Mooring's own file cannot.
        FileError: a file cannot be read or written.
    """
    inventory = load(workspace)
    destination = find_destination(workspace, OWN.tool, options.scope)
    found = _find_definitions(workspace, inventory, source)
    choices = choose(found.definitions, inventory.standing)
    if not source.word and not names:
        owned = _list_own_names(inventory)
        choices = tuple(choice for choice in choices if choice.name not in owned)
    candidates = list_candidates(choices, names, f"of {source.word}" if source.word else "of another tool")
    left_out = [] if names else _list_left_out(found)
    copied = await copy_servers(workspace, inventory, candidates, destination, options, ask, left_out)
    return replace(copied, unread=() if names else _list_unread(inventory, source))


def list_tools() -> tuple[str, ...]:
    """The tools whose files are read, in the order of their precedence."""
    return tuple(dict.fromkeys(format.tool for format in FORMATS))


def _find_definitions(workspace: Workspace, inventory: Inventory, source: ImportSource) -> FoundServers:
    known = sorted(_list_known(inventory), key=lambda definition: definition.rank)
    if not source.word:
        return FoundServers(tuple(each for each in known if each.origin.tool != OWN.tool))
    if source.word in list_tools():
        return FoundServers(tuple(each for each in known if each.origin.tool == source.word))
    return _read_file(workspace, known, source)


def _list_left_out(found: FoundServers) -> list[SkippedServer]:
    """The entries of a file that aren't servers, such as one that uses WebSocket."""
    names = {each.name for each in found.definitions}
    odd = [problem for problem in found.problems if problem.server and problem.server not in names]
    return [SkippedServer(problem.server or "", f"it {problem.message}", "broken") for problem in odd]


def _list_unread(inventory: Inventory, source: ImportSource) -> tuple[Problem, ...]:
    """The files of the source that could not be read: without them, "nothing to write" would be only half of it."""

    def is_of_source(path: str) -> bool:
        # Without a word, the source is every tool but Mooring, into whose file all is imported.
        return is_file_of(source.word, path) if source.word else not is_file_of(OWN.tool, path)

    return tuple(
        problem for problem in inventory.problems if problem.hides_servers and is_of_source(problem.path or "")
    )


def _list_known(inventory: Inventory) -> Iterator[RankedDefinition]:
    for choice in inventory.choices:
        yield from list_definitions(choice)


def _list_own_names(inventory: Inventory) -> set[str]:
    return {each.name for each in _list_known(inventory) if each.origin.tool == OWN.tool}


# --- a file -------------------------------------------------------------------------------------------------


def _read_file(workspace: Workspace, known: Sequence[RankedDefinition], source: ImportSource) -> FoundServers:
    context = make_context(workspace.where, workspace.cwd)
    if source.word == STDIN:
        return read_servers(_strip_fence(source.text), "", "The standard input", context, foreign=False)
    path = os.path.abspath(os.path.join(workspace.cwd, os.path.expanduser(source.word)))
    # As the scan read it: whether its servers are off, for one, may be said in another file of its tool.
    listed = tuple(each for each in known if _is_in(each.origin, path))
    if listed:
        return FoundServers(listed)
    data = files.read(path)
    if data is None:
        raise _refuse_source(source.word)
    foreign = is_of_project(path, workspace)
    return read_servers(data, path, source.word, context, foreign=foreign)


def _strip_fence(text: bytes) -> bytes:
    """What is between the fences of Markdown, if it was copied from a page together with them."""
    found = re.fullmatch(_FENCED, text)
    return found[1] if found else text


def _is_in(origin: Origin, path: str) -> bool:
    """Whether a definition is in a file that some tool reads; `--config` alone makes no file one of these."""
    if origin.path is None or origin.scope == "cli":
        return False
    return origin.path == path or os.path.realpath(origin.path) == os.path.realpath(path)


def _refuse_source(word: str) -> ConfigError:
    if "/" in word or "." in word:
        return ConfigError(f"{word} does not exist; --from takes a tool or a file.")
    near = nearest(word, list_tools(), 1)
    hint = f"Did you mean {near[0]}?" if near else f"The tools are: {', '.join(list_tools())}."
    return ConfigError(f"{word} is neither a file nor a tool.", hint)


async def export_servers(
    workspace: Workspace,
    tool: str,
    names: Sequence[str] = (),
    options: CopyOptions = BY_DEFAULT,
    ask: Ask | None = None,
) -> Copied:
    """Copy the servers of these names into a tool's file; without names, all that are not that tool's own already.

    Raises:
        UnknownServer: no server has one of the names.
        ConfigError: the tool has no file that may be written, or it cannot be understood.
        FileError: the file cannot be read or written.
    """
    inventory = load(workspace)
    candidates = list_candidates(inventory.choices, names)
    wanted = [each for each in candidates if each.is_named or not _is_of(each, tool)]
    destination = find_destination(workspace, tool, options.scope)
    return await copy_servers(workspace, inventory, wanted, destination, options, ask)


def _is_of(candidate: CopyCandidate, tool: str) -> bool:
    """Whether a tool reads the definition already, perhaps from another of its files."""
    return candidate.config.origin.tool == tool
