"""`import` and `export`: copy servers of other tools into Mooring's own file, or servers into another tool's."""

import os
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from mooring import files
from mooring.core.conversation.question import Ask
from mooring.core.definitions.config import Origin, ServerConfig, Stdio
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.text.suggestions import nearest
from mooring.discovery.choose import choose
from mooring.discovery.formats import FORMATS
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.guess import FoundServers, is_file_of, read_servers
from mooring.discovery.scan import RankedDefinition, make_context
from mooring.display.text import quote_argument
from mooring.errors import ConfigError, UnknownServer
from mooring.inventory.approval import list_definitions
from mooring.inventory.load import Inventory, load
from mooring.verbs.config.add import find_destination
from mooring.verbs.config.clearance import SkippedServer, is_of_project, list_left_out
from mooring.verbs.config.copy_servers import Copied, CopyCandidate, CopyOptions, copy_servers, list_candidates
from mooring.verbs.config.describe import is_whole_line
from mooring.verbs.config.pasted import PastedServers
from mooring.verbs.config.rules import refuse_below_mooring

_PAGES = (".md", ".markdown", ".mdx")


async def import_pasted(
    workspace: Workspace, pasted: PastedServers, names: Sequence[str], options: CopyOptions, ask: Ask | None, tool: str
) -> Copied:
    """Copy the servers of these names, or all that a text describes, into a tool's file.

    Raises: as `import_servers`.
    """
    _refuse_writing("import", options)
    inventory = load(workspace)
    destination = find_destination(workspace, tool, options.scope)
    candidates = list_candidates(choose(pasted.definitions, inventory.standing), names, "in the text")
    lines = [skipped for each in candidates if (skipped := _find_whole_line(each, workspace.cwd))]
    unusable = {each.name for each in lines}
    wanted = [each for each in candidates if each.name not in unusable]
    left_out = (*lines, *(() if names else pasted.left_out))
    return await copy_servers(workspace, inventory, wanted, destination, options, ask, left_out)


def _find_whole_line(candidate: CopyCandidate, cwd: str) -> SkippedServer | None:
    """Why a pasted server cannot be started: its command is a whole line."""
    config = candidate.config
    if not isinstance(config, ServerConfig) or not isinstance(config.connection, Stdio):
        return None
    command = config.connection.command.plain
    if command is None or not is_whole_line(command, cwd):
        return None
    hint = f"To add it: mooring mcp add {quote_argument(candidate.name)} -- {command.strip()}"
    return SkippedServer(candidate.name, "the command has blanks in it; write its words apart", "refused", hint)


async def import_servers(
    workspace: Workspace, source: str, names: Sequence[str], options: CopyOptions, ask: Ask | None
) -> Copied:
    """Copy the servers of these names, or all that the source has, into Mooring's own file.

    The source is a tool's id or a path. Without one, every definition is taken that wins and whose name Mooring's own
    files lack.

    Raises:
        UnknownServer: the source has no server of one of the names.
        ConfigError: the source is not known or cannot be understood, or Mooring's own file cannot.
        FileError: a file cannot be read or written.
    """
    _refuse_writing("import", options)
    inventory = load(workspace)
    destination = find_destination(workspace, OWN.tool, options.scope)
    found = _find_definitions(workspace, inventory, source)
    choices = choose(found.definitions, inventory.standing)
    if not source and not names:
        owned = {each.name for each in _list_known(inventory) if each.origin.tool == OWN.tool}
        choices = tuple(choice for choice in choices if choice.name not in owned)
    try:
        candidates = list_candidates(choices, names, f"of {source}" if source else "of another tool")
    except UnknownServer as error:
        if not source and error.name in list_tools():
            hint = f"To copy that tool's servers: mooring mcp import --from {error.name}"
            raise ConfigError(f"No server of another tool is called {error.name!r}.", hint) from None
        raise
    left_out = () if names else list_left_out(found)
    copied = await copy_servers(workspace, inventory, candidates, destination, options, ask, left_out)
    return replace(copied, unread=() if names else _list_unread(inventory, source))


def _refuse_writing(verb: str, options: CopyOptions) -> None:
    """Keep what Mooring started from writing servers; it may look at what would be written. Raises: Denied."""
    if not options.dry_run:
        refuse_below_mooring(f"mooring mcp {verb}")


def list_tools() -> tuple[str, ...]:
    """The tools whose files are read, in the order of their precedence."""
    return tuple(dict.fromkeys(format.tool for format in FORMATS))


def _find_definitions(workspace: Workspace, inventory: Inventory, source: str) -> FoundServers:
    known = sorted(_list_known(inventory), key=lambda definition: definition.rank)
    if not source:
        return FoundServers(tuple(each for each in known if each.origin.tool != OWN.tool))
    if source in list_tools():
        return FoundServers(tuple(each for each in known if each.origin.tool == source))
    return _read_file(workspace, known, source)


def _list_unread(inventory: Inventory, source: str) -> tuple[Problem, ...]:
    """The files of the source that could not be read: without them, "nothing to write" would be only half of it."""

    def is_of_source(path: str) -> bool:
        # Without a word, the source is every tool but Mooring, into whose file all is imported.
        return is_file_of(source, path) if source else not is_file_of(OWN.tool, path)

    return tuple(
        problem for problem in inventory.problems if problem.hides_servers and is_of_source(problem.path or "")
    )


def _list_known(inventory: Inventory) -> Iterator[RankedDefinition]:
    for choice in inventory.choices:
        yield from list_definitions(choice)


# --- a file -------------------------------------------------------------------------------------------------


def _read_file(workspace: Workspace, known: Sequence[RankedDefinition], source: str) -> FoundServers:
    context = make_context(workspace.where, workspace.cwd)
    path = os.path.abspath(os.path.join(workspace.cwd, os.path.expanduser(source)))
    # As the scan read it: whether its servers are off, for one, may be said in another file of its tool.
    listed = tuple(each for each in known if _is_in(each.origin, path))
    if listed:
        return FoundServers(listed)
    if path.endswith(_PAGES) and os.path.exists(path):
        # What a person pipes in, they have chosen; a page of the project is no file of servers.
        raise ConfigError(f"{source} is a page. To read it: mooring mcp import --from - <{quote_argument(source)}")
    data = files.read(path)
    if data is None:
        raise _refuse_source(source)
    foreign = is_of_project(path, workspace)
    return read_servers(data, path, source, context, foreign=foreign)


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
    workspace: Workspace, tool: str, names: Sequence[str], options: CopyOptions, ask: Ask | None
) -> Copied:
    """Copy the servers of these names into a tool's file; without names, all that are not that tool's own already.

    Raises:
        UnknownServer: no server has one of the names.
        ConfigError: the tool has no file that may be written, or it cannot be understood.
        FileError: the file cannot be read or written.
    """
    _refuse_writing("export", options)
    inventory = load(workspace)
    candidates = list_candidates(inventory.choices, names)
    # A tool reads what is its own already, perhaps from another of its files.
    wanted = [each for each in candidates if each.is_named or each.config.origin.tool != tool]
    destination = find_destination(workspace, tool, options.scope)
    return await copy_servers(workspace, inventory, wanted, destination, options, ask)
