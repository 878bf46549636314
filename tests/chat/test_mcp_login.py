"""`/mcp login` and `/mcp logout` in the chat: the page, what is waited for, and Ctrl+C."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from chat.terminal import Person
from chat.test_plain import READY, leave
from mooring.testing import Issuer, Site
from support import Home

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")

BROWSER = f"{sys.executable} {Path(__file__).parents[1] / 'auth' / 'browse.py'}"
FILE_STORE = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}


async def chat_with(home: Home, site: Site, talk: Callable[[Person], None], **env: str) -> None:
    """Let a person talk to the chat while the servers of this test answer."""
    home.configure(web={"type": "http", "url": site.url})

    def run() -> None:
        with Person(home, "chat", "--allow", "*", **FILE_STORE, **env) as person:
            person.sees(READY)
            talk(person)
            leave(person)

    await asyncio.to_thread(run)


async def test_a_login_in_the_chat_connects_the_server_for_the_next_line(home: Home) -> None:
    def talk(person: Person) -> None:
        person.types("/mcp login web")
        person.sees(f"Log in to web at {issuer.url}:")
        person.sees("Your browser shows this page.")
        person.sees(f"Logged in to web at {issuer.url}. It has 1 tool.")
        person.sees(READY)
        person.types("/call web.echo text=here")
        person.sees("\nhere")
        person.sees(READY)
        person.types("/mcp logout web")
        person.sees(f"The login to web at {issuer.url} is revoked and removed.")
        person.sees(READY)

    async with Issuer() as issuer, Site(issuer=issuer) as site:
        await chat_with(home, site, talk, BROWSER=BROWSER)
        assert len(issuer.revoked) == 1


async def test_control_c_cancels_a_login_and_the_chat_goes_on_with_the_old_one(home: Home) -> None:
    def talk(person: Person) -> None:
        person.types("/mcp reauth web")
        shown = person.sees("Waiting for the login; Ctrl+C cancels")
        page = next(line.strip() for line in shown.splitlines() if "/authorize?" in line)
        person.types(issuer._authorize(dict(parse_qsl(urlsplit(page).query))).headers["Location"])
        person.sees("Logged in to web")
        person.sees(READY)
        person.types("/mcp login web")
        person.sees("Waiting for the login; Ctrl+C cancels")
        person.presses("\x03")
        person.sees(READY)
        person.types("/call web.echo text=still")
        person.sees("\nstill")
        person.sees(READY)

    async with Issuer() as issuer, Site(issuer=issuer) as site:
        issuer.metadata = {"device_authorization_endpoint": None}
        await chat_with(home, site, talk, SSH_TTY="x")
        assert issuer.count("authorization_code") == 1


async def test_a_server_that_wants_a_login_says_what_to_type_here(home: Home) -> None:
    def talk(person: Person) -> None:
        person.types("/call web.echo text=x")
        person.sees("Log in with: /mcp login web")
        person.sees(READY)
        person.types("/mcp unauth web")
        person.sees("There was no login to web.")
        person.sees(READY)

    async with Issuer() as issuer, Site(issuer=issuer) as site:
        await chat_with(home, site, talk)
