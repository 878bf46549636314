"""Where somebody logs in."""

from msgspec import Struct

from mooring.auth.oauth.options import LoginOptions
from mooring.wire.http.network import Options


class LoginTarget(Struct, frozen=True):
    """Where somebody logs in: a server and what its definition says about it."""

    server: str
    url: str
    options: LoginOptions = LoginOptions()
    network: Options = Options()

    @property
    def is_unattended(self) -> bool:
        """Whether its tokens need no person: they are had again whenever they end."""
        options = self.options
        return bool(options.assertion or options.id_token) or options.grant == "client_credentials"

    def __repr__(self) -> str:
        return f"<LoginTarget {self.server!r}>"
