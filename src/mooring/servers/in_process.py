"""Servers that are objects of this program: `mooring.testing.Server`, and those of the packages `fastmcp` and `mcp`.

Neither package is imported here unless an object of theirs was passed in. Their servers read and write lines of JSON,
as over stdio, so that the same code serves every version of them.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, Protocol, Self, runtime_checkable

from msgspec.json import encode

from mooring.core.protocol.era import NO_HINT, EraHint
from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits
from mooring.wire.rpc.message import Message
from mooring.wire.rpc.transport import Receiver, Transport, Withdrawal
from mooring.wire.session.client import Client
from mooring.wire.session.negotiate import negotiate
from mooring.wire.session.session import Session

_PACKAGES: Final = frozenset({"mcp", "fastmcp"})
_FAREWELL: Final = 2.0
"""Seconds for a server to end by itself once its input has ended; its own code may run then."""


@runtime_checkable
class TransportSource(Protocol):
    """An object that opens connections to itself, as `mooring.testing.Server` does."""

    def open_transport(self) -> Transport: ...


def is_server_object(value: object) -> bool:
    """Whether this can be connected to in memory."""
    return isinstance(value, TransportSource) or _find_sdk_server(value) is not None


@asynccontextmanager
async def open_in_process(
    target: object, name: str, client: Client | None, limits: Limits, era_hint: EraHint = NO_HINT
) -> AsyncIterator[Session]:
    """Open a session with a server that is an object of this program. Raises: ServerError."""

    async def start() -> Transport:
        return target.open_transport() if isinstance(target, TransportSource) else _SdkTransport(target)

    session = await negotiate(start, server=name, client=client, limits=limits, hint=era_hint)
    async with session:
        yield session


def _find_sdk_server(value: object) -> Any:
    """The server inside an object of `fastmcp` or `mcp` that reads messages; `None` if it is no such object."""
    packages = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    if packages.isdisjoint(_PACKAGES):
        return None
    # FastMCP of either package has the first, MCPServer of `mcp` 2 the second; a low-level Server is the thing itself.
    for attribute in ("_mcp_server", "_lowlevel_server"):
        if (inner := getattr(value, attribute, None)) is not None:
            return inner
    return value if hasattr(value, "create_initialization_options") else None


class _SdkTransport:
    """Lines between a client and a server of `fastmcp` or `mcp` that runs in a task of the same loop."""

    def __init__(self, server: object) -> None:
        self.takes_headers = False
        self._server = server
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        """What the server has yet to read; `None` is the end."""
        self._receiver: Receiver | None = None
        self._task: asyncio.Task[None] | None = None

    # --- for the client ---------------------------------------------------------------------------------------------

    def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._task = asyncio.get_running_loop().create_task(self._serve())

    def send(self, message: Message) -> None:
        self._lines.put_nowait(encode(message).decode())

    def withdraw(self, key: int) -> Withdrawal:
        return "running"

    def close(self) -> None:
        self._receiver = None
        self._lines.put_nowait(None)

    async def wait_closed(self) -> None:
        if self._task is None:
            return
        await asyncio.wait({self._task}, timeout=_FAREWELL)
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=_FAREWELL)

    async def _serve(self) -> None:
        cause = "it ended"
        try:
            await self._run()
        except Exception as error:  # noqa: BLE001 - the server's own code
            cause = f"it failed: {_find_cause(error)!r}"
        if self._receiver is not None:
            self._receiver.end(Ending(cause))

    async def _run(self) -> None:
        from mcp.server.stdio import stdio_server  # type: ignore[import-not-found]  # the object's own package

        inner = _find_sdk_server(self._server)
        async with AsyncExitStack() as stack:
            # What a `fastmcp` server starts with itself; the one inside would not.
            if (lifespan := getattr(self._server, "_lifespan_manager", None)) is not None:
                await stack.enter_async_context(lifespan())
            read, write = await stack.enter_async_context(stdio_server(self, self))
            await inner.run(read, write, inner.create_initialization_options())

    # --- for the server: a file to read lines from, and one to write them to ---------------------------------------

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        return line

    async def write(self, text: str) -> None:
        if self._receiver is not None:
            self._receiver.receive([text.strip().encode()])

    async def flush(self) -> None:
        """Nothing is buffered."""


def _find_cause(error: BaseException) -> BaseException:
    """The first error in a group, which says more than the group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
