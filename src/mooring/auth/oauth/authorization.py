"""The part of a login that happens in a browser: where it is sent, and whether what comes back is its answer."""

from hmac import compare_digest
from secrets import token_urlsafe
from urllib.parse import parse_qs, urlencode, urlsplit

from msgspec import Struct

from mooring.auth.oauth.client import OAuthClient
from mooring.auth.oauth.jwt import encode_digest
from mooring.auth.oauth.metadata import IssuerMetadata
from mooring.errors import LoginFailed

LONGEST_QUERY = 16 * 1024


class Authorization(Struct, frozen=True):
    """One question to an authorization server. Each is used once: state and verifier are never used again."""

    issuer: str
    requires_iss: bool
    client_id: str
    redirect_uri: str
    resource: str
    scopes: tuple[str, ...]
    state: str
    verifier: str

    def __repr__(self) -> str:
        return f"<Authorization by {self.issuer}>"


def make_authorization(
    metadata: IssuerMetadata, client: OAuthClient, redirect_uri: str, resource: str, scopes: tuple[str, ...]
) -> Authorization:
    """A question with a new state and a new secret to prove that the answer is ours (PKCE, RFC 7636)."""
    return Authorization(
        issuer=metadata.issuer,
        requires_iss=bool(metadata.authorization_response_iss_parameter_supported),
        client_id=client.id,
        redirect_uri=redirect_uri,
        resource=resource,
        scopes=scopes,
        state=token_urlsafe(32),
        verifier=token_urlsafe(48),
    )


def make_authorization_url(authorization: Authorization, endpoint: str) -> str:
    """Where to send the browser."""
    fields = {
        "response_type": "code",
        "client_id": authorization.client_id,
        "redirect_uri": authorization.redirect_uri,
        "state": authorization.state,
        "code_challenge": encode_digest(authorization.verifier),
        "code_challenge_method": "S256",
    }
    if authorization.resource:
        fields["resource"] = authorization.resource
    if authorization.scopes:
        fields["scope"] = " ".join(authorization.scopes)
        # OpenID Connect gives a refresh token only after the person has agreed to it.
        if "offline_access" in authorization.scopes:
            fields["prompt"] = "consent"
    separator = "&" if urlsplit(endpoint).query else "?"
    return f"{endpoint}{separator}{urlencode(fields)}"


def check_callback(authorization: Authorization, query: str) -> str:
    """The code in what came back. Raises: LoginFailed unless it is the one answer to this one question."""
    fields = _parse_query(query)
    # State and issuer first: whoever is someone else's answer must not even have its error shown.
    if not compare_digest(fields.get("state", "").encode(), authorization.state.encode()):
        raise LoginFailed("the browser came back with another state, so its answer belongs to another login")
    issuer = fields.get("iss")
    if issuer is None and authorization.requires_iss:
        raise LoginFailed(f"the answer does not name its issuer, which {authorization.issuer} promises to do")
    if issuer is not None and issuer != authorization.issuer:
        raise LoginFailed(f"the answer comes from another issuer than {authorization.issuer}")
    if "error" in fields:
        words = " ".join((fields.get("error_description") or fields["error"]).split())
        raise LoginFailed(f"{authorization.issuer} refused: {words[:200].rstrip('.')}")
    if not fields.get("code"):
        raise LoginFailed(f"{authorization.issuer} sent no code")
    return fields["code"]


def read_pasted(text: str, redirect_uri: str) -> str:
    """The query of a redirect that a person copied from their browser. Raises: LoginFailed."""
    pasted = text.strip()
    if pasted.startswith(f"{redirect_uri}?"):
        return pasted[len(redirect_uri) + 1 :].partition("#")[0]
    raise LoginFailed(
        f"the pasted text is not the address that the browser ended at, which begins with {redirect_uri}?"
    )


def _parse_query(query: str) -> dict[str, str]:
    """The fields of a query, each once: with two of a kind, two readers could take different ones.

    Raises: LoginFailed.
    """
    try:
        found = parse_qs(query[: LONGEST_QUERY + 1], keep_blank_values=True, errors="strict", max_num_fields=32)
    except (ValueError, UnicodeDecodeError):
        raise LoginFailed("what the browser came back with cannot be read") from None
    if len(query) > LONGEST_QUERY or any(len(values) > 1 for values in found.values()):
        raise LoginFailed("what the browser came back with cannot be read")
    return {name: values[0] for name, values in found.items()}
