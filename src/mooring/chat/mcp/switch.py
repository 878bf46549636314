"""`/mcp enable` and `/mcp disable`: turn a server on or off for this session, or with `--save` for good."""

from mooring.chat.command import CommandFace, find_server
from mooring.chat.mcp.connecting import connect
from mooring.chat.mcp.verbs import list_texts
from mooring.discovery.targets import WriteScope
from mooring.display.text import safe
from mooring.errors import ConfigError


async def enable(chat: CommandFace, name: str, scope: WriteScope | None, save: bool) -> None:
    """Turn a server on and connect it. Raises: MooringError."""
    await _switch(chat, name, scope, save, True)


async def disable(chat: CommandFace, name: str, scope: WriteScope | None, save: bool) -> None:
    """Turn a server off. Raises: MooringError."""
    await _switch(chat, name, scope, save, False)


async def _switch(chat: CommandFace, name: str, scope: WriteScope | None, save: bool, on: bool) -> None:
    server = find_server(chat, name)
    if save:
        is_on = await _save(chat, server, scope, on)
    else:
        is_on = await _switch_for_session(chat, server, scope, on)
    if is_on:
        # Connected at once, so that its tools are there for the next line.
        await connect(chat, server)


async def _switch_for_session(chat: CommandFace, server: str, scope: WriteScope | None, on: bool) -> bool:
    """Turn a server on or off until the chat ends; whether it is on now."""
    if scope is not None:
        raise ConfigError("-s says where to save it, so it needs --save.")
    await chat.session.switch(server, on)
    chat.say(f"MCP server '{safe(server)}' {'enabled' if on else 'disabled'} for this session.")
    return on


async def _save(chat: CommandFace, server: str, scope: WriteScope | None, on: bool) -> bool:
    """Turn a server on or off for good; whether it is on and may be started."""
    from mooring.verbs.config.switch import show_switch  # few chats save a switch

    result = await chat.session.save_switch(server, on, scope)
    chat.say(*list_texts(show_switch(result, on, chat.session.workspace.where.home)))
    return result.enabled and result.approved
