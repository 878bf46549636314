"""What a reply costs, from the table of prices that is installed: nothing is fetched."""

from genai_prices import calc_price
from msgspec import Struct
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage


class PriceTag(Struct, frozen=True):
    """Whose price list has a model, and what the model is called there."""

    provider: str | None
    """As the price list calls it; `None` to find it by its address."""
    url: str
    model: str

    @property
    def is_known(self) -> bool:
        """Whether what a reply costs will be known."""
        # OpenRouter says with each reply what it cost.
        if self.provider == "openrouter":
            return True
        return self._calculate(RequestUsage(input_tokens=1, output_tokens=1)) is not None

    def cost_of(self, response: ModelResponse) -> float | None:
        """In US dollars, as the provider says or the price list has it; `None` if neither does."""
        told = (response.provider_details or {}).get("cost")
        return float(told) if isinstance(told, int | float) else self._calculate(response.usage)

    def _calculate(self, usage: RequestUsage) -> float | None:
        try:
            if self.provider is None:
                price = calc_price(usage, self.model, provider_api_url=self.url)
            else:
                price = calc_price(usage, self.model, provider_id=self.provider)
        except LookupError:
            return None
        return float(price.total_price)
