"""`mooring serve` for the coding tools' own programs, each run for a turn with a fake model, on stdio and over HTTP."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents import AGENTS, KEY, Agent
from coding_tools import ask
from install import CACHE, tool
from processes import marked
from serving import PATIENCE, ServedHome, run_tides, serve_on_http
from tests.models import AskedResult, Call, FakeModel, Hold, ModelRequest, Reply, Say, Stall

pytestmark = pytest.mark.timeout(300)  # some of the programs take long to start, on machines that may be busy

CALLS = {
    "mcp__everything__echo": {"message": "ahoy"},
    "mcp__tides__echo": {"text": "ahoy"},
    "mcp__tides__add": {"a": 40, "b": 2},
}
CAUSE = "only the person can allow it"
"""The command that allows it is on stderr of `mooring serve`: no model can run it."""


@pytest.fixture(scope="module")
def tides() -> Iterator[str]:
    with run_tides() as url:
        yield url


def make_model(agent: Agent) -> FakeModel:
    """A model that makes all calls at once, and is satisfied with any result."""

    def reply(request: ModelRequest) -> Reply:
        if request.all_results:
            return [Stall(agent.pause), Say("All done.")]
        return [Call(agent.show(name), arguments) for name, arguments in CALLS.items()]

    return FakeModel(reply, skip_asides=True, key=KEY)


def take_turn(agent: Agent, home: ServedHome, model: FakeModel) -> None:
    program, *words = agent.command
    ask([tool(program), *words], home.cwd, {**home.env, **agent.write_env(model)})


def check(agent: Agent, home: ServedHome, model: FakeModel) -> None:
    """The model saw what Mooring lists, both servers answered, and what nobody could be asked about was not called."""
    first, second = model.requests
    shown = [name for name in first.tool_names if re.search(r"mcp__(everything|tides)__", name)]
    assert sorted(shown) == sorted(agent.show(name) for name in home.list_tools())
    echoed, echoed_by_tides, added = second.all_results
    assert "Echo: ahoy" in echoed.text
    assert "ahoy" in echoed_by_tides.text
    check_refusal(agent, added)
    calls = home.list_calls()
    assert sorted(calls) == [("everything", "echo", "ok"), ("tides", "add", "denied"), ("tides", "echo", "ok")]


def check_refusal(agent: Agent, added: AskedResult) -> None:
    if agent.is_asked:
        assert "tides.add was not called; the answer was no" in added.text
    else:
        assert CAUSE in added.text.replace("\\", "")


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_shown_and_calls_the_tools_of_all_servers(name: str, tmp_path: Path, tides: str) -> None:
    agent = AGENTS[name]
    with make_model(agent) as model:
        home = ServedHome(tmp_path, tides, agent.write_files(agent.write_program(), model))
        take_turn(agent, home, model)
    check(agent, home, model)


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_uses_the_same_behind_a_url_with_the_token(name: str, tmp_path: Path, tides: str) -> None:
    agent = AGENTS[name]
    served = ServedHome(tmp_path / "served", tides)
    with make_model(agent) as model, serve_on_http(served) as address:
        home = ServedHome(tmp_path / "agent", tides, agent.write_files(agent.write_link(address), model))
        take_turn(agent, home, model)
    check(agent, served, model)


@pytest.mark.parametrize(
    ("name", "words"), {"claude": "Connected", "gemini": "Connected", "opencode": "connected"}.items()
)
def test_the_list_of_an_agent_that_tries_its_servers_says_that_ours_is_connected(
    name: str, words: str, tmp_path: Path, tides: str
) -> None:
    agent = AGENTS[name]
    with make_model(agent) as model:
        home = ServedHome(tmp_path, tides, agent.write_files(agent.write_program(), model))
        listed = ask([tool(name), "mcp", "list"], home.cwd, home.env)
    assert re.search(rf"\ball\b.*{words}", listed)


@pytest.mark.parametrize("name", AGENTS)
def test_nothing_is_left_of_an_agent_that_is_killed_in_its_turn(
    name: str, tmp_path: Path, tides: str, nonce: str
) -> None:
    agent = AGENTS[name]
    program, *words = agent.command
    with FakeModel(lambda request: [Hold("killed")], skip_asides=True) as model:
        home = ServedHome(tmp_path, tides, agent.write_files(agent.write_program(), model))
        env = {**home.env, **agent.write_env(model)}
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started = subprocess.Popen([tool(program), *words], cwd=home.cwd, env=env, **quiet)
        try:
            wait_for_request(model)
        finally:
            kill_programs_of_tools(nonce)
            started.wait(PATIENCE)
            model.release("killed")


def kill_programs_of_tools(nonce: str) -> None:
    """Kill what a test runs of the tools themselves: for some, a script that is started starts the program."""
    for pid in marked(nonce):
        if str(CACHE / "tools").encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)


def test_the_page_about_serving_names_the_versions_that_are_tried() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "serve.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| (\d[^|]*) \| stdio, HTTP \|", page, re.M)
    assert sorted(rows) == sorted([*list_versions("tools"), *list_versions("clients")])


def list_versions(room: str) -> list[str]:
    """The versions of the clients that are installed."""
    wanted = json.loads((Path(__file__).parent / room / "package.json").read_text())["dependencies"]
    return [version.rpartition("@")[2] for version in wanted.values()]


def wait_for_request(model: FakeModel) -> None:
    """Until the model is asked: by then the agent has connected and listed our tools."""
    until = time.monotonic() + PATIENCE
    while not model.requests:
        assert time.monotonic() < until, "the model was never asked"
        time.sleep(0.05)
