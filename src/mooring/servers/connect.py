"""One server, without any configuration: what a program that only wants to talk to it needs."""

import os
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from mooring.core.limits import Limits
from mooring.core.where import here
from mooring.errors import ConfigError
from mooring.process.programs import Guard
from mooring.servers.dial import dial, patient
from mooring.servers.launch.environment import Launch, launch
from mooring.wire.session.client import Client
from mooring.wire.session.session import Session

if TYPE_CHECKING:
    from mooring.wire.session.remote import TransportKind


@asynccontextmanager
async def connect(
    target: str | Sequence[str],
    *,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    client: Client | None = None,
    limits: Limits | None = None,
    transport: "TransportKind" = "auto",
    network: Mapping[str, str] | None = None,
    guard: Guard | None = None,
) -> AsyncIterator[Session]:
    """A session with the server behind a URL, or with the one that a command starts.

    A URL begins with http://, https:// or unix://; `headers` go with every request, and `transport` says how to speak
    to it; `network` may name a `proxy`, a file of authorities `ca`, a client `certificate` and its `key`, where the
    usual variables do not.

    A command is one text, split as a shell would, or a list of words. It inherits the environment without the names
    that look like secrets, and `env` on top; when the session ends, so does everything the server started. Whoever
    connects to many gives all of them one `guard`, and closes it.

    Raises:
        ConfigError: there is no command, or the URL or a header cannot be used.
        ServerError: no session came of it.
    """
    if isinstance(target, str) and is_url(target):
        from mooring.wire.http.network import Options
        from mooring.wire.session.remote import open_url

        options = Options(**network) if network else None
        opened = await open_url(
            target, headers=headers, client=client, limits=limits, transport=transport, options=options
        )
        async with opened as session:
            yield session
        return
    start = prepare(target, env=env, cwd=cwd)
    limits = patient(start, limits or Limits())
    async with AsyncExitStack() as stack:
        keeper = guard if guard is not None else await stack.enter_async_context(Guard())
        way = dial(start, keeper, server=name_of(start.argv), client=client, limits=limits)
        yield await stack.enter_async_context(way)


def is_url(target: str) -> bool:
    """Whether a text names a server by its address."""
    return target.lstrip().lower().startswith(("http://", "https://", "unix://"))


def prepare(target: str | Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None) -> Launch:
    """How a command would be started for the person who names it.

    Raises:
        ConfigError: there is no command, or its quotes do not close.
    """
    return launch(words(target), here(os.environ), os.path.abspath(cwd or os.curdir), own=True, env=env)


def words(target: str | Sequence[str]) -> list[str]:
    """The words of a command. Raises: ConfigError, as `prepare`."""
    try:
        found = shlex.split(target) if isinstance(target, str) else list(target)
    except ValueError:
        raise ConfigError("The command has a quote that does not close.") from None
    if not found:
        raise ConfigError("There is no command; give the program and its arguments.")
    return found


def name_of(argv: Sequence[str]) -> str:
    """What to call a server that nobody named: its program, or the package that a runner is asked to run."""
    if {"-c", "-e", "--eval"} & set(argv[1:]):
        return os.path.basename(argv[0])
    words = [os.path.basename(argv[0]), *(word for word in argv[1:] if not word.startswith("-"))]
    runner = words[0] in ("npx", "bunx", "uvx", "node", "python", "python3", "uv", "deno") and len(words) > 1
    name = os.path.basename(words[1]) if runner else words[0]
    return name.partition("@")[0] or name
