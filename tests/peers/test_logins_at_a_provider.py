"""Logins at `oidc-provider`, whose refresh tokens rotate and which revokes a family when one of them is shown twice."""

import asyncio
import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from guarding import BROWSER, Person, Provider, run_guarded, run_provider
from install import mooring as command

import mooring
from support import Home

pytestmark = pytest.mark.timeout(300)  # commands are processes, on machines that may be busy

REFRESHER = str(Path(__file__).parents[1] / "auth" / "refresher.py")
PROCESSES = 20
LEAD = 8.0
"""Seconds for all processes to start, before all of them call at the same moment."""
SOON = 3
"""Seconds that a token holds which is to end during a test."""
REFRESHED = "POST /token refresh_token 200"
ASKED_FOR_TOKEN = "POST /token authorization_code"
REVOKED = "family revoked"


def read_token(person: Person) -> dict[str, Any]:
    """The one token that a person has stored."""
    values = json.loads(person.stored())["values"]["oauth"]
    [token] = [json.loads(text) for name, text in values.items() if name.startswith("token ")]
    return token


def wait_for_end(person: Person) -> None:
    """Wait until the stored token has ended."""
    time.sleep(max(0.0, read_token(person)["expires_at"] - time.time()) + 0.1)


def ask_with(url: str, token: str) -> int:
    """The status that a server answers with to a request with this token."""
    kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    headers = {"Authorization": f"Bearer {token}", **kinds}
    request = urllib.request.Request(url, b"{}", headers)
    with pytest.raises(urllib.error.HTTPError) as refused, urllib.request.urlopen(request, timeout=30):
        pass
    refused.value.close()
    return refused.value.code


# --- staying logged in ------------------------------------------------------------------------------------------------


def test_one_login_in_a_browser_serves_every_later_command(home: Home) -> None:
    with run_provider() as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        code, out, err = anna.echo()
        assert (code, out) == (3, "")
        assert err.endswith("Log in with: mooring mcp login web\n")
        code, out, err = anna.run("mcp", "login", "web")
        assert (code, out) == (0, f"Logged in to web at {provider.url}. It has 2 tools.\n"), err
        assert anna.echo() == (0, "hi\n", "")
        code, out, _ = anna.run("tools", "web", "--json")
        assert code == 0
        assert "whoami" in out
        # Logging in again takes the client that is registered already.
        anna.log_in()
        assert provider.count("POST /reg ") == 1
        assert provider.count(ASKED_FOR_TOKEN) == 2


def test_a_token_that_holds_for_seconds_is_refreshed_with_a_new_refresh_token_each_time(home: Home) -> None:
    with run_provider(seconds=SOON) as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        anna.log_in()
        shown = [read_token(anna)["refresh"]]
        for _ in range(2):
            wait_for_end(anna)
            assert anna.echo() == (0, "hi\n", "")
            shown.append(read_token(anna)["refresh"])
        assert len(set(shown)) == 3
        assert provider.count(REFRESHED) >= 2
        assert provider.count("POST /token ") == provider.count(REFRESHED) + 1
        assert REVOKED not in provider.heard()


def test_twenty_processes_at_the_moment_of_expiry_send_one_refresh_and_no_family_is_revoked(home: Home) -> None:
    with run_provider() as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        provider.hold(1)
        anna.log_in()
        wait_for_end(anna)
        provider.hold(600)
        before = provider.count("POST /token refresh_token")
        outcomes = asyncio.run(call_at_once(anna, url))
        assert outcomes == [(0, "hi", "")] * PROCESSES
        assert provider.count("POST /token refresh_token") == before + 1
        assert REVOKED not in provider.heard()


async def call_at_once(person: Person, url: str) -> list[tuple[int | None, str, str]]:
    moment = time.time() + LEAD
    return await asyncio.gather(*(call_at(person, url, moment) for _ in range(PROCESSES)))


async def call_at(person: Person, url: str, moment: float) -> tuple[int | None, str, str]:
    pipes = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
    words = [sys.executable, REFRESHER, url, str(moment)]
    process = await asyncio.create_subprocess_exec(*words, cwd=person.home.cwd, env=person.env, **pipes)
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


