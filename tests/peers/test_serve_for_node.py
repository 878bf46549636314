"""`mooring serve` for clients on Node: the official SDK of three generations, and the Inspector's command line."""

import json
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from coding_tools import ask
from install import CACHE, tool
from serving import PATIENCE, SERVE, ServedHome, run_tides, serve_on_http

pytestmark = pytest.mark.timeout(300)  # each client is three processes or more, on machines that may be busy

CLIENT = Path(__file__).with_name("served_client.mjs")
INSTALLED = CACHE / "clients" / "package.json"
FIRST, JUNE, SECOND = "@modelcontextprotocol/sdk", "sdk-of-june-2025", "@modelcontextprotocol/client"
VERSIONS = {JUNE: "2025-06-18", FIRST: "2025-11-25", SECOND: "2026-07-28"}
ASKED = ["everything.get-sum", "tides.slow", "everything.trigger-elicitation-request", "tides.slow"]
FORM = "everything │ Please provide inputs for the following fields:"


@pytest.fixture(scope="module")
def tides() -> Iterator[str]:
    with run_tides() as url:
        yield url


@pytest.fixture
def home(tmp_path: Path, tides: str) -> ServedHome:
    return ServedHome(tmp_path, tides)


def make_command(sdk: str, wish: str, *target: str) -> list[str]:
    return ["node", str(CLIENT), str(INSTALLED), sdk, wish, *target]


def look(home: ServedHome, sdk: str, *target: str, token: str = "") -> dict[str, Any]:
    """All that a client on this SDK sees."""
    seen: dict[str, Any] = json.loads(ask(make_command(sdk, "look", *target), home.cwd, {**home.env, "TOKEN": token}))
    return seen


def check(seen: dict[str, Any], sdk: str, home: ServedHome) -> None:
    assert seen["version"] == VERSIONS[sdk]
    assert sorted(seen["tools"]) == home.list_tools()
    assert sorted(seen["resources"]) == home.list_resources()
    assert sorted(seen["prompts"]) == home.list_prompts()
    assert seen["echoes"] == ["Echo: ahoy ⚓", "ahoy ⚓"]
    assert seen["sum"] == "The sum of 40 and 2 is 42."
    assert (seen["read"], seen["prompt"]) == ("high", "Explain tides.")
    # The SDK handles a notification later than the result that came right behind it, and drops it then.
    assert (seen["progress"][:2], seen["slow"]) == ([[1, 3], [2, 3]], "3 steps")
    assert "enough" in seen["cancelled"]
    assert seen["after"] == "still here"
    # Each call that no rule allows was asked about.
    ours = [text.split(" ")[3] for text in seen["questions"] if text.startswith("Mooring asks: may ")]
    assert ours == ASKED


def check_form(seen: dict[str, Any], sdk: str) -> None:
    """The client was shown what the server itself asks."""
    theirs = [text for text in seen["questions"] if not text.startswith("Mooring asks")]
    if sdk == JUNE:
        # The form has lists of choices, which came with 2025-11-25: this SDK refuses it before anybody sees it.
        assert (theirs, seen["elicited"]) == ([], "⚠️ User cancelled the elicitation dialog.")
    else:
        assert (theirs, seen["elicited"]) == ([FORM], "✅ User provided the requested information!")


@pytest.mark.parametrize("sdk", VERSIONS)
def test_the_sdk_for_node_lists_calls_reads_is_asked_follows_and_cancels(sdk: str, home: ServedHome) -> None:
    seen = look(home, sdk, *SERVE)
    check(seen, sdk, home)
    check_form(seen, sdk)
    calls = home.list_calls()
    assert calls.count(("tides", "echo", "ok")) == 2
    # The call that the client cancelled ended.
    assert ("tides", "slow", "error") in calls


def test_the_sdks_for_node_share_the_servers_behind_one_url(home: ServedHome) -> None:
    with serve_on_http(home) as (url, token), ThreadPoolExecutor() as clients:
        seen = dict(zip(VERSIONS, clients.map(lambda sdk: look(home, sdk, url, token=token), VERSIONS), strict=True))
        # Not the form: a server that works for several clients at a time cannot say whom it asks, and nobody is asked.
        for sdk, view in seen.items():
            check(view, sdk, home)


@pytest.mark.parametrize("sdk", VERSIONS)
def test_nothing_is_left_of_a_client_that_is_killed_in_a_call(sdk: str, home: ServedHome) -> None:
    command = make_command(sdk, "hang", *SERVE)
    with subprocess.Popen(
        command, cwd=home.cwd, env=home.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == "in a call\n"
        client.send_signal(signal.SIGKILL)
        client.wait(PATIENCE)


# --- the Inspector ----------------------------------------------------------------------------------------------------


def inspect(home: ServedHome, *words: str) -> tuple[int, Any]:
    """How the Inspector's command line ended, and the result that it printed."""
    # It needs a newer Node than others do, which is installed beside it.
    node = str(CACHE / "clients/node_modules/.bin/node")
    command = [node, tool("mcp-inspector", "clients"), "--cli", *words, "--format", "json", "-q"]
    done = subprocess.run(
        command, cwd=home.cwd, env=home.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
    )
    return done.returncode, json.loads(done.stdout)["result"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_shows_what_we_show_and_finds_no_fault_in_it(era: str, home: ServedHome) -> None:
    target = (*SERVE, "-e", f"MOORING_TEST={home.env['MOORING_TEST']}", "--protocol-era", era)
    code, listed = inspect(home, *target, "--method", "tools/list", "--strict")
    assert code == 0
    assert sorted(tool["name"] for tool in listed["tools"]) == home.list_tools()
    code, refused = inspect(home, *target, "--method", "tools/call", "--tool-name", "mcp__everything__get-env")
    # 5 is its code for a tool that failed. It cannot be asked anything.
    assert (code, refused["isError"]) == (5, True)
    assert refused["content"][0]["text"].endswith("only the person can allow it.")


def test_the_inspector_calls_reads_and_fills_in_behind_a_url(home: ServedHome) -> None:
    with serve_on_http(home) as (url, token):
        target = (url, "--transport", "http", "--header", f"Authorization: Bearer {token}")
        call = ("--method", "tools/call", "--tool-name", "mcp__tides__echo", "--tool-arg", "text=ahoy")
        assert inspect(home, *target, *call)[1]["structuredContent"] == {"result": "ahoy"}
        read = inspect(home, *target, "--method", "resources/read", "--uri", "tide://now")[1]
        assert read["contents"][0]["text"] == "high"
        prompt = ("--method", "prompts/get", "--prompt-name", "mcp__tides__explain", "--prompt-args", "topic=tides")
        assert inspect(home, *target, *prompt)[1]["messages"][0]["content"]["text"] == "Explain tides."
