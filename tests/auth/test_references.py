"""`${keyring:NAME}` and `credentialId`: read when a server starts, after its approval, and given to that server alone."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import mooring
from auth.machine import Machine
from mooring.auth.store import SecretStore
from mooring.core.text.secret import HIDDEN
from mooring.testing.site import Site
from support import Cli, Home

ASKER = str(Path(__file__).parents[1] / "cli" / "asker.py")
CANARY = "canary-7Yt2-value"
BACKWARDS = f"backwards: {CANARY[::-1]}"


def asker(**more: Any) -> dict[str, Any]:
    """A server with a tool that answers with its variable TOKEN, backwards."""
    return {"command": sys.executable, "args": ["-S", ASKER], **more}


def configure(home: Home, place: str = "home/.config/mooring/mcp.json", **servers: Any) -> None:
    home.write(place, {"mcpServers": servers})


async def site_headers(home: Home, **entry: Any) -> list[str | None]:
    """The `Authorization` that a server behind an address gets."""
    async with Site() as site:
        configure(home, x={"type": "http", "url": site.url, **entry})
        async with mooring.open(request=home.request(), policy="allow") as host:
            assert await host.ready() == {}
        return list(dict.fromkeys(heard.headers.get("Authorization") for heard in site.heard))


@pytest.mark.parametrize("keyring", ["Working", "keyring.backends.fail.Keyring"])
def test_a_stored_secret_reaches_the_server_that_names_it_and_no_other(home: Home, keyring: str) -> None:
    machine = Machine(home, keyring)
    machine.run("secret", "set", "github.TOKEN", given=CANARY)
    configure(home, named=asker(env={"TOKEN": "${keyring:github.TOKEN}"}), other=asker())
    assert BACKWARDS in machine.run("call", "named.token").out
    assert "backwards: \n" in machine.run("call", "other.token").out
    # Another value is there with the next start.
    machine.run("secret", "set", "github.TOKEN", given="another")
    assert "backwards: rehtona" in machine.run("call", "named.token").out


async def test_it_goes_into_headers_and_addresses_too(home: Home) -> None:
    await SecretStore(home.where).set("secret", "docs", CANARY)
    assert await site_headers(home, headers={"Authorization": "Bearer ${keyring:docs}"}) == [f"Bearer {CANARY}"]
    async with Site(path=f"/{CANARY}") as site:
        base = site.url.removesuffix(CANARY)
        configure(home, x={"type": "http", "url": f"{base}${{keyring:docs}}"})
        async with mooring.open(request=home.request(), policy="allow") as host:
            assert await host.ready() == {}


def test_a_secret_that_is_not_stored_is_one_sentence_with_the_command_that_stores_it(cli: Cli) -> None:
    configure(cli.home, x=asker(env={"TOKEN": "${keyring:github}"}))
    failed = cli("call", "x.token")
    assert (failed.code, failed.out) == (4, "")
    assert failed.err == (
        "mooring: x needs the secret github for env.TOKEN, which is not stored. "
        "To store it: mooring secret set github\n"
    )
    assert json.loads(cli("call", "x.token", "--json").err)["error"]["hint"] == "To store it: mooring secret set github"


async def test_such_a_server_needs_input_and_is_not_suspended(home: Home) -> None:
    configure(home, x=asker(env={"TOKEN": "${keyring:github}"}))
    async with mooring.open(request=home.request(), policy="allow") as host:
        for _ in range(8):
            errors = await host.ready()
            assert isinstance(errors["x"], mooring.SecretMissing)
        assert host.server("x").status == mooring.NeedsInput(("github",))
        await SecretStore(home.where).set("secret", "github", CANARY)
        assert await host.ready(refresh=True) == {}


def test_a_keyring_that_does_not_answer_fails_that_server_alone(home: Home) -> None:
    machine = Machine(home, "Working")
    machine.run("secret", "set", "github", given=CANARY)
    machine.keyring = "Hanging"
    configure(home, x=asker(env={"TOKEN": "${keyring:github}"}), other=asker())
    listed = machine.run("tools", "--json")
    assert {tool["server"] for tool in listed.data["tools"]} == {"other"}
    failed = machine.run("call", "x.token")
    assert failed.code == 1
    assert "env.TOKEN needs the secret github, which cannot be read: the system keyring did not answer" in failed.err


@pytest.mark.parametrize(
    "entry",
    [
        asker(args=["-S", ASKER, "--key=${keyring:github}"]),
        {"command": "${keyring:github}"},
        asker(env={"TOKEN": "!echo ${keyring:github}"}),
        asker(cwd="/${keyring:github}"),
        {"url": "https://a.example", "headersHelper": "echo ${keyring:github}"},
    ],
)
def test_a_stored_secret_never_becomes_an_argument_of_a_process(cli: Cli, entry: dict[str, Any]) -> None:
    configure(cli.home, x=entry)
    failed = cli("tools", "x")
    assert failed.code == 1
    assert "would put the secret github on a command line, where other users can read it; pass it in env" in failed.err


@pytest.mark.parametrize("place", ["home/.mcp.json", "home/.omp/agent/mcp.json", "home/.cursor/mcp.json"])
def test_in_the_files_of_other_tools_it_is_plain_text(cli: Cli, place: str) -> None:
    configure(cli.home, place, x=asker(env={"TOKEN": "${keyring:github}"}))
    assert "backwards: }buhtig:gnirye" in cli("call", "x.token").out


def test_a_projects_server_gets_it_only_after_an_approval_that_shows_where_it_goes(home: Home) -> None:
    machine = Machine(home, "Working")
    machine.run("secret", "set", "github", given=CANARY)
    entry = asker(env={"TOKEN": "${keyring:github}"})
    configure(home, "project/.mooring/mcp.json", x=entry)
    refused = machine.run("call", "x.token")
    assert refused.code == 4
    shown = machine.run("mcp", "approve", "x")
    assert "reads" in shown.err
    assert "the secret github  (its value goes to the program, as its variable TOKEN)" in shown.err
    assert CANARY not in shown.out + shown.err
    assert machine.run("mcp", "approve", "x", "--yes").code == 0
    assert BACKWARDS in machine.run("call", "x.token").out
    # Another secret in the same place is another definition, and nobody approved that.
    configure(home, "project/.mooring/mcp.json", x=asker(env={"TOKEN": "${keyring:bank}"}))
    assert machine.run("call", "x.token").code == 4


def test_it_is_shown_as_written_and_never_as_its_value(cli: Cli) -> None:
    configure(cli.home, x=asker(env={"TOKEN": "${keyring:github}"}))
    for words in (("mcp", "get", "x"), ("mcp", "get", "x", "--json"), ("mcp", "why", "x")):
        shown = cli(*words)
        assert shown.code == 0
        assert HIDDEN not in shown.out
    assert "${keyring:github}" in cli("mcp", "get", "x").out


# --- credentialId -----------------------------------------------------------------------------------------------------


async def test_a_credential_goes_to_a_program_as_a_variable_and_to_an_address_as_a_header(home: Home) -> None:
    store = SecretStore(home.where)
    await store.set("oauth", "work", json.dumps({"access": CANARY, "refresh": "r"}))
    await store.set("secret", "mine", CANARY)
    for name in ("work", "mine"):
        auth = {"type": "oauth", "credentialId": name}
        assert await site_headers(home, auth=auth) == [f"Bearer {CANARY}"]
        code = "import os; os.environ['TOKEN'] = os.environ['OAUTH_ACCESS_TOKEN']"
        args = ["-S", "-c", f"{code}; exec(open({ASKER!r}).read(), {{'__name__': '__main__'}})"]
        configure(home, x={"command": sys.executable, "args": args, "auth": auth})
        async with mooring.open(request=home.request(), policy="allow") as host:
            result = await host.call("x.token")
            assert BACKWARDS in result.text


def test_without_the_credential_it_connects_and_a_warning_names_the_id(cli: Cli) -> None:
    configure(cli.home, x=asker(auth={"type": "oauth", "credentialId": "gone"}))
    called = cli("call", "x.token")
    assert called.code == 0
    assert "auth.credentialId was left out: it names gone, of which no token is stored for it." in called.err


def test_a_token_that_was_pasted_as_the_id_is_not_shown(cli: Cli) -> None:
    token = "ghp_canaryCanaryCanary0123456789abcdefAB"
    configure(cli.home, x=asker(auth={"type": "oauth", "credentialId": token}))
    called = cli("call", "x.token")
    assert "auth.credentialId was left out: it names •••" in called.err
    assert token not in called.err


async def test_a_logins_token_goes_only_to_the_origin_that_it_was_issued_for(home: Home) -> None:
    store = SecretStore(home.where)
    login = {"access": CANARY, "resource": "https://elsewhere.example/mcp"}
    await store.set("oauth", "work", json.dumps(login))
    assert await site_headers(home, auth={"type": "oauth", "credentialId": "work"}) == [None]


async def test_a_token_that_has_expired_or_needs_a_proof_is_not_sent(home: Home) -> None:
    for more in ({"expires_at": 1.0}, {"type": "DPoP"}):
        await SecretStore(home.where).set("oauth", "work", json.dumps({"access": CANARY, **more}))
        assert await site_headers(home, auth={"type": "oauth", "credentialId": "work"}) == [None]


async def test_what_is_damaged_in_the_store_is_not_sent(home: Home) -> None:
    for text in ("{", "[]", '{"access": 3}', '"x"'):
        await SecretStore(home.where).set("oauth", "work", text)
        assert await site_headers(home, auth={"type": "oauth", "credentialId": "work"}) == [None]


def test_a_projects_program_is_given_no_login_and_says_so(home: Home) -> None:
    machine = Machine(home)
    entry = asker(auth={"type": "oauth", "credentialId": "work"})
    configure(home, "project/.mooring/mcp.json", x=entry)
    machine.run("mcp", "approve", "x", "--yes")
    called = machine.run("call", "x.token")
    assert called.code == 0
    assert "auth.credentialId was left out: it names a login, and a project's program is never given one." in called.err


def test_an_approval_from_before_is_asked_again_if_its_question_did_not_show_a_login(home: Home) -> None:
    machine = Machine(home)
    address = {"type": "http", "url": "http://127.0.0.1:1/mcp"}
    auth = {"auth": {"type": "oauth", "credentialId": "work"}}
    configure(home, "project/.mooring/mcp.json", plain=address, x={**address, **auth}, program=asker(**auth))
    machine.run("mcp", "approve", "--all", "--yes")
    assert machine.run("tools", "x").code != 4
    # As the version before wrote it: without what the question showed.
    record = home.home / ".local/state/mooring/approvals.json"
    written = json.loads(record.read_text())
    del written["checksum"]
    for decision in written["decisions"]:
        del decision["shown"]
    record.write_text(json.dumps(written))
    refused = machine.run("tools", "x")
    assert refused.code == 4
    assert "x uses the login work for more than the question that you answered showed" in refused.err
    assert machine.run("tools", "plain").code != 4
    assert machine.run("call", "program.token").code == 0
    shown = machine.run("mcp", "approve", "x", "--yes")
    assert "You approved this definition before, but it uses the login work" in shown.out + shown.err
    assert (
        "your login work  (its token goes to http://127.0.0.1:1, in the header Authorization)" in shown.out + shown.err
    )
    assert machine.run("tools", "x").code != 4


def test_an_approval_names_the_credential_and_is_bound_to_it(home: Home) -> None:
    machine = Machine(home)
    configure(home, "project/.mooring/mcp.json", x=asker(auth={"type": "oauth", "credentialId": "work"}))
    shown = machine.run("mcp", "approve", "x", "--yes")
    assert "credential_id: work" in shown.out + shown.err
    assert machine.run("call", "x.token").code == 0
    configure(home, "project/.mooring/mcp.json", x=asker(auth={"type": "oauth", "credentialId": "bank"}))
    assert machine.run("call", "x.token").code == 4
