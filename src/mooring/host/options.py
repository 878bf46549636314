"""The options of a host as one value, from `mooring.open` to the parts that use them."""

import asyncio
from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.limits import Limits
from mooring.core.question import Ask
from mooring.core.where import Viewpoint
from mooring.inventory.admit import Admitted, GivenServers
from mooring.permissions.verdict import BYPASSED, Mode, Rule
from mooring.process.programs import Guard
from mooring.servers.watch import Sleep

Policy: TypeAlias = Mode | Literal["allow"]


def _as_found(admitted: Admitted) -> Admitted:
    return admitted


def _unsaid(server: str, what: str) -> None:
    return


class HostOptions(Struct, frozen=True, kw_only=True):
    """What `mooring.open` was given; there the terms are explained."""

    request: Viewpoint
    servers: GivenServers | None = None
    ask: Ask | None = None
    policy: Policy | None = None
    limits: Limits | None = None
    guard: Guard | None = None
    reload: bool = False
    remember: bool = True
    rules: tuple[Rule, ...] = ()
    bypass_reason: str = BYPASSED
    """What the log says of a call that was allowed because nobody is asked about calls."""
    sleep: Sleep = asyncio.sleep
    adapt: Callable[[Admitted], Admitted] = _as_found
    """Changes what was found, each time, before it takes effect."""
    warn: Callable[[str, str], None] = _unsaid
    """Told of a server what it has to go without, when it is started."""

    @property
    def mode(self) -> Mode | None:
        """How calls are let through where no rule speaks of them; `None` as the settings say."""
        return "bypass" if self.policy == "allow" else self.policy

    @property
    def hot(self) -> bool:
        """Whether changed files take effect while the host is open; servers that were given stand in none."""
        return self.reload and self.servers is None

    def __repr__(self) -> str:
        return f"<HostOptions of {self.request.cwd}>"
