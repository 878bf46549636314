"""`/mcp reload`: restart one server, or read the configuration again and refresh what all servers offer."""

from mooring.chat import servers
from mooring.chat.command import CommandFace, find_server
from mooring.chat.mcp.connecting import wait_for_server
from mooring.chat.mcp.show import show_server


async def reload(chat: CommandFace, name: str) -> None:
    """Restart the server of that name; without one, read the configuration again, restart what failed, and have healthy
    servers list their tools again. Raises: MooringError.
    """
    session = chat.session
    if not name:
        chat.show_progress("reading the configuration, connecting servers …")
        await session.reload_all()
        chat.say("The configuration was read again.", *servers.list_servers(session.host))
        return
    server = session.host.server(find_server(chat, name)).name
    if await wait_for_server(chat, server, session.reload(server)):
        await show_server(chat, server)
