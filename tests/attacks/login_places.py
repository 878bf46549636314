"""A server outside that names addresses inside, in every place of a login where it can name one.

Everything goes through `host.login`. The server is at a public address: connections to that address lead to a listener of
ours, with a certificate that is trusted. A connection to any other address is a hit, whether somebody listens or not.
"""

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from aiohttp import web
from tests.attacks.logins import HOSTS, NAMES, PUBLIC, LyingLoop, listen_for_canary, make_viewpoint
from tests.attacks.table import Attack, Tally
from tests.certificates import make_certificate

import mooring
from mooring.errors import MooringError
from mooring.host.host import Host

ISSUER: Final = "https://server.example"
SERVER: Final = f"{ISSUER}/mcp"
TRUSTED: Final = "NODE_EXTRA_CA_CERTS"
MOVING: Final = "moving.example"
RESOURCE_DOCUMENT: Final = "/.well-known/oauth-protected-resource/mcp"
ISSUER_DOCUMENT: Final = "/.well-known/oauth-authorization-server"
# What the issuer's metadata names, and where it is otherwise.
ENDPOINTS: Final = {
    "token_endpoint": "/token",
    "registration_endpoint": "/register",
    "device_authorization_endpoint": "/device",
    "revocation_endpoint": "/revoke",
}
NAMED: Final = ("challenge", "authorization_servers", *ENDPOINTS)
REDIRECTING: Final = (RESOURCE_DOCUMENT, ISSUER_DOCUMENT, *ENDPOINTS.values())
DEVICE: Final = ("device_authorization_endpoint", "/device")
INSIDE: Final = ("127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "fe80::1", "0.0.0.0")


class Outside(LyingLoop):
    """The network as the victim sees it: one public address, and `reached` for every other that was connected to."""

    def __init__(self) -> None:
        super().__init__()
        self.port = 0
        self.moved = PUBLIC
        self.reached: list[str] = []

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        if host == MOVING:
            return await super().getaddrinfo(self.moved, port, **options)
        return await super().getaddrinfo(host, port, **options)

    async def sock_connect(self, sock: Any, address: Any) -> None:
        if address[0] == PUBLIC:
            return await super().sock_connect(sock, ("127.0.0.1", self.port))
        self.reached.append(str(address))
        if str(address[0]).startswith("127."):
            return await super().sock_connect(sock, address)
        raise OSError(errno.ENETUNREACH, "out of bounds for a test")


class Attacker:
    """The server and its issuer, which name `url` in one `place`; `was_heard` once somebody was told so."""

    def __init__(self) -> None:
        self.place = ""
        self.url = ""
        self.was_heard = False

    async def answer(self, request: web.BaseRequest) -> web.Response:
        if request.path == self.place:
            self.was_heard = True
            return web.Response(status=307, headers={"Location": self.url})
        match request.path:
            case "/mcp":
                document = self._name("challenge", f"{ISSUER}{RESOURCE_DOCUMENT}")
                return web.Response(status=401, headers={"WWW-Authenticate": f'Bearer resource_metadata="{document}"'})
            case path if path == RESOURCE_DOCUMENT:
                issuer = self._name("authorization_servers", ISSUER)
                return web.json_response({"resource": SERVER, "authorization_servers": [issuer]})
            case path if path == ISSUER_DOCUMENT:
                return web.json_response(self._describe())
            case "/register":
                # Its secret has ended already, so that the next login registers again.
                client = {"client_id": "victim", "client_secret": "x", "client_secret_expires_at": 1}
                return web.json_response(client, status=201)
            case "/device":
                page = f"{ISSUER}/enter"
                code = {"device_code": "d", "user_code": "ABCD", "verification_uri": page, "expires_in": 60}
                return web.json_response({**code, "interval": 0})
            case "/token":
                tokens = {"access_token": "canary-access", "refresh_token": "canary-refresh"}
                return web.json_response({**tokens, "token_type": "Bearer", "expires_in": 0})
            case "/revoke":
                return web.Response(status=200)
            case _:
                return web.Response(status=404)

    def _describe(self) -> dict[str, Any]:
        endpoints = {name: self._name(name, f"{ISSUER}{path}") for name, path in ENDPOINTS.items()}
        return {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/authorize",
            "code_challenge_methods_supported": ["S256"],
            **endpoints,
        }

    def _name(self, place: str, usual: str) -> str:
        if place != self.place:
            return usual
        self.was_heard = True
        return self.url


def name_addresses_inside(folder: Path, tally: Tally) -> None:
    """Every way to write an address inside, in every place where a login reads a URL."""
    with listen_for_canary() as (port, hits), asyncio.Runner(loop_factory=Outside) as runner:
        runner.run(_try_places(folder, tally, port, hits))


async def _try_places(folder: Path, tally: Tally, port: int, hits: list[object]) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Outside)
    attacker = Attacker()
    async with _serve(folder, attacker, loop), _open(folder) as host:
        assert await _log_in_and_out(host), "an honest login fails, so nothing would be tried"
        for place in (*NAMED, *REDIRECTING):
            # A redirect to another origin is not followed, whatever its address is: a few show that.
            for address in HOSTS if place in NAMED else HOSTS[::5]:
                attacker.place, attacker.url = place, f"https://{address}:{port}/taken"
                attacker.was_heard, loop.tries = False, 0
                before = len(loop.reached) + len(hits)
                await _log_in_and_out(host, browser=place not in DEVICE)
                assert attacker.was_heard, f"nobody asked for {place}"
                tally.count(f"{place}: {attacker.url} was contacted", len(loop.reached) + len(hits) > before)


