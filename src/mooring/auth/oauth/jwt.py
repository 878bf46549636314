"""Signed statements (RFC 7519): who a client is, and that whoever shows a token holds its key (DPoP, RFC 9449)."""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from mooring.errors import LoginFailed

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, OKPKey, RSAKey


_CURVES = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}


class SigningKey:
    """A private key that signs. Made from PEM or JWK text; the libraries for it are loaded with the first."""

    def __init__(self, text: str) -> None:
        """Raises: LoginFailed if the text is no private key."""
        self._key = _import_key(text)

    @property
    def algorithm(self) -> str:
        """The algorithm that this key is for. Only signatures that nobody else can make: no HS256."""
        match self._key.key_type:
            case "EC":
                return _CURVES.get(str(self._key.as_dict()["crv"]), "ES256")
            case "RSA":
                return "RS256"
            case _:
                return "EdDSA"

    @property
    def public(self) -> dict[str, Any]:
        """The public half, as a JWK."""
        public = self._key.as_dict(private=False)
        return {name: value for name, value in public.items() if name != "kid"}

    @property
    def text(self) -> str:
        """The private key as a JWK, to be stored where secrets are."""
        from json import dumps

        return dumps(self._key.as_dict(private=True))

    def sign(self, claims: Mapping[str, Any], **header: Any) -> str:
        """A statement, signed. Raises: LoginFailed if the key cannot be used with its algorithm."""
        from joserfc import jwt
        from joserfc.errors import JoseError

        algorithm = self.algorithm
        try:
            return jwt.encode({"alg": algorithm, **header}, dict(claims), self._key, algorithms=[algorithm])
        except (JoseError, ValueError) as error:
            raise LoginFailed(f"the private key cannot sign with {algorithm}: {error}") from None

    def __repr__(self) -> str:
        return "<SigningKey>"


def load_signing() -> None:
    """Load what signs, which takes a tenth of a second: call it in a thread, before the first key is made."""
    import joserfc.jwk
    import joserfc.jwt  # noqa: F401 - loading is all that is wanted


def make_key() -> SigningKey:
    """A new key for one login, on the curve that every server of DPoP knows."""
    from json import dumps

    from joserfc.jwk import ECKey

    return SigningKey(dumps(ECKey.generate_key("P-256").as_dict(private=True)))


def encode_digest(text: str) -> str:
    """The SHA-256 of a text, as it is written in proofs and challenges."""
    return urlsafe_b64encode(sha256(text.encode()).digest()).rstrip(b"=").decode()


def _import_key(text: str) -> "ECKey | RSAKey | OKPKey":
    from json import loads

    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, OKPKey, RSAKey

    is_jwk = text.lstrip().startswith("{")
    for kind in (ECKey, RSAKey, OKPKey):
        try:
            key = kind.import_key(loads(text) if is_jwk else text)
        except (JoseError, ValueError, TypeError, KeyError):
            continue
        if key.is_private:
            return key
    # The text is not quoted: it is, or should be, a secret.
    raise LoginFailed("the private key cannot be read; it has to be a PEM or JWK text of an EC, RSA or Ed25519 key")


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
