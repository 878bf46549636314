"""The token of a login that a definition names: `auth: {type: "oauth", credentialId: …}`."""

import re
from time import time
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from mooring.auth.store import SecretStore
from mooring.core.definitions.template import SECRET_NAME


class FoundLogin(Struct, frozen=True):
    """A login that is stored; `token` is `None` if it may not go to that server, or has ended."""

    token: str | None

    def __repr__(self) -> str:
        return "FoundLogin(…)"


class _StoredLogin(Struct, frozen=True):
    """What a login left in the store, as far as it matters here."""

    access: str
    type: str = "Bearer"
    resource: str = ""
    expires_at: float | None = None

    def may_go_to(self, url: str | None) -> bool:
        """Whether it was issued for that address, and still holds."""
        # A token of another type is worth nothing without a proof for each request.
        if self.type != "Bearer" or self._has_expired():
            return False
        if not self.resource or url is None:
            return True
        return _origin(self.resource) == _origin(url)

    def _has_expired(self) -> bool:
        return self.expires_at is not None and time() >= self.expires_at

    def __repr__(self) -> str:
        return "_StoredLogin(…)"


async def find_login_token(store: SecretStore, credential_id: str, url: str | None) -> FoundLogin | None:
    """The login under that id; `None` if there is none.

    Its token goes only to the origin that it was issued for: whoever writes a definition could otherwise have it sent
    to an address of their own. `url` is the server's address, `None` for a program. What the store keeps under keys of
    its own is no login by an id: those keys have blanks in them, which no id may have.

    Raises: as the store.
    """
    if not re.fullmatch(SECRET_NAME, credential_id):
        return FoundLogin(None)
    stored = await store.get("oauth", credential_id)
    if stored is None:
        return None
    try:
        login = msgspec.json.decode(stored, type=_StoredLogin)
    except msgspec.DecodeError:
        return FoundLogin(None)
    return FoundLogin(login.access if login.may_go_to(url) else None)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower()
