"""`mooring serve` for the official SDK's own client, in either era."""

import json
import os
import shlex
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
from guarding import find_port, run_listening
from install import mooring, python

from mooring import Answer, Question, RpcError, Yes
from mooring import open as open_host

ASKED_CLIENT = Path(__file__).with_name("asked_client.py")
ASKING = Path(__file__).parent / "servers" / "asking_2.py"
CLIENT = Path(__file__).with_name("served_client.py")


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_lists_reads_calls_and_is_asked(tmp_path: Path, mode: str, version: str) -> None:
    done = subprocess.run(
        [python("mcp-2.3"), str(CLIENT), mode, mooring(), "serve", "--demo", "--names", "raw", "--permission-mode", "ask"],
        env={**os.environ, "HOME": str(tmp_path)}, cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout)
    assert seen["version"] == version
    assert {"add", "echo", "slow"} <= set(seen["tools"])
    # The call was asked about, and the client accepted.
    assert seen["sum"] == {"sum": 3}
    assert seen["read"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_through_mooring_a_tool_that_asks_does_what_it_does_without(tmp_path: Path, way: str, mode: str) -> None:
    port = find_port()
    with run_listening([python("mcp-2.3"), str(ASKING), str(port)], port) if way == "http" else nullcontext():
        url = f"http://127.0.0.1:{port}/mcp"
        straight = [url] if way == "http" else [python("mcp-2.3"), str(ASKING)]
        named = ["--url", url] if way == "http" else ["--server", shlex.join(straight)]
        served = [mooring(), "serve", *named, "--names", "raw", "--permission-mode", "bypass"]
        seen = [run_asked_client(tmp_path, mode, words) for words in (straight, served)]
    assert seen[0] == seen[1]
    if mode == "legacy":
        assert seen[1]["said"] == "Hello Ada"


def test_clients_of_both_eras_share_a_program_that_does_what_it_does_without(tmp_path: Path) -> None:
    port, program = find_port(), [python("mcp-2.3"), str(ASKING)]
    words = ["--server", shlex.join(program), "--names", "raw", "--permission-mode", "bypass", "--no-token"]
    with run_listening([mooring(), "serve", "--http", f"127.0.0.1:{port}", *words], port):
        for mode in ("auto", "legacy", "auto"):
            straight = run_asked_client(tmp_path, mode, program)
            assert run_asked_client(tmp_path, mode, [f"http://127.0.0.1:{port}/mcp"]) == straight
            assert (straight["said"] == "Hello Ada") == (mode == "legacy")


async def test_a_tool_that_asks_works_for_a_person_if_its_server_is_kept_to_the_handshake(tmp_path: Path) -> None:
    async def answer(question: Question) -> Answer:
        return Yes(content={"name": "Ada"})

    program = {"command": python("mcp-2.3"), "args": [str(ASKING)]}
    servers = {"either": program, "old": {**program, "era": "handshake"}}
    async with open_host(cwd=tmp_path, servers=servers, ask=answer, policy="allow") as host:
        with pytest.raises(RpcError, match=r'It can ask if its entry .* has `"era": "handshake"`'):
            await host.call("either.greet")
        assert (await host.call("old.greet")).text == "Hello Ada"


def run_asked_client(folder: Path, mode: str, words: list[str]) -> dict[str, str]:
    """What the official client gets from the tool that asks, with or without Mooring before the server."""
    done = subprocess.run(
        [python("mcp-2.3"), str(ASKED_CLIENT), mode, *words],
        env={**os.environ, "HOME": str(folder)}, cwd=folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, str] = json.loads(done.stdout)
    return found
