"""The token of a credential that a definition names: `auth: {type: "oauth", credentialId: …}`."""

from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from mooring.auth.store import SecretStore


class _StoredLogin(Struct, frozen=True):
    """What a login left in the store, as far as it matters here."""

    access_token: str
    resource: str | None = None


async def find_access_token(store: SecretStore, credential_id: str, url: str | None) -> str | None:
    """The token under that id: a login's, or else one that the person stored; `None` if there is none for this server.

    A login's token goes only to the origin that it was issued for: whoever writes a definition could otherwise have it
    sent to an address of their own. `url` is the server's address, `None` for a program.

    Raises: as the store.
    """
    stored = await store.get("oauth", credential_id)
    if stored is None:
        return await store.get("secret", credential_id)
    try:
        login = msgspec.json.decode(stored, type=_StoredLogin)
    except msgspec.DecodeError:
        return None
    if login.resource and url is not None and _origin(login.resource) != _origin(url):
        return None
    return login.access_token


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower()
