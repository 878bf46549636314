"""`/approve`, `/reject` and `/pins`: what a person lets a project start, and the tools as they approved them."""

from mooring.chat.command import CommandFace, find_server
from mooring.chat.mcp.connecting import explain_failure
from mooring.display.text import count_noun, safe
from mooring.errors import ConfigError, ServerError


async def approve(chat: CommandFace, name: str) -> None:
    """Ask about a server of the project, or about all that nobody has decided about. Raises: MooringError."""
    names = (find_server(chat, name),) if name else await chat.session.list_unapproved()
    if not names:
        chat.say("No server of this project waits for approval.")
    for server in names:
        await _approve(chat, server)


async def _approve(chat: CommandFace, server: str) -> None:
    session = chat.session
    try:
        is_approved = await session.approve_server(server)
    except ServerError as error:
        # It is approved all the same, and there may be others to decide about.
        explain_failure(chat, server, error)
        return
    if is_approved:
        chat.say(f"Approved: {safe(server)} · {count_noun(session.count_tools(server), 'tool')}")
    else:
        chat.say(await session.describe_no(server))


async def reject(chat: CommandFace, name: str) -> None:
    """Refuse a server of the project. Raises: MooringError."""
    if not name:
        raise ConfigError("Usage: /reject NAME. /mcp shows the servers.")
    server = find_server(chat, name)
    await chat.session.reject_server(server)
    chat.say(f"Rejected: {safe(server)}. It does not start until its definition changes, or you approve it.")


async def pins(chat: CommandFace, name: str) -> None:
    """Show which tools are as they were approved, and ask about the others. Raises: MooringError."""
    # Loaded here: few chats look at pins.
    from mooring.verbs.config.pins import INSTRUCTIONS, describe_pin, list_pinned

    host, where = chat.session.host, chat.session.workspace.where
    rows = list_pinned(host, where, find_server(chat, name) if name else None)
    if not rows:
        chat.say("No tools are pinned yet: that happens with a server's first allowed call.")
    for row in rows:
        chat.say(f"{safe(row.server)}: {describe_pin(row)}")
        if row.problem:
            chat.say(f"  {row.problem}")
        if row.held:
            agreed = await chat.session.approve_tools(row.server)
            names = safe(", ".join(tool.tool or INSTRUCTIONS for tool in row.held))
            chat.say(f"{'Approved' if agreed else 'Not approved'}: {names}")
