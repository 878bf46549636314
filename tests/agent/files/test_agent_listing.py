"""`mooring agents`: which agents there are, where each comes from, what shadows what, and what is wrong."""

import os
import subprocess
import sys
import time
from typing import Any

import pytest

from agent.files.written import CLAUDE, COPILOT, OPENCODE, OWN, list_agents, list_all, write_agent
from mooring.agents.definition import AgentDefinition
from mooring.agents.files.find import FoundAgents
from support import Actor, Cli, Home

DEBUGGER = [
    "Bash", "Task", "AskUserQuestion", "Edit", "Glob", "Grep", "NotebookEdit", "NotebookRead", "Read", "TodoWrite",
    "Write", "ListMcpResourcesTool", "ReadMcpResourceTool", "mcp__deepwiki__ask_question", "WebFetch", "WebSearch",
]  # fmt: skip
RESEARCHER = [
    "Glob", "Grep", "NotebookRead", "Read", "LS", "TodoWrite", "ListMcpResourcesTool", "ReadMcpResourceTool",
    "mcp__deepwiki__ask_question", "WebFetch", "WebSearch",
]  # fmt: skip
DEEPWIKI = "mooring mcp add deepwiki --transport http --url https://mcp.deepwiki.com/mcp"
BUILTIN = {"tool": "mooring", "scope": "builtin", "path": None}


def test_the_agents_that_mooring_brings_are_there_without_any_file(cli: Cli) -> None:
    agents = list_agents(cli)
    assert set(agents) == {"general-purpose", "explore", "plan", "debugger", "codebase-online-researcher"}
    assert agents["debugger"]["tools"] == DEBUGGER
    assert agents["codebase-online-researcher"]["tools"] == RESEARCHER
    assert {agents[name]["model"] for name in ("debugger", "codebase-online-researcher")} == {"opus"}
    assert agents["general-purpose"]["tools"] is None
    assert all(agent["description"] and agent["source"] == BUILTIN for agent in agents.values())


def test_a_tool_that_nothing_offers_is_named_with_the_command_that_brings_it(cli: Cli, home: Home) -> None:
    [missing] = list_agents(cli)["debugger"]["missing"]
    assert (missing["name"], missing["command"]) == ("mcp__deepwiki__ask_question", DEEPWIKI)
    home.configure(deepwiki={"url": "https://mcp.deepwiki.com/mcp", "type": "http"})
    assert list_agents(cli)["debugger"]["missing"] == []


def test_a_server_of_the_project_that_nobody_approved_does_not_bring_its_tools(cli: Cli, home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"deepwiki": {"command": "sh"}}})
    [missing] = list_agents(cli)["debugger"]["missing"]
    assert missing["command"] == "mooring mcp approve deepwiki"


def test_a_tool_that_its_server_is_known_not_to_have_is_missing(cli: Cli, home: Home) -> None:
    home.configure(actor=Actor(home.folder / "actor.json").entry)
    write_agent(home, f"{OWN}/a.md", "tools: [mcp__actor__count, mcp__actor__nothing, Bsh]")
    assert [each["name"] for each in list_agents(cli)["a"]["missing"]] == ["Bsh"]
    assert cli("tools", "actor").code == 0
    assert [each["name"] for each in list_agents(cli)["a"]["missing"]] == ["mcp__actor__nothing", "Bsh"]


@pytest.mark.parametrize(
    ("path", "name", "tool", "scope"),
    [
        (f"{OWN}/a.md", "a", "mooring", "project"),
        ("home/.config/mooring/agents/a.md", "a", "mooring", "user"),
        (f"{OPENCODE}/a.md", "a", "opencode", "project"),
        ("project/.opencode/agents/team/a.md", "team/a", "opencode", "project"),
        ("home/.config/opencode/agent/a.md", "a", "opencode", "user"),
        ("home/.config/opencode/agents/a.md", "a", "opencode", "user"),
        (f"{COPILOT}/a.agent.md", "a", "copilot-cli", "project"),
        (f"{COPILOT}/a.md", "a", "copilot-cli", "project"),
        ("home/.copilot/agents/a.agent.md", "a", "copilot-cli", "user"),
        (f"{CLAUDE}/a.md", "a", "claude-code", "project"),
        (f"{CLAUDE}/deep/er/a.md", "a", "claude-code", "project"),
        ("home/.claude/agents/a.md", "a", "claude-code", "user"),
    ],
)
def test_agents_are_found_where_each_tool_keeps_them(
    cli: Cli, home: Home, path: str, name: str, tool: str, scope: str
) -> None:
    written = write_agent(home, path, "description: Does it")
    agent = list_agents(cli)[name]
    assert agent["source"] == {"tool": tool, "scope": scope, "path": written}
    assert agent["description"] == "Does it"


