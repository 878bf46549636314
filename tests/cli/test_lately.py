"""What a person is told of servers that failed a moment ago, and of secrets that could not be had."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from mooring.core.protocol.failure import Failure
from mooring.inventory.admit import admit
from mooring.servers.cache import Cache
from support import DEMO, Actor, Cli, Home

MOORING = str(Path(sys.executable).parent / "mooring")
OWN = "home/.config/mooring/mcp.json"


@pytest.fixture
def actor(tmp_path: Path) -> Actor:
    return Actor(tmp_path / "actor.json", die=True)


def older(home: Home, name: str, seconds: float) -> None:
    """Let what is known of a server's failure be so many seconds older."""
    approved, cache = admit(home.inventory()).wanted[name], Cache(home.where)
    known = cache.load_failures([approved], home.where)[name]
    cache.put_failure(cache.own_key(approved, home.where), replace(known, at=known.at - seconds))
    cache.close()


# --- servers that failed a moment ago -------------------------------------------------------------------------------


def test_a_server_that_failed_is_named_again_and_not_waited_for_again(cli: Cli, actor: Actor, tmp_path: Path) -> None:
    never = Actor(tmp_path / "never.json", late=600)
    cli.home.configure(demo=DEMO, actor=actor.entry, never={**never.entry, "timeout": 1500})
    cold = cli("tools", "-v")
    starts = [*actor.done("starts"), *never.done("starts")]
    assert (cold.code, len(cold.out.splitlines()), len(starts) > 1) == (0, 7, True)
    warm = cli("tools", "-v")
    assert (warm.code, warm.out) == (0, cold.out)
    for line, before in zip(warm.err.splitlines(), cold.err.splitlines(), strict=True):
        name = "actor" if "actor" in line else "never"
        assert line.startswith(f"{before} That was ")
        assert line.endswith(f" s ago; `mooring tools {name}` tries again.")
    servers = {server["name"]: server["status"] for server in cli("tools", "--json").data["servers"]}
    assert servers == {"actor": "failed", "demo": "idle", "never": "failed"}
    assert "That was" in cli("tools", "--search", "add", "-v").err
    assert "That was" in cli("tools", "--cost", "-v").err
    assert "That was" in cli("resources", "-v").err
    assert [*actor.done("starts"), *never.done("starts")] == starts, "nobody was started to find out"


@pytest.mark.parametrize(
    "words", [["tools", "--refresh"], ["tools", "actor"], ["mcp", "reload"], ["call", "actor.new"]]
)
def test_whoever_names_it_or_asks_for_it_has_it_tried_again_and_then_it_is_known(
    words: list[str], cli: Cli, actor: Actor
) -> None:
    cli.home.configure(actor=actor.entry)
    assert "I was told to die" in cli("tools").err
    before = len(actor.done("starts"))
    actor.tell(tools=["new"])
    assert (cli(*words).code, len(actor.done("starts"))) == (0, before + 1)
    again = cli("tools")
    assert ("actor.new" in again.out, again.err, len(actor.done("starts"))) == (True, "", before + 1)


def test_a_failure_is_believed_for_ten_minutes_and_only_of_the_same_definition(cli: Cli, actor: Actor) -> None:
    cli.home.configure(actor=actor.entry)
    cli("tools")
    older(cli.home, "actor", 590)
    assert "That was 10 min ago" in cli("tools").err
    older(cli.home, "actor", 20)
    assert "That was" not in cli("tools").err
    cli.home.configure(actor={**actor.entry, "env": {"OTHER": "1"}})
    assert "That was" not in cli("tools").err


def test_whoever_gives_more_time_has_a_slow_server_tried_again(cli: Cli, tmp_path: Path) -> None:
    slow = Actor(tmp_path / "slow.json", late=2)
    cli.home.configure(slow=slow.entry)
    assert "within 1 s" in cli("tools", "--timeout", "1").err
    assert "That was" in cli("tools", "--timeout", "1").err
    patient = cli("tools")
    assert ("slow.whoami" in patient.out, patient.err) == (True, "")


