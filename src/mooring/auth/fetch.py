"""HTTP for logins: bounded, and never to an address that the MCP server itself could not be at.

A server chooses the URLs that a login goes to. Without care it could have us ask whatever this machine can reach: its
own services, the router, the metadata service of a cloud. So every request of a login goes through here.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from mooring.auth.oauth.exchange import LoginReply, LoginRequest, hide_query
from mooring.auth.oauth.metadata import check_url, find_origin, is_loopback
from mooring.errors import LoginFailed
from mooring.wire.http.fetch import FetchFailed, FetchProblem, HttpFetcher
from mooring.wire.http.network import Network, Options
from mooring.wire.http.reach import AddressKind, NetworkReach, find_address_kind, parse_ip

SECONDS = 30.0
"""For one request, redirects included: less than the lock of a credential is held for."""
MAX_BODY = 1024 * 1024
_HOPS = 3
_WORDS: Mapping[FetchProblem, str] = {
    "slow": "{url} did not answer within {seconds:g} seconds",
    "unreachable": "{url} could not be reached: {detail}",
    "out-of-reach": "{detail}",
    "redirects": "{url} redirects too often",
    "too-large": f"{{url}} answered with more than {MAX_BODY // 1024:,} KiB",
    "encoding": "{url} answered in a compression that was not asked for",
}


class Fetcher:
    """Sends the requests of the logins at one server."""

    def __init__(
        self,
        server_url: str,
        network: Network | None = None,
        options: Options | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._server_url = server_url
        self._seconds = seconds
        self._reach = _LoginReach(server_url)
        self._http = HttpFetcher(
            self._reach,
            network or Network(),
            options or Options(),
            seconds=seconds,
            max_body=MAX_BODY,
            hops=_HOPS,
            inflates=False,
        )

    async def send(self, request: LoginRequest) -> LoginReply:
        """The answer to a request. Raises: LoginFailed."""
        check_url(request.url, self._server_url)
        await self._reach.look_up()

        def may_follow(url: str, target: str) -> bool:
            # A body holds codes and secrets: it goes where it was meant to go, and nowhere else.
            if request.method == "GET" and find_origin(target) == find_origin(url):
                return True
            raise LoginFailed(f"{hide_query(url)} redirects to {hide_query(target)[:200]}, which was not followed")

        try:
            reply = await self._http.send(
                request.url,
                request.method,
                request.headers,
                request.body,
                head_only=request.head_only,
                may_follow=may_follow,
            )
        except FetchFailed as error:
            words = _WORDS[error.problem]
            url = hide_query(error.url)
            raise LoginFailed(words.format(url=url, seconds=self._seconds, detail=error.detail)) from None
        return LoginReply(reply.status, _join_headers(reply.headers), reply.body)


class _LoginReach(NetworkReach):
    """Which addresses may be contacted: those of the whole world, and those that the MCP server's own are like."""

    def __init__(self, server_url: str) -> None:
        super().__init__({"global"}, self._explain_refusal)
        self._host = urlsplit(server_url).hostname or ""
        self._is_loopback = is_loopback(server_url)
        self._is_known = False

    async def look_up(self) -> None:
        """Find out, once for the whole login, where the server itself is."""
        if not self._is_known:
            self.allowed = await self._find_allowed()
            self._is_known = True

    async def _find_allowed(self) -> frozenset[AddressKind]:
        if self._is_loopback:
            return frozenset({"global", "loopback"})
        try:
            found = await self.resolve(self._host)
        except OSError:
            # A proxy may know the name; without one, the request fails by itself.
            return frozenset({"global"})
        kinds = {find_address_kind(parse_ip(address)) for _, address in found}
        # With addresses of two kinds, somebody is playing with names. And a name that leads to this machine does not
        # make its server one of this machine: whoever owns the name could choose that.
        is_plain = len(kinds) == 1 and "loopback" not in kinds
        return frozenset({"global", *kinds}) if is_plain else frozenset({"global"})

    async def check_for_proxy(self, url: str) -> None:
        """Only what the URL itself tells: some networks leave names to their proxy, and resolve them to anything."""
        try:
            self.check(urlsplit(url).hostname or "")
        except ValueError:
            if is_loopback(url):
                self.check("127.0.0.1")

    def _explain_refusal(self, address: str) -> str:
        return (
            f"the login leads to {parse_ip(address)}, an address inside a private network or on this machine, "
            f"where {self._host} itself is not; it was not contacted"
        )


def _join_headers(headers: Any) -> Mapping[str, str]:
    """The headers, each once: several `WWW-Authenticate` make one, as HTTP allows."""
    joined: dict[str, str] = {}
    for name, value in headers.items():
        key = name.lower()
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined
