"""`mooring logs NAME`: prints what a server wrote."""

import json
import os
import sys

import msgspec

from mooring.cli.base import Globals, echo
from mooring.cli.interrupts import run_until_interrupted
from mooring.core.definitions.paths import Paths
from mooring.display.text import safe
from mooring.display.times import format_local
from mooring.errors import UnknownServer
from mooring.inventory.load import Inventory
from mooring.servers.log import LogEntry, follow, log_path, read


def run(options: Globals, name: str, following: bool, lines: int) -> None:
    where = options.workspace().where
    server = _find_logged_server(options.inventory(), name, where)
    if following:
        run_until_interrupted(_follow(options, where, server, lines))
        return
    entries = read(where, server, lines)
    for entry in entries:
        _print(options, entry)
    if not entries and lines and not options.quiet:
        echo(f"{safe(server)} has written nothing yet.", err=True)


async def _follow(options: Globals, where: Paths, server: str, lines: int) -> None:
    async for entry in follow(where, server, lines):
        _print(options, entry)
        # A program that reads along gets each line when it is written, not when a buffer is full.
        sys.stdout.flush()


def _print(options: Globals, entry: LogEntry) -> None:
    if options.json:
        echo(json.dumps(msgspec.to_builtins(entry)))
        return
    line = f"{format_local(entry.time)} {entry.level:7} {entry.text}"
    echo(safe(line) if sys.stdout.isatty() else line.encode(errors="replace"))


def _find_logged_server(inventory: Inventory, name: str, where: Paths) -> str:
    """The server whose log is meant; one that is no longer configured may have left one.

    Raises:
        UnknownServer: no server has that name, and there is no log of one.
    """
    try:
        return inventory.find(name).name
    except UnknownServer:
        if os.path.exists(log_path(where, name)):
            return name
        raise
