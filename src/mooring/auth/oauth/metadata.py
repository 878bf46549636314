"""What servers publish about logging in (RFC 9728, RFC 8414): where it is looked for, and what is refused in it."""

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from mooring.auth.oauth.exchange import hide_query
from mooring.errors import LoginFailed

RESOURCE_DOCUMENT = "/.well-known/oauth-protected-resource"
SERVER_DOCUMENT = "/.well-known/oauth-authorization-server"
OPENID_DOCUMENT = "/.well-known/openid-configuration"


class ResourceMetadata(Struct, frozen=True):
    """What an MCP server says about who gives out its tokens (RFC 9728)."""

    resource: str = ""
    authorization_servers: tuple[str, ...] | None = None
    scopes_supported: tuple[str, ...] | None = None
    dpop_bound_access_tokens_required: bool | None = None


class IssuerMetadata(Struct, frozen=True):
    """What an authorization server says about itself (RFC 8414, or OpenID Connect Discovery)."""

    issuer: str = ""
    authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    device_authorization_endpoint: str | None = None
    scopes_supported: tuple[str, ...] | None = None
    grant_types_supported: tuple[str, ...] | None = None
    code_challenge_methods_supported: tuple[str, ...] | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] | None = None
    client_id_metadata_document_supported: bool | None = None
    authorization_response_iss_parameter_supported: bool | None = None


def list_resource_documents(server_url: str, announced: str = "") -> tuple[str, ...]:
    """Where a server's metadata may be, the best place first.

    `announced` is what its challenge says. It counts only on the server's own origin: a document from elsewhere could
    send the person to log in anywhere.

    Raises: LoginFailed if it is on another origin.
    """
    parts = urlsplit(server_url)
    origin = find_origin(server_url)
    if announced and find_origin(announced) != origin:
        raise LoginFailed(
            f"the server at {origin} keeps its login metadata on another host, {_show_origin(announced)}, "
            "so it was not read"
        )
    path = parts.path.rstrip("/")
    # The one for this path first: one host may have several servers, each with its own metadata.
    places = [announced, f"{origin}{RESOURCE_DOCUMENT}{path}", f"{origin}{RESOURCE_DOCUMENT}"]
    return tuple(dict.fromkeys(filter(None, places)))


def list_issuer_documents(issuer: str) -> tuple[str, ...]:
    """Where an authorization server's metadata may be, in the order of the MCP specification."""
    origin = find_origin(issuer)
    path = urlsplit(issuer).path.rstrip("/")
    if not path:
        return f"{origin}{SERVER_DOCUMENT}", f"{origin}{OPENID_DOCUMENT}"
    return (
        f"{origin}{SERVER_DOCUMENT}{path}",
        f"{origin}{OPENID_DOCUMENT}{path}",
        f"{origin}{path}{OPENID_DOCUMENT}",
    )


def check_resource(metadata: ResourceMetadata, server_url: str) -> None:
    """Refuse metadata that speaks for another server. Raises: LoginFailed."""
    claimed, actual = _split(metadata.resource), _split(server_url)
    base = claimed.path.rstrip("/")
    is_same_origin = find_origin(metadata.resource) == find_origin(server_url)
    covers_path = actual.path.rstrip("/") == base or actual.path.startswith(f"{base}/")
    if not is_same_origin or not covers_path or claimed.query not in ("", actual.query):
        raise LoginFailed(
            f"the server at {hide_query(server_url)} says that it is another resource, {hide_query(metadata.resource)}"
        )


def check_issuer(metadata: IssuerMetadata, issuer: str) -> str:
    """Refuse metadata of another issuer; a remark where the two differ by one slash at the end. Raises: LoginFailed."""
    if metadata.issuer == issuer:
        return ""
    # Google's own servers name `https://accounts.google.com/`, whose issuer has no slash (python-sdk#1919); JumpCloud's
    # do the reverse. Nothing else is overlooked.
    if f"{metadata.issuer}/" == issuer or metadata.issuer == f"{issuer}/":
        return f"The issuer {issuer} calls itself {metadata.issuer}; the slash at the end was overlooked."
    raise LoginFailed(
        f"the metadata of {issuer} belongs to another issuer, {metadata.issuer or 'which it does not name'}"
    )


def check_pkce(metadata: IssuerMetadata) -> None:
    """Refuse an issuer that does not promise PKCE: without, whoever sees the code can use it. Raises: LoginFailed."""
    methods = metadata.code_challenge_methods_supported or ()
    if "S256" in methods:
        return
    raise LoginFailed(
        f"{metadata.issuer} does not say that it supports PKCE with S256, so a stolen code could be used; "
        'if you trust it all the same, write "pkce": "assume" in the `oauth` block of the server\'s definition'
    )


def check_url(url: str, server_url: str) -> None:
    """Refuse a URL that a login must not go to: anything but https, unless both are on this machine.

    Raises: LoginFailed.
    """
    parts = _split(url)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and is_loopback(url) and is_loopback(server_url):
        return
    raise LoginFailed(f"{hide_query(url)[:200]!r} is not an https:// URL, so it was not used")


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine, by a name or an address that can mean nothing else."""
    host = _split(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def find_origin(url: str) -> str:
    """The scheme, host and port of a URL, as browsers compare them. Raises: LoginFailed."""
    parts = _split(url)
    host = (parts.hostname or "").lower()
    shown = f"[{host}]" if ":" in host else host
    default = {"https": 443, "http": 80}.get(parts.scheme)
    port = "" if parts.port in (None, default) else f":{parts.port}"
    return f"{parts.scheme}://{shown}{port}"


def choose_scopes(
    configured: Sequence[str],
    challenged: Sequence[str],
    resource: ResourceMetadata | None,
    issuer: IssuerMetadata,
    held: Sequence[str] = (),
) -> tuple[str, ...]:
    """The scopes to ask for: what the definition says, else the challenge, else the server's metadata.

    `held` are those of the login so far: more rights must not cost the person the ones they have.
    """
    wanted = tuple(configured) or tuple(challenged) or (resource.scopes_supported or () if resource else ())
    scopes = dict.fromkeys((*held, *wanted, *challenged))
    # Some servers give a refresh token for this scope alone; to ask for it where it is unknown is an error.
    if "offline_access" in (issuer.scopes_supported or ()):
        scopes["offline_access"] = None
    return tuple(scopes)


def _split(url: str) -> SplitResult:
    """The parts of a URL. Raises: LoginFailed."""
    is_printable = url.isascii() and url.isprintable() and " " not in url
    try:
        parts = urlsplit(url)
        _ = parts.port  # checked only when it is read
    except ValueError:
        is_printable = False
    if not is_printable:
        raise LoginFailed(f"{url[:200]!r} is not a valid URL")
    return parts


def _show_origin(url: str) -> str:
    try:
        return find_origin(url)
    except LoginFailed:
        return repr(url[:200])
