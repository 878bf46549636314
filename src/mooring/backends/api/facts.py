"""What is known of models without asking: windows, longest replies, what they take, how they think, and prices.

It comes from one table, which `make facts` makes from genai-prices and Pydantic AI's profiles of models. Each price
list of it is a file of its own, so that half a megabyte need not be read for one model.
"""

import os
import re
from collections.abc import Iterator, Mapping

from msgspec import Raw, Struct, json

from mooring import files
from mooring.backends.api.codecs.codec import Media, ThinkingControl
from mooring.backends.api.price_list import ListedModel, PriceList, spell_date
from mooring.backends.api.providers import ModelKind, ModelProvider
from mooring.core.conversation.effort import EFFORTS, Effort
from mooring.core.conversation.event import TokenUsage
from mooring.errors import FileError

TABLE = os.path.join(os.path.dirname(__file__), "tables", "models.json")
PRICES = os.path.join(os.path.dirname(__file__), "tables", "prices")

_OWN_LISTS: Mapping[ModelKind, str] = {"anthropic": "anthropic", "google": "google", "openai": "openai"}
"""The price list of who made each API. Its models are the same ones behind a gateway; their prices need not be."""
_MAKERS = {"mistralai": "mistral", "z-ai": "zai"}
"""The price lists of makers that OpenRouter calls by another name."""
_DATE = re.compile(r"[-@](\d{8}|\d{4}-\d\d-\d\d|latest)$")
"""What can follow the name of a model whose versions all have the same window."""


class ModelFacts(Struct, frozen=True, kw_only=True):
    """One model, as the table has it; what is unknown is `None`."""

    window: int | None = None
    longest_reply: int | None = None
    takes: frozenset[Media] | None = None
    thinking: ThinkingControl | None = None
    efforts: tuple[Effort, ...] = EFFORTS
    """Which it has, if it can be told how much to think."""
    listed: ListedModel | None = None
    """The model in the price list of who serves it."""

    @property
    def has_price(self) -> bool:
        """Whether what a reply costs will be known."""
        return self.listed is not None and self.listed.has_price()

    def cost_of(self, usage: TokenUsage) -> float | None:
        """In US dollars, by the prices of today; `None` if they are unknown."""
        return None if self.listed is None else self.listed.cost_of(usage)


