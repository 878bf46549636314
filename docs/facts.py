"""Writes src/mooring/backends/api/tables/, what is known of models without asking: `make facts`.

Prices and windows are those of genai-prices. How a model thinks, how long its replies may be and whether it takes audio
is what Pydantic AI's models say of themselves: asked about every name that either package knows, and about how those
names begin, so that the table answers for names that nobody knows yet.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, time
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from re import _constants, _parser
from typing import Any, get_args

from genai_prices import types as genai
from genai_prices.data import providers
from msgspec import json, to_builtins
from msgspec.structs import replace
from pydantic_ai.models import KnownModelName
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.providers.openrouter import OpenRouterProvider
from pydantic_ai.providers.vllm import VLLMProvider

from mooring.backends.api.codecs.codec import ThinkingControl
from mooring.backends.api.facts import PRICES, TABLE, ModelTraits, list_beginnings, read_table
from mooring.backends.api.price_list import Condition, ListedModel, Price, Rates
from mooring.core.conversation.effort import EFFORTS

PACKAGES = ("genai-prices", "pydantic-ai-slim")
LICENSE = (
    "Taken from genai-prices and Pydantic AI, Copyright (c) Pydantic Services Inc. 2024 to present, under the MIT "
    "License: https://github.com/pydantic/genai-prices/blob/main/LICENSE"
)
OLDER_LONGEST = 4096
"""What the oldest Claude models write at most. Those after them, up to 4.1, refuse a request whose reply could overflow
the window, so that they are asked for no more."""
NEWER_CLAUDE = ModelTraits(thinking="adaptive")
"""A Claude that nobody knows yet is newer than all that are known, and those decide for themselves since 4.6."""
OTHER_APIS = frozenset({"cursor", "elevenlabs"})
"""Providers that are asked in no API that we speak: theirs start agents in a cloud, or talk aloud."""
CLAUDES = ("claude", "claude-fable", "claude-haiku", "claude-mythos", "claude-opus", "claude-sonnet")


def make_files(day: str) -> dict[str, str]:
    """The text of each file, by its path, as made on a day."""
    listed = [row for row in providers if is_reachable(row)]
    parts = {
        "date": write(day, 0),
        "madeFrom": write({package: version(package) for package in PACKAGES}, 0),
        "license": write(LICENSE, 0),
        "addresses": write([[find_required_text(row.api_pattern), row.api_pattern, row.id] for row in listed], 1),
        "traits": write(to_builtins(list_traits()), 2),
    }
    table = "{\n" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "\n}\n"
    lists = {os.path.join(PRICES, f"{row.id}.json"): write(make_list(row), 2) + "\n" for row in listed}
    return {TABLE: table, **lists}


# --- prices -------------------------------------------------------------------------------------------------


def is_reachable(provider: genai.Provider) -> bool:
    """Whether a model of a list can answer somebody: in an API that we speak, at an address that leads to the list."""
    first = next(row for row in providers if row.api_pattern == provider.api_pattern)
    prices = [price for model in provider.models for price in make_model(model).prices]
    # Where nothing is written, such as vectors, output has no price.
    writes = any(price.rates[0].is_complete for price in prices)
    return first is provider and writes and provider.id not in OTHER_APIS


def make_list(provider: genai.Provider) -> dict[str, Any]:
    """A `PriceList`."""
    names: dict[str, int] = {}
    rules: list[tuple[int, tuple[Condition, ...]]] = []
    for number, model in enumerate(provider.models):
        for conditions in list_alternatives(model.match):
            if isinstance(conditions, str):
                names.setdefault(conditions, number)
            else:
                rules.append((number, conditions))
    return {
        "fallbacks": list(provider.fallback_model_providers or ()),
        "names": names,
        "rules": rules,
        "models": [to_builtins(make_model(model)) for model in provider.models],
    }


def list_alternatives(clause: genai.MatchLogic) -> Iterator[str | tuple[Condition, ...]]:
    """The ways to fit a clause: a whole name, or conditions that hold together."""
    match clause:
        case genai.ClauseOr(clauses):
            for each in clauses:
                yield from list_alternatives(each)
        case genai.ClauseEquals(text):
            yield text.lower()
        case genai.ClauseAnd(clauses):
            yield tuple(condition for each in clauses for condition in list_conditions(each))
        case _:
            yield tuple(list_conditions(clause))


def list_conditions(clause: genai.MatchLogic) -> Iterator[Condition]:
    match clause:
        case genai.ClauseStartsWith(text):
            yield "starts", text.lower()
        case genai.ClauseEndsWith(text):
            yield "ends", text.lower()
        case genai.ClauseContains(text):
            yield "contains", text.lower()
        case genai.ClauseRegex(pattern):
            # Looked at first, so that patterns are compiled only for names that can fit them.
            if text := find_required_text(pattern):
                yield "contains", text
            yield "regex", pattern
        case _:
            raise NotImplementedError(clause)


def find_required_text(pattern: str) -> str:
    """The longest text that everything that fits a pattern contains."""
    texts = [""]
    for kind, value in _parser.parse(pattern):
        if kind is _constants.LITERAL:
            texts[-1] += chr(value)
        else:
            texts.append("")
    return max(texts, key=len)


def make_model(model: genai.ModelInfo) -> ListedModel:
    priced = model.prices
    if isinstance(priced, genai.ModelPrice):
        priced = [genai.ConditionalPrice(prices=priced)]
    return ListedModel(
        id=model.id, window=model.context_window, prices=tuple(make_price(each, model.id) for each in priced)
    )


def make_price(price: genai.ConditionalPrice, model: str) -> Price:
    rates = tuple(make_rates(price.prices, model, above) for above in list_borders(price.prices))
    match price.constraint:
        case None:
            return Price(rates=rates)
        case genai.StartDateConstraint(day):
            return Price(since=day.isoformat(), rates=rates)
        case genai.TimeOfDateConstraint(start, end):
            return Price(between=(write_hour(start), write_hour(end)), rates=rates)


def write_hour(hour: time) -> str:
    if hour.utcoffset():
        raise NotImplementedError("The table has hours in UTC.")
    return hour.strftime("%H:%M:%S")


def list_borders(prices: genai.ModelPrice) -> list[int]:
    """The numbers of input tokens above which something costs more or less, after 0 for all other requests."""
    tiered = [price for price in vars(prices).values() if isinstance(price, genai.TieredPrices)]
    borders = {tier.start for price in tiered for tier in price.tiers}
    if 0 in borders:
        raise NotImplementedError("The table has one price up to each border.")
    return [0, *sorted(borders)]


def make_rates(prices: genai.ModelPrice, model: str, above: int) -> Rates:
    if model.endswith(":free") and prices.input_mtok is prices.output_mtok is None:
        return Rates(input=0, output=0)
    thousand = find_price(prices.requests_kcount, above)
    # Of a reply, we count these alone. Audio, images and searches are among them at the price of text.
    return Rates(
        above=above,
        input=find_price(prices.input_mtok, above),
        output=find_price(prices.output_mtok, above),
        cache_read=find_price(prices.cache_read_mtok, above),
        cache_write=find_price(prices.cache_write_mtok, above),
        request=thousand / 1000 if thousand else None,
    )


def find_price(price: Decimal | genai.TieredPrices | None, above: int) -> float | None:
    """The price for requests of more input tokens than that."""
    if not isinstance(price, genai.TieredPrices):
        return None if price is None else float(price)
    reached = [tier.price for tier in price.tiers if tier.start <= above]
    return float([price.base, *reached][-1])


# --- how models are -----------------------------------------------------------------------------------------


def list_traits() -> dict[str, dict[str, ModelTraits]]:
    """By group of providers as `find_facts` has them, what is known of names that begin in a certain way."""
    anthropic = list_names(["anthropic"], ["anthropic"])
    google = list_names(["google"], ["google"])
    openai = list_names(["openai"], ["openai", "openai-chat"])
    made = {name for name in list_names(["openrouter"], []) if "/" in name}
    bare = {name.rpartition("/")[2] for name in list_names([row.id for row in providers], [])}
    return {
        "anthropic": shorten(anthropic, read_claude),
        "google": shorten(google, read_gemini),
        "openai": shorten(openai, lambda name: read_chat(name, OpenAIProvider.model_profile(name))),
        "openrouter": shorten(made, read_openrouter),
        "compatible": shorten(
            openai | made, lambda name: read_chat(name, OpenAICompatibleProvider.model_profile(name))
        ),
        "ollama": shorten(bare, lambda name: read_chat(name, OllamaProvider.model_profile(name))),
        "vllm": shorten(bare, lambda name: read_chat(name, VLLMProvider.model_profile(name))),
    }


def list_names(lists: Iterable[str], words: Iterable[str]) -> set[str]:
    """The names in price lists, and those that Pydantic AI knows behind a word, in small letters."""
    models = [model for row in providers if row.id in lists for model in row.models]
    spelled = {name for model in models for name in [model.id, *list_spellings(model.match)]}
    known = [name.partition(":") for name in get_args(KnownModelName.__value__)]
    spelled |= {name for word, _, name in known if word in words}
    return {name.lower().rstrip("-.:@/") for name in spelled}


def list_spellings(clause: genai.MatchLogic) -> Iterator[str]:
    """The names, and beginnings of names, in a clause."""
    match clause:
        case genai.ClauseOr(clauses) | genai.ClauseAnd(clauses):
            for each in clauses:
                yield from list_spellings(each)
        case genai.ClauseEquals(text) | genai.ClauseStartsWith(text):
            yield text


def shorten(names: set[str], read: Callable[[str], ModelTraits]) -> dict[str, ModelTraits]:
    """The shortest beginnings from which the traits of all names follow."""
    found = {name: read(name) for name in names}
    below: dict[str, set[ModelTraits]] = defaultdict(set)
    for name, traits in found.items():
        for beginning in list_beginnings(name):
            below[beginning].add(traits)
    kept: dict[str, ModelTraits] = {}
    for beginning in sorted(below):
        alike = below[beginning]
        # A name that nobody knows is like all that begin as it does, if those are alike.
        guessed = next(iter(alike)) if len(alike) == 1 else read(beginning)
        traits = found.get(beginning, guessed)
        shorter = [kept[each] for each in list_beginnings(beginning) if each in kept]
        follows = shorter[0] if shorter else ModelTraits()
        if traits != follows:
            kept[beginning] = traits
    return kept


def read_claude(name: str) -> ModelTraits:
    if name in CLAUDES:
        return NEWER_CLAUDE
    # Gateways write versions with a point.
    known: dict[str, Any] = dict(AnthropicProvider.model_profile(name.replace(".", "-")) or {})
    longest = known.get("anthropic_max_output_tokens")
    if longest is None and known.get("anthropic_rejects_max_tokens_beyond_context_window"):
        longest = OLDER_LONGEST
    return ModelTraits(thinking=find_claudes_thinking(known), longest_reply=longest)


def find_claudes_thinking(known: Mapping[str, Any]) -> ThinkingControl | None:
    if known.get("anthropic_supports_adaptive_thinking"):
        # One that decides for itself, and takes no advice.
        return "adaptive" if known.get("anthropic_supports_effort") else None
    if known.get("anthropic_supports_effort"):
        return "effort"
    return "budget" if known.get("supports_thinking") else None


def read_gemini(name: str) -> ModelTraits:
    # Some levels depend on who is asked, which only the model knows.
    known: dict[str, Any] = dict(GoogleModel(name, provider=GoogleProvider(api_key="none")).profile)
    hears = known.get("supports_audio_file_input", True)
    levels = known.get("google_thinking_levels")
    efforts = EFFORTS if levels is None else [level.lower() for level in levels]
    if not known.get("supports_thinking"):
        return ModelTraits(hears=hears)
    control: ThinkingControl = "level" if known.get("google_supports_thinking_level") else "budget"
    return replace(make_thinking(control, efforts), hears=hears)


def read_openrouter(name: str) -> ModelTraits:
    made = name if "/" in name else f"{name}/unknown"
    traits = read_chat(name, OpenRouterProvider.model_profile(made))
    if not made.startswith("anthropic/"):
        return traits
    return replace(traits, longest_reply=read_claude(made.removeprefix("anthropic/")).longest_reply)


def read_chat(name: str, profile: ModelProfile | None) -> ModelTraits:
    known: dict[str, Any] = dict(profile or {})
    thinks = known.get("supports_thinking") or known.get("thinking_always_enabled")
    efforts = known.get("openai_reasoning_efforts", EFFORTS)
    # Where nothing is known, the profiles say yes, but hardly any of these models hears.
    hears = "audio" in name and known.get("supports_audio_file_input", True)
    return replace(make_thinking("effort" if thinks else None, efforts), hears=hears)


def make_thinking(control: ThinkingControl | None, offered: Collection[str]) -> ModelTraits:
    """How a model is told how much to think; of one effort alone, there is nothing to choose."""
    efforts = tuple(effort for effort in EFFORTS if effort in offered)
    if control is None or len(efforts) < 2:
        return ModelTraits()
    # All of them are the default, which is left out.
    return ModelTraits(thinking=control) if efforts == EFFORTS else ModelTraits(thinking=control, efforts=efforts)


# --- the file -----------------------------------------------------------------------------------------------


def write(value: Any, levels: int) -> str:
    """As JSON, with a line for each entry of so many levels, so that what changes can be read."""
    if not levels or not value or not isinstance(value, dict | list):
        return json.encode(value).decode()
    if isinstance(value, list):
        return "[\n" + ",\n".join(write(each, levels - 1) for each in value) + "\n]"
    return "{\n" + ",\n".join(f"{write(key, 0)}: {write(each, levels - 1)}" for key, each in value.items()) + "\n}"


def read_files() -> dict[str, str]:
    """What is there."""
    paths = [Path(TABLE), *sorted(Path(PRICES).glob("*.json"))]
    return {str(path): path.read_text() for path in paths if path.exists()}


def refresh() -> None:
    """Write the table; its date stays as it is if nothing else changes."""
    old = read_files()
    if TABLE in old and old == make_files(read_table().date):
        return
    made = make_files(datetime.now(UTC).date().isoformat())
    for path in old.keys() - made.keys():
        Path(path).unlink()
    for path, text in made.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)


if __name__ == "__main__":
    refresh()