def test_a_command_that_is_given_up_while_it_refreshes_does_not_cost_the_login(home: Home) -> None:
    with run_provider(seconds=1) as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        anna.log_in()
        wait_for_end(anna)
        provider.hold(600)
        provider.delay(4)
        assert anna.run("call", "web.echo", "text=hi", "--timeout", "2")[0] == 5
        provider.delay(0)
        assert anna.echo() == (0, "hi\n", "")
        assert REVOKED not in provider.heard()


def test_ctrl_c_while_a_token_is_refreshed_does_not_cost_the_login(home: Home) -> None:
    with run_provider(seconds=1) as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        anna.log_in()
        wait_for_end(anna)
        provider.hold(600)
        provider.delay(2)
        before = provider.count(REFRESHED)
        words = [command(), "call", "web.echo", "text=hi"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(words, cwd=home.cwd, env=anna.env, **quiet) as call:
            while provider.count(REFRESHED) == before:
                time.sleep(0.05)
            call.send_signal(signal.SIGINT)
            assert call.wait(60) == 130
        assert anna.echo() == (0, "hi\n", "")
        assert REVOKED not in provider.heard()


def test_what_a_person_withdraws_at_the_provider_needs_a_login_again(home: Home) -> None:
    with run_provider() as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        anna.log_in()
        provider.withdraw()
        code, out, err = anna.echo()
        assert (code, out) == (3, "")
        assert err.endswith("Log in with: mooring mcp login web\n")
        assert '"token ' not in anna.stored()
        asked = provider.count("POST /token ")
        # It is over: nobody asks the provider a second time.
        assert anna.echo()[0] == 3
        assert provider.count("POST /token ") == asked
        anna.log_in()
        assert anna.echo() == (0, "hi\n", "")


def test_a_logout_revokes_at_the_provider_what_was_given(home: Home) -> None:
    with run_provider() as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        anna.log_in()
        token = read_token(anna)["access"]
        assert ask_with(url, token) == 400  # it is let in, and what it says is nonsense
        code, out, err = anna.run("mcp", "logout", "web")
        assert (code, out, err) == (0, f"The login to web at {provider.url} is revoked and removed.\n", "")
        assert REVOKED in provider.heard()
        assert ask_with(url, token) == 401
        assert token not in anna.stored()
        assert anna.echo()[0] == 3


def test_without_a_browser_a_code_is_entered_on_another_device(home: Home) -> None:
    with run_provider() as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        words = [command(), "mcp", "login", "web", "--no-browser"]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(words, cwd=home.cwd, env=anna.env, text=True, **pipes) as login:
            assert login.stderr is not None
            page = next(word for line in login.stderr for word in line.split() if word.startswith(f"{provider.url}/"))
            subprocess.run([*BROWSER.split(), "--name", "anna", page], check=True, timeout=60)
            out, err = login.communicate(timeout=120)
        assert (login.returncode, out) == (0, f"Logged in to web at {provider.url}. It has 2 tools.\n"), err
        assert anna.run("call", "web.whoami") == (0, "anna\n", "")
        assert provider.count("POST /token device_code 200") == 1
        assert provider.count("GET /auth ") == 0


# --- side by side -----------------------------------------------------------------------------------------------------


def test_two_people_of_one_machine_are_each_themselves(home: Home, tmp_path: Path) -> None:
    with run_provider() as provider, run_guarded(provider) as url:
        people = [Person(home, url, "anna"), Person(Home(tmp_path / "other"), url, "bert")]
        for person in people:
            person.log_in()
        for person in (*people, *people):
            assert person.run("call", "web.whoami") == (0, f"{person.name}\n", "")
        anna, bert = (read_token(person) for person in people)
        assert not {anna["access"], anna["refresh"]} & {bert["access"], bert["refresh"]}
        people[0].run("mcp", "logout", "web")
        assert people[0].echo()[0] == 3
        assert people[1].echo() == (0, "hi\n", "")


def test_a_connection_that_lives_on_takes_up_the_login_of_another_process(home: Home) -> None:
    with run_provider() as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        anna.log_in()
        asyncio.run(call_before_and_after(anna, provider))


async def call_before_and_after(anna: Person, provider: Provider) -> None:
    async with mooring.open(request=anna.home.request(), policy="allow") as host:
        assert (await host.call("web.whoami", {})).text == "anna"
        provider.withdraw()
        with pytest.raises(mooring.NeedsLogin, match="mooring mcp login web"):
            await host.call("web.whoami", {})
        await asyncio.to_thread(anna.log_in)
        assert (await host.call("web.whoami", {})).text == "anna"


# --- refusals: one sentence, and nothing is sent any further ----------------------------------------------------------

METADATA = "GET /.well-known/oauth-authorization-server 200"


@pytest.mark.parametrize(
    ("provided", "guarded", "reason", "heard"),
    [
        pytest.param(
            {"host": "localhost"}, {},
            "the metadata of {issuer} belongs to another issuer, {issuer_elsewhere}", [METADATA], id="issuer",
        ),
        pytest.param(
            {"pkce": False}, {},
            "{issuer} does not say that it supports PKCE with S256, so a stolen code could be used; if you trust it all "
            'the same, write "pkce": "assume" in the `oauth` block of the server\'s definition', [METADATA], id="pkce",
        ),
        pytest.param(
            {}, {"host": "localhost"},
            "the server at {server} keeps its login metadata on another host, {server_elsewhere}, so it was not read",
            [], id="metadata-elsewhere",
        ),
        pytest.param(
            {}, {"path": "/another"},
            "the server at {server}/mcp says that it is another resource, {server}/another", [], id="resource",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_trusted_is_refused_in_a_sentence_before_anybody_logs_in(
    home: Home, provided: dict[str, Any], guarded: dict[str, Any], reason: str, heard: list[str]
) -> None:
    with run_provider(**provided) as provider, run_guarded(provider, **guarded) as url:
        anna = Person(home, url)
        server = url.removesuffix("/mcp")
        names = {"issuer": provider.url, "server": server}
        elsewhere = {f"{key}_elsewhere": value.replace("127.0.0.1", "localhost") for key, value in names.items()}
        said = f"mooring: OAuth authentication failed: {reason.format(**names, **elsewhere)}.\n"
        assert anna.run("mcp", "login", "web") == (3, "", said)
        assert provider.heard() == heard
        assert anna.stored() == ""


def test_a_server_that_is_another_resource_later_gets_no_token(home: Home) -> None:
    with run_provider() as provider, ExitStack() as first:
        url = first.enter_context(run_guarded(provider))
        anna = Person(home, url)
        anna.log_in()
        first.close()
        port = int(url.rpartition(":")[2].partition("/")[0])
        with run_guarded(provider, path="/another", port=port):
            code, _, err = anna.run("mcp", "login", "web")
            assert code == 3
            assert f"says that it is another resource, {url.removesuffix('/mcp')}/another" in err
            assert read_token(anna)["resource"] == url
            assert provider.count(ASKED_FOR_TOKEN) == 1


def test_an_answer_with_another_state_is_refused_and_its_code_is_not_used(home: Home) -> None:
    with run_provider() as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        assert_refused(anna, provider, browser="--state made-up")


def test_an_answer_of_an_earlier_login_is_refused_and_its_code_is_not_used(home: Home, tmp_path: Path) -> None:
    with run_provider() as provider, run_guarded(provider) as url:
        anna = Person(home, url)
        kept = tmp_path / "kept"
        code, _, err = anna.run("mcp", "login", "web", browser=f"--keep {kept}")
        assert code == 0, err
        assert "code=" in kept.read_text()
        before = anna.stored()
        assert_refused(anna, provider, browser=f"--replay {kept}")
        # The login of before is still there.
        assert anna.stored() == before
        assert anna.echo() == (0, "hi\n", "")


def assert_refused(person: Person, provider: Provider, browser: str) -> None:
    asked = provider.count("POST /token ")
    code, out, err = person.run("mcp", "login", "web", browser=browser)
    assert (code, out) == (3, "")
    assert err.splitlines()[-1] == (
        "mooring: OAuth authentication failed: "
        "the browser came back with another state, so its answer belongs to another login."
    )
    # The provider gave a code, and nobody came for the token.
    assert provider.count("GET /auth/") >= 2
    assert provider.count("POST /token ") == asked
