"""What a server says in `WWW-Authenticate` when it asks for a login (RFC 9110, section 11.6.1)."""

import re
from collections.abc import Iterable

from msgspec import Struct

# A scheme is a token that no `=` follows; a parameter is a token with one. Both separate their neighbors by commas, so
# only this tells where one challenge ends and the next begins.
_SCHEME = re.compile(r"\s*,?\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?:\s+(?=[^\s=,]|$)|\s*(?=,|$))")
_PARAM = re.compile(r"\s*,?\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s,\"]*))")
_LONGEST = 8192


class Challenge(Struct, frozen=True):
    """One way to log in; `params` have lower-case names."""

    scheme: str
    params: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.params.get(name, "")


def parse_challenge(fields: Iterable[str]) -> Challenge:
    """The challenge that matters: Bearer if there is one, else the first; empty where there is none."""
    found: list[Challenge] = []
    for field in fields:
        found += _parse_field(field[:_LONGEST])
    for challenge in found:
        if challenge.scheme.lower() == "bearer":
            return challenge
    return found[0] if found else Challenge("", {})


def _parse_field(text: str) -> list[Challenge]:
    """The challenges of one field, up to the first thing in it that makes no sense."""
    found: list[Challenge] = []
    position = 0
    while position < len(text):
        if param := _PARAM.match(text, position):
            name, quoted, plain = param.groups()
            if found:
                value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
                found[-1].params.setdefault(name.lower(), value)
            position = param.end()
        elif scheme := _SCHEME.match(text, position):
            found.append(Challenge(scheme[1], {}))
            position = scheme.end()
        else:
            break
    return found
