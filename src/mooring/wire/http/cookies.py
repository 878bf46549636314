"""Cookies of one connection: kept in memory while it lasts, given back to the origin they came from and to no other.

They are what a load balancer finds the right machine by. `Domain` can only narrow where a cookie goes, never widen it.
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
"""Names and values of all of them together: what a server takes in one field of a head."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e, \"]*")


class Cookie(Struct, frozen=True):
    name: str
    value: str
    path: str
    until: float

    def __len__(self) -> int:
        return len(self.name) + len(self.value)

    def goes_to(self, path: str, now: float) -> bool:
        below = path == self.path or path.startswith(self.path if self.path.endswith("/") else f"{self.path}/")
        return below and now < self.until


class Cookies:
    """What one origin asked to be reminded of; `own` is what the person says there anyway."""

    def __init__(self, own: str = "") -> None:
        self._own = own
        self._kept: dict[tuple[str, str], Cookie] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, fields: Iterable[str], url: URL) -> None:
        """Keep what an answer's `Set-Cookie` fields say; the oldest make room, what cannot be kept is passed over."""
        for field in fields:
            if (cookie := _read(field, url)) is None:
                continue
            key = cookie.name, cookie.path
            self._kept.pop(key, None)
            if cookie.until > time() and len(cookie) <= ROOM:
                self._kept[key] = cookie
        while len(self._kept) > MOST or sum(map(len, self._kept.values())) > ROOM:
            del self._kept[next(iter(self._kept))]

    def header(self, url: URL) -> str:
        """What to say to this URL, the longest path first."""
        now = time()
        found = [cookie for cookie in self._kept.values() if cookie.goes_to(url.raw_path, now)]
        found.sort(key=lambda cookie: -len(cookie.path))
        return "; ".join(filter(None, [self._own, *(f"{cookie.name}={cookie.value}" for cookie in found)]))


def _read(field: str, url: URL) -> Cookie | None:
    pair, *attributes = field.split(";")
    name, equals, value = (part.strip(" \t") for part in pair.partition("="))
    if not equals or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        return None
    said = dict(_attribute(attribute) for attribute in attributes)
    if not _is_of(url.raw_host or "", said.get("domain", "")) or ("secure" in said and url.scheme != "https"):
        return None
    path = said.get("path", "")
    return Cookie(name, value, path if path.startswith("/") else _folder(url.raw_path), _until(said))


def _attribute(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip().lower(), value.strip()


def _is_of(host: str, domain: str) -> bool:
    domain = domain.lower().removeprefix(".")
    return not domain or host == domain or host.endswith(f".{domain}")


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _until(said: dict[str, str]) -> float:
    """When it is to be forgotten; what makes no sense is as if unsaid."""
    age = said.get("max-age", "")
    if re.fullmatch(r"-?\d{1,12}", age):
        return time() + int(age)
    try:
        return parsedate_to_datetime(said["expires"]).timestamp()
    except (KeyError, ValueError, OverflowError):
        return inf
