"""What is known before a login begins."""

from collections.abc import Callable
from time import time

from msgspec import Struct

from mooring.auth.oauth.client import OAuthClient
from mooring.auth.oauth.options import LoginOptions
from mooring.wire.http.challenge import Challenge


class LoginPlan(Struct, frozen=True):
    """One login: at which server, as whom, and what is known from earlier."""

    server: str
    url: str
    options: LoginOptions = LoginOptions()
    challenge: Challenge | None = None
    """What the server said when it refused a request; if nobody has heard it yet, it is asked."""
    scopes: tuple[str, ...] = ()
    """Asked for in addition: what a refused request named."""
    held: tuple[str, ...] = ()
    """The scopes of the login so far, which more rights must not cost."""
    former_issuer: str = ""
    """Who gave the tokens so far."""
    client_metadata_url: str = ""
    """Where the document is that describes us, from the person's settings; its address is our client id."""
    without_browser: bool = False
    """No browser can come back to this machine: a code for another device is preferred where it is offered."""
    clock: Callable[[], float] = time

    @property
    def may_sign(self) -> bool:
        """Whether something is likely to be signed on the way."""
        wants_proofs = self.challenge is not None and self.challenge.scheme.lower() == "dpop"
        return wants_proofs or bool(self.options.private_key)


class Credentials(Struct, frozen=True):
    """Who asks a token endpoint, and with which keys."""

    client: OAuthClient
    private_key: str = ""
    dpop_key: str = ""

    def __repr__(self) -> str:
        return f"<Credentials of {self.client.id!r}>"
