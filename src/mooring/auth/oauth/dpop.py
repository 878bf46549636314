"""Proofs that whoever shows a token also holds its key (DPoP, RFC 9449): one for each request."""

from secrets import token_urlsafe
from urllib.parse import urlsplit, urlunsplit

from mooring.auth.oauth.jwt import SigningKey, encode_digest

PROOF_HEADER = "DPoP"
NONCE_HEADER = "dpop-nonce"
_MOST_ORIGINS = 16


class Prover:
    """Makes the proofs of one login, and remembers the last nonce of each server that wants one."""

    def __init__(self, key: SigningKey) -> None:
        self.key = key
        self._nonces: dict[str, str] = {}

    def prove(self, method: str, url: str, now: float, token: str = "") -> str:
        """A proof for one request; `token` is the access token that goes with it."""
        parts = urlsplit(url)
        claims = {
            "jti": token_urlsafe(16),
            "htm": method,
            "htu": urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")),
            "iat": int(now),
        }
        if token:
            claims["ath"] = encode_digest(token)
        if nonce := self._nonces.get(_name_origin(url)):
            claims["nonce"] = nonce
        return self.key.sign(claims, typ="dpop+jwt", jwk=self.key.public)

    def store_nonce(self, url: str, nonce: str) -> bool:
        """Keep the nonce that a server sent; whether it is a new one."""
        origin = _name_origin(url)
        if not nonce or nonce == self._nonces.get(origin) or not nonce.isascii() or not nonce.isprintable():
            return False
        # A login talks to two or three servers; a hostile one must not fill the memory.
        if len(self._nonces) >= _MOST_ORIGINS:
            self._nonces.clear()
        self._nonces[origin] = nonce
        return True


def _name_origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
