"""`mooring.connect`: one server without any configuration, for programs that only want to talk to it."""

from __future__ import annotations

import os
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

from msgspec.structs import replace

from mooring.core.definitions.paths import here
from mooring.core.protocol.limits import Limits, Timeout, make_timeout
from mooring.errors import ConfigError
from mooring.process.programs import Guard
from mooring.servers.launch.environment import Launch, make_launch
from mooring.servers.start_program import allow_install_time, dial
from mooring.wire.session.client import Client
from mooring.wire.session.session import Session


@asynccontextmanager
async def connect(
    target: str | Sequence[str] | Any,
    *,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    client: Client | None = None,
    timeout: float | Timeout | None = None,  # noqa: ASYNC109 - for each request of the session
    limits: Limits | None = None,
    transport: Literal["auto", "http", "sse"] = "auto",
    network: Mapping[str, str] | None = None,
    guard: Guard | None = None,
) -> AsyncIterator[Session]:
    """Open a session with the server behind a URL, with the one that a command starts, or with an object that is one.

    A URL begins with http://, https:// or unix://. `headers` go with every request, and `transport` is the way to
    talk to it. `network` may name a `proxy`, a file of authorities `ca`, a client `certificate` and its `key`, if the
    usual environment variables don't.

    A command is one string, split as a shell would, or a list of words. It inherits the environment without the names
    that look like secrets, plus `env`. When the session ends, so does everything the server started. To connect to
    many servers, pass all of them one `guard`, and close it afterwards.

    An object is a `mooring.testing.Server`, a `fastmcp.FastMCP` or a server of the `mcp` package.

    `timeout` is seconds for each request of the session, or a `Timeout`; by default `Limits.call`.

    Raises:
        ConfigError: the command is empty, or the URL or a header is invalid.
        ServerError: no session could be opened.
    """
    limits = limits or Limits()
    if timeout is not None:
        limits = replace(limits, call=make_timeout(timeout))
    if not isinstance(target, str | Sequence):
        from mooring.servers.in_process import is_server_object, open_in_process  # lazy: few programs have such objects

        if not is_server_object(target):
            kind = type(target).__name__
            raise ConfigError(f"connect takes a command, a URL or a server object, not a value of type {kind}.")
        async with open_in_process(target, target.name, client, limits) as session:
            yield session
        return
    if isinstance(target, str) and is_server_url(target):
        # Lazy: a server that is a program needs no HTTP.
        from mooring.wire.http.network import Options
        from mooring.wire.session.remote import open_url

        options = Options(**network) if network else None
        opened = await open_url(
            target, headers=headers, client=client, limits=limits, transport=transport, options=options
        )
        async with opened as session:
            yield session
        return
    launch = prepare_command(target, env=env, cwd=cwd)
    limits = allow_install_time(launch, limits)
    async with AsyncExitStack() as stack:
        if guard is None:
            guard = await stack.enter_async_context(Guard())
        dialed = dial(launch, guard, server=derive_server_name(launch.argv), client=client, limits=limits)
        yield await stack.enter_async_context(dialed)


def is_server_url(target: str) -> bool:
    """Whether a target is an address rather than a command."""
    return target.lstrip().lower().startswith(("http://", "https://", "unix://"))


def prepare_command(
    target: str | Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
) -> Launch:
    """How to start a command for the person who typed it.

    Raises:
        ConfigError: the command is empty, or a quote in it isn't closed.
    """
    folder = os.path.abspath(cwd or os.curdir)
    return make_launch(split_command(target), here(os.environ), folder, own=True, env=env, typed=True)


def split_command(target: str | Sequence[str]) -> list[str]:
    """The words of a command. Raises: ConfigError, as `prepare_command`."""
    try:
        words = shlex.split(target) if isinstance(target, str) else list(target)
    except ValueError:
        raise ConfigError("The command has an unclosed quote.") from None
    if not words:
        raise ConfigError("There is no command; pass a program and its arguments.")
    return words


_RUNNERS = frozenset({"npx", "bunx", "uvx", "node", "python", "python3", "uv", "deno"})
_INLINE_CODE = frozenset({"-c", "-e", "--eval"})


def derive_server_name(argv: Sequence[str]) -> str:
    """A name for a server that nobody named: its program, or the package or script that a runner is asked to run."""
    program = os.path.basename(argv[0])
    # Code on the command line is not a name.
    if not _INLINE_CODE.isdisjoint(argv[1:]):
        return program
    words = [word for word in argv[1:] if not word.startswith("-")]
    name = os.path.basename(words[0]) if program in _RUNNERS and words else program
    # Without the version: `package@1.2` becomes `package`. A bare `@x` stays as it is.
    return name.partition("@")[0] or name
