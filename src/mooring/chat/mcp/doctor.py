"""`/mcp doctor`: what to fix, each with the command that fixes it; with a name, after the server was tried."""

import asyncio
from collections.abc import Mapping, Sequence

from mooring.chat.command import CommandFace, find_server
from mooring.chat.mcp.verbs import list_texts
from mooring.display.text import safe
from mooring.inventory.admit import admit
from mooring.inventory.load import Inventory, load
from mooring.process.table import list_processes
from mooring.verbs.doctor.diagnose import diagnose
from mooring.verbs.doctor.lines import list_lines
from mooring.verbs.doctor.trial import TriedServer, list_triable, try_servers
from mooring.verbs.use.deadline import Deadline


async def doctor(chat: CommandFace, name: str) -> None:
    """Examine everything without starting anything, or try the server of that name. Raises: MooringError."""
    workspace = chat.session.workspace
    names = (find_server(chat, name),) if name else ()
    inventory = await asyncio.to_thread(load, workspace)
    # Before anything is tried: what is started for this does not run twice.
    processes = await asyncio.to_thread(list_processes)
    tried = await _try(chat, inventory, names) if names else {}
    report = await asyncio.to_thread(
        diagnose, inventory, workspace.where, names=names or None, processes=processes, tried=tried
    )
    chat.say(*list_texts(list_lines(report, workspace.where.home, is_named=bool(names))))


async def _try(chat: CommandFace, inventory: Inventory, names: Sequence[str]) -> Mapping[str, TriedServer]:
    session = chat.session
    where = session.workspace.where
    triable = list_triable(admit(inventory), names, where.env, asks=True)

    def show_pending(pending: Sequence[str]) -> None:
        if pending:
            chat.show_progress(f"trying {safe(', '.join(pending))} …")

    return await try_servers(session.host, triable, Deadline(None), where, show_pending)
