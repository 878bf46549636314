"""Access tokens: the requests that get one, and everything that is needed to use it, refresh it and give it back."""

from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.auth.oauth.authorization import Authorization
from mooring.auth.oauth.client import DEVICE_GRANT, OAuthClient
from mooring.auth.oauth.exchange import LoginReply, LoginRequest, describe_refusal, post_form, read_refusal, read_reply
from mooring.errors import GrantRefused, LoginFailed

TokenType: TypeAlias = Literal["Bearer", "DPoP"]
AHEAD = 60.0
"""Refreshed so many seconds before its end, or at half its life if that is shorter."""


class Token(Struct, frozen=True):
    """A token and where it is from: nothing else has to be looked up to refresh it (python-sdk#3250)."""

    access: str
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


def make_token(
    made: TokenReply,
    client: OAuthClient,
    *,
    resource: str,
    endpoint: str,
    scopes: tuple[str, ...],
    now: float,
    revocation: str = "",
    key: str = "",
) -> Token:
    """A token from the answer of its endpoint. Raises: LoginFailed."""
    seconds = _read_seconds(made.expires_in)
    return Token(
        access=made.access_token,
        type=_read_type(made, endpoint, bool(key)),
        client=client,
        resource=resource,
        endpoint=endpoint,
        # An answer that names no scopes gave those that were asked for.
        scopes=tuple(made.scope.split()) if made.scope else scopes,
        refresh=made.refresh_token or "",
        obtained_at=now,
        expires_at=None if seconds is None else now + seconds,
        revocation=revocation,
        key=key if made.token_type.lower() == "dpop" else "",
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
_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"


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


def code_fields(authorization: Authorization, code: str) -> dict[str, str]:
    """Turn the code of a callback into a token."""
    fields = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": authorization.redirect_uri,
        "code_verifier": authorization.verifier,
    }
    return _bound(fields, authorization.resource)


def refresh_fields(token: Token) -> dict[str, str]:
    """Turn a refresh token into a new token, for the same resource."""
    return _bound({"grant_type": "refresh_token", "refresh_token": token.refresh}, token.resource)


def client_credentials_fields(resource: str, scopes: tuple[str, ...]) -> dict[str, str]:
    """A token for the client itself: no person is part of it."""
    return _scoped(_bound({"grant_type": "client_credentials"}, resource), scopes)


def assertion_fields(assertion: str, resource: str, scopes: tuple[str, ...]) -> dict[str, str]:
    """Turn a statement of somebody that the issuer trusts into a token (RFC 7523)."""
    return _scoped(_bound({"grant_type": JWT_BEARER_GRANT, "assertion": assertion}, resource), scopes)


def exchange_fields(id_token: str, audience: str, resource: str, scopes: tuple[str, ...]) -> dict[str, str]:
    """Turn the login at a company's identity provider into a statement for one issuer (RFC 8693, ID-JAG)."""
    fields = {
        "grant_type": EXCHANGE_GRANT,
        "requested_token_type": _ID_JAG,
        "subject_token": id_token,
        "subject_token_type": _ID_TOKEN,
        "audience": audience,
    }
    return _scoped(_bound(fields, resource), scopes)


def device_fields(code: DeviceCode, resource: str) -> dict[str, str]:
    """Ask whether the person has entered the code."""
    return _bound({"grant_type": DEVICE_GRANT, "device_code": code.device_code}, resource)


def make_device_request(endpoint: str, client: OAuthClient, resource: str, scopes: tuple[str, ...]) -> LoginRequest:
    """Ask for a code to enter on another device."""
    return post_form(endpoint, _scoped(_bound({"client_id": client.id}, resource), scopes))


def read_device_code(reply: LoginReply, endpoint: str) -> DeviceCode:
    """The code to enter. Raises: LoginFailed."""
    if reply.status >= 300:
        raise LoginFailed(f"{endpoint} gave no code to enter: {describe_refusal(reply)}")
    return read_reply(reply, DeviceCode, f"the code of {endpoint}")


def revocation_fields(token: str, hint: str) -> dict[str, str]:
    """Give a token back (RFC 7009)."""
    return {"token": token, "token_type_hint": hint}


def _bound(fields: dict[str, str], resource: str) -> dict[str, str]:
    """The fields with the resource that the token is for, byte for byte as its server names it."""
    return {**fields, "resource": resource} if resource else fields


def _scoped(fields: dict[str, str], scopes: tuple[str, ...]) -> dict[str, str]:
    return {**fields, "scope": " ".join(scopes)} if scopes else fields
