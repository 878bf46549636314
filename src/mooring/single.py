"""One server, without any configuration: what a program that only wants to talk to it needs."""

import os
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from mooring.core.limits import Limits
from mooring.core.where import here
from mooring.errors import ConfigError
from mooring.servers.dial import dial, patient
from mooring.servers.launch import Launch, launch
from mooring.wire.client import Client
from mooring.wire.process import Guard
from mooring.wire.session import Session


@asynccontextmanager
async def connect(
    target: str | Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    client: Client | None = None,
    limits: Limits | None = None,
    guard: Guard | None = None,
) -> AsyncIterator[Session]:
    """A session with the server that a command starts; when it ends, so does everything the server started.

    The command is one text, split as a shell would, or a list of words. It inherits the environment without the
    names that look like secrets, and `env` on top.

    Raises:
        ConfigError: there is no command.
        ServerError: no session came of it.
    """
    start = prepare(target, env=env, cwd=cwd)
    async with guard or Guard() as keeper:
        limits = patient(start, limits or Limits())
        async with dial(start, keeper, server=name_of(start.argv), client=client, limits=limits) as session:
            yield session


def prepare(target: str | Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None) -> Launch:
    """How a command would be started for the person who names it.

    Raises:
        ConfigError: there is no command, or its quotes do not close.
    """
    try:
        words = shlex.split(target) if isinstance(target, str) else list(target)
    except ValueError:
        raise ConfigError("The command has a quote that does not close.") from None
    if not words:
        raise ConfigError("There is no command; give the program and its arguments.")
    return launch(words, here(os.environ), os.path.abspath(cwd or os.curdir), own=True, env=env)


def name_of(argv: Sequence[str]) -> str:
    """What to call a server that nobody named: its program, or the package that a runner is asked to run."""
    words = [os.path.basename(argv[0]), *(word for word in argv[1:] if not word.startswith("-"))]
    runner = words[0] in ("npx", "bunx", "uvx", "node", "python", "python3", "uv", "deno") and len(words) > 1
    name = os.path.basename(words[1]) if runner else words[0]
    return name.partition("@")[0] or name