def test_the_variables_that_move_a_tools_folder_are_followed(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home.home / "elsewhere"))
    write_agent(home, "home/elsewhere/agents/moved.md", "name: moved")
    write_agent(home, "home/.claude/agents/stale.md", "name: stale")
    agents = list_agents(cli)
    assert "moved" in agents
    assert "stale" not in agents


def test_a_projects_agent_wins_over_the_persons_and_theirs_over_mooring_s(cli: Cli, home: Home) -> None:
    paths = [
        f"{OWN}/plan.md", f"{OPENCODE}/plan.md", f"{COPILOT}/plan.agent.md", f"{CLAUDE}/plan.md",
        "home/.config/mooring/agents/plan.md", "home/.config/opencode/agent/plan.md",
        "home/.copilot/agents/plan.agent.md", "home/.claude/agents/plan.md",
    ]  # fmt: skip
    written = [write_agent(home, path, "name: plan\ndescription: x") for path in paths]
    while written:
        agent = list_agents(cli)["plan"]
        assert agent["source"]["path"] == written[0]
        assert [shadow["path"] for shadow in agent["shadows"]] == [*written[1:], None]
        os.unlink(written.pop(0))
    assert list_agents(cli)["plan"]["source"] == BUILTIN


def test_the_nearer_of_two_folders_of_a_project_wins(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    write_agent(home, f"{CLAUDE}/a.md", "name: a")
    near = write_agent(home, "project/part/.claude/agents/a.md", "name: a")
    monkeypatch.chdir(home.project / "part")
    assert list_agents(cli)["a"]["source"]["path"] == near


def test_without_projects_only_the_persons_own_agents_count(cli: Cli, home: Home) -> None:
    write_agent(home, f"{CLAUDE}/a.md", "name: a")
    write_agent(home, "home/.claude/agents/b.md", "name: b")
    names = [agent["name"] for agent in cli("--no-project", "agents", "--json").data["agents"]]
    assert "b" in names
    assert "a" not in names


def test_whoever_works_in_their_home_folder_has_their_own_agents_there(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_agent(home, "home/.claude/agents/a.md", "name: a\nmodel: openai:gpt-6.1-sol")
    monkeypatch.chdir(home.home)
    agent = list_agents(cli)["a"]
    assert (agent["source"]["scope"], agent["model"], agent["shadows"]) == ("user", "openai:gpt-6.1-sol", [])


def test_the_table_says_what_is_used_instead_of_what_and_what_is_wrong(cli: Cli, home: Home) -> None:
    write_agent(home, f"{CLAUDE}/debugger.md", "name: debugger\ndescription: Ours\nhooks: {Stop: []}")
    result = cli("agents")
    assert result.code == 0
    assert "Ours" in result.out
    assert "debugger from claude-code, project:" in result.err
    assert "is used instead of: built in" in result.err
    assert "debugger.md:4  `hooks` has no effect here" in result.err
    assert DEEPWIKI in result.err
    assert cli("-q", "agents").err == ""


def test_one_agent_is_shown_in_full(cli: Cli, home: Home) -> None:
    header = """\
name: helper
description: "Helps: always"
tools: Read, mcp__docs__*
disallowedTools: WebFetch
maxTurns: 7
mcpServers:
  - configured-elsewhere
  - docs:
      command: docs-server
      args: ["--token", "canary-argument"]
      env: {DOCS_KEY: canary-value}"""
    write_agent(home, f"{CLAUDE}/helper.md", header, "You help.\nAlways.")
    data = cli("agents", "helper", "--json").data
    assert data["prompt"] == "You help.\nAlways."
    assert (data["tools"], data["deniedTools"], data["maxTurns"]) == (["Read", "mcp__docs__*"], ["WebFetch"], 7)
    [server] = data["servers"]
    assert (server["name"], server["command"], server["variables"]) == ("docs", "docs-server", ["DOCS_KEY"])
    assert server["needsApproval"] is True
    assert data["missing"] == []
    text = cli("agents", "helper")
    assert "docs-server" in text.out
    assert "starts only with your approval" in text.out
    assert "You help." in text.out
    assert "canary" not in f"{data}{text.out}{text.err}"


def test_an_unknown_agent_is_an_error_that_names_the_nearest(cli: Cli) -> None:
    result = cli("agents", "debuger")
    assert (result.code, result.out) == (2, "")
    assert "There is no agent named 'debuger'. Did you mean debugger?" in result.err


def test_names_are_found_in_any_case(cli: Cli) -> None:
    assert cli("agents", "Debugger", "--json").data["name"] == "debugger"


def test_a_file_without_a_header_is_no_agent_of_claude_code_but_one_of_ours(cli: Cli, home: Home) -> None:
    home.write(f"{CLAUDE}/README.md", "How we work")
    home.write(f"{OWN}/README.md", "How we work")
    home.write(f"{OWN}/short.md", "Be short.")
    found = list_all(cli)
    names = {agent["name"] for agent in found["agents"]}
    assert "short" in names
    assert "README" not in names
    assert found["problems"] == []


BAD_FILES: list[tuple[str, int | None, str]] = [
    ("---\nname: a\n", 1, "no second `---` ends its header"),
    ("---\nname: a\ntools:\n  - Read\n x: {\n---\n", None, "is not valid YAML"),
    ("---\n- a\n---\n", 2, "no list of keys and values"),
    ("---\nname: '-rm'\n---\n", 2, "`name` cannot be used as a name"),
    ("---\nname: a\ntools: 5\n---\n", 3, "`tools` has to be a list of names"),
    ("---\nname: a\ndescription: [x]\n---\n", 3, "`description` has to be a text"),
    ("---\nname: a\nmaxTurns: many\n---\n", 3, "`maxTurns` has to be a number"),
    ("---\nname: a\nmodel: gpt-6\n---\n", 3, "`model` is not taken from a project's file"),
    ("---\nname: a\npermissionMode: bypassPermissions\n---\n", 3, "`permissionMode` has no effect here"),
    ("---\nname: a\npermission: 5\n---\n", 3, "`permission` has to be a map"),
    ("---\nname: a\nmcpServers: {x: 5}\n---\n", 3, "`mcpServers` has no definition for 'x'"),
]


@pytest.mark.parametrize(("text", "line", "words"), BAD_FILES)
def test_what_is_wrong_is_said_with_its_file_line_and_what_to_do(
    cli: Cli, home: Home, text: str, line: int | None, words: str
) -> None:
    path = str(home.write(f"{CLAUDE}/bad.md", text))
    write_agent(home, f"{CLAUDE}/good.md", "name: good")
    found = list_all(cli)
    [problem] = found["problems"]
    assert problem["path"] == path
    assert line is None or problem["line"] == line
    assert words in problem["message"]
    assert problem["hint"]
    assert "good" in {agent["name"] for agent in found["agents"]}


def test_two_files_of_one_folder_with_the_same_name_are_told_of(cli: Cli, home: Home) -> None:
    write_agent(home, f"{CLAUDE}/a.md", "name: same")
    second = write_agent(home, f"{CLAUDE}/b.md", "name: same")
    [problem] = list_all(cli)["problems"]
    assert problem["path"] == second
    assert "a.md" in problem["message"]


def test_an_agent_that_its_file_switches_off_is_left_out(cli: Cli, home: Home) -> None:
    write_agent(home, f"{OPENCODE}/a.md", "description: x\ndisable: true")
    found = list_all(cli)
    assert "a" not in {agent["name"] for agent in found["agents"]}
    assert "`disable` is true" in found["problems"][0]["message"]


MODELS: list[tuple[str, str, Any]] = [
    (f"{CLAUDE}/a.md", "opus", "opus"),
    (f"{CLAUDE}/a.md", "Sonnet", "sonnet"),
    (f"{CLAUDE}/a.md", "inherit", None),
    (f"{CLAUDE}/a.md", "claude-opus-5-5", None),
    (f"{OPENCODE}/a.md", "openai/gpt-6", None),
    (f"{OWN}/a.md", "ollama:qwen3", None),
    ("home/.claude/agents/a.md", "haiku", "haiku"),
    ("home/.claude/agents/a.md", "claude-opus-5-5", "anthropic:claude-opus-5-5"),
    ("home/.config/opencode/agent/a.md", "openrouter/anthropic/claude-5", "openrouter:anthropic/claude-5"),
    ("home/.config/mooring/agents/a.md", "ollama:qwen3:4b", "ollama:qwen3:4b"),
    ("home/.copilot/agents/a.md", "Claude Sonnet 4.5", None),
]


@pytest.mark.parametrize(("path", "written", "model"), MODELS)
def test_a_project_chooses_among_kinds_of_claude_only_and_the_person_among_all_models(
    cli: Cli, home: Home, path: str, written: str, model: str | None
) -> None:
    write_agent(home, path, f"name: a\ndescription: x\nmodel: {written}")
    assert list_agents(cli)["a"]["model"] == model
    assert len(list_all(cli)["problems"]) == int(model is None and written != "inherit")


def test_names_of_agents_are_completed(home: Home) -> None:
    write_agent(home, f"{CLAUDE}/reviewer.md", "name: reviewer")
    for words in ("mooring agents rev", "mooring chat --agent rev"):
        env = {
            **home.env,
            "_MOORING_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        command = [sys.executable, "-m", "mooring"]
        done = subprocess.run(command, cwd=home.cwd, env=env, capture_output=True, text=True, check=False, timeout=60)
        assert "reviewer" in done.stdout, done


def test_those_that_a_projects_agent_stands_before_are_reached_by_whose_they_are(cli: Cli, home: Home) -> None:
    write_agent(home, f"{CLAUDE}/explore.md", "name: explore", "of-project")
    write_agent(home, "home/.claude/agents/explore.md", "name: explore", "of-person")
    for name in ("user:explore", "builtin:explore", "builtin:new"):
        write_agent(home, f"{CLAUDE}/{name.replace(':', '-')}.md", f'name: "{name}"', "of-project")
    prompts = {
        name: cli("agents", name, "--json").data["prompt"] for name in ("explore", "user:explore", "builtin:explore")
    }
    assert prompts["explore"].strip() == "of-project"
    assert prompts["user:explore"].strip() == "of-person"
    assert prompts["builtin:explore"].startswith("You are an agent that finds things out")
    assert cli("agents", "builtin:new").code != 0
    said = [problem["message"] for problem in list_all(cli)["problems"]]
    assert sorted(text.partition(": that name")[0] for text in said) == [
        f"No agent can be named '{name}'" for name in ("builtin:explore", "builtin:new", "user:explore")
    ]


def test_what_agents_shadow_is_found_without_comparing_each_with_each() -> None:
    """Half of them are shadowed, and a listing asks for what each name shadows."""

    def measure(count: int) -> float:
        agents = tuple(AgentDefinition(name=f"a{number // 2}") for number in range(count))
        found = FoundAgents({agent.name: agent for agent in reversed(agents)}, agents)
        began = time.process_time()
        shadowed = [found.list_shadowed(name) for name in found.by_name]
        used = time.process_time() - began
        assert list(map(len, shadowed)) == [1] * (count // 2)
        return used

    few, many = (min(measure(count) for _ in range(5)) for count in (2_000, 20_000))
    # Both are so short that the collector shows; comparing each with each would take a hundred times as long.
    assert many < 30 * few
