"""What the verbs behind `/mcp` do: look at servers, connect, switch, log in, approve and remove them."""

import asyncio
import os
from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from mooring.auth.browser import has_browser
from mooring.chat import servers
from mooring.chat.command import CommandFace, find_server
from mooring.chat.mcp.verbs import list_texts, spell_for_chat
from mooring.core.conversation.question import RemoveServer, Yes
from mooring.core.conversation.status import Disabled
from mooring.core.definitions.paths import Workspace
from mooring.discovery.targets import WriteScope
from mooring.display.text import advise_on_held_back, count_noun, describe_held_back, safe, short_path
from mooring.errors import ConfigError, ServerError
from mooring.inventory.load import Inventory, load
from mooring.servers.log import read as read_log
from mooring.verbs.config.known import add_known
from mooring.verbs.config.list import Row, list_servers
from mooring.verbs.config.locate import locate_entry
from mooring.verbs.config.remove import describe_removal, offer_to_forget, remove_located
from mooring.verbs.use.advice import advise_on_failure
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.evidence import describe_failed_connection, describe_withheld, list_output
from mooring.verbs.use.login import describe_login, describe_logout, explain_logout
from mooring.verbs.use.login import login as log_in
from mooring.verbs.use.login import logout as log_out
from mooring.verbs.use.test import TrialStep, show_step
from mooring.verbs.use.test import test as try_server

if TYPE_CHECKING:
    from mooring.verbs.doctor.trial import TriedServer


async def list_all(chat: CommandFace, _: str) -> None:
    await _say_servers(chat, await _view_as_agent(chat))


async def _say_servers(chat: CommandFace, view: servers.AgentView) -> None:
    if not chat.session.servers.status:
        chat.say(servers.NONE)
        return
    known = await asyncio.to_thread(_find_known, chat.session.workspace)
    chat.say_heading("MCP Servers")
    chat.say("", *servers.list_servers(chat.session.host, view, known))


def _find_known(workspace: Workspace) -> Mapping[str, Row]:
    """What the shell's list says of each server."""
    inventory = load(workspace)
    listing = add_known(list_servers(inventory), inventory, workspace.where)
    return {row.name: row for row in listing.servers}


async def _view_as_agent(chat: CommandFace) -> servers.AgentView:
    session = chat.session
    return servers.AgentView(session.responder.backend.name, await session.servers.list_agent_status())


async def show_server(chat: CommandFace, server: str, since: str = "") -> None:
    """One server, and what it wrote last; `since` is a time in UTC, in ISO form."""
    session = chat.session
    log = await asyncio.to_thread(read_log, session.workspace.where, server, servers.LOG)
    recent = [entry for entry in log if entry.time >= since]
    chat.say(*servers.describe_server(session.host, server, recent, await _view_as_agent(chat)))


async def get(chat: CommandFace, words: str) -> None:
    """One server's definition in full. Raises: ConfigError."""
    # Loaded here: few chats ask for it.
    from mooring.verbs.config.definition import show_details
    from mooring.verbs.config.get import get_details

    server = find_server(chat, words)
    workspace = chat.session.workspace
    inventory = await asyncio.to_thread(load, workspace)
    details = get_details(inventory, server, workspace.where.env)
    status = chat.session.servers.status[server]
    # The status is the one in this chat, where a server may be on that its file turns off.
    disabled_by = details.disabled_by if isinstance(status, Disabled) else None
    details = replace(details, server=replace(details.server, status=status.word), disabled_by=disabled_by)
    chat.say(*list_texts(show_details(details, workspace.where.home), chat.width))


async def connect(chat: CommandFace, server: str) -> None:
    """Connect a server and say how many tools it has. Raises: MooringError if it may not be started."""
    session = chat.session
    if session.responder.has_native_servers:
        view = await _view_as_agent(chat)
        chat.say(f"{safe(server)}{view.describe(server)}")
        return
    if await wait_for_server(chat, server, session.servers.connect(server)):
        count = session.servers.count_tools(server)
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


async def reload(chat: CommandFace, name: str) -> None:
    """Restart the server of that name; without one, read the configuration again, restart what failed, and have healthy
    servers list their tools again. Raises: MooringError.
    """
    session = chat.session
    if not name:
        chat.show_progress("reading the configuration, connecting servers …")
        await session.servers.reload_all()
        chat.say("The configuration was read again.")
        await _say_servers(chat, servers.NO_AGENT)
        return
    server = session.host.server(find_server(chat, name)).name
    if await wait_for_server(chat, server, session.servers.reload(server)):
        await show_server(chat, server)


async def _switch(chat: CommandFace, name: str, scope: WriteScope | None, save: bool, *, on: bool) -> None:
    """Turn a server on and connect it, or turn it off. Raises: MooringError."""
    server = find_server(chat, name)
    if save:
        is_on = await _save(chat, server, scope, on)
    else:
        is_on = await _switch_for_session(chat, server, scope, on)
    if is_on:
        # Connected at once, so that its tools are there for the next line.
        await connect(chat, server)


enable = partial(_switch, on=True)
disable = partial(_switch, on=False)


async def _switch_for_session(chat: CommandFace, server: str, scope: WriteScope | None, on: bool) -> bool:
    """Turn a server on or off until the chat ends; whether it is on now."""
    if scope is not None:
        raise ConfigError("-s says where to save it, so it needs --save.")
    await chat.session.servers.switch(server, on)
    chat.say(f"MCP server '{safe(server)}' {'enabled' if on else 'disabled'} for this session.")
    return on


