"""Whether an address is one that a URI template (RFC 6570) expands to, at a cost that is bounded whatever both say.

Servers write the templates and models the addresses, so neither is trusted: where the answer would take too long, or
the address leads somewhere other than it seems to, the answer is no.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

LONGEST_ADDRESS: Final = 4096
WORK: Final = 200_000
"""How many characters are looked at for all templates together: about 20 ms."""

_EXPRESSION: Final = r"\{([+#./;?&]?)([^{}]*)\}"
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%,")
_RESERVED: Final = _PLAIN | frozenset(":/?#[]@!$&'()*+;=")
# What an expression of each kind can become. The ones that take reserved characters can become nearly anything.
_ALLOWED: Final = {
    "": _PLAIN,
    "+": _RESERVED,
    "#": _RESERVED,
    ".": _PLAIN,
    "/": _PLAIN | {"/"},
    ";": _PLAIN | frozenset(";="),
    "?": _PLAIN | frozenset("?&="),
    "&": _PLAIN | frozenset("&="),
}


_Part: TypeAlias = str | frozenset[str]
"""Of a template: a text, or an expression, which can be any text of these characters."""


def is_expansion(address: str, templates: Iterable[str]) -> bool:
    """Whether one of the templates expands to this address."""
    if len(address) > LONGEST_ADDRESS or _is_devious(address):
        return False
    work = WORK
    for template in templates:
        parts = list(_split(template))
        # Most templates are ruled out here, so that a thousand of them cost little.
        if isinstance(parts[0], str) and not address.startswith(parts[0]):
            continue
        work -= len(parts) * (len(address) + 1)
        if work < 0:
            return False
        if _matches(address, parts):
            return True
    return False


def _is_devious(address: str) -> bool:
    """Whether an address climbs out of where it begins, or hides part of itself."""
    if not address.isprintable() or "\\" in address:
        return True
    with_slashes = re.sub("(?i)%2f|%5c", "/", address)
    plain = re.sub("(?i)%2e", ".", with_slashes)
    segments = re.split(r"[/?#]", plain)
    return "%00" in plain or not {".", ".."}.isdisjoint(segments)


def _split(template: str) -> Iterator[_Part]:
    """The texts and the expressions of a template, in turn, beginning with a text if it has one there."""
    end = 0
    for found in re.finditer(_EXPRESSION, template):
        if found.start() > end:
            yield template[end : found.start()]
        yield _ALLOWED[found[1]]
        end = found.end()
    if end < len(template) or end == 0:
        yield template[end:]


def _matches(address: str, parts: list[_Part]) -> bool:
    """Whether the parts can become the address. Nothing is tried twice: after each part, all ways lead on together."""
    positions = {0}
    for part in parts:
        if isinstance(part, str):
            positions = {start + len(part) for start in positions if address.startswith(part, start)}
        else:
            positions = _reach(address, positions, part)
        if not positions:
            return False
    return len(address) in positions


def _reach(address: str, positions: set[int], allowed: frozenset[str]) -> set[int]:
    """Where a text of these characters can end that begins at one of the positions."""
    reached: set[int] = set()
    is_inside = False
    for index in range(min(positions), len(address) + 1):
        is_inside = is_inside or index in positions
        if is_inside:
            reached.add(index)
            is_inside = index < len(address) and address[index] in allowed
    return reached
