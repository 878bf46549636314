"""Secrets that were given to a server, kept out of whatever is shown of it."""

from collections.abc import Iterable, Iterator, Sequence

SHORTEST = 4
"""A secret shorter than this cannot be told from any other text."""
HIDDEN = "•••"


def hidden(values: Iterable[str]) -> tuple[str, ...]:
    """What to look for so that none of these values is shown: the longest first, as one may be part of another."""
    texts = {text for value in values for text in _shown(value) if len(text) >= SHORTEST}
    return tuple(sorted(texts, key=lambda text: (-len(text), text)))


def _shown(value: str) -> Iterator[str]:
    """The ways in which a value can be seen: whole, or line by line."""
    yield value
    yield value.strip()
    if "\n" in value:
        yield from (line.strip() for line in value.splitlines())


def redacted(text: str, secrets: Sequence[str]) -> str:
    """The text with every secret struck out."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text