def test_a_required_server_is_tried_each_time(cli: Cli, actor: Actor) -> None:
    cli.home.write(
        "home/.codex/config.toml",
        f"""
        [mcp_servers.actor]
        command = {json.dumps(actor.entry["command"])}
        args = {json.dumps(actor.entry["args"])}
        required = true
    """,
    )
    assert cli("tools").code == 1
    before = len(actor.done("starts"))
    assert (cli("tools").code, len(actor.done("starts")) > before) == (1, True)


def test_an_older_failure_says_nothing_against_a_later_success() -> None:
    failure = Failure(at=1000, error="It ended.", within=None)
    assert failure.still_holds(1500, 600, allowed=30)
    assert not failure.still_holds(1600, 600, allowed=30)
    assert not failure.still_holds(900, 600, allowed=30), "the clock was wrong"
    assert not Failure(at=1000, error="It took too long.", within=5).still_holds(1001, 600, allowed=30)


# --- what a server has to go without --------------------------------------------------------------------------------

LACKING = {**DEMO, "env": {"A": "!exit 3", "B": "NO_SUCH_NAME", "C": "canary-value"}}
LINES = [
    "Warning: MCP config error: demo: env.A was left out: it comes from a command that ended with exit code 3.",
    "Warning: MCP config error: demo: env.B was left out: it is the name of a variable that is not set.",
]


@pytest.mark.parametrize(
    "words",
    [
        ["tools", "-v"],
        ["call", "demo.add", "a=1", "b=2"],
        ["resources", "demo"],
        ["read", "demo", "demo://readme"],
        ["prompts", "demo"],
        ["watch", "demo", "demo://clock", "--count", "1"],
        ["mcp", "list", "--check", "-v"],
        ["mcp", "reload", "-v"],
    ],
)
def test_whoever_starts_a_server_hears_once_what_it_has_to_go_without(words: list[str], cli: Cli) -> None:
    cli.home.write(OWN, {"mcpServers": {"demo": LACKING}})
    done = cli(*words)
    assert (done.code, done.err.splitlines()) == (0, LINES)


def test_a_server_that_fails_for_want_of_a_secret_is_told_with_the_secret_that_it_wanted(cli: Cli) -> None:
    entry = {"command": "sh", "args": ["-c", "echo no token >&2; exit 1"], "env": {"TOKEN": "!exit 4"}}
    cli.home.write(OWN, {"mcpServers": {"x": entry}})
    first, second = cli("call", "x.y").err.splitlines()
    assert first.endswith("x: env.TOKEN was left out: it comes from a command that ended with exit code 4.")
    assert "Its last output: no token." in second


def test_a_warning_takes_the_place_of_the_line_of_progress_on_a_terminal(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"demo": LACKING}})
    command = f"{MOORING} call demo.add a=1 b=2"
    done = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        cwd=home.cwd,
        env=home.env,
        capture_output=True,
        timeout=100,
        check=True,
    )
    assert b"\r\x1b[KWarning: MCP config error: demo: env.A" in done.stdout


def test_a_timeout_names_the_whole_time_that_was_granted(cli: Cli) -> None:
    sleepy = {"command": sys.executable, "args": ["-S", "-c", "import time; time.sleep(60)"]}
    cli.home.configure(sleepy=sleepy, patient={**sleepy, "args": [*sleepy["args"], "2"], "timeout": 1500})
    for words in (["call", "sleepy.x"], ["tools", "sleepy"], ["read", "sleepy", "a://b"], ["mcp", "test", "sleepy"]):
        assert "within 1.2 s." in cli(*words, "--timeout", "1.2").err
    assert "sleepy did not answer initialize within 1.2 s. That was" in cli("mcp", "list").err
    assert "within 1.5 s." in cli("call", "patient.x").err
    assert "patient: It did not answer initialize within 1.5 s. That was" in cli("mcp", "doctor").out