def move_an_issuer_inside(folder: Path, tally: Tally) -> None:
    """A login at a public address whose name leads inside later, when the token is refreshed or given back."""
    with asyncio.Runner(loop_factory=Outside) as runner:
        runner.run(_move(folder, tally))


async def _move(folder: Path, tally: Tally) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Outside)
    attacker = Attacker()
    async with _serve(folder, attacker, loop):
        for place in ("token_endpoint", "revocation_endpoint"):
            attacker.place, attacker.url = place, f"https://{MOVING}{ENDPOINTS[place]}"
            for address in INSIDE:
                loop.moved = PUBLIC
                async with _open(folder) as host:
                    await host.login("web", timeout=10)
                    loop.moved = address
                    before = len(loop.reached)
                    await _call(host)
                    await host.logout("web")
                    tally.count(f"{place} at {address} was contacted", len(loop.reached) > before)


async def _call(host: Host) -> None:
    """Call with a token that has ended, which is refreshed first."""
    try:
        await host.call("web.echo", {"text": "x"}, timeout=5)
    except MooringError:
        return
    raise AssertionError("the server takes no token")


async def _log_in_and_out(host: Host, *, browser: bool = True) -> bool:
    """Whether a login came of it."""
    try:
        await host.login("web", browser=browser, timeout=10)
    except MooringError:
        return False
    finally:
        await host.logout("web")
    return True


async def _agree(question: mooring.Question) -> mooring.Answer:
    """A person whose browser is on another machine: they paste where it ended."""
    if not isinstance(question, mooring.Login) or question.code:
        return mooring.Yes()
    asked = parse_qs(urlsplit(question.url).query)
    answer = urlencode({"code": "canary-code", "state": asked["state"][0]})
    return mooring.Yes(f"{asked['redirect_uri'][0]}?{answer}")


def _open(folder: Path) -> Host:
    servers = {"web": {"type": "http", "url": SERVER}}
    return mooring.open(request=make_viewpoint(folder), policy="allow", servers=servers, ask=_agree)


@asynccontextmanager
async def _serve(folder: Path, attacker: Attacker, loop: Outside) -> AsyncIterator[None]:
    """The attacker's listener, where connections to the public address end."""
    # One for every name of the attacker, which the victim trusts.
    certificate = make_certificate(folder, "server.example", *NAMES, "rebinding.example", MOVING)
    runner = web.ServerRunner(web.Server(attacker.answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=certificate).start()
        loop.port = runner.addresses[0][1]
        os.environ[TRUSTED] = str(folder / "cert.pem")
        yield
    finally:
        os.environ.pop(TRUSTED, None)
        await runner.cleanup()


ATTACKS = (
    Attack("A14", "a server outside that names addresses inside, in every place", name_addresses_inside),
    Attack("A14", "an issuer whose name leads inside after the login", move_an_issuer_inside),
)
