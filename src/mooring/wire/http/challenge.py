"""What a server says in `WWW-Authenticate` when it wants to know who asks."""

import re
from collections.abc import Iterable

from msgspec import Struct

_SCHEME = re.compile(r"\s*,?\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?:\s+(?=[^\s=,]|$)|\s*(?=,|$))")
_PARAM = re.compile(r"\s*,?\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s,\"]*))")
_LONGEST = 8192


class Challenge(Struct, frozen=True):
    """One way to log in; `params` have lower-case names."""

    scheme: str
    params: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.params.get(name, "")


def parse(fields: Iterable[str]) -> Challenge:
    """The challenge that matters: Bearer if it is there, else the first; empty where there is none."""
    found = [challenge for field in fields for challenge in _challenges(field[:_LONGEST])]
    bearer = [challenge for challenge in found if challenge.scheme.lower() == "bearer"]
    return (bearer or found or [Challenge("", {})])[0]


def _challenges(text: str) -> list[Challenge]:
    found: list[Challenge] = []
    at = 0
    while at < len(text):
        if param := _PARAM.match(text, at):
            name, quoted, plain = param.groups()
            if found:
                value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
                found[-1].params.setdefault(name.lower(), value)
            at = param.end()
        elif scheme := _SCHEME.match(text, at):
            found.append(Challenge(scheme[1], {}))
            at = scheme.end()
        else:
            break
    return found
