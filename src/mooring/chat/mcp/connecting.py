"""A server is connected while a person waits: they see that it is there, or why not and what may help."""

from collections.abc import Awaitable

from mooring.chat import servers
from mooring.chat.command import CommandFace
from mooring.chat.mcp.verbs import spell_for_chat
from mooring.display.text import count_noun, safe
from mooring.errors import ServerError
from mooring.verbs.use.advice import advise_on_failure
from mooring.verbs.use.evidence import describe_failed_connection, describe_withheld, list_output


async def connect(chat: CommandFace, server: str) -> None:
    """Connect a server and say how many tools it has. Raises: MooringError if it may not be started."""
    session = chat.session
    if session.responder.has_native_servers:
        view = servers.AgentView(session.responder.backend.name, await session.list_agent_status())
        chat.say(f"{safe(server)}{view.describe(server)}")
        return
    if await wait_for_server(chat, server, session.connect(server)):
        count = session.count_tools(server)
        chat.say(f"{safe(server)}: connected · {count_noun(count, 'tool')}")


async def wait_for_server(chat: CommandFace, server: str, connecting: Awaitable[object]) -> bool:
    """Wait until a server is connected; whether it is now. Raises: MooringError if it may not be started."""
    chat.show_progress(f"connecting {safe(server)} …")
    try:
        await connecting
    except ServerError as error:
        explain_failure(chat, server, error)
        return False
    return True


def explain_failure(chat: CommandFace, server: str, error: ServerError) -> None:
    """Say why a server could not be connected, what its process wrote, and what may help."""
    chat.warn(describe_failed_connection(server, error))
    withheld = describe_withheld(error)
    if withheld:
        chat.say(f'  {safe(withheld)}; "env" in its definition passes a variable on.')
    chat.say(*(f"  {safe(line)}" for line in list_output(error)))
    config = chat.session.host.definition(server)
    advice = "" if config is None else advise_on_failure(config, error, chat.session.workspace.where)
    if advice:
        chat.say(spell_for_chat(safe(advice)))
