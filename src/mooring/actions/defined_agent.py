"""The agent that somebody names for a conversation, found among those that files define."""

import asyncio

from mooring.actions.session_start import SessionStart
from mooring.agents.definition import AgentDefinition
from mooring.agents.files.find import AgentFiles
from mooring.agents.missing_tools import describe_missing, find_missing_tools
from mooring.agents.selection import apply_selection
from mooring.agents.sessions.store import SessionStore
from mooring.core.status import Disabled
from mooring.core.where import Viewpoint
from mooring.display.text import quote_argument
from mooring.host.host import Host
from mooring.inventory.admit import NotAdmitted
from mooring.tools.registry import Registry
from mooring.tools.scope import ToolScope


class DefinedAgent:
    """An agent by its definition, which is read again before each turn."""

    def __init__(self, files: AgentFiles, definition: AgentDefinition) -> None:
        self._files = files
        self.definition = definition

    async def refresh(self, registry: Registry, within: ToolScope | None = None) -> None:
        """Look at its file again: what it says counts from now on. If the file is gone, the agent stays as it was.

        `within` is what narrows its tools besides.
        """
        # In a thread: it looks at the disk, and a home may be on a slow one.
        found = await asyncio.to_thread(self._files.find)
        definition = found.by_name.get(self.definition.name)
        if definition is not None and definition != self.definition:
            self.definition = definition
            registry.narrow(apply_selection(definition.tools, within))

    def describe_missing(self, host: Host) -> list[str]:
        """The tools that it goes without because nothing offers them, each in one line."""
        by_server = host.tools_by_server
        offered = {name: by_server.get(name) for name in host.servers}
        unusable = {name: _suggest_use(name, refused) for name, refused in host.refused.items()}
        missing = find_missing_tools(self.definition, offered, unusable)
        return [describe_missing(self.definition.name, each) for each in missing]


def _suggest_use(name: str, refused: NotAdmitted) -> str:
    verb = "enable" if isinstance(refused.status, Disabled) else "approve"
    return f"mooring mcp {verb} {quote_argument(name)}"


async def find_defined_agent(host: Host, name: str | None, start: SessionStart) -> DefinedAgent | None:
    """The agent that is named, else the one that a conversation which goes on was with; `None` if it is none.

    Raises: ConfigError if there is no such agent; FileError.
    """
    # In a thread: it looks at the disk, and a home may be on a slow one.
    return await asyncio.to_thread(_find_defined_agent, host.viewpoint, name, start)


def _find_defined_agent(viewpoint: Viewpoint, name: str | None, start: SessionStart) -> DefinedAgent | None:
    # Without this, an agent that may only read would go on with every tool.
    name = name or _find_previous(viewpoint, start)
    if name is None:
        return None
    files = AgentFiles(viewpoint)
    return DefinedAgent(files, files.find().find(name))


def _find_previous(viewpoint: Viewpoint, start: SessionStart) -> str | None:
    if start.resume is None and not start.newest:
        return None
    store = SessionStore(viewpoint.where)
    # That there is no such session, or several, is said when it is opened.
    if start.newest:
        found = store.list(viewpoint.cwd, most=1)
    else:
        found = tuple(session for session in store.list() if session.id.startswith(start.resume or ""))
    return found[0].agent if len(found) == 1 else None
