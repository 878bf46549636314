"""What there is: all servers, one of them, and its definition."""

import asyncio

from msgspec.structs import replace

from mooring.chat import servers
from mooring.chat.command import CommandFace, find_server
from mooring.chat.mcp.verbs import list_texts
from mooring.core.conversation.status import Disabled
from mooring.servers.log import read as read_log


async def list_all(chat: CommandFace, _: str) -> None:
    """Every server and its status."""
    session = chat.session
    told = await session.list_agent_status()
    chat.say(*servers.list_servers(session.host, servers.AgentView(session.responder.backend.name, told)))


async def show_server(chat: CommandFace, server: str, since: str = "") -> None:
    """One server, and what it wrote last; `since` is a time in UTC, in ISO form."""
    session = chat.session
    log = await asyncio.to_thread(read_log, session.workspace.where, server, servers.LOG)
    recent = [entry for entry in log if entry.time >= since]
    told = await session.list_agent_status()
    view = servers.AgentView(session.responder.backend.name, told)
    chat.say(*servers.describe_server(session.host, server, recent, view))


async def get(chat: CommandFace, words: str) -> None:
    """One server's definition in full. Raises: ConfigError."""
    # Loaded here: few chats ask for it.
    from mooring.inventory.load import load
    from mooring.verbs.config.definition import show_details
    from mooring.verbs.config.get import get_details

    server = find_server(chat, words)
    workspace = chat.session.workspace
    inventory = await asyncio.to_thread(load, workspace)
    details = get_details(inventory, server, workspace.where.env)
    status = chat.session.status[server]
    # The status is the one in this chat, where a server may be on that its file turns off.
    disabled_by = details.disabled_by if isinstance(status, Disabled) else None
    details = replace(details, server=replace(details.server, status=status.word), disabled_by=disabled_by)
    chat.say(*list_texts(show_details(details, workspace.where.home)))
