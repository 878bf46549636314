"""`mooring tools` and `mooring call` as real processes, on real servers."""

import json
import os
import shlex
import signal
import subprocess
import sys

import pytest
from fleet import EVERYTHING, NEWEST, ON_REQUEST, OURS, TOOLS

MOORING = [sys.executable, "-m", "mooring"]
OFFERS = {
    "server-everything": (EVERYTHING, {*TOOLS["everything"], *ON_REQUEST}),
    "mcp-2.3": (NEWEST.command, set(OURS)),
}
ECHOES = {
    "server-everything": (EVERYTHING, "message=ahoy ⚓", "Echo: ahoy ⚓\n"),
    "mcp-2.3": (NEWEST.command, "text=ahoy ⚓", "ahoy ⚓\n"),
}


def mooring(command, server, *words, cwd):
    line = [*MOORING, command, "--server", shlex.join(server), *words]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd, timeout=30)


@pytest.mark.parametrize("name", OFFERS)
def test_tools_are_listed_for_people_and_for_programs(name, tmp_path):
    server, tools = OFFERS[name]
    done = mooring("tools", server, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    # A signature for each, and what it does below it, farther in.
    signatures = [line for line in done.stdout.splitlines() if line and not line.startswith(" ")]
    assert {line.partition("(")[0] for line in signatures} == tools
    done = mooring("tools", server, "--json", cwd=tmp_path)
    assert {tool["tool"] for tool in json.loads(done.stdout)["tools"]} == tools


@pytest.mark.parametrize("name", ECHOES)
def test_a_tool_is_called_with_words(name, tmp_path):
    server, word, said = ECHOES[name]
    done = mooring("call", server, "echo", word, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_numbers_are_numbers_and_progress_goes_to_stderr(tmp_path):
    done = mooring("call", NEWEST.command, "add", "a=40", "b=2", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["structuredContent"] == {"result": 42}
    done = mooring("call", NEWEST.command, "slow", "steps=2", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("2 steps\n", "1/2\n2/2\n")


def test_a_tool_that_fails_and_a_tool_that_is_unknown_differ_in_their_exit_codes(tmp_path):
    failed = mooring("call", NEWEST.command, "fail", cwd=tmp_path)
    assert (failed.returncode, failed.stdout) == (1, "Error executing tool fail\n")
    unknown = mooring("call", NEWEST.command, "ech", cwd=tmp_path)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "echo" in unknown.stderr


def test_a_picture_goes_to_a_file(tmp_path):
    done = mooring("call", EVERYTHING, "get-tiny-image", "-o", str(tmp_path / "tiny.png"), cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "tiny.png").read_bytes().startswith(b"\x89PNG")


def test_ctrl_c_ends_a_long_call_with_130(tmp_path):
    words = ["call", "--server", shlex.join(EVERYTHING), "trigger-long-running-operation", "duration=60", "steps=600"]
    with subprocess.Popen(
        [*MOORING, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stderr.readline() == "1/600\n"
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(10) == 130
        assert process.stdout.read() == ""
        assert "Traceback" not in process.stderr.read()
