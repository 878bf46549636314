"""`import`: definitions of other tools, or of a file, are copied into Mooring's own file."""

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from mooring import files
from mooring.actions.add import find_destination
from mooring.actions.copy_servers import BY_DEFAULT, Copied, CopyOptions, SkippedServer, copy_servers, list_candidates
from mooring.core.near import nearest
from mooring.core.problem import Problem
from mooring.core.question import Ask
from mooring.core.where import Viewpoint
from mooring.discovery.choose import choose
from mooring.discovery.formats import FORMATS
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.guess import FileServers, read_servers
from mooring.discovery.scan import RankedDefinition, make_context
from mooring.errors import ConfigError
from mooring.inventory.approval import list_definitions
from mooring.inventory.load import Inventory, load

STDIN = "-"


class ImportSource(Struct, frozen=True):
    """Where definitions are taken from: a tool or a file, by what the person calls it."""

    word: str = ""
    """A tool's id, a path, or `-`; empty for every tool but Mooring."""
    text: bytes = b""
    """What was read from the standard input, for `-`."""


EVERY_TOOL = ImportSource()


async def import_servers(
    request: Viewpoint,
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
    inventory = load(request)
    destination = find_destination(request, OWN.tool, options.scope)
    found = _find_definitions(request, inventory, source)
    choices = choose(found.definitions, inventory.standing)
    if not source.word and not names:
        owned = _list_own_names(inventory)
        choices = tuple(choice for choice in choices if choice.name not in owned)
    candidates = list_candidates(choices, names, f"of {source.word}" if source.word else "of another tool")
    left_out = [] if names else _list_left_out(found)
    return await copy_servers(request, inventory, candidates, destination, options, ask, left_out)


def list_tools() -> tuple[str, ...]:
    """The tools whose files are read, in the order of their precedence."""
    return tuple(dict.fromkeys(format.tool for format in FORMATS))


class _Found(Struct, frozen=True):
    """The definitions of a source, highest rank first, and what is wrong with its other entries."""

    definitions: Sequence[RankedDefinition]
    problems: Sequence[Problem] = ()


def _find_definitions(request: Viewpoint, inventory: Inventory, source: ImportSource) -> _Found:
    known = sorted(_list_known(inventory), key=lambda definition: definition.rank)
    if not source.word:
        return _Found([each for each in known if each.origin.tool != OWN.tool])
    if source.word in list_tools():
        return _Found([each for each in known if each.origin.tool == source.word])
    return _read_file(request, known, source)


def _list_left_out(found: _Found) -> list[SkippedServer]:
    """The entries of a file that aren't servers, such as one that uses WebSocket."""
    names = {each.name for each in found.definitions}
    odd = [problem for problem in found.problems if problem.server and problem.server not in names]
    return [SkippedServer(problem.server or "", f"it {problem.message}", "broken") for problem in odd]


def _list_known(inventory: Inventory) -> Iterator[RankedDefinition]:
    for choice in inventory.choices:
        yield from list_definitions(choice)


def _list_own_names(inventory: Inventory) -> set[str]:
    return {each.name for each in _list_known(inventory) if each.origin.tool == OWN.tool}


# --- a file -------------------------------------------------------------------------------------------------


def _read_file(request: Viewpoint, known: Sequence[RankedDefinition], source: ImportSource) -> _Found:
    context = make_context(request.where, request.cwd)
    if source.word == STDIN:
        return _keep(read_servers(source.text, "", "The standard input", context, foreign=False))
    path = os.path.abspath(os.path.join(request.cwd, os.path.expanduser(source.word)))
    # As the scan read it: whether its servers are off, for one, may be said in another file of its tool.
    listed = [each for each in known if each.origin.path and _is_same_file(each.origin.path, path)]
    if listed:
        return _Found(listed)
    data = files.read(path)
    if data is None:
        raise _refuse_source(source.word)
    foreign = _is_of_project(path, context.root, request.where.home)
    return _keep(read_servers(data, path, source.word, context, foreign=foreign))


def _keep(read: FileServers) -> _Found:
    return _Found(read.definitions, read.problems)


def _is_same_file(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def _refuse_source(word: str) -> ConfigError:
    near = nearest(word, list_tools(), 1)
    hint = f"Did you mean {near[0]}?" if near else f"The tools are: {', '.join(list_tools())}."
    return ConfigError(f"{word} is neither a file nor a tool.", hint)


def _is_of_project(path: str, root: str, home: str) -> bool:
    """Whether a file came with the project, by its own path or by where a link leads.

    A folder that holds the person's home is no project: whatever is in it is their own.
    """
    if _is_inside(home, root):
        return False
    return _is_inside(path, root)


def _is_inside(path: str, folder: str) -> bool:
    pairs = (path, folder), (os.path.realpath(path), os.path.realpath(folder))
    return any(f"{inner}/".startswith(f"{outer.rstrip('/')}/") for inner, outer in pairs)
