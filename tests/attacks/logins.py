"""A server that uses a login to reach what it should not: the network, a program, another person's answer, a token."""

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from tests.attacks.table import Attack, Tally

import mooring
from mooring.auth.fetch import Fetcher
from mooring.auth.oauth.exchange import get_json, post_form
from mooring.core.definitions.paths import Paths, Workspace
from mooring.errors import LoginFailed, MooringError
from mooring.testing import Issuer, Site, log_in

SERVER = "https://server.example/mcp"
PUBLIC = "93.184.216.34"
NAMES = {
    "server.example": [PUBLIC],
    "inside.example": ["10.0.0.1"],
    "looped.example": ["127.0.0.1"],
    "mixed.example": [PUBLIC, "127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
}
"""What the attacker's name server says."""
HOSTS = (
    "127.0.0.1", "127.1", "0x7f.1", "0177.0.0.1", "2130706433", "localhost", "localhost.", "LOCALHOST", "a.localhost",
    "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "0.0.0.0", "[::]",
    "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "[fd00::1]", "[fe80::1]", "100.64.0.1", "224.0.0.1",
    "looped.example", "mixed.example", "mapped.example", "inside.example", "metadata.example", "rebinding.example",
)  # fmt: skip
PAGES = (
    "file:///etc/passwd", "javascript:alert(1)", "--flag", "-x", "$(touch MARKER)", "`touch MARKER`", "x-app:open",
    "https://a.example/\ntouch MARKER", "https://a.example/ --flag", "https://", "data:text/html,x", "http://a@b.example",
    "vscode://x", "\\\\evil\\share", "https://a.example/'; touch MARKER; '",
)  # fmt: skip


@contextmanager
def listen_for_canary() -> Iterator[tuple[int, list[object]]]:
    """A port of this machine on every loopback address, and who connected to it."""
    hits: list[object] = []
    with socket.create_server(("", 0)) as listener:
        listener.settimeout(0.05)
        port = listener.getsockname()[1]
        ending = threading.Event()

        def listen() -> None:
            while not ending.is_set():
                try:
                    connection, peer = listener.accept()
                except TimeoutError:
                    continue
                hits.append(peer)
                connection.close()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        try:
            yield port, hits
        finally:
            ending.set()
            thread.join()


class LyingLoop(asyncio.SelectorEventLoop):
    """A loop whose names come from the attacker: `rebinding.example` is public first, and this machine afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.tries = 0

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        name = str(host).rstrip(".")
        if name == "rebinding.example":
            self.tries += 1
            return _entries([PUBLIC] if self.tries == 1 else ["127.0.0.1"], port)
        if name in NAMES:
            return _entries(NAMES[name], port)
        return await super().getaddrinfo(host, port, **options)


def _entries(addresses: list[str], port: Any) -> list[Any]:
    return [
        (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port or 0))
        for each in addresses
    ]


def reach_into_the_network(folder: Path, tally: Tally) -> None:
    """Every way to write an address inside, in every place that a server can name one, from a server outside."""
    with listen_for_canary() as (port, hits), asyncio.Runner(loop_factory=LyingLoop) as runner:
        for host in HOSTS:
            for scheme in ("https", "http"):
                url = f"{scheme}://{host}:{port}/.well-known/oauth-authorization-server"
                before = len(hits)
                refused = runner.run(_is_refused(url))
                tally.count(f"{url} was not refused", not refused)
                tally.count(f"{url} was contacted", len(hits) > before)


async def _is_refused(url: str) -> bool:
    fetcher = Fetcher(SERVER)
    for request in (get_json(url), post_form(url, {"code": "canary"})):
        try:
            async with asyncio.timeout(5):
                await fetcher.send(request)
        except (LoginFailed, TimeoutError):
            # A public address, which some of these names have as well, cannot be reached from everywhere.
            continue
        return False
    return True


def redirect_metadata_elsewhere(folder: Path, tally: Tally) -> None:
    """Metadata, registration and token endpoints that redirect to another port of this machine."""
    with listen_for_canary() as (port, hits):
        for place in ("challenge", "/metadata", "/register", "/token"):
            for status in (301, 302, 303, 307, 308):
                asyncio.run(_log_in_with_redirect(folder / f"{place.strip('/')}{status}", place, status, port))
                tally.count(f"{place} with {status}", bool(hits))


async def _log_in_with_redirect(folder: Path, place: str, status: int, port: int) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:

        def redirect(_: Any) -> web.Response:
            return web.Response(status=status, headers={"Location": f"http://127.0.0.1:{port}/taken"})

        if place == "challenge":
            site.issuer = None
            headers = {"WWW-Authenticate": f'Bearer resource_metadata="http://127.0.0.1:{port}/taken"'}
            for method in ("initialize", "server/discover"):
                site.answers[method] = lambda heard: web.Response(status=401, headers=headers)
        else:
            issuer.answers[place] = redirect
        await _expect_failure(_try_login(folder, site))


def hand_a_program_to_the_browser(folder: Path, tally: Tally) -> None:
    """Addresses of login pages that are programs, files, options or shell commands."""
    marker, log = folder / "marker", folder / "log"
    program = folder / "browser.py"
    program.write_text(f"import sys; open({str(log)!r}, 'a').write(repr(sys.argv) + '\\n')")
    os.environ["BROWSER"] = f"{sys.executable} {program}"
    try:
        for page in PAGES:
            asyncio.run(_log_in_at_page(folder / "home", page.replace("MARKER", str(marker))))
            tally.count(f"{page!r} ran something", marker.exists())
            tally.count(f"{page!r} reached the browser", log.exists())
    finally:
        del os.environ["BROWSER"]


async def _log_in_at_page(folder: Path, page: str) -> None:
    from mooring.auth.browser import open_page

    async def open_it(question: mooring.Question) -> mooring.Answer:
        assert isinstance(question, mooring.Login)
        open_page(question.url, os.environ)
        return mooring.No()

    async with Issuer() as issuer, Site(issuer=issuer) as site:
        issuer.metadata = {"authorization_endpoint": page}
        await _expect_failure(_try_login(folder, site, open_it))
    # Also without the check of the address before it.
    open_page(page, os.environ)


def forge_an_answer(folder: Path, tally: Tally) -> None:
    """Answers with another state, issuer or resource, without PKCE, twice, or from another page."""
    forgeries: tuple[dict[str, Any], ...] = (
        {"state": "x"}, {"state": ""}, {"iss": "https://evil.example"}, {"iss": "{url}/"}, {"iss": None}, {"code": ""},
    )  # fmt: skip
    for number, forgery in enumerate(forgeries):
        stolen = asyncio.run(_answer_with(folder / f"forged{number}", forgery, {}, {}))
        tally.count(f"an answer with {forgery}", stolen)
    lies: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        ({"issuer": "https://evil.example"}, {}),
        ({"issuer": ""}, {}),
        ({"code_challenge_methods_supported": None}, {}),
        ({"code_challenge_methods_supported": ["plain"]}, {}),
        ({}, {"resource": "https://evil.example/mcp"}),
        ({}, {"resource": ""}),
    )
    for number, (metadata, resource) in enumerate(lies):
        stolen = asyncio.run(_answer_with(folder / f"lie{number}", {}, metadata, resource))
        tally.count(f"metadata with {metadata or resource}", stolen)


async def _answer_with(folder: Path, forgery: dict[str, Any], metadata: Any, resource: Any) -> bool:
    """Whether a login came of it."""
    from urllib.parse import urlencode

    async with Issuer() as issuer, Site(issuer=issuer) as site:
        issuer.metadata, site.resource = metadata, resource

        def answer(fields: dict[str, str]) -> web.Response:
            right = issuer._authorize(fields).headers["Location"].partition("code=")[2].partition("&")[0]
            said = {"code": right, "state": fields["state"], "iss": issuer.url, **forgery}
            query = urlencode(
                {key: str(value).format(url=issuer.url) for key, value in said.items() if value is not None}
            )
            return web.Response(status=302, headers={"Location": f"{fields['redirect_uri']}?{query}"})

        issuer.answers["/authorize"] = answer
        return not await _expect_failure(_try_login(folder, site))


def lure_a_login_elsewhere(folder: Path, tally: Tally) -> None:
    """A stored token, and definitions and servers that would have it sent to somebody else."""
    asyncio.run(_lure(folder, tally))


async def _lure(folder: Path, tally: Tally) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, Site() as other:
        await _try_login(folder, site)
        token = next(iter(issuer.tokens))
        moved = {
            "another origin": {"url": other.url},
            "another origin by a header": {"url": other.url, "headers": {"Host": site.origin.partition("//")[2]}},
            "another path": {"url": f"{site.origin}/other"},
            "a redirect": {"url": site.url},
        }
        headers = {"Location": other.url}
        for method in ("initialize", "server/discover", "tools/list", "tools/call"):
            site.answers[method] = lambda heard: web.Response(status=307, headers=headers)
        for name, entry in moved.items():
            seen = len(site.heard)
            await _expect_failure(_call(folder, {"type": "http", **entry}))
            foreign = [*other.heard, *(each for each in site.heard[seen:] if each.request.path == "/other")]
            sent = json.dumps([[dict(heard.headers), heard.message, str(heard.request.url)] for heard in foreign])
            tally.count(f"a token was sent to {name}", token in sent)
        urls = [str(heard.request.url) for heard in site.heard]
        tally.count("a token was part of a URL", any(token in url for url in urls))


async def _call(folder: Path, entry: dict[str, Any]) -> None:
    async with mooring.open(request=make_viewpoint(folder), policy="allow", servers={"web": entry}) as host:
        await host.call("web.echo", {"text": "x"}, timeout=5)


async def _try_login(
    folder: Path, site: Site, ask: Callable[[mooring.Question], Awaitable[mooring.Answer]] = log_in
) -> None:
    servers = {"web": {"type": "http", "url": site.url}}
    async with mooring.open(request=make_viewpoint(folder), policy="allow", servers=servers, ask=ask) as host:
        await host.login("web", timeout=5)


def make_viewpoint(folder: Path) -> Workspace:
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    folder.mkdir(parents=True, exist_ok=True)
    home = str(folder)
    return Workspace(Paths(home, {"HOME": home, "PATH": "/usr/bin:/bin"}, "linux", f"{home}/system"), home)


async def _expect_failure(work: Awaitable[None]) -> bool:
    """Whether it failed in one of our own ways."""
    try:
        await work
    except MooringError:
        return True
    return False


ATTACKS = (
    Attack("A14", "addresses inside the network, in every place of a login", reach_into_the_network),
    Attack("A14", "endpoints of a login that redirect elsewhere", redirect_metadata_elsewhere),
    Attack("A15", "login pages that are programs, files or options", hand_a_program_to_the_browser),
    Attack("A16", "answers and metadata that are forged", forge_an_answer),
    Attack("A17", "a stored login, and other places that would like it", lure_a_login_elsewhere),
)
