"""Questions that a command puts to the person at the terminal: may this call be made?"""

import asyncio
import os
import sys

import click

from mooring.cli.base import are_terminals
from mooring.core.question import Allow, Answer, Ask, No, Permission, Question

_MOST = 1024
"""Bytes of an answer that are read; a terminal gives whole lines."""


def find_permission_asker() -> Ask | None:
    """What asks the person for permission; `None` where nobody would see the question or could answer it."""
    can_ask = sys.platform != "win32" and are_terminals(sys.stdin, sys.stderr)
    return _ask_permission if can_ask else None


async def _ask_permission(question: Question) -> Answer:
    if not isinstance(question, Permission):
        return No(how="cancel")
    # Loaded here: few calls are asked about.
    from mooring.chat.plain.typed_ahead import discard_typed_ahead
    from mooring.display.lines import describe_question

    first, *rest = describe_question(question)
    # The ticker may have drawn a line here.
    click.echo(f"\r\x1b[K{click.style(first, bold=True)}", err=True, color=True)
    for line in rest:
        click.echo(line, err=True)
    discard_typed_ahead()
    click.echo("Call it? [y]es or [n]o: ", nl=False, err=True)
    typed = await _read_line()
    return Allow("once") if typed.strip().casefold() in ("y", "yes") else No()


async def _read_line() -> str:
    # Not in a thread: Ctrl+C has to end the wait, and a thread that reads cannot be ended.
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()
    readable: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _settle, readable)
    try:
        await readable
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _MOST).decode(errors="replace")


def _settle(readable: "asyncio.Future[None]") -> None:
    # A terminal stays readable until it is read, so that this may be called more than once.
    if not readable.done():
        readable.set_result(None)
