"""What sub-agents say and do is kept with the conversation that they belong to."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.models import Call, FakeModel, Say

from agent.doors import ask_command, wait_until
from agent.sub.test_sub_agents import start
from backends.asking import MODELS, variables
from mooring.agents.history import PersonMessage
from mooring.agents.sessions.store import SessionStore
from mooring.core.conversation.event import TokenUsage
from mooring.core.protocol.content import Text
from support import WATCHED, Actor, Cli, Home, running
from warm import start_mooring

SETTINGS = "home/.config/mooring/settings.json"
AGENT = "general-purpose"


@pytest.mark.processes
@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_process_that_is_killed_inside_a_sub_agents_call_loses_nothing_and_repeats_nothing(
    home: Home, tmp_path: Path, cli: Cli
) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.write(SETTINGS, {"permissions": [{"tool": "mcp__*", "action": "allow"}]})
    home.configure(actor=actor.entry)
    script = {
        "Delegate": [[Say("I let it nap. "), start("Sleep well", AGENT)], Say("I see.")],
        "Sleep": [[Say("I begin. "), Call("mcp__actor__count")], [Say("Now I nap. "), _nap()]],
    }
    with FakeModel(script) as fake:
        _kill_in_a_call(home, fake, actor)
        killed = cli("sessions", "--json").data["sessions"]
        resumed = ask_command(home, fake, "-p", "What happened?", "--continue")
    assert (resumed.code, resumed.out) == (0, "I see.\n")
    last = fake.requests[-1]
    assert [result.text for result in last.all_results] == ["The call was interrupted; it may have run."]
    assert last.last_user_text == "What happened?"
    assert (len(actor.done("naps")), actor.done("answers")) == (1, ["count"])
    assert [session["turns"] for session in killed] == [1]
    shown = cli("sessions", killed[0]["id"])
    assert shown.out.index("I let it nap.") < shown.out.index(f"  Sub-agent {AGENT}, ")
    for words in ("  Task, ", "  Sleep well", "  I begin.", "    count", "  Now I nap."):
        assert f"\n{words}" in shown.out, shown.out
    data = cli("sessions", killed[0]["id"], "--json").data
    (sub_agent,) = data["subAgents"]
    assert (sub_agent["agent"], sub_agent["model"]) == (AGENT, MODELS["anthropic"])
    assert "The call was interrupted" in json.dumps(data["messages"])


def _nap() -> Call:
    return Call("mcp__actor__nap", {"seconds": 60})


def _kill_in_a_call(home: Home, fake: FakeModel, actor: Actor) -> None:
    nonce = f"nonce-{os.getpid()}-{time.monotonic_ns()}"
    process = start_mooring(
        ["chat", "-m", MODELS["anthropic"], "-p", "Delegate"],
        cwd=home.cwd,
        env={**home.env, **WATCHED, **variables(fake), "NONCE": nonce},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: actor.done("naps"))
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: not running(nonce))


def test_what_a_sub_agent_costs_counts_to_its_session_and_it_is_removed_with_it(home: Home, cli: Cli) -> None:
    script = {"Delegate": [start("Think", AGENT), Say("Done.")], "Think": [start("Deeper", AGENT), Say("Thought.")]}
    with FakeModel({**script, "Deeper": [Say("Deep.")]}) as fake:
        done = ask_command(home, fake, "-p", "Delegate", "--output-format", "json")
    answer = done.data
    assert answer["turns"] == 2
    (session,) = cli("sessions", "--json").data["sessions"]
    assert session["usage"] == answer["usage"]
    assert session["cost"] == pytest.approx(answer["cost"])
    assert session["turns"] == 1
    (outer,) = cli("sessions", session["id"], "--json").data["subAgents"]
    assert [inner["agent"] for inner in outer["subAgents"]] == [AGENT]
    assert cli("sessions", "rm", session["id"]).code == 0
    with closing(sqlite3.connect(home.where.record)) as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (0,)


def test_stream_json_has_the_nested_events(home: Home) -> None:
    script = {"Delegate": [start("Echo", AGENT), Say("Done.")], "Echo": [Say("Echoed.")]}
    with FakeModel(script) as fake:
        done = ask_command(home, fake, "-p", "Delegate", "--output-format", "stream-json")
    events = [json.loads(line) for line in done.out.splitlines()]
    (call,) = [event["id"] for event in events if event["type"] == "ToolStarted"]
    inner = [event["type"] for event in events if event.get("parent") == call]
    assert (inner[0], inner[-1]) == ("Started", "Done")
    assert "Text" in inner
    assert [event["text"] for event in events if event["type"] == "Done"] == ["Echoed.", "Done."]


def test_sessions_of_the_version_before_sub_agents_go_on(home: Home) -> None:
    store = SessionStore(home.where)
    journal = store.begin(str(home.cwd), model="a:b")
    journal.add_message(PersonMessage((Text("Hello"),)))
    journal.close()
    path = home.where.record
    with closing(sqlite3.connect(path)) as connection, connection:
        for index in ("sessions_by_folder", "sessions_by_use", "sessions_by_parent"):
            connection.execute(f"DROP INDEX {index}")
        for column in ("parent", "call", "backend", "backend_session", "mode", "expired", "continues", "uncounted"):
            connection.execute(f"ALTER TABLE sessions DROP COLUMN {column}")
        connection.execute("CREATE INDEX sessions_by_folder ON sessions (folder, used)")
        connection.execute("CREATE INDEX sessions_by_use ON sessions (used)")
        connection.execute("DROP TABLE kept_files")
        connection.execute("PRAGMA user_version = 1")
    (session,) = store.list(str(home.cwd))
    resumed = store.resume(session.id)
    below = resumed.journal.begin_sub_agent("call-1", agent="explore", model="a:b")
    below.add_message(PersonMessage((Text("Look"),)))
    below.record_usage("a:b", TokenUsage(3, 4), 0.5)
    below.close()
    resumed.journal.close()
    (sub_agent,) = store.read_sub_agents(session.id)
    assert (sub_agent.agent, sub_agent.call) == ("explore", "call-1")
    assert store.list(str(home.cwd))[0].cost == 0.5
