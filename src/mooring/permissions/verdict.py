"""A call, a rule that speaks of it, and what becomes of it: the nouns of this room, light enough for any command."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.core.tool import Hints

Action: TypeAlias = Literal["allow", "deny", "ask"]
Level: TypeAlias = Literal["managed", "session", "local", "user", "project"]
Mode: TypeAlias = Literal["plan", "ask", "accept-reads", "bypass"]
Server: TypeAlias = str | None
"""The name of a server; `None` stands for Mooring itself."""


class Rule(Struct, frozen=True, omit_defaults=True):
    """What may happen to calls of some tools, with some arguments."""

    tool: str
    action: Action
    pattern: str = ""
    """A glob over the arguments, see `values.Pattern`; empty for any."""

    def __str__(self) -> str:
        return f"{self.action} {self.tool}" + (f" with {self.pattern}" if self.pattern else "")


class ProposedCall(Struct, frozen=True, gc=False):
    """A tool about to be called: the real pair and its arguments, and what is known of them."""

    server: Server
    """`None` for one of Mooring's own tools."""
    tool: str
    """The raw name, never the shown one."""
    arguments: Mapping[str, Any] = {}
    hints: Hints | None = None
    origin: str = ""
    """Where the server comes from, in words."""
    target: "ProposedCall | None" = None
    """What one of Mooring's own tools would call in turn."""


class Verdict(Struct, frozen=True, gc=False):
    """What becomes of a call, why, and the rule that decided, where one did."""

    action: Action
    why: str
    level: Level | None = None
    rule: Rule | None = None
    doubtful: bool = False
    """It would have been let through, but rules that cannot be read could deny it."""


class CommandPermissions(Struct, frozen=True):
    """The rules and the mode that one command was given; they hold as long as it runs."""

    rules: tuple[Rule, ...] = ()
    mode: Mode | None = None
