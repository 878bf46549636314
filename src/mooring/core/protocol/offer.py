"""What a server offers, and when it was listed."""

from typing import Literal

from msgspec import Struct

from mooring.core.protocol.era import EraName
from mooring.core.protocol.server_info import Hello
from mooring.core.protocol.tool import Listing, Prompt, Resource, ResourceTemplate, Tool
from mooring.core.protocol.units import OFFER_LIFE

BELIEVED = 3600.0
"""How many seconds a list is believed whose server gave it no time at all."""


class Offer(Struct, frozen=True, kw_only=True):
    """What a server said about itself and listed; a list is `None` if nobody has asked for it yet."""

    hello: Hello
    era: EraName
    at: float
    """When its tools were listed, in seconds since 1970."""
    refused_era: EraName | None = None
    """The era that it was found not to speak; `None` if it may speak both."""
    tools: Listing[Tool] = Listing()
    resources: Listing[Resource] | None = None
    templates: Listing[ResourceTemplate] | None = None
    prompts: Listing[Prompt] | None = None
    transport: Literal["http", "sse"] | None = None
    """How it was reached; `None` for a program."""

    def fresh(self, now: float) -> bool:
        """Whether its tools may be offered without asking the server again.

        Servers of the older era know no time to live; their lists are kept. A time of zero is not taken literally: the
        newest SDKs send it unless told otherwise, and every `mooring tools` would start those servers again.
        """
        ttl = self.tools.ttl
        life = OFFER_LIFE if ttl is None else min(OFFER_LIFE, ttl or BELIEVED)
        return 0 <= now - self.at < life

    def usable(self, now: float) -> bool:
        """Whether its tools may still be offered while the server cannot be reached."""
        return 0 <= now - self.at < OFFER_LIFE
