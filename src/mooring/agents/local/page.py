"""One page of the web, fetched within bounds, from nowhere that its address did not say."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from mooring.errors import ConfigError
from mooring.wire.http.fetch import Fetched, FetchFailed, FetchProblem, HttpFetcher
from mooring.wire.http.network import Network, Options
from mooring.wire.http.reach import AddressKind, Reach, find_address_kind, parse_ip

SECONDS = 30.0
MAX_BODY = 5 * 1024 * 1024
_HOPS = 5
_PORTS = {"http": 80, "https": 443}
_HEADERS = {"Accept": "text/html, text/plain, application/json;q=0.9, */*;q=0.5"}
_WORDS: Mapping[FetchProblem, str] = {
    "slow": f"{{host}} did not answer within {SECONDS:g} s.",
    "unreachable": "{host} could not be reached: {detail}",
    "out-of-reach": "{detail}",
    "redirects": "{host} redirects too often.",
    "too-large": f"the page is larger than {MAX_BODY // 1024 // 1024} MiB.",
    "encoding": "the page is compressed in a way that was not asked for.",
}


class WebAddress(Struct, frozen=True):
    """An address that somebody wants to be read: its host, and where that leads as far as the text itself tells."""

    url: str
    host: str
    kind: AddressKind | None
    """`None` for a name, whose addresses are not known yet."""
    scheme: str = "https"
    port: int | None = None
    """`None` for that of its scheme."""

    @property
    def place(self) -> str:
        """The host, with the port if it is not that of the scheme."""
        if self.port is None:
            return self.host
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """What an answer is about: the scheme, the host and the port."""
        return f"{self.scheme}://{self.place}"

    @property
    def is_inside(self) -> bool:
        """Whether it names a private network, or this machine."""
        return self.kind not in (None, "global")


def parse_web_address(url: str) -> WebAddress:
    """Read an address. Raises: ConfigError if it is none that may be fetched."""
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise ConfigError("WebFetch: that is not an address.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError("WebFetch: the address must begin with http:// or https:// and name a host.")
    if parts.username or parts.password or "@" in parts.netloc:
        raise ConfigError("WebFetch: an address with a password in it is not fetched.")
    url, host = parts._replace(fragment="").geturl(), host.lower()
    own_port = None if port == _PORTS[parts.scheme] else port
    return WebAddress(url, host, _find_kind(host), parts.scheme, own_port)


def _find_kind(host: str) -> AddressKind | None:
    if host == "localhost" or host.endswith(".localhost"):
        return "loopback"
    if host.endswith((".local", ".internal", ".lan", ".home.arpa")):
        return "private"
    try:
        return find_address_kind(parse_ip(host))
    except ValueError:
        return None


class PageFetcher:
    """Fetches pages for one conversation."""

    def __init__(self, network: Network, options: Options | None = None) -> None:
        self._network = network
        self._options = options or Options()

    async def fetch(self, address: WebAddress) -> Fetched:
        """What is at an address. A redirect to another origin is not followed: that is a decision of its own.

        Raises: ConfigError, with the reason.
        """
        http = HttpFetcher(
            _make_reach(address), self._network, self._options, seconds=SECONDS, max_body=MAX_BODY, hops=_HOPS
        )
        try:
            return await http.send(
                address.url,
                headers=_HEADERS,
                may_follow=lambda _, target: parse_web_address(target).origin == address.origin,
            )
        except FetchFailed as error:
            words = _WORDS[error.problem].format(host=address.host, detail=error.detail)
            raise ConfigError(f"WebFetch: {words}") from None


def _make_reach(address: WebAddress) -> Reach:
    """The whole world, and the network that an address itself names."""
    # A name can be made to lead anywhere by whoever owns it; an address that says it is inside was agreed to.
    allowed: set[AddressKind] = {"global"} if address.kind is None else {"global", address.kind}
    return Reach(
        allowed,
        lambda found: (
            f"{address.host} leads to {found}, inside a private network or on this machine; "
            "it was not contacted. Use that address itself if you mean it."
        ),
    )
