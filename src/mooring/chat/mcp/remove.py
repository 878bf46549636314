"""`/mcp remove`: take a server out of the file that it is in, once the person has agreed."""

import asyncio

from mooring.chat.command import CommandFace, find_server
from mooring.core.conversation.question import RemoveServer, Yes
from mooring.discovery.targets import WriteScope
from mooring.display.text import safe, short_path
from mooring.verbs.config.locate import locate_entry
from mooring.verbs.config.remove import describe_removal, remove_located


async def remove(chat: CommandFace, name: str, tool: str | None, scope: WriteScope | None) -> None:
    """Ask, then remove the entry and end its server. Raises: MooringError."""
    session = chat.session
    request = session.workspace
    entry = await asyncio.to_thread(locate_entry, request, find_server(chat, name), tool, scope, "remove")
    path = short_path(entry.path, request.where.home)
    answer = await chat.ask(RemoveServer(entry.name, path))
    if not isinstance(answer, Yes):
        chat.say(f"{safe(entry.name)} stays in {path}.")
        return
    removal = await session.change_files(asyncio.to_thread(remove_located, request, entry))
    chat.say(*describe_removal(removal, request.where.home))
