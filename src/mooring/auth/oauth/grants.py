"""The requests that a token endpoint answers, one function for each kind of grant."""

from msgspec import Struct

from mooring.auth.oauth.authorization import Authorization
from mooring.auth.oauth.client import DEVICE_GRANT, OAuthClient
from mooring.auth.oauth.exchange import LoginReply, LoginRequest, describe_refusal, post_form, read_reply
from mooring.auth.oauth.token import Token
from mooring.errors import LoginFailed

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
