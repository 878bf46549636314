"""Names that a provider takes, of tools and of their parameters."""

import re
from collections.abc import Iterable
from typing import NamedTuple

MAX_NAME = 64


class NameRule(NamedTuple):
    """The names that are taken, and the characters to replace in others."""

    valid: re.Pattern[str]
    invalid_characters: str


TOOL_NAMES = NameRule(re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"), r"[^a-zA-Z0-9_-]")
"""Names of tools that all providers take: Anthropic and OpenAI refuse dots, Gemini a digit at the beginning."""


def choose_names(names: Iterable[str], rule: NameRule) -> dict[str, str]:
    """The new name of each; valid ones keep theirs, and no two are the same."""
    names = tuple(names)
    taken = set(filter(rule.valid.fullmatch, names))
    chosen: dict[str, str] = {}
    for name in names:
        chosen[name] = name if name in taken else _find_free_name(name, rule, taken)
        taken.add(chosen[name])
    return chosen


def _find_free_name(name: str, rule: NameRule, taken: set[str]) -> str:
    base = re.sub(rule.invalid_characters, "_", name)
    if not rule.valid.fullmatch(base[:1]):
        base = f"_{base}"
    free = base[:MAX_NAME]
    number = 2
    while free in taken:
        free = f"{base[: MAX_NAME - 5]}_{number}"
        number += 1
    return free
