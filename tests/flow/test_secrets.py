"""What a server was given in secret is struck out of everything it repeats, in whatever form; and little is given."""

import base64
import json
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path
from typing import Any

import pytest

import mooring
from mooring.core.text.secret import HIDDEN
from support import Cli, Home
from variables import ORDINARY, SECRET

LEAKER = str(Path(__file__).parent / "leaker.py")
FORMS = re.findall(r'^    "([a-z0-9 ]+)": ', Path(LEAKER).read_text(), re.MULTILINE)
TOKEN = 'canary/Tok"en+7=é\\x&q'
SHOWS_ENVIRONMENT = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    answers = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}},
        "tools/list": {"tools": [{"name": "env", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": json.dumps(dict(os.environ))}]},
    }
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answers.get(message["method"], {})}), flush=True)
"""


def leaker(*args: str, **env: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-S", LEAKER, *args], "env": env}


def leaks(text: str, secret: str = TOKEN) -> list[str]:
    """The forms of a secret that are in a text; a part of eight characters is enough."""
    forms = {
        "plain": secret,
        "json": json.dumps(secret)[1:-1],
        "url": urllib.parse.quote(secret, safe=""),
        **{f"base64 {shift}": base64.b64encode(bytes(shift) + secret.encode()).decode()[4:-4] for shift in range(3)},
    }
    found = [name for name, form in forms.items() if form in text or form.replace("+", "-").replace("/", "_") in text]
    return found + (["part"] if "canary" in text else [])


@pytest.mark.parametrize("tool", ["fail", "refuse"])
def test_no_form_of_a_secret_is_in_a_failed_call_or_anything_said_during_it(tool: str, home: Home, cli: Cli) -> None:
    home.configure(leaky=leaker(API_TOKEN=TOKEN))
    assert len(FORMS) == 16
    for form in FORMS:
        for flag in ((), ("--json",)):
            done = cli("call", "--allow", "leaky.*", f"leaky.{tool}", f"form={form}", *flag)
            assert done.code != 0
            assert HIDDEN in done.out + done.err
            assert (form, leaks(done.out + done.err)) == (form, [])
    logged = cli("logs", "leaky")
    assert HIDDEN in logged.out
    assert leaks(logged.out) == []


def test_a_ping_that_is_answered_with_a_secret_does_not_show_it(home: Home, cli: Cli) -> None:
    home.configure(leaky=leaker(API_TOKEN=TOKEN), empty=leaker("--no-tools", API_TOKEN=TOKEN))
    for words in (("leaky",), ("leaky", "--json"), ("empty",), ("empty", "--json")):
        done = cli("mcp", "test", *words)
        assert HIDDEN in done.out + done.err or words[-1] == "--json"
        assert leaks(done.out + done.err) == []
    checked = cli("mcp", "list", "--check")
    assert leaks(checked.out + checked.err) == []


async def test_a_host_hands_out_failures_without_the_secret_and_another_servers_value_as_it_is(home: Home) -> None:
    servers = {"leaky": leaker(API_TOKEN=TOKEN), "other": leaker(PLAIN="canary-in-the-open")}
    async with mooring.open(request=home.request(), servers=servers, policy="allow") as host:
        failed = await host.call("leaky.fail", {"form": "plain"})
        assert failed.is_error
        everything = failed.text + str(failed.structured) + bytes(failed.raw).decode() + str(failed.content)
        assert leaks(everything) == []
        assert HIDDEN in failed.text
        other = await host.call("other.fail", {"form": "plain"})
        assert "canary-in-the-open" in other.text


ARGUMENTS = {
    "header": ("--header", "Authorization: Bearer canary-0123"),
    "header in one": ("--header=Authorization: Bearer canary-0123",),
    "short header": ("-H", "X-Api-Key: canary-0123"),
    "variable": ("-e", "GITHUB_TOKEN=canary-0123"),
    "option": ("--api-key", "canary-0123"),
    "option in one": ("--api-key=canary-0123",),
    "token": ("--key", "sk-canary0123456789abcdef"),
    "bare token": ("ghp_canary0123456789abcdef",),
    "password": ("postgres://ana:canary-0123@host/db",),
    "login": ("-u", "ana:canary-0123"),
    "query": ("https://host/mcp?api_key=canary-0123",),
    "fragment": ("https://host/mcp#access_token=canary-0123",),
    "path": ("https://host/ghp_canary0123456789abcdef/mcp",),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_secrets_among_arguments_are_hidden_in_listings_and_in_what_the_server_repeats(
    name: str, home: Home, cli: Cli
) -> None:
    home.configure(leaky=leaker(*ARGUMENTS[name]))
    for words in (("list", "--json"), ("get", "leaky"), ("get", "leaky", "--json"), ("why", "leaky")):
        listed = cli("mcp", *words)
        assert "canary" not in listed.out + listed.err
    for form in ("plain", "base64 after one", "basic"):
        done = cli("call", "--allow", "leaky.*", "leaky.fail", f"form={form}")
        assert "canary" not in done.out + done.err
        assert "Y2FuYXJ5" not in done.out + done.err


def test_ordinary_arguments_are_shown(home: Home, cli: Cli) -> None:
    words = ["-y", "@modelcontextprotocol/server-filesystem", "/home/ana", "--port=8080", "--author", "ana", "-p", "80:80",
             "https://host/mcp?team=a#top", "--read-only", "${API_KEY}", "--log-level=debug", "sk-learn-2024"]  # fmt: skip
    home.configure(files={"command": "npx", "args": words})
    assert cli("mcp", "get", "files", "--json").data["server"]["args"] == words


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/s/ghp_canary0123456789abcdef/mcp",
        "http://127.0.0.1:9/mcp#access_token=canary-0123456789",
        "http://127.0.0.1:9/mcp#ghp_canary0123456789abcdef",
        "http://127.0.0.1:9/mcp?k=ghp_canary0123456789abcdef",
        "http://ana:canary-0123@127.0.0.1:9/mcp",
        "http://127.0.0.1:9/${API_TOKEN}/mcp",
    ],
)
def test_secrets_in_the_path_and_fragment_of_an_address_are_hidden(
    url: str, home: Home, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "canary-in-path")
    home.configure(remote={"url": url})
    for words in (("list", "--json"), ("get", "remote"), ("test", "remote")):
        done = cli("mcp", *words)
        assert "canary" not in done.out + done.err
        assert "127.0.0.1" in done.out or words[0] == "test"


# --- what is inherited --------------------------------------------------------------------------------------


def inherited(home: Home, env: dict[str, str]) -> dict[str, str]:
    """What a server of the person gets of an environment, through the real command and a real process."""
    script = home.write("home/show.py", SHOWS_ENVIRONMENT)
    home.configure(show={"command": sys.executable, "args": ["-S", str(script)]})
    command = [str(Path(sys.executable).with_name("mooring")), "call", "--allow", "show.*", "show.env"]
    given = {**env, "HOME": str(home.home), "PATH": home.env["PATH"]}
    for name in ("XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "TMPDIR"):
        given.pop(name, None)
    done = subprocess.run(command, cwd=home.cwd, env=given, capture_output=True, text=True, timeout=100, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_no_secret_of_the_persons_environment_reaches_their_own_server(home: Home) -> None:
    assert len(SECRET) >= 62
    got = inherited(home, SECRET)
    assert [name for name in SECRET if name in got] == []


def test_no_ordinary_variable_is_withheld(home: Home) -> None:
    assert len(ORDINARY) >= 150
    env = {name: value for name, value in ORDINARY.items() if name not in ("HOME", "PATH")}
    got = inherited(home, env)
    given_up = {"XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "TMPDIR"}
    assert [name for name in env if got.get(name) != env[name] and name not in given_up] == []