async def _save(chat: CommandFace, server: str, scope: WriteScope | None, on: bool) -> bool:
    """Turn a server on or off for good; whether it is on and may be started."""
    from mooring.verbs.config.switch import show_switch  # few chats save a switch

    result = await chat.session.servers.save_switch(server, on, scope)
    chat.say(*list_texts(show_switch(result, on, chat.session.workspace.where.home), chat.width))
    return result.enabled and result.approved


async def test(chat: CommandFace, name: str) -> None:
    """Connect step by step. Raises: MooringError if it may not be started."""
    server = find_server(chat, name)
    session = chat.session
    where = session.workspace.where

    def show(step: TrialStep) -> None:
        chat.say(*list_texts([show_step(step)], chat.width))
        # What is said clears the progress, and the next step may take a while.
        if step.step != "close":
            chat.show_progress(f"testing {safe(server)} …")

    chat.show_progress(f"testing {safe(server)} …")
    try:
        found = await try_server(session.host, server, show, Deadline(None), where=where, began=perf_counter())
    except ServerError as error:
        explain_failure(chat, server, error)
        return
    if found.held:
        chat.say(f"{describe_held_back(found.held)}; {advise_on_held_back(server)}")


async def login(chat: CommandFace, name: str, scopes: Sequence[str]) -> None:
    """Log in, then connect. Ctrl+C cancels, and keeps the login that there was. Raises: MooringError."""
    server = find_server(chat, name)
    host = chat.session.host
    chat.show_progress(f"asking {safe(server)} where to log in …")
    words = " ".join(scopes).split()
    report, failure = await log_in(host, Deadline(None), server, scopes=words, browser=has_browser(os.environ))
    chat.say(describe_login(report), *(safe(note) for note in report.notes))
    if failure is not None:
        explain_failure(chat, server, failure)


async def logout(chat: CommandFace, name: str) -> None:
    """Revoke and remove a login. Raises: MooringError."""
    report = await log_out(chat.session.host, find_server(chat, name))
    chat.say(describe_logout(report))
    if report.problem:
        chat.warn(explain_logout(report))


async def approve(chat: CommandFace, name: str) -> None:
    """Ask about a server of the project, or about all that nobody has decided about. Raises: MooringError."""
    names = (find_server(chat, name),) if name else await chat.session.servers.list_unapproved()
    if not names:
        chat.say("No server of this project waits for approval.")
    for server in names:
        await _approve(chat, server)


async def _approve(chat: CommandFace, server: str) -> None:
    session = chat.session
    try:
        is_approved = await session.servers.approve_server(server)
    except ServerError as error:
        # It is approved all the same, and there may be others to decide about.
        explain_failure(chat, server, error)
        return
    if is_approved:
        chat.say(f"Approved: {safe(server)} · {count_noun(session.servers.count_tools(server), 'tool')}")
    else:
        chat.say(await session.servers.describe_no(server))


async def reject(chat: CommandFace, name: str) -> None:
    """Refuse a server of the project. Raises: MooringError."""
    if not name:
        raise ConfigError("Usage: /reject NAME. /mcp shows the servers.")
    server = find_server(chat, name)
    await chat.session.servers.reject_server(server)
    chat.say(f"Rejected: {safe(server)}. It does not start until its definition changes, or you approve it.")


async def pins(chat: CommandFace, name: str) -> None:
    """Show which tools are as they were approved, and ask about the others. Raises: MooringError."""
    # Loaded here: few chats look at pins.
    from mooring.verbs.config.pins import INSTRUCTIONS, NONE_PINNED, describe_pin, list_pinned

    host, where = chat.session.host, chat.session.workspace.where
    rows = list_pinned(host, where, find_server(chat, name) if name else None)
    if not rows:
        chat.say(NONE_PINNED)
    for row in rows:
        chat.say(f"{safe(row.server)}: {describe_pin(row)}")
        if row.problem:
            chat.say(f"  {row.problem}")
        if row.held:
            agreed = await chat.session.servers.approve_tools(row.server)
            names = safe(", ".join(tool.tool or INSTRUCTIONS for tool in row.held))
            chat.say(f"{'Approved' if agreed else 'Not approved'}: {names}")


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
    removal = await session.servers.change_files(asyncio.to_thread(remove_located, request, entry))
    chat.say(*describe_removal(removal, request.where.home))
    async for sentence in offer_to_forget(chat.ask, request, removal):
        chat.say(sentence)


async def doctor(chat: CommandFace, name: str) -> None:
    """Examine everything without starting anything, or try the server of that name. Raises: MooringError."""
    from mooring.process.table import list_processes  # few chats examine anything
    from mooring.verbs.doctor.diagnose import diagnose
    from mooring.verbs.doctor.report import list_lines

    workspace = chat.session.workspace
    names = (find_server(chat, name),) if name else ()
    inventory = await asyncio.to_thread(load, workspace)
    # Before anything is tried: what is started for this does not run twice.
    processes = await asyncio.to_thread(list_processes)
    tried = await _try_servers(chat, inventory, names) if names else {}
    report = await asyncio.to_thread(
        diagnose, inventory, workspace.where, names=names or None, processes=processes, tried=tried
    )
    chat.say(*list_texts(list_lines(report, workspace.where.home, is_named=bool(names)), chat.width))


async def _try_servers(chat: CommandFace, inventory: Inventory, names: Sequence[str]) -> "Mapping[str, TriedServer]":
    from mooring.inventory.admit import admit
    from mooring.verbs.doctor.trial import list_triable, try_servers

    session = chat.session
    where = session.workspace.where
    triable = list_triable(admit(inventory), names, where.env, asks=True)

    def show_pending(pending: Sequence[str]) -> None:
        if pending:
            chat.show_progress(f"trying {safe(', '.join(pending))} …")

    return await try_servers(session.host, triable, Deadline(None), where, show_pending)
