"""One provider's price list: which of its models a name means, and what a reply of that costs."""

import re
import time
from collections.abc import Mapping
from datetime import date
from typing import Literal, TypeAlias

from msgspec import Raw, Struct, json

from mooring.core.conversation.event import TokenUsage

MILLION = 1_000_000

Condition: TypeAlias = tuple[Literal["starts", "ends", "contains", "regex"], str]
"""What a name has to be like, in small letters."""


class Rates(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """US dollars for a million tokens of each kind; `None` where the list doesn't say."""

    above: int = 0
    """They hold for requests of more input tokens than this, and then for all tokens."""
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    """`None` if these cost what other input does."""
    cache_write: float | None = None
    request: float | None = None
    """US dollars for each request, beside its tokens."""

    @property
    def is_complete(self) -> bool:
        return self.input is not None and self.output is not None

    def cost_of(self, usage: TokenUsage) -> float | None:
        if self.input is None or self.output is None:
            return None
        fresh = usage.input_tokens
        total = usage.output_tokens * self.output
        if self.cache_read is not None:
            fresh -= usage.cache_read_tokens
            total += usage.cache_read_tokens * self.cache_read
        if self.cache_write is not None:
            fresh -= usage.cache_write_tokens
            total += usage.cache_write_tokens * self.cache_write
        if fresh < 0:
            # More came out of the cache than was sent: these counts mean something else than ours.
            return None
        return (total + fresh * self.input) / MILLION + (self.request or 0)


class Price(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a model costs, all the time or from a day on or at some hours, in UTC."""

    since: str = ""
    between: tuple[str, str] | None = None
    rates: tuple[Rates, ...]
    """By the size of requests: the last one whose `above` is exceeded holds."""

    def is_valid(self, day: str, hour: str) -> bool:
        if self.between is None:
            return day >= self.since
        start, end = self.between
        if end < start:
            return hour >= start or hour < end
        return start <= hour < end

    def find_rates(self, input_tokens: int) -> Rates:
        found = self.rates[0]
        for rates in self.rates[1:]:
            if input_tokens > rates.above:
                found = rates
        return found


class ListedModel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model of the list."""

    id: str
    window: int | None = None
    prices: tuple[Price, ...] = ()
    """The last one that is valid holds."""

    def has_price(self, at: float | None = None) -> bool:
        """Whether what a reply costs is known, at a time in seconds since 1970 or now."""
        price = self._find_price(at)
        return price is not None and price.rates[0].is_complete

    def cost_of(self, usage: TokenUsage, at: float | None = None) -> float | None:
        """In US dollars; `None` if the list doesn't say."""
        price = self._find_price(at)
        return None if price is None else price.find_rates(usage.input_tokens).cost_of(usage)

    def _find_price(self, at: float | None) -> Price | None:
        day, _, hour = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at)).partition(" ")
        for price in reversed(self.prices):
            if price.is_valid(day, hour):
                return price
        return self.prices[0] if self.prices else None


class PriceList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The models of one provider. A name means the first of them that it fits."""

    fallbacks: tuple[str, ...] = ()
    """The lists of providers whose models this one has too."""
    names: Mapping[str, int]
    """Whole names, each with the number of its model."""
    rules: tuple[tuple[int, tuple[Condition, ...]], ...] = ()
    """The numbers of models and what a name has to be like, in the order of the models."""
    models: tuple[Raw, ...]

    def find_model(self, name: str) -> ListedModel | None:
        """The model that a name in small letters means."""
        number = self._find_number(name)
        return None if number is None else json.decode(self.models[number], type=ListedModel)

    def _find_number(self, name: str) -> int | None:
        exact = self.names.get(name)
        for number, conditions in self.rules:
            if exact is not None and number >= exact:
                break
            if all(_holds(condition, name) for condition in conditions):
                return number
        return exact


def _holds(condition: Condition, name: str) -> bool:
    kind, text = condition
    match kind:
        case "starts":
            return name.startswith(text)
        case "ends":
            return name.endswith(text)
        case "contains":
            return text in name
        case "regex":
            return re.search(text, name) is not None


def spell_date(name: str) -> str:
    """A name whose date is written as 20251211 with that date as 2025-12-11, as price lists have it."""
    return re.sub(r"-(20\d\d)(\d\d)(\d\d)(?=-|:|$)", _spell_date, name)


def _spell_date(found: re.Match[str]) -> str:
    try:
        return f"-{date(int(found[1]), int(found[2]), int(found[3])).isoformat()}"
    except ValueError:
        return found[0]
