"""`call` and `tools` on one server that a command starts, or that is reached by its address, without a host.

A host would do, and takes a tenth more of the time of the whole command: it is made for many servers that stay.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct

from mooring.actions.deadline import Deadline
from mooring.actions.waiting import Fill, Watcher
from mooring.core.hello import Hello
from mooring.core.limits import Limits, Timeout
from mooring.core.result import Result
from mooring.core.secret import list_secrets, redact_error
from mooring.core.tool import Listing, Rejected, Tool
from mooring.errors import ServerError, UnknownTool
from mooring.permissions.judge import Judge
from mooring.permissions.verdict import ProposedCall
from mooring.process.programs import Guard
from mooring.servers.connect import connect
from mooring.wire.session.client import Client, Root
from mooring.wire.session.session import Session

Kind: TypeAlias = Literal["auto", "http", "sse"]

T = TypeVar("T")


class Target(Struct, frozen=True, kw_only=True):
    """The server to talk to: a command, what to add to its environment and where to start it; or a URL."""

    cwd: str
    command: str = ""
    env: Mapping[str, str] = {}
    url: str | None = None
    headers: Mapping[str, str] = {}
    transport: Kind = "auto"
    network: Mapping[str, str] = {}
    timeout: float | None = None
    """Seconds for everything, from the start to the result."""


class Offer(Struct, frozen=True):
    """What a server said of itself, and its tools."""

    server: str
    hello: Hello
    tools: Listing[Tool]


async def tools(target: Target, guard: Guard, watcher: Watcher, show: Callable[[Offer], None]) -> None:
    """Show what a server offers, before it is closed again.

    Raises:
        ServerError: it could not be reached; TimedOut where it was not in time.
    """

    async def look(session: Session, _: Timeout | None) -> Offer:
        return Offer(session.server, session.hello, session.tools)

    await _with(target, guard, "the list of its tools", watcher, look, show)


async def call(
    target: Target,
    guard: Guard,
    tool: str,
    fill: Fill,
    judge: Judge,
    watcher: Watcher,
    show: Callable[[Result], None],
) -> None:
    """Call one tool and show its result, before the server is closed; `fill` makes its arguments from its schema.

    `judge` stands before the call and keeps the record of it, as a host does.

    Raises:
        UnknownTool: the server has no such tool.
        Denied: a rule does not let it be called.
        ServerError: it could not be reached or did not answer; TimedOut where it was not in time.
    """

    async def ask(session: Session, within: Timeout | None) -> Result:
        found = _find(session, tool)
        arguments = fill(session.server, found)
        call = ProposedCall(session.server, found.name, arguments, found.annotations, "the command line")
        return await judge.call(
            call, lambda: session.call_tool(found.name, arguments, within=within, on_progress=watcher.progress)
        )

    try:
        await _with(target, guard, tool, watcher, ask, show)
    finally:
        judge.close()


async def _with(
    target: Target,
    guard: Guard,
    about: str,
    watcher: Watcher,
    work: Callable[[Session, Timeout | None], Awaitable[T]],
    show: Callable[[T], None],
) -> None:
    deadline = Deadline(target.timeout)
    limits = Limits() if target.timeout is None else Limits(connect=target.timeout, list=target.timeout)
    with deadline.wording(about), _discreet(target):
        async with guard if target.url is None else nullcontext(), _session(target, guard, limits) as session:
            watcher.connected()
            show(await work(session, deadline.rest))


@contextmanager
def _discreet(target: Target) -> Iterator[None]:
    """No error repeats the headers and variables that were given for the server."""
    try:
        yield
    except ServerError as error:
        given = (*target.headers.values(), *(value.rpartition(" ")[2] for value in target.headers.values()))
        secrets = list_secrets((*given, *target.env.values()))
        redact_error(error, secrets)
        raise


def _session(target: Target, guard: Guard, limits: Limits) -> AbstractAsyncContextManager[Session]:
    client = Client(roots=lambda: [Root.of(target.cwd)])
    if target.url is not None:
        return connect(
            target.url,
            headers=target.headers,
            client=client,
            limits=limits,
            transport=target.transport,
            network=target.network,
        )
    return connect(target.command, env=target.env, cwd=target.cwd, client=client, limits=limits, guard=guard)


def _find(session: Session, name: str) -> Tool:
    offered = {tool.name: tool for tool in session.tools.items}
    if name in offered:
        return offered[name]
    from difflib import get_close_matches  # only on the way to an error

    rejected = next((other for other in session.tools.rejected if other.name == name), None)
    unlisted = "" if offered else session.tools.note.rstrip(".")
    raise UnknownTool(session.server, name, get_close_matches(name, offered, 3), _reason(rejected) or unlisted)


def _reason(rejected: Rejected | None) -> str:
    return rejected.reason if rejected is not None else ""
