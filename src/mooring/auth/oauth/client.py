"""Who we are to an authorization server: a client that it registered, or one that the definition names."""

from base64 import b64encode
from collections.abc import Mapping
from secrets import token_urlsafe
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import quote_plus

from msgspec import Struct

from mooring.auth.oauth.exchange import LoginReply, LoginRequest, describe_refusal, post_json, read_reply
from mooring.auth.oauth.jwt import SigningKey
from mooring.auth.oauth.metadata import IssuerMetadata
from mooring.errors import LoginFailed

AuthMethod: TypeAlias = Literal["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
JWT_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_SECONDS = 300


class OAuthClient(Struct, frozen=True):
    """A client of one issuer, and how it proves to be that client."""

    issuer: str
    id: str
    secret: str = ""
    method: AuthMethod = "none"
    redirect_uri: str = ""
    """Where it was registered to be sent back to; empty for a client that nobody registered for us."""
    expires_at: float | None = None
    """When its secret ends, if it does."""

    def is_usable(self, issuer: str, redirect_uri: str, now: float) -> bool:
        """Whether a client that was registered earlier can be used again, with this address to come back to."""
        is_expired = self.expires_at is not None and self.expires_at <= now
        return self.issuer == issuer and self.redirect_uri == redirect_uri and not is_expired

    def __repr__(self) -> str:
        return f"<OAuthClient {self.id!r} of {self.issuer}>"


class _Registration(Struct, frozen=True):
    """What an authorization server answers to a registration (RFC 7591, section 3.2.1)."""

    client_id: str
    client_secret: str | None = None
    client_secret_expires_at: float | None = None
    token_endpoint_auth_method: str | None = None


def make_registration(
    metadata: IssuerMetadata, endpoint: str, redirect_uri: str, scopes: tuple[str, ...]
) -> LoginRequest:
    """The request that registers us as a program on the person's own machine (RFC 7591)."""
    grants = ["authorization_code", "refresh_token"]
    if metadata.device_authorization_endpoint:
        grants.append(DEVICE_GRANT)
    content: dict[str, Any] = {
        "client_name": "Mooring",
        "redirect_uris": [redirect_uri],
        "grant_types": grants,
        "response_types": ["code"],
        "application_type": "native",
        "token_endpoint_auth_method": _choose_method(metadata, has_secret=False),
    }
    if scopes:
        content["scope"] = " ".join(scopes)
    return post_json(endpoint, content)


def read_registration(reply: LoginReply, metadata: IssuerMetadata, endpoint: str, redirect_uri: str) -> OAuthClient:
    """The client that was registered. Raises: LoginFailed."""
    if reply.status not in (200, 201):
        raise LoginFailed(
            f"{endpoint} did not register Mooring as a client ({describe_refusal(reply)}); "
            "if you have a client id, write it as `oauth.clientId` in the server's definition"
        )
    made = read_reply(reply, _Registration, f"the registration by {endpoint}")
    if not made.client_id:
        raise LoginFailed(f"{endpoint} registered a client without an id")
    secret = made.client_secret or ""
    return OAuthClient(
        metadata.issuer,
        made.client_id,
        secret,
        _choose_method(metadata, has_secret=bool(secret), agreed=made.token_endpoint_auth_method),
        redirect_uri,
        made.client_secret_expires_at or None,  # 0 means never
    )


def make_known_client(metadata: IssuerMetadata, id: str, secret: str = "", *, has_key: bool = False) -> OAuthClient:
    """A client that the definition names, or that the document at its own address describes."""
    method: AuthMethod = "private_key_jwt" if has_key else _choose_method(metadata, has_secret=bool(secret))
    if not secret and not has_key:
        method = "none"
    return OAuthClient(metadata.issuer, id, secret, method)


def authenticate(
    client: OAuthClient, fields: Mapping[str, str], key: SigningKey | None, now: float
) -> tuple[dict[str, str], dict[str, str]]:
    """The headers and the fields of a request that the client makes in its own name. Raises: LoginFailed."""
    match client.method:
        case "none":
            # A public client names itself in the body, also to refresh, and never by Basic (mecatl#1355).
            return {}, {**fields, "client_id": client.id}
        case "client_secret_post":
            return {}, {**fields, "client_id": client.id, "client_secret": client.secret}
        case "client_secret_basic":
            pair = f"{quote_plus(client.id)}:{quote_plus(client.secret)}"
            return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}, dict(fields)
        case "private_key_jwt":
            assertion = {"client_assertion_type": JWT_ASSERTION, "client_assertion": _assert(client, key, now)}
            return {}, {**fields, "client_id": client.id, **assertion}


def _assert(client: OAuthClient, key: SigningKey | None, now: float) -> str:
    """A statement signed by the client that it is the client (RFC 7523, section 2.2)."""
    if key is None:
        raise LoginFailed(f"the client {client.id} needs its private key: write `oauth.privateKey` in the definition")
    claims = {
        "iss": client.id,
        "sub": client.id,
        "aud": client.issuer,
        "jti": token_urlsafe(16),
        "iat": int(now),
        "exp": int(now) + _ASSERTION_SECONDS,
    }
    return key.sign(claims)


def _choose_method(metadata: IssuerMetadata, *, has_secret: bool, agreed: str | None = None) -> AuthMethod:
    """How to authenticate: as it was agreed, else the simplest way that the issuer offers."""
    if agreed in get_args(AuthMethod) and (has_secret or agreed == "none"):
        return agreed  # type: ignore[return-value] # it is one of them
    offered = metadata.token_endpoint_auth_methods_supported or ()
    preferred: tuple[AuthMethod, ...] = ("none", "client_secret_basic", "client_secret_post")
    for method in preferred:
        if method in offered:
            return method
    return "client_secret_basic" if has_secret else "none"
