"""`mooring.open`, and `mooring.discover_and_load` for programs without a person.

Opening reads the configuration and what is remembered of each server, and starts no more than it must: a lazy server
is connected when it is first used, or when `ready` is awaited and its tools are unknown.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from msgspec import Struct

from mooring.core.clock import Sleep
from mooring.core.limits import Limits
from mooring.core.question import Ask
from mooring.core.verdict import Rule
from mooring.core.where import Viewpoint, here
from mooring.errors import MooringError
from mooring.host.host import Host
from mooring.host.options import HostOptions, Policy
from mooring.inventory.admit import GivenServers
from mooring.process.programs import Guard
from mooring.tools.catalog.catalog import CatalogEntry


def open(
    cwd: str | None = None,
    *,
    servers: GivenServers | None = None,
    ask: Ask | None = None,
    policy: Policy | None = None,
    request: Viewpoint | None = None,
    limits: Limits | None = None,
    guard: Guard | None = None,
    reload: bool = False,
    remember: bool = True,
    rules: Iterable[Rule] = (),
    sleep: Sleep = asyncio.sleep,
) -> Host:
    """A host for everything configured for a folder (by default the current one), used with `async with`.

    `servers` replaces everything that is configured, and is approved. `ask` puts questions to a person; without
    it, whatever would have to be asked is refused. `policy` decides calls that no rule covers: by default as the
    settings say; "allow" permits whatever no rule denies. `request` says in more detail where to look for
    configuration. With `reload`, changed configuration files take effect while the host is open. A `guard` of the
    caller's is used, and not closed. Without `remember`, what servers offer, write and return is neither read from disk
    nor left there. `rules` apply while the host is open, in addition to those in the settings. `sleep` waits between
    two polls of what is watched and of the files; tests pass another clock.

    Raises:
        ConfigError: the home folder is unknown, or `servers` is invalid.
    """
    return Host(
        HostOptions(
            request=request or Viewpoint(here(os.environ), os.path.abspath(cwd or os.curdir)),
            servers=servers,
            ask=ask,
            policy=policy,
            limits=limits,
            guard=guard,
            reload=reload,
            remember=remember,
            rules=tuple(rules),
            sleep=sleep,
        )
    )


class Loaded(Struct, frozen=True):
    """The tools, the errors by server, and the host to call the tools with."""

    host: Host
    tools: tuple[CatalogEntry, ...]
    errors: Mapping[str, MooringError]


@asynccontextmanager
async def discover_and_load(
    cwd: str | None = None,
    *,
    servers: GivenServers | None = None,
    within: float | None = None,
    request: Viewpoint | None = None,
) -> AsyncIterator[Loaded]:
    """Open a host and connect every server, for programs without a person; see `open` and `Host.ready`.

    Raises: ConfigError. A server that fails is in `errors`, never an exception.
    """
    async with open(cwd, servers=servers, request=request) as host:
        errors = await host.ready(within)
        yield Loaded(host, host.tools, errors)
