"""The doors of the library: `mooring.open`, and `mooring.discover_and_load` for programs without a person.

Opening reads the configuration and what is remembered of each server, and starts nothing it need not: a server is
connected when it is first used, or when `ready` is awaited and nothing is known of it yet.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from msgspec import Struct

from mooring.core.limits import Limits
from mooring.core.question import Ask
from mooring.core.where import Viewpoint, here
from mooring.errors import MooringError
from mooring.host.host import Host
from mooring.host.options import HostOptions, Policy
from mooring.inventory.admit import GivenServers
from mooring.permissions.verdict import Rule
from mooring.process.programs import Guard
from mooring.servers.watch import Sleep
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
    """A host for everything configured for a folder (this one, if none is named): use it with `async with`.

    `servers` takes the place of everything that is configured, and counts as approved. `ask` puts questions to a
    person; without it, everything that would have to be asked is refused. `policy` is how calls are let through where
    no rule speaks of them: by asking, by the settings where it is not named, or, with "allow", whatever no rule
    denies. `request` says more exactly what to look at. With `reload`, changed configuration files take effect while
    it is open. Whoever has a `guard` may give it, and closes it. Without `remember`, what servers offer, write and
    answer is neither looked up nor left on disk. `rules` hold for as long as it is open, beside those in the settings.
    `sleep` is how it waits between two looks at what is watched and at its files, for whoever has another clock.

    Raises:
        ConfigError: the home folder is not known, or `servers` is not what it should be.
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
    """Tools and per-server errors, side by side, and the host to call them with."""

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
    """Everything configured, connected, for programs without a person: see `open` and `Host.ready`.

    Raises: ConfigError. One bad server is never an exception.
    """
    async with open(cwd, servers=servers, request=request) as host:
        errors = await host.ready(within)
        yield Loaded(host, host.tools, errors)
