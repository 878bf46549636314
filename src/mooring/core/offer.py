"""All that is known of what a server offers, and since when."""

from msgspec import Struct

from mooring.core.hello import EraName, Hello
from mooring.core.tool import Listing, Prompt, Resource, ResourceTemplate, Tool

LIFE = 30 * 24 * 3600.0
"""What is older is not offered any more, whatever the server said of it."""


class Offer(Struct, frozen=True, kw_only=True):
    """What a server said of itself and listed; a list is `None` where nobody has asked for it yet."""

    hello: Hello
    era: EraName
    at: float
    """When its tools were listed, in seconds since 1970."""
    tools: Listing[Tool] = Listing()
    resources: Listing[Resource] | None = None
    templates: Listing[ResourceTemplate] | None = None
    prompts: Listing[Prompt] | None = None

    def fresh(self, now: float, trusted: float = 0.0) -> bool:
        """Whether its tools may be offered without asking the server again.

        A server that gives its list no time at all, as the newest SDKs do unasked, may be `trusted` for some seconds.
        """
        life = LIFE if self.tools.ttl is None else min(LIFE, self.tools.ttl or trusted)
        return 0 <= now - self.at < life

    def usable(self, now: float) -> bool:
        """Whether its tools are better than nothing while the server is out of reach."""
        return 0 <= now - self.at < LIFE
