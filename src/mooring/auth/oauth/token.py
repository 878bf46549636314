"""Access tokens: the requests that get one, and everything that is needed to use it, refresh it and give it back."""

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.auth.oauth.client import OAuthClient
from mooring.auth.oauth.exchange import LoginReply, describe_refusal, read_refusal, read_reply
from mooring.errors import GrantRefused, LoginFailed

TokenType: TypeAlias = Literal["Bearer", "DPoP"]
AHEAD = 60.0
"""Refreshed so many seconds before its end, or at half its life if that is shorter."""


class Token(Struct, frozen=True):
    """A token and where it is from: nothing else has to be looked up to refresh it (python-sdk#3250)."""

    access: str
    """Empty for one that is still to be asked for."""
    type: TokenType
    client: OAuthClient
    resource: str
    endpoint: str
    """Where tokens come from."""
    scopes: tuple[str, ...] = ()
    refresh: str = ""
    obtained_at: float = 0.0
    expires_at: float | None = None
    revocation: str = ""
    """Where tokens are given back; empty if nowhere."""
    key: str = ""
    """The private key that a DPoP token is bound to."""

    @property
    def issuer(self) -> str:
        return self.client.issuer

    def is_stale(self, now: float) -> bool:
        """Whether it should be refreshed before it is used."""
        if self.expires_at is None:
            return False
        life = self.expires_at - self.obtained_at
        return now >= self.expires_at - min(AHEAD, max(life, 0.0) / 2)

    def is_expired(self, now: float) -> bool:
        return self.expires_at is not None and now >= self.expires_at

    def __repr__(self) -> str:
        return f"<Token of {self.issuer} for {self.resource}>"


class TokenReply(Struct, frozen=True):
    """What a token endpoint answers (RFC 6749, section 5.1)."""

    access_token: str
    token_type: str = "Bearer"
    expires_in: float | str | None = None
    refresh_token: str | None = None
    scope: str | None = None

    def __repr__(self) -> str:
        return "<TokenReply>"


def read_token_reply(reply: LoginReply, endpoint: str) -> TokenReply:
    """The answer of a token endpoint. Raises: GrantRefused, LoginFailed."""
    if reply.status >= 300:
        raise GrantRefused(endpoint, describe_refusal(reply), read_refusal(reply).error)
    made = read_reply(reply, TokenReply, f"the token of {endpoint}")
    # It becomes part of a header.
    if not made.access_token or not made.access_token.isascii() or not made.access_token.isprintable():
        raise LoginFailed(f"{endpoint} gave a token that cannot be sent")
    return made


def fill_token(asked: Token, made: TokenReply, now: float) -> Token:
    """The token that was asked for, with the answer of its endpoint filled in. Raises: LoginFailed."""
    seconds = _read_seconds(made.expires_in)
    token_type = _read_type(made, asked.endpoint, bool(asked.key))
    return replace(
        asked,
        access=made.access_token,
        type=token_type,
        # An answer that names no scopes gave those that were asked for.
        scopes=tuple(made.scope.split()) if made.scope else asked.scopes,
        # A server that does not rotate sends no new one: the old one still holds.
        refresh=made.refresh_token or asked.refresh,
        obtained_at=now,
        expires_at=None if seconds is None else now + seconds,
        key=asked.key if token_type == "DPoP" else "",
    )


def _read_type(made: TokenReply, endpoint: str, has_key: bool) -> TokenType:
    match made.token_type.lower():
        case "bearer":
            return "Bearer"
        case "dpop" if has_key:
            return "DPoP"
        case other:
            raise LoginFailed(f"{endpoint} gave a token of an unknown type, {other[:40]!r}")


def _read_seconds(value: float | str | None) -> float | None:
    """How long a token holds. Some servers write the number as a text."""
    try:
        seconds = float(value) if value is not None else None
    except ValueError:
        return None
    # Not a number, or none that a clock could count: as if nothing was said.
    return seconds if seconds is not None and 0 <= seconds < 1e10 else None


JWT_BEARER_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"


class DeviceCode(Struct, frozen=True):
    """What to show a person who logs in on another device (RFC 8628)."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None = None
    expires_in: float = 600
    interval: float = 5

    def __repr__(self) -> str:
        return "<DeviceCode>"


def make_fields(resource: str, scopes: tuple[str, ...] = (), **fields: str) -> dict[str, str]:
    """The form that asks for a token, with the resource that it is for, byte for byte as its server names it."""
    if resource:
        fields["resource"] = resource
    if scopes:
        fields["scope"] = " ".join(scopes)
    return fields


def read_device_code(reply: LoginReply, endpoint: str) -> DeviceCode:
    """The code to enter. Raises: LoginFailed."""
    if reply.status >= 300:
        raise LoginFailed(f"{endpoint} gave no code to enter: {describe_refusal(reply)}")
    return read_reply(reply, DeviceCode, f"the code of {endpoint}")
