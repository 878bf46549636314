"""Cookies of one connection: kept in memory while it lasts, given back to the origin they came from and to no other.

A load balancer needs them to find the machine that a session lives on. `Domain` can only narrow where a cookie goes,
never widen it.
"""

import re
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from math import inf
from time import time

from msgspec import Struct
from yarl import URL

MOST = 50
ROOM = 8 * 1024
"""Names and values of all of them together: about what a server takes in one header field."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e, \"]*")
"""Wider than RFC 6265 by comma, space and quote; without whatever could be read as another cookie or header."""


class Cookie(Struct, frozen=True):
    """One cookie, and how long and where it is given back."""

    name: str
    value: str
    path: str
    until: float

    def __len__(self) -> int:
        return len(self.name) + len(self.value)

    def goes_to(self, path: str, now: float) -> bool:
        """Whether it is given back to this path, which must be its own or below it."""
        if now >= self.until:
            return False
        folder = self.path if self.path.endswith("/") else f"{self.path}/"
        return path == self.path or path.startswith(folder)


class Cookies:
    """The cookies of one origin, beside `own`, which is what the person put into a Cookie header."""

    def __init__(self, own: str = "") -> None:
        self._own = own
        self._kept: dict[tuple[str, str], Cookie] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, fields: Iterable[str], url: URL) -> None:
        """Keep what an answer's `Set-Cookie` fields say. The oldest make room; what cannot be kept is skipped."""
        for field in fields:
            cookie = _parse_cookie(field, url)
            if cookie is not None:
                self._store(cookie)
        while len(self._kept) > MOST or self._size() > ROOM:
            oldest = next(iter(self._kept))
            del self._kept[oldest]

    def header(self, url: URL) -> str:
        """The value of the Cookie header for this URL, the longest path first, as RFC 6265 (5.4) has it."""
        now = time()
        found = [cookie for cookie in self._kept.values() if cookie.goes_to(url.raw_path, now)]
        found.sort(key=lambda cookie: -len(cookie.path))
        pairs = [f"{cookie.name}={cookie.value}" for cookie in found]
        if self._own:
            pairs.insert(0, self._own)
        return "; ".join(pairs)

    def _store(self, cookie: Cookie) -> None:
        key = cookie.name, cookie.path
        # Also where the new one is not kept: a cookie that is over is how a server deletes one.
        self._kept.pop(key, None)
        if cookie.until > time() and len(cookie) <= ROOM:
            self._kept[key] = cookie

    def _size(self) -> int:
        return sum(map(len, self._kept.values()))


def _parse_cookie(field: str, url: URL) -> Cookie | None:
    pair, *rest = field.split(";")
    name, equals, value = (part.strip(" \t") for part in pair.partition("="))
    if not equals or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        return None
    attributes = dict(map(_parse_attribute, rest))
    if not _may_be_set(attributes, url):
        return None
    path = attributes.get("path", "")
    if not path.startswith("/"):
        path = _folder(url.raw_path)
    return Cookie(name, value, path, _expiry(attributes))


def _parse_attribute(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip().lower(), value.strip()


def _may_be_set(attributes: dict[str, str], url: URL) -> bool:
    if "secure" in attributes and url.scheme != "https":
        return False
    return _is_within(url.raw_host or "", attributes.get("domain", ""))


def _is_within(host: str, domain: str) -> bool:
    domain = domain.lower().removeprefix(".")
    return not domain or host == domain or host.endswith(f".{domain}")


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _expiry(attributes: dict[str, str]) -> float:
    """When it is over; an attribute that makes no sense is ignored. `Max-Age` wins over `Expires` (RFC 6265, 5.3)."""
    age = attributes.get("max-age", "")
    if re.fullmatch(r"-?\d{1,12}", age):
        return time() + int(age)
    try:
        return parsedate_to_datetime(attributes["expires"]).timestamp()
    except (KeyError, ValueError, OverflowError):
        return inf
