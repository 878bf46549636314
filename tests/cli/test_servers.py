"""Configured servers from the command line: tools, calls, resources, prompts, watching and logs, with real servers."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from chat.terminal import Person
from mooring.inventory.admit import admit
from mooring.servers.cache import Cache
from support import DEMO, MOORING, Actor, Cli, Home, run_at_terminal, run_beside, running

DEAD = {"command": sys.executable, "args": ["-S", "-c", "import sys; sys.exit('no such table')"]}
SLEEPY = {"command": sys.executable, "args": ["-S", "-c", "import time; time.sleep(60)"]}
NOWHERE = {"command": "no-such-program"}
WHO = {"command": sys.executable, "args": ["-S", "-c", "import os, sys; sys.exit('has ' + os.environ.get('MY_TOKEN', 'none')[-3:])"]}  # fmt: skip


def real(home: Home, *args: str, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([MOORING, *args], cwd=home.cwd, env=home.env, capture_output=True, timeout=100, **options)


@pytest.fixture
def actor(tmp_path: Path) -> Actor:
    return Actor(tmp_path / "actor.json")


# --- tools ----------------------------------------------------------------------------------------------------------


def test_the_tools_of_all_servers_are_shown_as_a_call_takes_them(cli: Cli, actor: Actor) -> None:
    cli.home.configure(demo=DEMO, actor=actor.entry)
    done = cli("tools")
    assert done.code == 0
    names = [line.split()[0] for line in done.out.splitlines()]
    assert names[:2] == ["actor.whoami", "actor.die"]
    assert "demo.echo       Gives the text back, unchanged." in done.out
    assert cli("call", names[0]).code == 0


def test_what_is_known_is_shown_at_once_and_only_asked_for_again_on_request(cli: Cli, actor: Actor) -> None:
    cli.home.configure(actor=actor.entry)
    first = cli("tools").out
    assert cli("tools").out == first
    assert cli("tools", "ACTOR").out.startswith("whoami()\n  whoami\n")
    assert len(actor.done("starts")) == 1
    actor.tell(tools=["newborn"])
    assert "newborn" not in cli("tools").out
    assert "actor.newborn" in cli("tools", "--refresh").out
    assert len(actor.done("starts")) == 2


def test_tools_as_data_have_the_promised_keys_and_say_how_each_server_stands(cli: Cli) -> None:
    cli.home.configure(demo=DEMO, nowhere=NOWHERE, off={**NOWHERE, "enabled": False}, bad={})
    cli.home.write("project/.mcp.json", {"mcpServers": {"theirs": NOWHERE}})
    done = cli("tools", "--json")
    assert (done.code, list(done.data)) == (0, ["tools", "servers"])
    assert list(done.data["tools"][0]) == ["name", "server", "tool", "description", "inputSchema", "annotations"]
    assert (done.data["tools"][0]["name"], done.data["tools"][0]["tool"]) == ("mcp__demo__echo", "echo")
    servers = {server["name"]: server for server in done.data["servers"]}
    assert {name: server["status"] for name, server in servers.items()} == {
        "bad": "failed", "demo": "connected", "nowhere": "failed", "off": "disabled", "theirs": "unapproved",
    }  # fmt: skip
    assert list(servers["demo"]) == ["name", "status", "error", "serverInfo", "tools", "rejected", "note"]
    assert (servers["demo"]["serverInfo"], servers["demo"]["tools"]) == ({"name": "mooring-demo", "version": "1"}, 7)
    assert (servers["nowhere"]["tools"], "no-such-program" in servers["nowhere"]["error"]) == (None, True)
    assert {server["name"]: server["status"] for server in cli("tools", "--json").data["servers"]}["demo"] == "idle"


def test_servers_that_fail_or_are_late_are_one_line_each_with_v_and_the_others_are_there(cli: Cli) -> None:
    cli.home.configure(demo=DEMO, dead=DEAD, sleepy=SLEEPY, off={**NOWHERE, "enabled": False}, bad={})
    done = cli("tools", "--timeout", "2", "-v")
    assert (done.code, len(done.out.splitlines())) == (0, 7)
    config, dead, sleepy = done.err.splitlines()
    assert config.startswith("Warning: MCP config error: ~/.mcp.json:1  bad: has neither")
    assert dead.startswith("Warning: MCP startup error: dead ended with exit code 1")
    assert sleepy.startswith("Warning: MCP startup error: sleepy did not connect within 2 s.")


@pytest.mark.parametrize(
    ("server", "code", "words"),
    [
        ("dead", 1, "no such table"),
        ("nowhere", 1, "is not on PATH"),
        ("sleepy", 5, "within 0.6 s"),
        ("off", 2, 'Server "off" is disabled'),
        ("bad", 2, "neither a command nor a url"),
        ("theirs", 4, "To look and decide: mooring mcp approve theirs"),
        ("deed", 2, "Did you mean dead?"),
    ],
)
@pytest.mark.parametrize("verb", ["tools", "call"])
def test_a_server_that_is_named_and_fails_has_its_own_exit_code(
    verb: str, server: str, code: int, words: str, cli: Cli
) -> None:
    cli.home.configure(dead=DEAD, nowhere=NOWHERE, sleepy=SLEEPY, off={**NOWHERE, "enabled": False}, bad={})
    cli.home.write("project/.mcp.json", {"mcpServers": {"theirs": NOWHERE}})
    done = cli(verb, server if verb == "tools" else f"{server}.anything", "--timeout", "0.6")
    assert done.code == code
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_required_server_that_fails_fails_the_command_also_if_its_tools_are_known(cli: Cli, actor: Actor) -> None:
    cli.home.write("home/.config/mooring/mcp.json", {"mcpServers": {"actor": {**actor.entry, "required": True}, "demo": DEMO}})  # fmt: skip
    assert cli("tools").code == 0
    actor.tell(die=True)
    done = cli("tools")
    assert done.code == 1
    assert "Warning: MCP startup error: actor" in done.err
    assert "demo.echo" in done.out


def test_an_eager_server_is_not_started_for_a_call_of_another(cli: Cli, actor: Actor) -> None:
    cli.home.write("home/.config/mooring/mcp.json", {"mcpServers": {"actor": {**actor.entry, "lifecycle": "eager"}, "demo": DEMO}})  # fmt: skip
    assert cli("call", "demo.echo", "text=x").out == "x\n"
    assert actor.done("starts") == []


# --- call -----------------------------------------------------------------------------------------------------------


def test_a_call_makes_its_arguments_by_the_schema_and_prints_what_comes_back(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert cli("call", "demo.add", "a=1", "b=2.5", "--json").data["structuredContent"] == {"sum": 3.5}
    assert cli("call", "mcp__demo__echo", "text=hello").out == "hello\n"
    assert cli("call", "Demo.echo", "--args", '{"text": "json"}').out == "json\n"
    assert "1/2" in cli("call", "demo.slow", "seconds=0.1", "steps=2").err
    failed = cli("call", "demo.fail")
    assert (failed.code, failed.out) == (1, "This tool is meant to fail, and it did.\n")
    saved = cli("call", "demo.picture", "-o", "p.png")
    assert (saved.code, (cli.home.cwd / "p.png").read_bytes()[:4]) == (0, b"\x89PNG")


def test_a_wrong_name_or_argument_of_a_server_that_is_known_starts_nothing(cli: Cli, actor: Actor) -> None:
    actor.tell(tools=["newborn"])
    cli.home.configure(actor=actor.entry)
    cli("tools")
    done = cli("call", "actor.newborm")
    assert (done.code, "Did you mean newborn?" in done.err) == (2, True)
    assert cli("call", "actor.newborn", "word").code == 2
    assert len(actor.done("starts")) == 1


def test_a_call_that_a_rule_denies_starts_nothing(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.configure(actor=actor.entry)
    assert run_beside(home, "tools", "actor").code == 0
    assert run_beside(home, "deny", "actor.count").code == 0
    denied = run_beside(home, "call", "actor.count")
    assert denied.code == 4
    assert "actor.count was not called: denied by your settings (deny actor.count)." in denied.err
    assert len(actor.done("starts")) == 1
    assert [call["outcome"] for call in run_beside(home, "history", "--json").data["calls"]] == ["denied"]


def test_a_project_s_server_is_called_once_it_is_approved_and_not_when_it_changed(cli: Cli, actor: Actor) -> None:
    cli.home.write("project/.mcp.json", {"mcpServers": {"theirs": actor.entry}})
    assert cli("call", "theirs.whoami").code == 4
    assert "The project's files define theirs" in cli("tools").err
    assert actor.done("starts") == []
    cli("mcp", "approve", "theirs", "-y")
    assert cli("call", "theirs.whoami").out.split() == actor.done("starts")
    cli.home.write("project/.mcp.json", {"mcpServers": {"theirs": {**actor.entry, "env": {"A": "b"}}}})
    assert cli("call", "theirs.whoami").code == 4
    assert len(actor.done("starts")) == 1


def test_an_env_file_that_changes_what_is_loaded_waits_for_a_second_approval(cli: Cli, actor: Actor) -> None:
    home = cli.home
    home.write("project/.mcp.json", {"mcpServers": {"theirs": {**actor.entry, "envFile": ".env"}}})
    home.write("project/.env", "MODE=fast\n")
    home.configure(mine=actor.entry)
    cli("mcp", "approve", "theirs", "-y")
    assert cli("call", "theirs.whoami").code == 0
    home.write("project/.env", "MODE=slow\nTOKEN=new\n")
    assert cli("call", "theirs.whoami").code == 0
    home.write("project/.env", "MODE=slow\nNODE_OPTIONS=-r ./evil.js\n")
    refused = cli("call", "theirs.whoami")
    assert (refused.code, refused.out) == (4, "")
    assert refused.err == (
        "mooring: theirs now loads or reads something different from when it was approved: .env sets NODE_OPTIONS. "
        "To look and decide: mooring mcp approve theirs\n"
    )
    assert len(actor.done("starts")) == 2
    assert cli("call", "mine.whoami").code == 0
    asked = cli("mcp", "approve", "theirs", "-y")
    assert "NODE_OPTIONS=-r ./evil.js changes what a program loads" in asked.err
    assert cli("call", "theirs.whoami").code == 0


def test_two_names_of_the_same_server_are_one_and_either_can_be_called(cli: Cli, actor: Actor) -> None:
    cli.home.configure(one=actor.entry, two=actor.entry)
    assert cli("tools").out.count(".whoami") == 1
    assert cli("call", "two.nothing").code == cli("call", "one.nothing").code == 2
    assert len(actor.done("starts")) == 1
    assert cli("call", "one.whoami").code == cli("call", "two.whoami").code == 0


def grow_old(home: Home, seconds: float) -> None:
    """Make everything in the catalog so much older."""
    cache, approved = Cache(home.where), list(admit(home.inventory()).wanted.values())
    for name, offer in cache.load_offers(approved, home.where).items():
        key = cache.own_key(next(each for each in approved if each.name == name), home.where)
        cache.forget(key)
        cache.flush()
        cache.put(key, replace(offer, at=offer.at - seconds))
    cache.flush()


def test_a_list_older_than_an_hour_is_not_held_against_a_call(cli: Cli, actor: Actor) -> None:
    cli.home.configure(actor=actor.entry)
    cli("tools")
    actor.tell(tools=["newborn"])
    assert cli("call", "actor.newborn").code == 2
    grow_old(cli.home, 3700)
    assert cli("call", "actor.newborn").out == "newborn\n"
    grow_old(cli.home, 3700)
    starts = len(actor.done("starts"))
    assert cli("call", "actor.newborn", "word").code == 2
    assert len(actor.done("starts")) == starts + 1


def test_one_deadline_covers_start_and_call(cli: Cli, actor: Actor) -> None:
    actor.tell(late=0.3)
    cli.home.configure(actor=actor.entry)
    done = cli("call", "actor.nap", "seconds=20", "--timeout", "1")
    assert (done.code, "within 1 s" in done.err) == (5, True)


def test_a_variable_is_given_to_the_server_that_is_named_and_to_no_other(cli: Cli) -> None:
    cli.home.configure(who=WHO, other={**WHO, "cwd": "/"})
    done = cli("tools", "who", "-e", "MY_TOKEN=sekret-given")
    assert ("has ven" in done.err, "sekret" in done.err) == (True, False)
    assert "has ven" in cli("call", "who.x", "-e", "MY_TOKEN=sekret-given").err
    assert "has one" in cli("call", "other.x").err
    assert "name the server" in cli("tools", "-e", "MY_TOKEN=given").err
    assert "go with --url" in cli("call", "who.x", "-H", "A: b").err


def test_ctrl_c_ends_a_call_with_130_and_leaves_no_process(home: Home, actor: Actor) -> None:
    nonce = os.urandom(8).hex()
    home.configure(actor={**actor.entry, "env": {"NONCE": nonce}})
    process = subprocess.Popen([MOORING, "call", "actor.nap", "seconds=60"], cwd=home.cwd, env=home.env, stderr=subprocess.PIPE)  # fmt: skip
    deadline = time.monotonic() + 100
    while not actor.done("naps"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert (process.returncode, err.strip()) == (130, b"")
    assert running(nonce) == []


# --- resources and prompts ------------------------------------------------------------------------------------------


def test_resources_and_templates_are_listed_with_their_server(cli: Cli, actor: Actor) -> None:
    actor.tell(bare=True)
    cli.home.configure(demo=DEMO, dead=DEAD, actor=actor.entry)
    done = cli("resources")
    assert (done.code, done.out.splitlines()[0]) == (0, "demo  demo://readme   What this server is")
    assert done.err.startswith("Warning: MCP startup error: dead ended")
    data = cli("resources", "demo", "--json").data
    assert [item["uri"] for item in data["resources"]][:2] == ["demo://readme", "demo://clock"]
    assert data["resources"][0]["server"] == "demo"
    templates = cli("resources", "--templates", "--json", "demo").data["resourceTemplates"]
    assert templates[0]["uriTemplate"] == "demo://greeting/{name}"
    starts = len(actor.done("starts"))
    cli("resources")  # it said that it has none
    assert len(actor.done("starts")) == starts


def test_a_resource_is_read_as_text_data_or_bytes(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert cli("read", "demo", "demo://greeting/Ada").out == "Hello, Ada!"
    data = cli("read", "demo", "demo://readme", "--json").data
    assert (list(data), data["contents"][0]["mimeType"]) == (["contents"], "text/markdown")
    assert real(cli.home, "read", "demo", "demo://picture").stdout.startswith(b"\x89PNG")
    assert cli("read", "demo", "demo://picture", "-o", "p.png").out == ""
    assert (cli.home.cwd / "p.png").read_bytes().startswith(b"\x89PNG")
    assert cli("read", "demo", "demo://nothing").code == 1
    assert cli("read", "demo").code == 2


def test_a_terminal_is_not_given_bytes(home: Home) -> None:
    home.configure(demo=DEMO)
    shown, code = run_at_terminal(home, "read", "demo", "demo://picture")
    assert "demo://picture is not text; -o FILE keeps it." in shown
    assert code == 2


def test_a_prompt_is_filled_in_and_shown_with_its_roles(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert cli("prompts").out.startswith("demo  explain topic=…")
    assert cli("prompts", "--json").data["prompts"][0]["arguments"][0]["name"] == "topic"
    role, text = cli("prompt", "demo", "explain", "topic=tools").out.splitlines()
    assert (role, "Explain tools" in text) == ("user:", True)
    message = cli("prompt", "demo", "explain", "topic=tools", "--json").data["messages"][0]
    assert (message["role"], message["content"]["type"]) == ("user", "text")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["explain"], "needs the argument topic"),
        (["explain", "topik=x", "topic=y"], "has no argument topik. Did you mean topic?"),
        (["explain", "topc=x"], "has no argument topc. Did you mean topic?"),
        (["explian", "topic=x"], "Did you mean explain?"),
        (["explain", "topic"], "write it as name=value"),
        ([], "Missing PROMPT; see: mooring prompts demo"),
    ],
)
def test_what_is_wrong_with_a_prompt_is_named(words: list[str], sentence: str, cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    done = cli("prompt", "demo", *words)
    assert (done.code, sentence in done.err) == (2, True)


# --- watching and logs ----------------------------------------------------------------------------------------------


def test_what_is_there_at_the_beginning_and_each_change_are_lines_and_the_count_ends_it(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    done = cli("watch", "demo", "demo://clock", "--count", "2", "--json")
    assert done.code == 0
    first, second, third = map(json.loads, done.out.splitlines())
    assert (first["server"], first["target"]) == ("demo", "demo://clock")
    assert len({each["contents"][0]["text"] for each in (first, second, third)}) == 3


def test_what_a_tool_answers_is_watched_and_errors_are_lines_on_stderr(home: Home, actor: Actor) -> None:
    home.configure(actor=actor.entry)
    command = [MOORING, "watch", "actor", "whoami", "--interval", "1"]
    process = subprocess.Popen(command, cwd=home.cwd, env=home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 100
    while not actor.done("answers"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert process.stdout is not None
    first = process.stdout.readline()  # it comes as soon as it is there
    assert first.decode().strip() == actor.done("starts")[-1]
    os.kill(int(actor.done("starts")[-1]), signal.SIGKILL)
    line = process.stdout.readline()
    assert line.decode().strip() == actor.done("starts")[-1] != first.decode().strip()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert (process.returncode, b"Traceback" in err) == (130, False)


@pytest.mark.parametrize(
    "words", [["demo://readme"], ["demo://readme", "--interval", "1"], ["echo", "text=# Mooring demo"]]
)
def test_a_terminal_shows_what_is_watched_in_place_of_the_start(home: Home, words: list[str]) -> None:
    home.configure(slow={"command": "sh", "args": ["-c", f"sleep 1; exec {sys.executable} -I -m mooring.demo"]})
    with Person(home, "watch", "slow", *words, cells=80) as person:
        person.sees("starting slow …")
        person.sees("# Mooring demo")
        person.presses("\x03")
        assert person.ended() == 130
        assert "\r\x1b[K# Mooring demo" in person.raw


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["demo", "demo://clock", "--interval", "0.1"], 2, "at least 1 s"),
        (["demo", "clock"], 2, "has no tool 'clock'"),
        (["demo", "demo://clock", "a=b"], 2, "only tools take arguments"),
        (["dead", "demo://clock"], 1, "no such table"),
        (["demo"], 2, "Missing URI or TOOL; see: mooring resources demo or mooring tools demo"),
    ],
)
def test_what_cannot_be_watched_is_refused(words: list[str], code: int, sentence: str, cli: Cli) -> None:
    cli.home.configure(demo=DEMO, dead=DEAD)
    done = cli("watch", *words)
    assert (done.code, sentence in done.err) == (code, True)


def test_a_watch_ends_with_its_time_and_says_what_came_of_it(cli: Cli, actor: Actor) -> None:
    cli.home.configure(demo=DEMO, actor=actor.entry, sleepy=SLEEPY)
    quiet = cli("watch", "actor", "count", "--timeout", "2")
    assert (quiet.code, len(quiet.out.splitlines())) == (5, 1)
    assert quiet.err == "mooring: count of actor was watched for 2 s, and that time is over: no change.\n"
    busy = cli("watch", "demo", "demo://clock", "--timeout", "6")
    changes = len(busy.out.splitlines()) - 1
    assert (busy.code, changes > 0) == (5, True)
    assert f"watched for 6 s, and that time is over: {changes} change" in busy.err
    assert cli("watch", "demo", "demo://clock", "--count", "1", "--timeout", "20").code == 0
    late = cli("watch", "sleepy", "x://y", "--timeout", "1")
    assert (late.code, "sleepy did not connect within 1 s" in late.err) == (5, True)


@pytest.mark.parametrize(
    ("cwd", "sentence"),
    [
        ("nowhere", "The folder {}/nowhere for 'python3' does not exist: create it or correct `cwd`."),
        ("/nowhere/at/all", "The folder /nowhere/at/all for 'python3' does not exist: create it or correct `cwd`."),
        ("notes.txt", "{}/notes.txt is not a folder, so 'python3' cannot start there: correct `cwd`."),
        ("notes.txt/sub", "{}/notes.txt/sub is not a folder, so 'python3' cannot start there: correct `cwd`."),
    ],
)
def test_a_folder_that_is_none_is_one_sentence(cwd: str, sentence: str, cli: Cli) -> None:
    cli.home.write("project/notes.txt", "no folder")
    cli.home.configure(x={"command": "python3", "args": ["-c", ""], "cwd": cwd})
    words = sentence.format(cli.home.project)
    done = cli("call", "x.y")
    assert (done.code, done.err.splitlines()[0]) == (1, f"mooring: {words}")
    assert cli("tools").err == f"Warning: MCP startup error: x: {words}\n"


def test_what_a_server_wrote_is_shown_whoever_started_it(cli: Cli, actor: Actor) -> None:
    cli.home.configure(actor=actor.entry)
    cli("call", "actor.complain")
    lines = cli("logs", "Actor").out.splitlines()
    assert sorted(line.split(" ", 2)[2] for line in lines) == ["stderr  this is stderr", "warning this is a message"]
    entry = json.loads(cli("logs", "actor", "-n", "1", "--json").out)
    assert list(entry) == ["time", "level", "text"]
    assert cli("logs", "nobody").code == 2


def test_a_log_holds_what_the_server_wrote_and_none_of_our_warnings(cli: Cli, actor: Actor) -> None:
    cli.home.write(
        "home/.config/mooring/mcp.json", {"mcpServers": {"actor": {**actor.entry, "env": {"TOKEN": "!exit 3"}}}}
    )
    assert "env.TOKEN was left out" in cli("call", "actor.complain").err
    logged = cli("logs", "actor").out
    assert "this is stderr" in logged
    assert "left out" not in logged


def test_a_log_is_followed_until_ctrl_c(home: Home, actor: Actor) -> None:
    home.configure(actor=actor.entry)
    assert b"has written nothing yet" in real(home, "logs", "actor").stderr
    process = subprocess.Popen([MOORING, "logs", "actor", "-f"], cwd=home.cwd, env=home.env, stdout=subprocess.PIPE)
    real(home, "call", "actor.complain")
    assert process.stdout is not None
    assert b"this is" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=100)
    assert process.returncode == 130


# --- a server named by its command ----------------------------------------------------------------------------------


def test_a_server_named_by_its_command_can_be_used_in_every_way_and_leaves_nothing_behind(cli: Cli) -> None:
    server = ["--server", f"{sys.executable} -I -m mooring.demo"]
    cli.home.configure(demo=NOWHERE)
    assert cli("resources", *server).out.startswith("mooring.demo  demo://readme")
    assert cli("read", *server, "demo://greeting/Ada").out == "Hello, Ada!"
    assert "explain topic=…" in cli("prompts", *server).out
    assert cli("prompt", *server, "explain", "topic=x").out.startswith("user:")
    assert cli("watch", *server, "demo://clock", "--count", "1").code == 0
    assert cli("tools", *server, "demo").code == 2
    assert not (cli.home.home / ".cache").exists()
    assert not (cli.home.home / ".local/state/mooring/logs").exists()


# --- which tool, and at what cost -----------------------------------------------------------------------------------


def test_a_search_gives_the_tools_that_fit_the_best_first(cli: Cli, actor: Actor) -> None:
    actor.tell(tools=["summing"], describe={"summing": "Sums up a text in few words."})
    cli.home.configure(demo=DEMO, actor=actor.entry)
    done = cli("tools", "--search", "add two numbers")
    assert done.code == 0
    assert done.out.splitlines()[0].split() == ["demo.add", "Adds", "two", "numbers."]
    data = cli("tools", "--search", "add two numbers", "--json").data
    assert data["tools"][0]["name"] == "mcp__demo__add"
    assert [peer["name"] for peer in data["servers"]] == ["actor", "demo"]
    assert "demo" not in cli("tools", "actor", "--search", "add two numbers").out


def test_a_search_that_finds_nothing_prints_nothing(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    nothing = cli("tools", "--search", "zzzqqq")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "No tool matches zzzqqq.\n")
    assert cli("tools", "--search", "zzzqqq", "-q").err == ""


def test_the_cost_of_tools_is_given_with_and_without_deferral(cli: Cli, actor: Actor) -> None:
    cli.home.configure(demo=DEMO, actor=actor.entry)
    data = cli("tools", "--cost", "--json").data
    shares = {share["name"]: share for share in data["servers"]}
    assert [(name, share["tools"], share["deferred"]) for name, share in shares.items()] == [
        ("actor", 8, 0),
        ("demo", 7, 0),
    ]
    assert data["tokens"] == sum(share["tokens"] for share in (*shares.values(), data["own"]))
    assert data["own"]["tokens"] < data["deferred"] == data["own"]["deferred"]
    assert data["defers"] is False
    cli.home.write("home/.config/mooring/settings.json", {"toolBudget": 0, "alwaysLoad": ["demo.add"]})
    scarce = cli("tools", "--cost", "--json").data
    assert scarce["defers"] is True
    assert 0 < scarce["servers"][1]["deferred"] < shares["demo"]["tokens"]
    text = cli("tools", "--cost").out
    assert [line.split()[0] for line in text.splitlines()] == ["SERVER", "actor", "demo", "mooring's", "in"]


def test_search_and_cost_are_asked_one_at_a_time(cli: Cli) -> None:
    assert cli("tools", "--search", "x", "--cost").code == 2


@pytest.mark.parametrize("words", ["", "  "])
def test_a_search_for_nothing_is_refused(words: str, cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    done = cli("tools", "--search", words)
    assert (done.code, done.out) == (2, "")
    assert "--search needs words to search for." in done.err


def test_tools_that_are_held_back_are_counted_and_can_be_looked_at_and_let_through(cli: Cli, actor: Actor) -> None:
    actor.tell(tools=["x"], describe={"x": "good"})
    cli.home.configure(actor=actor.entry)
    assert cli("call", "actor.x").out == "x\n"
    actor.tell(tools=["x"], describe={"x": "evil"})
    done = cli("tools", "--refresh")
    assert "actor.x " not in done.out
    ways = "to look: mooring mcp pins actor, to let them be called: mooring mcp pins --approve actor"
    says = f"actor has 1 tool held back: changed or new since your approval; {ways}\n"
    assert done.err == says
    assert cli("mcp", "test", "actor").err == says
    reloaded = cli("mcp", "reload", "actor")
    assert reloaded.out == "actor  9 tools; 1 tool held back: changed or new since your approval\n"
    assert reloaded.err == f"actor: {ways}\n"
    assert cli("mcp", "test", "actor", "--json").data["server"]["held"] == 1
    assert cli("mcp", "reload", "--json").data["servers"][0]["held"] == 1
    doctor = cli("mcp", "doctor")
    fix = "fix: mooring mcp pins actor  (to let them be called: mooring mcp pins --approve actor)"
    assert doctor.code == 0
    assert "actor: It has 1 tool held back" in doctor.out
    assert fix in doctor.out
    assert cli("call", "actor.x").code == 4
    shown = cli("mcp", "pins", "actor")
    assert "+description: evil" in shown.out
    approved = cli("mcp", "pins", "actor", "--approve")
    assert "+description: evil" in approved.err
    assert cli("call", "actor.x").out == "x\n"
    assert [row["outcome"] for row in cli("log", "--json", "--tool", "x").data["calls"]] == ["ok", "denied", "ok"]


def test_a_tool_that_changes_again_while_it_is_held_back_is_shown_and_approved_as_it_is_now(
    cli: Cli, actor: Actor
) -> None:
    actor.tell(tools=["x"], describe={"x": "good"})
    cli.home.configure(actor=actor.entry)
    assert cli("call", "actor.x").code == 0
    actor.tell(tools=["x"], describe={"x": "earlier"})
    cli("mcp", "reload", "actor")
    actor.tell(tools=["x"], describe={"x": "latest"})
    shown = cli("mcp", "pins", "actor").out
    assert ("+description: latest" in shown, "earlier" in shown) == (True, False)
    actor.tell(tools=["x"], describe={"x": "even later"})
    assert "+description: even later" in cli("mcp", "pins", "actor", "--approve").err
    assert cli("call", "actor.x").code == 0


def test_a_damaged_record_of_approved_tools_is_said_everywhere_and_mended_by_the_command_that_is_named(
    cli: Cli, actor: Actor
) -> None:
    actor.tell(tools=["x"])
    cli.home.configure(actor=actor.entry)
    assert cli("call", "actor.x").code == 0
    [path] = (cli.home.home / ".local/state/mooring/pins").glob("*.json")
    path.write_text("{")
    says = "actor: has a record of its approved tools that is damaged, so all of them are held back; to look: "
    assert says in cli("tools").err
    assert says in cli("mcp", "pins", "actor").out
    assert says in cli("call", "actor.x").err
    doctor = cli("mcp", "doctor")
    assert (doctor.code, "has a record of its approved tools that is damaged" in doctor.out) == (1, True)
    assert "mooring mcp pins --approve actor" in doctor.out
    assert cli("mcp", "pins", "--approve", "actor").code == 0
    assert cli("call", "actor.x").out == "x\n"


def test_doctor_names_rules_that_do_nothing_and_records_that_cannot_be_read(cli: Cli) -> None:
    cli.home.configure(a={"command": "sh"})
    cli.home.write("home/.config/mooring/settings.json", {"permissions": [{"tool": "mcp_a_b", "action": "allow"}]})
    cli.home.write("home/.local/state/mooring/rules.json", "{")
    out = cli("mcp", "doctor").out
    assert "The rule that allows mcp_a_b does not say where the server's name ends; it is ignored" in out
    assert "The record of rules for projects is damaged, so you are asked about everything" in out
    assert "fix: mv " in out


def test_doctor_finds_programs_where_they_will_be_found(cli: Cli) -> None:
    cli.home.write("home/.volta/bin/managed-tool", "#!/bin/sh\n").chmod(0o755)
    cli.home.write("home/own/own-tool", "#!/bin/sh\n").chmod(0o755)
    cli.home.configure(a={"command": "managed-tool"}, b={"command": "own-tool", "env": {"PATH": "${HOME}/own"}})
    assert "Nothing to fix" in cli("mcp", "doctor").out


async def test_a_header_given_for_an_address_is_not_repeated(home: Home) -> None:
    from aiohttp import web

    from mooring.testing.site import Site

    async with Site() as site:
        said = {"initialize": "no: canary-header", "server/discover": "no: canary-header"}
        for method, text in said.items():
            site.answers[method] = lambda heard, text=text: web.Response(status=500, text=text)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "mooring", "tools", "--url", site.url, "-H", "Authorization: Bearer canary-header",
            cwd=home.cwd, env=home.env, stdout=-1, stderr=-1,
        )  # fmt: skip
        _, err = await process.communicate()
    assert process.returncode == 1
    assert b"canary-header" not in err
    assert "•••" in err.decode()
