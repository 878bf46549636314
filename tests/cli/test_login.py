"""`mooring mcp login` and `logout`, as real processes: with a browser, at a terminal, without either."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from aiohttp import web

from chat.terminal import Person
from mooring.testing import Issuer, Site
from support import MOORING, Home

BROWSER = f"{sys.executable} {Path(__file__).parents[1] / 'auth' / 'browse.py'}"
FILE_STORE = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}


async def run(home: Home, *args: str, **env: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        MOORING,
        *args,
        cwd=home.cwd,
        env={**home.env, **FILE_STORE, **env},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


def configure(home: Home, site: Site, **more: Any) -> None:
    home.configure(web={"type": "http", "url": site.url, **more})


async def test_a_login_opens_the_browser_and_later_commands_are_logged_in(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        configure(home, site)
        code, out, err = await run(home, "call", "web.echo", "text=hi")
        assert (code, out) == (3, "")
        assert "web requires a login. Log in with: mooring mcp login web" in err
        code, out, err = await run(home, "mcp", "login", "web", BROWSER=BROWSER)
        assert (code, out) == (0, f"Logged in to web at {issuer.url}. It has 1 tool.\n")
        assert f"Log in to web at {issuer.url}:" in err
        assert await run(home, "call", "web.echo", "text=hi") == (0, "hi\n", "")


async def test_the_login_as_data_holds_nothing_secret(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        configure(home, site)
        code, out, err = await run(home, "mcp", "auth", "web", "--json", "--scope", "a b", BROWSER=BROWSER)
        assert code == 0
        data = json.loads(out)
        assert data.pop("expiresAt") > 0
        assert data == {
            "server": "web", "issuer": issuer.url, "scopes": ["a", "b"], "refreshes": True, "tools": 1, "notes": [],
        }  # fmt: skip
        assert not any(token in out + err for token in (*issuer.tokens, *issuer.refresh_tokens))


async def test_a_server_at_an_address_is_logged_in_to_without_any_configuration(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        code, _, err = await run(home, "call", "--url", site.url, "echo", "text=hi")
        assert code == 3
        assert f"mooring mcp login --url {site.url}" in err
        code, out, _ = await run(home, "mcp", "login", "--url", site.url, BROWSER=BROWSER)
        assert (code, out) == (0, f"Logged in to {site.url} at {issuer.url}. It has 1 tool.\n")
        assert await run(home, "call", "--url", site.url, "echo", "text=hi") == (0, "hi\n", "")
        code, out, _ = await run(home, "mcp", "logout", "--url", site.url)
        assert (code, out) == (0, f"The login to {site.url} at {issuer.url} is revoked and removed.\n")


async def test_a_logout_revokes_and_removes_and_says_so_once(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        configure(home, site)
        await run(home, "mcp", "login", "web", BROWSER=BROWSER)
        code, out, err = await run(home, "mcp", "unauth", "web")
        assert (code, out, err) == (0, f"The login to web at {issuer.url} is revoked and removed.\n", "")
        assert await run(home, "mcp", "logout", "web") == (0, "There was no login to web.\n", "")
        assert (await run(home, "call", "web.echo", "text=hi"))[0] == 3
        assert len(issuer.revoked) == 1


async def test_a_server_needs_a_login_in_the_list_from_the_logout_on(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        configure(home, site)
        await run(home, "mcp", "logout", "web")
        assert "idle" in (await run(home, "mcp", "list"))[1]
        await run(home, "mcp", "login", "web", BROWSER=BROWSER)
        assert "idle" in (await run(home, "mcp", "list"))[1]
        await run(home, "mcp", "logout", "web")
        _, out, err = await run(home, "mcp", "list")
        assert "needs login" in out
        assert "web requires a login. Log in with: mooring mcp login web (" in err
        assert "    fix: mooring mcp login web\n" in (await run(home, "mcp", "doctor"))[1]
        await run(home, "mcp", "login", "web", BROWSER=BROWSER)
        _, out, err = await run(home, "mcp", "list")
        assert ("idle" in out, err) == (True, "")


async def test_a_token_that_its_issuer_does_not_take_back_is_removed_and_reported(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        configure(home, site)
        issuer.metadata = {"revocation_endpoint": None}
        await run(home, "mcp", "login", "web", BROWSER=BROWSER)
        code, out, err = await run(home, "mcp", "logout", "web", "--json")
        assert code == 0
        problem = f"{issuer.url} has no way to revoke it"
        assert json.loads(out) == {"server": "web", "issuer": issuer.url, "revoked": False, "problem": problem}
        assert err == f"It was not revoked, so it may still be valid there: {problem}.\n"


async def test_a_failed_login_is_one_sentence_and_exit_code_3(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        configure(home, site)
        issuer.metadata = {"issuer": "https://evil.example"}
        code, out, err = await run(home, "mcp", "login", "web", BROWSER=BROWSER)
        assert (code, out) == (3, "")
        assert err.count("\n") == 1
        assert err.startswith("mooring: OAuth authentication failed: ")


async def test_a_login_that_nobody_completes_ends_with_exit_code_5(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        configure(home, site)
        code, out, err = await run(home, "mcp", "login", "web", "--no-browser", "--timeout", "3")
        # Without a browser, a code for another device is offered; nobody enters it.
        assert "Enter this code there, on any device: ABCD-EFGH" in err
        assert (code, out) == (5, "")
        assert "OAuth flow timed out. Please try again." in err


async def test_without_a_terminal_another_issuer_is_never_agreed_to(home: Home) -> None:
    async with Issuer() as issuer, Issuer() as newer, Site(issuer=issuer) as site:
        configure(home, site)
        await run(home, "mcp", "login", "web", BROWSER=BROWSER)
        site.issuer = newer
        code, out, _ = await run(home, "mcp", "login", "web", BROWSER=BROWSER)
        assert (code, out) == (4, "")


async def test_a_server_without_metadata_is_reported_in_the_agreed_words(home: Home) -> None:
    async with Site() as site:
        configure(home, site)
        for method in ("initialize", "server/discover"):
            site.answers[method] = lambda heard: web.Response(status=401)
        code, _, err = await run(home, "mcp", "login", "web")
        assert code == 3
        assert "Authentication required for web" in err
        assert "OAuth endpoints could not be discovered" in err


@pytest.mark.parametrize("args", [(), ("web", "--url", "https://example.com/mcp")])
async def test_one_server_has_to_be_named(home: Home, args: tuple[str, ...]) -> None:
    code, _, err = await run(home, "mcp", "login", *args)
    assert code == 2
    assert "Name one server" in err


async def test_over_ssh_the_redirect_is_pasted(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        configure(home, site)
        issuer.metadata = {"device_authorization_endpoint": None}

        def log_in_elsewhere() -> str:
            env = {**FILE_STORE, "SSH_CONNECTION": "1 2 3 4"}
            with Person(home, "mcp", "login", "web", cells=0, **env) as person:
                shown = person.sees("Waiting for the login")
                assert "Open this page in a browser." in shown
                page = next(line.strip() for line in shown.splitlines() if "/authorize?" in line)
                query = dict(parse_qsl(urlsplit(page).query))
                person.types(f"{issuer._authorize(query).headers['Location']}")
                person.sees("Logged in to web")
                return person.shown

        shown = await asyncio.to_thread(log_in_elsewhere)
        assert f"Log in to web at {issuer.url}:" in shown
        assert await run(home, "call", "web.echo", "text=hi") == (0, "hi\n", "")


async def test_at_a_terminal_the_browser_comes_back_by_itself(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        configure(home, site)

        def log_in() -> str:
            with Person(home, "mcp", "login", "web", BROWSER=BROWSER, **FILE_STORE) as person:
                person.sees("Your browser shows this page.")
                person.sees("Logged in to web")
                return person.shown

        assert f"Logged in to web at {issuer.url}. It has 1 tool." in await asyncio.to_thread(log_in)


async def test_control_c_cancels_a_login_and_nothing_is_stored(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        configure(home, site)

        def give_up() -> int:
            with Person(home, "mcp", "login", "web", SSH_TTY="x", **FILE_STORE) as person:
                person.sees("Waiting")
                person.presses("\x03")
                return person.ended()

        assert await asyncio.to_thread(give_up) == 130
        assert issuer.tokens == {}
        assert (await run(home, "mcp", "logout", "web"))[1] == "There was no login to web.\n"
