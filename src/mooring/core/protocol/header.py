"""HTTP headers: which can be sent, and which a program may add to one call."""

import re
from collections.abc import Mapping
from typing import Final

from mooring.errors import ConfigError

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_PROTOCOL: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "cookie", "host"}
    | {"keep-alive", "last-event-id", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Headers that the protocol and the connection need as they are; and all that begin with `Mcp-`."""


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the same headers. Raises: ConfigError where one could be read as two."""
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise ConfigError(f"{name!r} is not a valid name of an HTTP header.")
        # Not quoted: it may be a secret.
        if _CONTROL.search(value):
            raise ConfigError(
                f"The value of the HTTP header {name} contains a line break or another control character."
            )
    return dict(headers)


def check_added_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the same headers, to add to one call. Raises: ConfigError, also for those that the protocol sets."""
    for name in headers:
        if name.lower() in _PROTOCOL or name.lower().startswith("mcp-"):
            raise ConfigError(f"The HTTP header {name} is set by the protocol. Leave it out of `headers`.")
    return check_headers(headers)
