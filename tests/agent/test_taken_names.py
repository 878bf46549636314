"""A project's agent, command or skill under a name of the person's own or of Mooring's: each use says whose it is."""

import json
import subprocess
import sys
from typing import Any

import pytest
from tests.models import Call, FakeModel, Say

import mooring
from agent.doors import ask_command, follow, pick, program
from agent.scripted import ScriptedModel, call
from agent.sub.test_sub_agents import start
from backends.asking import MODELS, variables
from chat.terminal import Person
from chat.test_plain import READY, leave
from mooring.permissions import trust
from support import MOORING, Cli, Home

pytestmark = pytest.mark.timeout(300)  # each use is a process, and there are many

AGENT = "project/.claude/agents/explore.md"
COMMAND = "project/.claude/commands/review.md"
SKILL = "project/.claude/skills/tides/SKILL.md"
TOLD = {
    AGENT: "explore is this project's agent (.claude/agents/explore.md), not Mooring's, which is builtin:explore.",
    COMMAND: "/review is this project's command (.claude/commands/review.md), not yours, which is /user:review.",
    SKILL: "/tides is this project's skill (.claude/skills/tides/SKILL.md), not yours, which is /user:tides.",
}
NAMES = {AGENT: "explore", COMMAND: "review", SKILL: "tides"}
USES: dict[str, tuple[str, tuple[str, ...], Any]] = {
    "an agent that is named": (AGENT, ("--agent", "explore", "-p", "Go"), lambda _: Say("Fine.")),
    "an agent that the model starts": (
        AGENT,
        ("-p", "Go"),
        {"Go": [start("Do it", "Explore"), Say("Fine.")], "Do it": [Say("Done.")]},
    ),
    "a command": (COMMAND, ("-p", "/review now"), lambda _: Say("Fine.")),
    "a command by a longer name": (COMMAND, ("-p", "/claude:review"), lambda _: Say("Fine.")),
    "a skill that is typed": (SKILL, ("-p", "/tides"), lambda _: Say("Fine.")),
    "a skill that the model reads": (SKILL, ("-p", "Go"), {"Go": [Call("Skill", {"skill": "tides"}), Say("Fine.")]}),
}


@pytest.fixture
def home(home: Home) -> Home:
    for path, name in NAMES.items():
        header = f"---\nname: {name}\ndescription: x\n---\n"
        home.write(path, f"{header}of-project")
        if path != AGENT:
            home.write(path.replace("project", "home", 1), f"{header}of-person")
    return home


@pytest.mark.parametrize("use", USES)
def test_each_use_says_whose_it_is_until_the_person_approves_what_the_file_says(home: Home, cli: Cli, use: str) -> None:
    path, words, script = USES[use]

    def ask() -> str:
        with FakeModel(script) as fake:
            done = ask_command(home, fake, *words)
        assert (done.code, done.out) == (0, "Fine.\n"), done.err
        return done.err

    hint = f" To stop this: mooring agents approve {NAMES[path]}\n"
    assert f"Warning: {TOLD[path]}{hint}" in ask()
    assert cli("agents", "approve", NAMES[path]).code == 0
    assert "this project's" not in ask()
    (home.folder / path).write_text((home.folder / path).read_text() + "more")
    assert TOLD[path].replace("), not", ", changed since you approved it), not") in ask()
    assert cli("agents", "approve", NAMES[path]).code == 0
    assert cli("agents", "reset", f"/{NAMES[path]}").code == 0
    assert f"{TOLD[path]}{hint}" in ask()


def test_those_that_stand_behind_and_those_that_took_no_name_say_nothing(home: Home) -> None:
    home.write("project/.claude/commands/own.md", "of-project")
    home.write("project/.claude/agents/sailor.md", "---\nname: sailor\n---\nof-project")
    for words in (
        ("--agent", "builtin:explore", "-p", "Go"),
        ("--agent", "project:explore", "-p", "Go"),
        ("--agent", "sailor", "-p", "Go"),
        ("-p", "/user:review"),
        ("-p", "/project:review"),
        ("-p", "/own"),
    ):
        with FakeModel(lambda _: Say("Fine.")) as fake:
            done = ask_command(home, fake, *words)
        assert done.code == 0, done.err
        assert "this project's" not in done.err, words


