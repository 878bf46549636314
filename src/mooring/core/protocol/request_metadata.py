"""What a program sends with one call besides its arguments: metadata and HTTP headers."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from mooring.core.protocol.era import EraName
from mooring.core.text.secret import is_secret, list_secrets
from mooring.errors import ConfigError

_RESERVED: Final = "io.modelcontextprotocol/"
_PROGRESS: Final = "progressToken"


class RequestMetadata(Struct, frozen=True, dict=True):
    """Keys for the `_meta` of a call, and headers for its HTTP requests. `make_extras` checks them."""

    meta: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = None
    capabilities: Mapping[str, Any] | None = None
    """What the program behind the call can be asked for, where each request says so. `None` for what Mooring can."""
    era: EraName | None = None
    """The era of the program behind the call; `None` for Mooring itself, which takes any."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing is sent with the call but its arguments."""
        return self.meta is None and self.headers is None and self.capabilities is None

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """What no error may repeat of them."""
        headers = self.headers or {}
        return list_secrets(value for name, value in headers.items() if is_secret(name, value))


NO_METADATA: Final = RequestMetadata()


def make_extras(meta: Mapping[str, Any] | None, headers: Mapping[str, str] | None) -> RequestMetadata:
    """The extras of a call. Raises: ConfigError if one is not the program's to set."""
    if not meta and not headers:
        return NO_METADATA
    checked_meta = _check_meta(meta) if meta else None
    checked_headers = check_added_headers(headers) if headers else None
    return RequestMetadata(checked_meta, checked_headers)


def make_passed_extras(
    meta: Mapping[str, Any], capabilities: Mapping[str, Any] | None, era: EraName | None
) -> RequestMetadata:
    """The extras of a request that is passed on for another program. Raises: as `make_extras`."""
    return RequestMetadata(_check_meta(meta) if meta else None, None, capabilities, era)


def _check_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The same keys. Raises: ConfigError if the protocol sets one of them."""
    for key in meta:
        if key == _PROGRESS or key.startswith(_RESERVED):
            raise ConfigError(f"{key} is set by the protocol. Leave it out of `meta`.")
    return dict(meta)


_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_CONTROL: Final = r"[\x00-\x08\x0a-\x1f\x7f]"
_PROTOCOL: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "cookie", "host"}
    | {"keep-alive", "last-event-id", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Headers that the protocol and the connection need as they are; and all that begin with `Mcp-`."""


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the same headers. Raises: ConfigError where one could be read as two."""
    for name, value in headers.items():
        if not re.fullmatch(_TOKEN, name):
            raise ConfigError(f"{name!r} is not a valid name of an HTTP header.")
        # Not quoted: it may be a secret.
        if re.search(_CONTROL, value):
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
