"""`export`: the definitions that win are copied into another tool's file, in its own format."""

from collections.abc import Sequence

from mooring.core.conversation.question import Ask
from mooring.core.definitions.paths import Workspace
from mooring.inventory.load import load
from mooring.verbs.config.add import find_destination
from mooring.verbs.config.copy_servers import (
    BY_DEFAULT,
    Copied,
    CopyCandidate,
    CopyOptions,
    copy_servers,
    list_candidates,
)


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
