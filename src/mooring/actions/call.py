"""`call` and `tools` on one server that a command starts."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from msgspec import Struct

from mooring.core.hello import Hello
from mooring.core.limits import Limits, Timeout
from mooring.core.result import Progress, Result
from mooring.core.tool import Listing, Tool
from mooring.errors import TimedOut, UnknownTool
from mooring.single import connect, name_of, prepare
from mooring.wire.client import Client, Root
from mooring.wire.process import Guard
from mooring.wire.session import Session

T = TypeVar("T")


class Target(Struct, frozen=True):
    """The server to talk to: a command, what to add to its environment, and the folder it is started in."""

    command: str
    cwd: str
    env: Mapping[str, str] = {}
    timeout: float | None = None
    """Seconds for everything, from the start to the result."""


class Offer(Struct, frozen=True):
    """What a server said of itself, and its tools."""

    server: str
    hello: Hello
    tools: Listing[Tool]


async def tools(target: Target, guard: Guard) -> Offer:
    """What a server offers.

    Raises:
        ServerError: it could not be reached; TimedOut where it was not in time.
    """

    async def look(session: Session) -> Offer:
        return Offer(session.server, session.hello, session.tools)

    return await _with(target, guard, "the list of its tools", look)


async def call(
    target: Target,
    guard: Guard,
    tool: str,
    fill: Callable[[Tool], Mapping[str, Any]],
    on_progress: Callable[[Progress], None],
) -> Result:
    """Call one tool; `fill` makes its arguments once its schema is known.

    Raises:
        UnknownTool: the server has no such tool.
        ServerError: it could not be reached or did not answer; TimedOut where it was not in time.
    """

    async def ask(session: Session) -> Result:
        found = _find(session, tool)
        within = Timeout(None, None) if target.timeout is not None else None
        return await session.call_tool(found.name, fill(found), within=within, on_progress=on_progress)

    return await _with(target, guard, tool, ask)


async def _with(target: Target, guard: Guard, about: str, work: Callable[[Session], Awaitable[T]]) -> T:
    limits = Limits() if target.timeout is None else Limits(connect=target.timeout)
    client = Client(roots=lambda: [Root(f"file://{target.cwd}")])
    connected = False
    try:
        async with asyncio.timeout(target.timeout):
            async with connect(
                target.command, env=target.env, cwd=target.cwd, client=client, limits=limits, guard=guard
            ) as session:
                connected = True
                return await work(session)
    except TimeoutError:
        server = name_of(prepare(target.command).argv)
        raise TimedOut(server, about, target.timeout or 0.0, may_have_run=connected) from None


def _find(session: Session, name: str) -> Tool:
    offered = {tool.name: tool for tool in session.tools.items}
    if name in offered:
        return offered[name]
    rejected = next((other for other in session.tools.rejected if other.name == name), None)
    near = get_close_matches(name, offered, 3)
    raise UnknownTool(session.server, name, near, rejected.reason if rejected else "")