def test_the_events_of_a_command_say_it_to_programs(home: Home) -> None:
    script = {
        "Go": [[start("Do it", "explore"), Call("Skill", {"skill": "tides"})], Say("Fine.")],
        "Do it": [Say("Done.")],
        "/review": [Say("Reviewed."), Say("Reviewed.")],
    }
    with FakeModel(script) as fake:
        told = _list_told(ask_command(home, fake, "-p", "Go", "--output-format", "stream-json").out)
        [typed] = _list_told(ask_command(home, fake, "-p", "/review", "--output-format", "stream-json").out)
    by_kind = {event["taken"]["kind"]: event for event in told}
    assert by_kind["agent"]["parent"] is not None
    assert by_kind["skill"]["parent"] is None
    assert {event["taken"]["insteadOf"] for event in (*told, typed)} == {"builtin:explore", "user:tides", "user:review"}
    assert typed["taken"]["path"] == str(home.folder / COMMAND)


async def test_an_agent_of_a_library_tells_it_as_an_event(home: Home) -> None:
    with FakeModel(lambda _: Say("Fine.")) as fake:
        async with program(home, fake, agent="explore") as agent:
            for _ in range(2):
                [event] = pick(await follow(agent, "Go"), mooring.NameTaken)
                assert (event.taken.name, event.taken.instead_of) == ("explore", "builtin:explore")
            approve(home, event.taken)
            assert pick(await follow(agent, "Go"), mooring.NameTaken) == []


async def test_a_skill_that_a_sub_agent_reads_is_told_as_its_own(home: Home) -> None:
    model = ScriptedModel(
        [call("Agent", {"prompt": "Do it", "subagent_type": "general-purpose"})],
        [call("Skill", {"skill": "tides"})],
        ["Read."],
        ["Done."],
    )
    async with (
        mooring.open(request=home.request(), servers={}) as host,
        mooring.agent(host, model, local=True, instruction_files=True) as agent,
    ):
        [event] = pick(await follow(agent, "Go"), mooring.NameTaken)
    assert event.taken.kind == "skill"
    assert event.parent is not None


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal")
def test_the_chat_says_it_at_each_use_and_heeds_an_approval_at_once(home: Home, cli: Cli) -> None:
    script = {
        "/review": [Say("Reviewed."), Say("Reviewed."), start("Do it", "explore"), Say("First.")],
        "Do it": [Say("Done.")],
    }
    with (
        FakeModel(script) as fake,
        Person(home, "chat", "-m", MODELS["anthropic"], cells=400, **variables(fake)) as person,
    ):
        person.answers((READY, "/review"))
        person.sees(TOLD[COMMAND])
        person.sees("Reviewed.")
        assert cli("agents", "approve", "review").code == 0
        person.answers((READY, "/review"))
        assert "this project's command" not in person.sees("Reviewed.")
        person.answers((READY, "One"))
        person.sees(f"explore · {TOLD[AGENT]}")
        person.sees("First.")
        person.answers((READY, "/agents"))
        person.sees("Approved; to be told again: mooring agents reset review")
        person.sees(READY)
        leave(person)


# --- what an approval is bound to -----------------------------------------------------------------------------------


def test_an_approval_is_for_one_project_and_one_kind(home: Home, cli: Cli) -> None:
    home.write("project/.claude/agents/review.md", "---\nname: review\n---\nof-project")
    home.write("home/.claude/agents/review.md", "---\nname: review\n---\nof-person")
    assert cli("agents", "approve", "explore").code == 0
    assert list_approved(cli) == {"agent explore"}
    # One name may be that of an agent and of a command: both are meant, and both are named.
    said = cli("agents", "approve", "review").out
    assert "approved: agent review" in said
    assert "approved: command review" in said
    assert list_approved(cli) == {"agent explore", "agent review", "command review"}
    other = Home(home.folder / "second")
    other.write(AGENT, (home.folder / AGENT).read_text())
    assert list_approved(cli, "--cwd", str(other.project)) == set()
    assert list_approved(cli, "--cwd", str(home.project)) == {"agent explore", "agent review", "command review"}


