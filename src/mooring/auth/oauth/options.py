"""What a server's definition says about its login."""

from msgspec import Struct


class LoginOptions(Struct, frozen=True):
    """What a server's definition says about its login, with every placeholder filled in."""

    enabled: bool = True
    client_id: str = ""
    client_secret: str = ""
    private_key: str = ""
    """The client proves who it is by a signature instead of a secret."""
    scopes: tuple[str, ...] = ()
    callback_port: int | None = None
    redirect_uri: str = ""
    metadata_url: str = ""
    """Where the issuer's metadata is, if the server does not say so itself."""
    resource: str = ""
    grant: str = ""
    assertion: str = ""
    """A statement about this workload, to be turned into a token (RFC 7523)."""
    id_token: str = ""
    idp_token_endpoint: str = ""
    idp_client_id: str = ""
    """The login at a company's identity provider, to be exchanged (enterprise-managed authorization)."""
    assumes_pkce: bool = False
    """The issuer is trusted to check PKCE although it does not say that it does."""

    def __repr__(self) -> str:
        return "LoginOptions(…)"
