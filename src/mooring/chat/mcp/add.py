"""`/mcp add` and `/mcp import`: write servers into a file, and connect them; what was added is kept or undone."""

import asyncio
from collections.abc import Sequence
from time import gmtime, strftime

from mooring.auth.store import StoredSecret
from mooring.chat.command import CommandFace, split_words
from mooring.chat.mcp.actions import connect, show_server, wait_for_server
from mooring.chat.mcp.verbs import spell_for_chat
from mooring.core.conversation.question import KeepServer, No
from mooring.discovery.targets import WriteScope
from mooring.display.text import Verbatim, quote_argument, safe, safe_text, short_path
from mooring.errors import ConfigError
from mooring.verbs.config.add import Addition, describe_addition, undo
from mooring.verbs.config.add import add as write_server
from mooring.verbs.config.copy_servers import Copied, CopyOptions, describe_copied
from mooring.verbs.config.describe import ServerDescription, describe_swallowed_options, parse_description
from mooring.verbs.config.import_servers import import_pasted
from mooring.verbs.config.import_servers import import_servers as copy_servers
from mooring.verbs.config.pasted import STDIN, PastedServers, is_pasted
from mooring.verbs.config.secrets import describe_stored
from mooring.verbs.config.wizard import find_new_server


async def add(chat: CommandFace, text: str) -> None:
    """Add the server that the words describe; if they describe none, ask for it. Raises: MooringError."""
    session = chat.session
    # A paste has quotation marks of its own, which are not the chat's.
    description = ServerDescription(name=text) if is_pasted(text) else parse_description(split_words(text))
    new = await find_new_server(chat.ask, session.workspace, description)
    if new is None:
        chat.say("Nothing was added.")
        return
    if isinstance(new, PastedServers):
        options = CopyOptions(new.scope or "user")
        copying = import_pasted(session.workspace, new, (), options, chat.ask, description.tool)
        await _finish_copying(chat, await session.servers.change_files(copying), options)
        return
    # What was said about a server of that name that is gone by now is not about this one.
    if new.name not in session.servers.status:
        session.servers.forget_switch(new.name)
    write = asyncio.to_thread(write_server, session.workspace, new.name, new.raw, new.scope, new.tool)
    addition = await session.servers.change_files(write)
    where = session.workspace.where
    chat.say(*(describe_stored(secret, where) for secret in new.stored), *describe_addition(addition, where.home))
    chat.say(*describe_swallowed_options(description))
    # A server that another definition displaces would not be the one that is connected.
    if not description.no_test and addition.behind is None:
        await _try(chat, addition, new.stored)


async def _try(chat: CommandFace, addition: Addition, stored: Sequence[StoredSecret]) -> None:
    """Connect what was added, show what it offers, and ask whether to keep it."""
    # A server of that name that was removed may have left a log.
    began = strftime("%Y-%m-%dT%H:%M:%S", gmtime())
    path = short_path(addition.path, chat.session.workspace.where.home)
    kept = f"{safe(addition.name)} stays in {path}; /mcp remove {quote_argument(addition.name)} takes it out."
    try:
        is_connected = await wait_for_server(chat, addition.name, chat.session.servers.connect(addition.name))
    except asyncio.CancelledError:
        chat.say(kept)
        raise
    if is_connected:
        await show_server(chat, addition.name, began)
    answer = await chat.ask(KeepServer(addition.name, path, failed=not is_connected))
    if not isinstance(answer, No):
        return
    # Ctrl+C answers nothing, and so changes nothing.
    if answer.how == "cancel":
        chat.say(kept)
        return
    await chat.session.servers.change_files(undo(chat.session.workspace, addition, stored))
    chat.say(f"Removed {safe(addition.name)} from {path}.")


async def import_servers(
    chat: CommandFace, names: tuple[str, ...], source: str, scope: WriteScope | None, may_replace: bool, dry_run: bool
) -> None:
    """Copy the servers that are named, or all that Mooring's own files lack. Raises: MooringError."""
    if source == STDIN:
        raise ConfigError("Nothing is piped into a chat; --from takes a tool or a file.")
    options = CopyOptions(scope or "user", may_replace, dry_run)
    session = chat.session
    copying = copy_servers(session.workspace, source, names, options, chat.ask)
    await _finish_copying(chat, await session.servers.change_files(copying), options)


async def _finish_copying(chat: CommandFace, copied: Copied, options: CopyOptions) -> None:
    """Tell what was written, and connect it."""
    session = chat.session
    if options.dry_run and copied.diff:
        chat.say(*map(Verbatim, safe_text(copied.diff).split("\n")))
    chat.say(*map(spell_for_chat, describe_copied(copied, session.workspace.where.home)))
    for name in copied.written:
        found = session.host.servers.get(name)
        # One that may be started; what was known before goes on as it was.
        if found is not None and not found.is_connected:
            await connect(chat, name)
