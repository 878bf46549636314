"""What is known of models without asking: windows, longest replies, what they take, how they think, and prices."""

from msgspec import Struct

from mooring.backends.api.codecs.codec import Media, ThinkingControl
from mooring.backends.api.providers import ModelProvider
from mooring.core.conversation.event import TokenUsage


class ModelFacts(Struct, frozen=True, kw_only=True):
    """One model, as the table has it; what is unknown is `None`."""

    window: int | None = None
    longest_reply: int | None = None
    takes: frozenset[Media] | None = None
    thinking: ThinkingControl | None = None

    @property
    def has_price(self) -> bool:
        """Whether what a reply costs will be known."""
        return False

    def cost_of(self, usage: TokenUsage) -> float | None:
        """In US dollars, by the prices of today; `None` if they are unknown."""
        return None


def find_facts(provider: ModelProvider, url: str, model: str) -> ModelFacts:
    """What the table says of a model of a provider at an address."""
    return ModelFacts()
