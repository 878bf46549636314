"""What one conversation may use, and how results are given to it."""

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring.conversation.news import INTERVAL
from mooring.conversation.scope import ToolScope
from mooring.tools.results.deliver import Tokens
from mooring.tools.results.outcome import DEFAULT_TOKENS, Media

if TYPE_CHECKING:
    from mooring.tools.schema.adapt import Provider

DEFAULT_BUDGET = 20_000
BACKGROUND_AFTER = 120.0


class ToolOptions(Struct, frozen=True, kw_only=True, dict=True):
    """The tools of one conversation. `Host.conversation` fills in what the settings say."""

    own: bool = True
    """Whether Mooring's own tools are among them: those for searching, for resources and for long results."""
    provider: "Provider | None" = None
    """Whose model it is: names, descriptions and schemas are those that this provider takes."""
    budget: int | None = DEFAULT_BUDGET
    """How many tokens the definitions of tools may take before they have to be searched for; `None` for any number."""
    always: tuple[str, ...] = ()
    """Globs over `server.tool` of those that are shown whatever they cost."""
    allow: tuple[str, ...] | None = None
    """Globs over `server.tool`, or over shown names, of the only ones available; `None` for all."""
    deny: tuple[str, ...] = ()
    within: ToolScope | None = None
    """What narrows it further, such as the tools that an agent's file selects."""
    loaded: tuple[str, ...] = ()
    """Names that a search found before, when a conversation is resumed."""
    follow: bool = False
    """Whether tools that servers list later, or list differently, take their place as soon as anybody looks."""
    takes: frozenset[Media] = frozenset({"image"})
    """What the model can be given besides text."""
    tokens: Tokens = DEFAULT_TOKENS
    """How much of a result is given at once."""
    lines: int | None = None
    """How many lines of it, for a reader who would have to scroll."""
    background_after: float | None = BACKGROUND_AFTER
    """Seconds to wait for a call before it continues in the background; `None` waits for every call to end."""
    news_interval: float = INTERVAL
    """Seconds between two reports about what is watched."""

    @cached_property
    def scope(self) -> ToolScope:
        return ToolScope(self.allow, self.deny, outer=self.within)

    def has_builtin(self, name: str) -> bool:
        """Whether one of Mooring's own tools is available."""
        return self.own and self.scope.allows_builtin(name)
