"""The model that an agent file asks for, as it is written after `-m`, or why it is not taken."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from mooring.agents.definition import AgentFormat, AgentScope

FAMILIES: Final = ("opus", "sonnet", "haiku")
"""Words for a kind of Claude. With another provider's model, they mean that model."""
_OTHER_WORDS: Mapping[str, str] = {"gemini": "google"}
"""Providers that others call otherwise."""


class AskedModel(Struct, frozen=True):
    """What a file's `model` comes to."""

    model: str | None = None
    refusal: str = ""
    """Why it is not taken, as the end of a sentence."""


def read_model(value: Any, scope: AgentScope, format: AgentFormat) -> AskedModel:
    """The model of a file. A repository chooses among kinds of Claude only: it must not decide who reads the files."""
    if value is None:
        return AskedModel()
    if not isinstance(value, str):
        return AskedModel(refusal="is no text")
    word = value.strip()
    if word.casefold() in ("", "inherit", "default"):
        return AskedModel()
    if word.casefold() in FAMILIES:
        return AskedModel(word.casefold())
    if scope == "project":
        return AskedModel(refusal="is not taken from a project's file; use -m to choose it")
    return _read_own(word, format)


def _read_own(word: str, format: AgentFormat) -> AskedModel:
    if word.startswith("claude-"):
        return AskedModel(f"anthropic:{word}")
    separator = "/" if format == "opencode" else ":"
    provider, _, model = word.partition(separator)
    # Copilot's files have names for people, such as `Claude Sonnet 4.5`.
    if not model or " " in word:
        return AskedModel(refusal="names no provider; write it as PROVIDER:MODEL")
    provider = _OTHER_WORDS.get(provider, provider)
    return AskedModel(f"{provider}:{model}")