class ModelTraits(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What is the same for all models whose names begin alike."""

    thinking: ThinkingControl | None = None
    efforts: tuple[Effort, ...] = EFFORTS
    longest_reply: int | None = None
    hears: bool = False
    """Whether it takes audio."""


class FactsTable(Struct, frozen=True, kw_only=True, rename="camel"):
    """The table without its price lists."""

    date: str
    """When it was made."""
    made_from: Mapping[str, str]
    """The packages that it was made from, with their versions."""
    license: str
    addresses: tuple[tuple[str, str, str], ...]
    """Of each price list: a text that an address has to contain, a pattern that it has to begin with, and its name."""
    traits: Mapping[str, Raw]
    """By group of providers, the `ModelTraits` of each beginning of a name."""

    def find_list(self, url: str) -> str | None:
        """The price list of whoever is at an address."""
        for part, pattern, name in self.addresses:
            if part in url and re.match(pattern, url):
                return name
        return None

    def has_list(self, name: str) -> bool:
        return any(name == known for _, _, known in self.addresses)

    def find_traits(self, group: str, model: str) -> ModelTraits | None:
        """What is known of the longest beginning of a name."""
        known = json.decode(self.traits[group], type=dict[str, ModelTraits])
        beginnings = list_beginnings(model.lower())
        return next((known[beginning] for beginning in beginnings if beginning in known), None)


class PriceShelf:
    """The price lists of the table, each read once."""

    def __init__(self, table: FactsTable) -> None:
        self._table = table
        self._lists: dict[str, PriceList] = {}

    def find_model(self, name: str, model: str) -> ListedModel | None:
        """A model of a list, by any of its names. Raises: FileError."""
        asked = model.lower()
        found = self._match(name, asked)
        if found is None and (spelled := spell_date(asked)) != asked:
            return self._match(name, spelled)
        return found

    def _match(self, name: str, asked: str) -> ListedModel | None:
        prices = self._read(name)
        found = prices.find_model(asked)
        for fallback in prices.fallbacks:
            found = found or self._read(fallback).find_model(asked)
        return found

    def _read(self, name: str) -> PriceList:
        if name not in self._lists:
            # Some names are written by a person: they may not lead to another file.
            known = self._table.has_list(name)
            self._lists[name] = read_prices(name) if known else PriceList(names={}, models=())
        return self._lists[name]


def find_facts(provider: ModelProvider, url: str, model: str) -> ModelFacts:
    """What the table says of a model of a provider at an address.

    Raises:
        FileError: the table cannot be read, so the installation is broken.
    """
    table = read_table()
    shelf = PriceShelf(table)
    if provider.kind == "google":
        # As the API itself lists them.
        model = model.removeprefix("models/")
    name = provider.prices or table.find_list(url)
    listed = shelf.find_model(name, model) if name else None
    window = listed.window if listed else None
    traits = table.find_traits(*_find_group(provider, model))
    return ModelFacts(
        window=window or _find_window(shelf, provider, name, model),
        longest_reply=traits.longest_reply if traits else None,
        takes=_list_media(traits, provider.kind) if traits else None,
        thinking=traits.thinking if traits else None,
        efforts=traits.efforts if traits else EFFORTS,
        listed=listed,
    )


def read_table() -> FactsTable:
    """The table without its price lists. Raises: FileError."""
    return json.decode(_read(TABLE), type=FactsTable)


def read_prices(name: str) -> PriceList:
    """One of its price lists. Raises: FileError."""
    return json.decode(_read(os.path.join(PRICES, f"{name}.json")), type=PriceList)


def list_beginnings(name: str) -> Iterator[str]:
    """A name, and what remains as one word after another is taken from its end, down to nothing."""
    while name:
        yield name
        name = name[: max(0, *(name.rfind(mark) for mark in "-.:@/"))]
    yield ""


def _read(path: str) -> bytes:
    data = files.read(path)
    if data is None:
        raise FileError(path, "no such file")
    return data


def _find_group(provider: ModelProvider, model: str) -> tuple[str, str]:
    """The providers whose models have the same traits, and what they call a model."""
    match provider.kind:
        case "anthropic" | "openai" | "google":
            return provider.kind, model
        case "openai-chat":
            return _find_chat_group(provider.word, model)


def _find_chat_group(word: str, model: str) -> tuple[str, str]:
    match word:
        case "openai-chat":
            return "openai", model
        case "vllm":
            # Named as on Hugging Face, by who made it and as what.
            return word, model.rpartition("/")[2]
        case "openrouter" | "ollama":
            return word, model.removeprefix("~")
        case _:
            return "compatible", model


def _list_media(traits: ModelTraits, kind: ModelKind) -> frozenset[Media]:
    # Even of a model that hears, OpenAI's Responses API takes no audio.
    hears = traits.hears and kind != "openai"
    return frozenset({"image", "audio"} if hears else {"image"})


def _find_window(shelf: PriceShelf, provider: ModelProvider, name: str | None, model: str) -> int | None:
    """The window of a model that its own price list has without one, or only under a name without a date."""
    for list_name, called in _list_references(provider, name, model):
        listed = shelf.find_model(list_name, called)
        if listed is not None and listed.window is not None:
            return listed.window
    return None


def _list_references(provider: ModelProvider, name: str | None, model: str) -> Iterator[tuple[str, str]]:
    """The lists that can have the window of a model, each with the model's name there."""
    undated = _DATE.sub("", model)
    if name is not None and undated != model:
        yield name, undated
    own = _OWN_LISTS.get(provider.kind)
    if own is not None and own != name:
        yield own, model
        yield own, undated
    if provider.word == "openrouter":
        maker, _, made = model.removeprefix("~").partition("/")
        yield _MAKERS.get(maker, maker), made.partition(":")[0]
