"""`mooring.open`, and `mooring.discover_and_load` for programs without a person.

Opening reads the configuration and what is remembered of each server, and starts no more than it must: a lazy server
is connected when it is first used, or when `ready` is awaited and its tools are unknown.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager

from msgspec import Struct

from mooring.core.conversation.question import Ask, check_ask
from mooring.core.conversation.verdict import Rule
from mooring.core.definitions.paths import Workspace, here
from mooring.core.protocol.limits import Limits, Timeout, make_timeout
from mooring.errors import MooringError
from mooring.host.host import Host
from mooring.host.options import HostOptions, Policy, check_rules, find_mode
from mooring.inventory.admit import GivenServers
from mooring.process.programs import Guard
from mooring.tools.catalog.catalog import CatalogEntry as Tool


def open(
    cwd: str | None = None,
    *,
    servers: GivenServers | None = None,
    ask: Ask | None = None,
    policy: Policy | None = None,
    rules: Iterable[Rule] = (),
    timeout: float | Timeout | None = None,
    limits: Limits | None = None,
    reload: bool = False,
    remember: bool = True,
    guard: Guard | None = None,
    request: Workspace | None = None,
    sleep: Callable[[float], Awaitable[None]] | None = None,
) -> Host:
    """Every server configured for a folder, by default the current one, as one host. Use it with `async with`:

        async with mooring.open() as host:
            result = await host.call("server.tool", {"argument": "value"})

    Nothing is read or started before that, and everything that was started ends with it.

    Which servers:
        servers   Replaces everything that is configured, and needs no approval: a mapping from names to entries as in
                  `.mcp.json`, the whole content of such a file, `ServerConfig` values, or servers that are objects of
                  this program (`mooring.testing.Server`, `fastmcp.FastMCP`, and those of the `mcp` package).
        reload    Changed configuration files take effect while the host is open.
        remember  Without it, what servers offer, write and return is neither read from disk nor left there.

    What may be called:
        ask       An async function that puts a question to a person and returns `Yes`, `Allow` or `No`. Without it,
                  whatever would have to be asked is refused.
        policy    Decides about calls that no rule covers; "allow" permits whatever no rule denies. By default, the
                  settings decide.
        rules     Apply while the host is open, in addition to those in the settings.

    How long, and how much:
        timeout   Seconds for a call, or a `Timeout`; by default `Limits.call`. An entry's own timeout wins.
        limits    How much a server may send, and how long it may take.

    For tests and larger programs: `guard` starts the programs and is not closed with the host, `request` says in more
    detail where to look for configuration, and `sleep` waits between two looks at what is watched.

    Raises:
        ConfigError: the home folder is unknown, or `servers`, `policy` or `rules` is invalid.
        TypeError: `ask` can't be called, or `timeout` is neither a number nor a `Timeout`.
    """
    find_mode(policy)  # raises now, and not when the host is opened
    return Host(
        HostOptions(
            workspace=request or Workspace(here(os.environ), os.path.abspath(cwd or os.curdir)),
            servers=servers,
            ask=ask and check_ask(ask),
            policy=policy,
            rules=check_rules(rules),
            timeout=None if timeout is None else make_timeout(timeout),
            limits=limits,
            guard=guard,
            reload=reload,
            remember=remember,
            sleep=sleep or asyncio.sleep,
        )
    )


class Loaded(Struct, frozen=True):
    """The tools, the errors by server, and the host to call the tools with."""

    host: Host
    tools: tuple[Tool, ...]
    errors: Mapping[str, MooringError]

    def __repr__(self) -> str:
        return f"<Loaded, tools: {len(self.tools)}, errors: {len(self.errors)}>"


@asynccontextmanager
async def discover_and_load(
    cwd: str | None = None,
    *,
    servers: GivenServers | None = None,
    ask: Ask | None = None,
    policy: Policy | None = None,
    rules: Iterable[Rule] = (),
    timeout: float | Timeout | None = None,
    request: Workspace | None = None,
) -> AsyncIterator[Loaded]:
    """Open a host and connect every server whose tools are unknown, in one step; for programs without a person.

    `timeout` is how long to wait for all of them. The rest is as in `open`.

    Raises: ConfigError, as `open`. A server that fails is in `errors`, never an exception.
    """
    async with open(cwd, servers=servers, ask=ask, policy=policy, rules=rules, request=request) as host:
        errors = await host.ready(timeout)
        yield Loaded(host, host.tools, errors)
