"""The options of a host as one value, passed from `mooring.open` to the parts that use them."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.question import Ask, Question
from mooring.core.conversation.verdict import BYPASSED, Mode, Rule
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.limits import Limits, Sleep, Timeout
from mooring.errors import ConfigError
from mooring.inventory.admit import Admitted, GivenServers
from mooring.process.programs import Guard

Policy: TypeAlias = Mode | Literal["allow"]
_POLICIES = ("allow", *get_args(Mode))


def find_mode(policy: Policy | None) -> Mode | None:
    """The mode that a policy stands for. Raises: ConfigError if there is no such policy."""
    if policy is not None and policy not in _POLICIES:
        raise ConfigError(f"policy is one of {', '.join(_POLICIES)}, not {policy!r}.")
    return "bypass" if policy == "allow" else policy


def check_rules(rules: Iterable[Any]) -> tuple[Rule, ...]:
    """The same rules. Raises: ConfigError if one of them is something else."""
    found = (rules,) if isinstance(rules, str | Rule) else tuple(rules)
    for rule in found:
        if not isinstance(rule, Rule):
            raise ConfigError(f'rules takes mooring.Rule("server.tool", "allow") and the like, not {rule!r}.')
    # Copies, each checked once more: what a program changes later must not switch a deny off.
    return tuple(map(replace, found))


class HostOptions(Struct, frozen=True, kw_only=True):
    """The arguments of `mooring.open`, which explains them, and a few that only our own commands set."""

    workspace: Workspace
    servers: GivenServers | None = None
    ask: Ask | None = None
    policy: Policy | None = None
    timeout: Timeout | None = None
    limits: Limits | None = None
    guard: Guard | None = None
    reload: bool = False
    remember: bool = True
    rules: tuple[Rule, ...] = ()
    bypass_reason: str = BYPASSED
    """What the audit log says of a call that was allowed because nobody is asked."""
    sleep: Sleep = asyncio.sleep
    adapt: Callable[[Admitted], Admitted] = lambda admitted: admitted
    """Changes the configuration each time it was read, before it takes effect."""
    warn: Callable[[str, str], None] = lambda server, lack: None
    """Called with a server and what it has to start without."""
    on_unanswered: Callable[[Question], None] = lambda question: None
    """Called with what a server asked if there is no `ask`."""
    must_record: bool = False
    """Whether a call that cannot be recorded is refused: nobody is there who could be told."""
    tell_at_once: Callable[[Problem], None] = lambda problem: None
    """Called with a problem that arises while the host is open, as soon as it does."""
    awaits_client: bool = False
    """Whether no server starts by itself before there is a program to serve, which decides the era."""
    start_reserve: float = 0.0
    """See `Limits.reserve`."""

    @property
    def follows_files(self) -> bool:
        """Whether changed files take effect while the host is open; servers that were given are in no file."""
        return self.reload and self.servers is None

    def __repr__(self) -> str:
        return f"<HostOptions of {self.workspace.cwd}>"
