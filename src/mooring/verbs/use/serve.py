"""`serve`: all servers as one MCP server, for other programs to connect to."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring.auth.browser import is_remote
from mooring.core.conversation.verdict import CommandPermissions
from mooring.core.protocol.limits import Limits
from mooring.core.protocol.tool import Implementation
from mooring.errors import ConfigError, MooringError
from mooring.files.installation import find_version
from mooring.host.exposed_names import NameStyle
from mooring.host.gateway import open_client
from mooring.host.host import Host
from mooring.process.programs import raise_open_files
from mooring.serve.caller import VISIT_PATIENCE, ServeOptions
from mooring.serve.connection import serve_stdio

if TYPE_CHECKING:
    from mooring.serve.http.checks import ListenAddress

_LAST_PORT = 65535
_MOST_ADVICE = 100
"""A client that starts this program and never reads its stderr must not stop it once the pipe is full."""
_INBOUND = 1024
"""How many requests of one client are worked on at a time."""


class Listening(Struct, frozen=True):
    """Where programs can connect, and the token they have to send if it was made just now."""

    url: str
    new_token: str | None
    token_path: str
    """The file that keeps the token, whether or not one is asked for."""
    drain: Callable[[], Awaitable[None]]
    """Accepts no more clients, and waits until calls that are under way have ended, within `drainSeconds`.

    Another signal ends the wait. What has not ended by then is answered with an error.
    """

    def __repr__(self) -> str:
        return f"<Listening on {self.url}>"


class ServeTerms(Struct, frozen=True):
    """What holds for every client: the names it is shown, and what it may call."""

    names: NameStyle = "full"
    search: bool = False
    permissions: CommandPermissions = CommandPermissions()
    visit_patience: float = VISIT_PATIENCE
    """How many seconds a request may wait for somebody who logs in."""
    advise: Callable[[str], object] = lambda words: None
    """Gets what a person can do about a call that failed: its client, where a model reads, is told the cause alone."""


async def serve_on_stdio(host: Host, terms: ServeTerms) -> None:
    """Serve the program at the other end of stdin and stdout until it closes one of them, or wants this program to end.

    Codex, Copilot and OpenCode end their servers by SIGTERM: without an end in order, the last calls were not logged.
    """
    serving = asyncio.create_task(serve_stdio(make_serve_options(host, terms)))
    ending = asyncio.create_task(wait_for_end())
    try:
        await asyncio.wait((serving, ending), return_when=asyncio.FIRST_COMPLETED)
    finally:
        serving.cancel()
        ending.cancel()
        await asyncio.wait((serving, ending))
    if not serving.cancelled():
        serving.result()


@asynccontextmanager
async def serve_on_http(
    host: Host,
    terms: ServeTerms,
    address: "ListenAddress",
    *,
    token: bool,
    warn: Callable[[str], object] = lambda words: None,
) -> AsyncIterator["Listening"]:
    """Serve every program that connects to an address, while this is open.

    Without `token`, any program on this machine is served. `warn` is told if no more clients can connect.

    Raises: ConfigError if it cannot listen there, or would serve other machines without a token; FileError.
    """
    # Loaded here: over stdin and stdout nothing of what speaks HTTP is needed.
    from mooring.serve.http.checks import load_token
    from mooring.serve.http.server import HttpServer

    if not token and not address.is_loopback:
        raise ConfigError(f"--no-token is for this machine alone, and {address.host} can be reached from others.")
    raise_open_files()
    token_path = f"{host.where.state}/serve-token"
    access = load_token(token_path) if token else None
    seal_key = access.derive_key("links") if access is not None else None
    options = make_serve_options(host, terms, browser=address.is_loopback, seal_key=seal_key)
    server = HttpServer(address, access, options, warn)
    try:
        await server.__aenter__()
    except OSError as error:
        raise ConfigError(f"Cannot listen on {address.host}:{address.port}: {error.strerror or error}.") from error
    try:
        new_token = access.text if access is not None and access.is_new else None
        seconds = host.settings["drainSeconds"]
        yield Listening(str(server.address), new_token, token_path, lambda: server.drain(seconds, wait_for_end()))
    finally:
        await server.__aexit__(None, None, None)


async def wait_for_end() -> None:
    """Wait until this program is told to end, by a signal from a terminal or from whoever started it."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    await ended.wait()


def parse_address(text: str) -> "ListenAddress":
    """The address in HOST:PORT, :PORT or PORT; without a host, only this machine is served. Raises: ConfigError."""
    from mooring.serve.http.checks import ListenAddress

    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdecimal() or int(port) > _LAST_PORT:
        raise ConfigError(f"{text!r} is not an address to listen on; write HOST:PORT, such as 127.0.0.1:8080.")
    return ListenAddress(host.strip("[]") or "127.0.0.1", int(port))


def make_serve_options(
    host: Host, terms: ServeTerms, *, browser: bool = True, seal_key: bytes | None = None
) -> ServeOptions:
    """What to serve every client with: one host for all, and permissions of its own for each.

    `browser` says whether those of the clients are on this machine, where a login has to come back to; `seal_key` is
    that of `open_client`.
    """
    open_upstream = partial(
        open_client,
        host,
        policy=terms.permissions.mode,
        names=terms.names,
        search=terms.search,
        browser=browser and not is_remote(os.environ),
        seal_key=seal_key,
        on_failure=_Advice(terms.advise),
    )
    limits = Limits(line=host.settings["maxMessageBytes"], inbound=_INBOUND)
    program = Implementation("mooring", find_version())
    return ServeOptions(open_upstream, program, limits, terms.visit_patience)


class _Advice:
    """What a person can do about failed calls: said once for each failure, however often a model tries again."""

    def __init__(self, advise: Callable[[str], object]) -> None:
        self._advise = advise
        self._given: set[str] = set()

    def __call__(self, error: MooringError) -> None:
        words = str(error)
        is_plain = words == error.describe_for_model()
        if is_plain or words in self._given or len(self._given) == _MOST_ADVICE:
            return
        self._given.add(words)
        self._advise(words)