def test_a_project_by_a_link_is_the_same_and_what_is_behind_a_link_counts(home: Home, cli: Cli) -> None:
    text = (home.folder / AGENT).read_text()
    (home.folder / AGENT).unlink()
    home.write("project/docs/explore.md", text)
    (home.folder / AGENT).symlink_to("../../docs/explore.md")
    assert cli("agents", "approve", "explore").code == 0
    (home.folder / "link").symlink_to(home.project)
    assert list_approved(cli, "--cwd", str(home.folder / "link")) == {"agent explore"}
    home.write("project/docs/explore.md", f"{text}more")
    assert list_approved(cli) == set()
    home.write("project/docs/explore.md", text)
    assert list_approved(cli) == {"agent explore"}


def test_approvals_of_servers_and_of_names_share_a_record_and_leave_each_other_alone(home: Home, cli: Cli) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"explore": {"command": "sh"}}})
    assert cli("mcp", "approve", "explore", "--yes").code == 0
    record = home.folder / trust.record_path(home.where)
    written = json.loads(record.read_text())
    # As versions from before wrote it.
    del written["names"], written["checksum"]
    record.write_text(json.dumps(written))
    assert list_approved(cli) == set()
    assert cli("agents", "approve", "explore").code == 0
    assert cli("mcp", "reset", "explore").code == 0
    assert list_approved(cli) == {"agent explore"}
    assert cli("agents", "reset", "explore").code == 0
    assert list_approved(cli) == set()


def test_a_damaged_record_approves_nothing_and_is_not_written_over(home: Home, cli: Cli) -> None:
    assert cli("agents", "approve", "explore").code == 0
    record = home.folder / trust.record_path(home.where)
    record.write_text(record.read_text().replace("explore", "exploit"))
    damaged = record.read_text()
    refused = cli("agents", "approve", "explore")
    assert refused.code != 0
    assert "its checksum does not match" in refused.err
    assert record.read_text() == damaged
    assert list_approved(cli) == set()


def test_a_name_that_was_not_taken_is_one_sentence(home: Home, cli: Cli) -> None:
    for name, hint in (("exploer", "Did you mean explore?"), ("plan", "`mooring agents` lists the names")):
        refused = cli("agents", "approve", name)
        assert refused.code == 2
        assert (
            f"No file of this project took the name '{name}' from one of yours or of Mooring's. {hint}" in refused.err
        )
    assert "Nothing was approved about explore." in cli("agents", "reset", "explore").err
    assert list_approved(cli) == set()
    # A path that the project chose can't pass for a part of the sentence.
    hostile = "project/.claude/agents/plan.md), Mooring's own (really.md"
    home.write(hostile, "---\nname: plan\n---\nof-project")
    assert "('.claude/agents/plan.md), Mooring'" in cli("agents").err


def test_agents_are_shown_without_a_verb_and_one_called_like_a_verb_with_it(home: Home, cli: Cli) -> None:
    home.write("project/.claude/agents/approve.md", "---\nname: approve\n---\nof-approve")
    assert "of-approve" in cli("agents", "show", "approve").out
    assert "of-project" in cli("agents", "explore").out
    assert cli("agents", "list").out == cli("agents").out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("agents approve ", {"explore", "review", "tides"}),
        ("agents approve re", {"review"}),
        ("agents reset ", set()),
        ("agents ex", {"explore"}),
        ("agents app", {"approve"}),
    ],
)
def test_names_and_verbs_are_completed(home: Home, cli: Cli, words: str, offered: set[str]) -> None:
    assert complete(home, words) == offered
    assert cli("agents", "approve", "review").code == 0
    if words == "agents approve ":
        assert complete(home, words) == {"explore", "tides"}
        assert complete(home, "agents reset ") == {"review"}


def complete(home: Home, words: str) -> set[str]:
    line = f"mooring {words}"
    env = {"_MOORING_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = subprocess.run([MOORING], cwd=home.cwd, env={**home.env, **env}, capture_output=True, text=True, check=False)
    return {line.partition(",")[2] for line in done.stdout.splitlines()} - {""}


def approve(home: Home, taken: mooring.TakenName) -> None:
    trust.approve_names(home.where, [trust.NameApproval(taken.project, taken.kind, taken.name, taken.digest)])


def list_approved(cli: Cli, *words: str) -> set[str]:
    listed = cli("agents", "--json", *words).data["takenNames"]
    return {f"{each['taken']['kind']} {each['taken']['name']}" for each in listed if each["approved"]}


def _list_told(lines: str) -> list[dict[str, Any]]:
    return [event for event in map(json.loads, lines.splitlines()) if event["type"] == "NameTaken"]
