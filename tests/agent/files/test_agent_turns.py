"""A turn of a defined agent: the request that reaches the model has its role and exactly its tools."""

import json
import subprocess
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from tests.models import Call, FakeModel, Say

import mooring
from agent.doors import ask_command, follow, open_host, pick, program
from agent.files.written import CLAUDE, COPILOT, OPENCODE, OWN, write_agent
from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring import settings
from mooring.agents.files.find import find_agents
from mooring.backends.api.choice import CLAUDE_MODELS, find_choice
from mooring.core.conversation.event import ToolFinished
from mooring.core.conversation.question import Allow, Answer, Question
from support import DEMO, MOORING, Actor, Home

ODD = "my server.x"
"""A server whose name no tool can be shown by."""
SERVERS = {"demo": DEMO, ODD: {**DEMO, "env": {"ANOTHER": "one"}}}
READ = {"Read", "NotebookRead"}
EDIT = {"Edit", "Write", "NotebookEdit"}
SHELL = {"Bash", "BashOutput", "KillShell"}
SEARCH = {"Grep", "Glob", "LS"}
WEB = {"WebFetch", "WebSearch"}
TODO = {"TodoWrite"}
RESOURCES = {"ListMcpResources", "ReadMcpResource"}


async def offer(home: Home, agent: str | None, servers: Any = None, **options: Any) -> tuple[list[str], str]:
    """The tools and the system prompt that reach the model of an agent."""
    [(tools, system)] = await offer_each(home, [agent], servers, **options)
    return tools, system


async def offer_each(
    home: Home, agents: Sequence[str | None], servers: Any = None, **options: Any
) -> list[tuple[list[str], str]]:
    """The same for several agents of one host, one after the other."""
    script = [Say("Done.")] * len(agents)
    async with FakeModel(script) as fake, open_host(home, fake, servers or SERVERS) as host:
        for name in agents:
            async with mooring.agent(host, MODELS["anthropic"], agent=name, local=True, **options) as agent:
                await agent.run("Go")
    return [(request.tool_names, request.system) for request in fake.requests]


def write_each(home: Home, written: Sequence[tuple[str, str]]) -> list[str]:
    """Write an agent file for each format and header; their names."""
    names = [f"agent-{number}" for number in range(len(written))]
    for name, (format, header) in zip(names, written, strict=True):
        write_agent(home, f"{PLACES[format]}/{name}.md", f"name: {name}\n{header}")
    return names


LISTS: list[tuple[str, str, set[str]]] = [
    ("claude", "tools: Read, Grep", {"Read", "Grep"}),
    ("claude", "tools: [Read, Grep]", {"Read", "Grep"}),
    ("claude", "description: It is: broken\ntools: ['Read', \"Grep\"]", {"Read", "Grep"}),
    ("claude", "tools:\n  - Read\n  - Grep", {"Read", "Grep"}),
    ("claude", "tools: []", set()),
    ("claude", "tools: ''", set()),
    ("claude", "tools:", set()),
    ("claude", "tools: 7", set()),
    ("claude", "tools: Bash(git *), MultiEdit, KillBash", {"Bash", "Edit", "KillShell"}),
    ("claude", "tools: ListMcpResourcesTool, ReadMcpResourceTool, Read", {*RESOURCES, "Read"}),
    ("claude", "tools: Read, Grep, Bash\ndisallowedTools: Bash, Grep", {"Read"}),
    ("claude", "tools: Read, Nonsense, mcp__nobody__x", {"Read"}),
    ("copilot", "tools: ['read', 'search']", READ | SEARCH),
    ("copilot", "tools: [Execute, todo, web]", SHELL | TODO | WEB),
    ("copilot", "tools: 'shell, edit'", SHELL | EDIT),
    ("copilot", "tools: [powershell, custom-agent, ask_user]", {*SHELL, "AskUserQuestion"}),
    ("opencode", "tools: {'*': false, read: true, bash: true}", READ | SHELL),
    ("opencode", "tools: {'*': false, web*: true}", WEB),
    ("opencode", "tools: {'*': false, todowrite: true, list: true}", {*TODO, "LS"}),
    ("opencode", "tools: {'*': false, read: true}\npermission: {read: deny, bash: allow}", set()),
    ("opencode", "permission: {'*': deny, grep: allow, glob: ask}", {"Grep", "Glob"}),
    ("opencode", "permission: deny", set()),
    ("mooring", "tools: read, Grep\npermission: {'*': deny, read: allow, bash: allow}", READ),
]
PLACES = {"claude": CLAUDE, "copilot": COPILOT, "opencode": OPENCODE, "mooring": OWN}


async def test_every_way_to_write_tools_selects_exactly_these(home: Home) -> None:
    names = write_each(home, [(format, header) for format, header, _ in LISTS])
    for (_, header, expected), (tools, _) in zip(LISTS, await offer_each(home, names), strict=True):
        # The tool that starts agents is not part of these lists.
        assert set(tools) - {"Agent"} == expected, header


async def test_an_agent_without_a_list_of_tools_has_all_of_them(home: Home) -> None:
    write_agent(home, f"{CLAUDE}/a.md", "name: a")
    assert (await offer(home, "a"))[0] == (await offer(home, None))[0]


DENIALS: list[tuple[str, str, set[str]]] = [
    ("claude", "disallowedTools: Bash, Write", {"Bash", "Write"}),
    ("claude", "disallowedTools: [Read]", {"Read"}),
    ("opencode", "tools: {bash: false, write: false}", SHELL | EDIT),
    ("opencode", "tools: {'web*': false}", WEB),
    ("opencode", "permission: {edit: deny, webfetch: ask, bash: {'rm *': deny}}", EDIT),
    ("opencode", "permission: {bash: {'*': deny, 'git *': allow}}", SHELL),
]


async def test_what_a_file_takes_away_is_all_that_is_missing(home: Home) -> None:
    names = write_each(home, [(format, header) for format, header, _ in DENIALS])
    (whole, _), *narrowed = await offer_each(home, [None, *names])
    for (_, header, denied), (tools, _) in zip(DENIALS, narrowed, strict=True):
        assert set(whole) - set(tools) == denied, header


SHORT = {"demo": "demo", ODD: "my_server_x"}
ODD_ALONE = {"my_server_x"}
OF_SERVERS: list[tuple[str, str, set[str], set[str] | None]] = [
    ("claude", "tools: mcp__demo__*", {"demo"}, None),
    ("claude", "tools: mcp__demo", {"demo"}, None),
    ("claude", "tools: mcp__my_server_x__*", ODD_ALONE, None),
    ("claude", "tools: mcp__my_server_x__add", ODD_ALONE, {"add"}),
    ("claude", "tools: mcp__demo__add, mcp__my_server_x__slow", {"demo", "my_server_x"}, {"add", "slow"}),
    ("claude", "tools: 'mcp__*'", {"demo", "my_server_x"}, None),
    ("claude", "tools: '*'\ndisallowedTools: mcp__demo", ODD_ALONE, None),
    ("copilot", "tools: ['demo/*']", {"demo"}, None),
    ("copilot", "tools: ['my server.x/add']", ODD_ALONE, {"add"}),
    ("opencode", "tools: {'*': false, 'demo_*': true}", {"demo"}, None),
    ("opencode", "tools: {'my_server_x_*': false}", {"demo"}, None),
    ("opencode", "tools: {'*': false, 'demo_*': true, demo_add: false, demo_slow: false}", {"demo"}, None),
    ("opencode", "permission: {'demo_*': deny}", ODD_ALONE, None),
    ("mooring", "tools: [demo.add]", {"demo"}, {"add"}),
]


@pytest.mark.parametrize("scheme", ["mcp__server__tool", "mcp_server_tool", "mcp.server.tool"])
async def test_tools_of_servers_are_matched_by_server_and_tool_however_they_are_shown(home: Home, scheme: str) -> None:
    home.write("home/.config/mooring/settings.json", {"toolNames": scheme})
    names = write_each(home, [(format, header) for format, header, _, _ in OF_SERVERS])
    async with FakeModel([]) as fake, open_host(home, fake, SERVERS) as host:
        for name, (_, header, servers, only) in zip(names, OF_SERVERS, strict=True):
            async with mooring.agent(host, MODELS["anthropic"], agent=name) as agent:
                pairs = set(agent.conversation.pairs.values())
            assert {SHORT[server] for server, _ in pairs} == servers, header
            every = {tool for _, tool in pairs}
            assert only is None or every == only, header
            assert "demo_add: false" not in header or not {"add", "slow"} & every


async def test_the_prompt_is_the_role_and_two_agents_side_by_side_keep_their_own(home: Home) -> None:
    write_agent(home, f"{CLAUDE}/one.md", "name: one\ntools: Read", "You are ONE.")
    write_agent(home, f"{COPILOT}/two.agent.md", "description: x\ntools: [search]", "You are TWO.")
    async with (
        FakeModel([Say("1"), Say("2"), Say("1"), Say("2")]) as fake,
        open_host(home, fake) as host,
        mooring.agent(host, MODELS["anthropic"], agent="one", local=True) as one,
        mooring.agent(host, MODELS["anthropic"], agent="two", local=True) as two,
    ):
        for agent in (one, two, one, two):
            await agent.run("Who are you?")
    assert [request.system.splitlines()[0] for request in fake.requests] == ["You are ONE.", "You are TWO."] * 2
    assert [set(request.tool_names) for request in fake.requests] == [{"Read"}, SEARCH] * 2


async def test_a_tool_that_is_not_selected_cannot_be_called_by_its_name(home: Home) -> None:
    write_agent(home, f"{CLAUDE}/a.md", "name: a\ntools: Read, mcp__demo__slow")
    script = [[Call("Bash", {"command": "touch ran"}), Call("mcp__demo__add", {"a": 1, "b": 2})], Say("No.")]
    async with FakeModel(script) as fake, program(home, fake, agent="a", local=True, policy="allow") as agent:
        events = await follow(agent, "Try")
    assert [event.success for event in pick(events, ToolFinished)] == [False, False]
    assert not (home.project / "ran").exists()


async def test_a_changed_file_is_taken_up_with_the_next_turn(home: Home) -> None:
    write_agent(home, f"{CLAUDE}/a.md", "name: a", "You are the first.")
    async with FakeModel([Say("1"), Say("2"), Say("3")]) as fake, program(home, fake, agent="a") as agent:
        await agent.run("Who are you?")
        path = write_agent(home, f"{CLAUDE}/a.md", "name: a", "You are the second, and longer.")
        await agent.run("And now?")
        (home.folder / path).unlink()
        await agent.run("And now?")
    roles = [request.system.splitlines()[0] for request in fake.requests]
    assert roles == ["You are the first.", *["You are the second, and longer."] * 2]


async def test_changed_tools_are_taken_up_with_the_next_turn_and_only_there(home: Home) -> None:
    write_agent(home, f"{CLAUDE}/a.md", "name: a\ntools: Read, mcp__demo__add")
    write_agent(home, f"{CLAUDE}/b.md", "name: b\ntools: Read")
    calls = [Call("mcp__demo__add", {"a": 1, "b": 2}), Say("No.")]
    async with FakeModel([Say("1"), *calls]) as fake, program(home, fake, agent="a", local=True) as agent:
        await agent.run("Go")
        write_agent(home, f"{CLAUDE}/a.md", "name: a\ntools: Grep, mcp__demo__echo")
        events = await follow(agent, "Go on")
    before, after = fake.requests[0].tool_names, fake.requests[1].tool_names
    assert set(before) - {"Agent"} == {"Read", "mcp__demo__add"}
    assert set(after) - {"Agent"} == {"Grep", "mcp__demo__echo"}
    assert [event.success for event in pick(events, ToolFinished)] == [False]
    tools, _ = await offer(home, "b")
    assert set(tools) - {"Agent"} == {"Read"}


async def test_the_debugger_has_its_tools_and_deepwikis_once_it_is_configured(home: Home) -> None:
    own = {
        "Bash", "AskUserQuestion", "Edit", "Glob", "Grep", "NotebookEdit", "NotebookRead", "Read", "TodoWrite",
        "Write", "WebFetch", "WebSearch", *RESOURCES,
    }  # fmt: skip
    tools, system = await offer(home, "debugger")
    assert set(tools) - {"Agent"} == own
    assert "finds the cause of a failure" in system
    deepwiki = Actor(home.folder / "actor.json", tools=["ask_question", "read_wiki_contents"]).entry
    tools, _ = await offer(home, "debugger", {"demo": DEMO, "deepwiki": deepwiki})
    assert set(tools) - {"Agent"} == {*own, "mcp__deepwiki__ask_question"}


async def test_explore_and_plan_can_only_read(home: Home) -> None:
    for name in ("explore", "plan"):
        tools, _ = await offer(home, name)
        assert set(tools) == {*READ, *SEARCH, *WEB, *TODO, *RESOURCES}


async def test_what_the_program_allows_is_narrowed_further_and_never_widened(home: Home) -> None:
    write_agent(home, f"{CLAUDE}/a.md", "name: a\ntools: mcp__demo__add, mcp__demo__slow, mcp__my_server_x__add")
    tools, _ = await offer(home, "a", allow=["demo.*"], deny=["demo.slow"])
    assert tools == ["mcp__demo__add"]


# --- models --------------------------------------------------------------------------------------------------------


RANKS: list[tuple[str, str | None, str | None, str]] = [
    ("ollama:from-file", "openai:from-option", "openai:from-variable", "openai:from-option"),
    ("ollama:from-file", None, "openai:from-variable", "ollama:from-file"),
    ("inherit", None, "openai:from-variable", "openai:from-variable"),
    ("inherit", None, None, "ollama:from-setting"),
    ("opus", None, "openai:from-variable", "openai:from-variable"),
    ("opus", None, "anthropic:from-variable", f"anthropic:{CLAUDE_MODELS['opus']}"),
    ("haiku", "anthropic:from-option", None, "anthropic:from-option"),
]


@pytest.mark.parametrize(("written", "option", "variable", "expected"), RANKS)
async def test_the_option_comes_before_the_file_and_the_file_before_the_variable_and_the_setting(
    home: Home, written: str, option: str | None, variable: str | None, expected: str
) -> None:
    write_agent(home, "home/.config/mooring/agents/a.md", f"model: {written}")
    home.write("home/.config/mooring/settings.json", {"model": "ollama:from-setting"})
    env = {**home.env, **({"MOORING_MODEL": variable} if variable else {})}
    where = replace(home.where, env=env)
    model = find_agents(home.request()).find("a").model
    loaded = settings.load(where, str(home.project))
    choice = await find_choice(option, where, loaded, model)
    assert choice.name == expected


# --- permissions ---------------------------------------------------------------------------------------------------


async def test_patterns_that_a_file_denies_or_asks_about_are_kept_to(home: Home) -> None:
    header = "permission: {bash: {'rm *': deny}, webfetch: ask}\ndisallowedTools: Read(./secret/**)"
    write_agent(home, f"{OPENCODE}/a.md", header)
    home.write("project/secret/key", "canary")
    asked: list[Question] = []

    async def agree(question: Question) -> Answer:
        asked.append(question)
        return Allow()

    script = [
        [
            Call("Bash", {"command": "rm -r nothing"}),
            Call("Read", {"file_path": str(home.project / "secret/key")}),
            Call("Bash", {"command": "echo fine"}),
        ],
        Say("Done."),
    ]
    async with FakeModel(script) as fake, program(home, fake, agent="a", local=True, ask=agree) as agent:
        events = await follow(agent, "Go")
    assert [event.success for event in pick(events, ToolFinished)].count(True) == 1
    assert len(asked) == 1
    assert "canary" not in str(fake.requests[1].body)


# --- the command and the chat --------------------------------------------------------------------------------------


def test_a_headless_turn_answers_as_the_agent(home: Home) -> None:
    home.configure(demo=DEMO)
    write_agent(home, f"{CLAUDE}/reviewer.md", "name: reviewer\ntools: Read, mcp__demo__add", "You review.")
    with FakeModel([Say("Looks good.")]) as fake:
        result = ask_command(home, fake, "-p", "Review this", "--agent", "Reviewer")
    assert (result.code, result.out) == (0, "Looks good.\n")
    assert fake.requests[0].system.startswith("You review.")
    assert set(fake.requests[0].tool_names) == {"Read", "mcp__demo__add"}


def test_a_headless_turn_says_which_tools_of_the_agents_file_nothing_offers(home: Home) -> None:
    write_agent(home, f"{CLAUDE}/reviewer.md", "name: reviewer\ntools: Read, mcp__nobody__x, Telepathy", "You review.")
    with FakeModel([Say("Fine."), Say("Fine.")]) as fake:
        result = ask_command(home, fake, "-p", "Review this", "--agent", "reviewer")
        quiet = ask_command(home, fake, "-q", "-p", "Review this", "--agent", "reviewer")
    assert (result.code, result.out) == (0, "Fine.\n")
    assert result.err.splitlines() == [
        "Warning: reviewer goes without mcp__nobody__x: no server named nobody can be used; mooring mcp add nobody",
        "Warning: reviewer goes without Telepathy: Mooring has no tool of that name",
    ]
    assert (quiet.code, quiet.err) == (0, "")


def test_a_conversation_with_an_agent_goes_on_with_it_unless_another_is_named(home: Home) -> None:
    write_agent(home, f"{CLAUDE}/one.md", "name: one\ntools: Read", "You are ONE.")
    write_agent(home, f"{CLAUDE}/two.md", "name: two\ntools: Grep", "You are TWO.")
    with FakeModel([Say("1"), Say("2"), Say("3"), Say("4")]) as fake:
        first = ask_command(home, fake, "-p", "Who are you?", "--agent", "one", "--json")
        assert ask_command(home, fake, "-p", "And now?", "--continue").code == 0
        assert ask_command(home, fake, "-p", "And now?", "--resume", json.loads(first.out)["session"][:8]).code == 0
        assert ask_command(home, fake, "-p", "And now?", "--continue", "--agent", "two").code == 0
    roles = [request.system.splitlines()[0] for request in fake.requests]
    assert roles == ["You are ONE."] * 3 + ["You are TWO."]
    assert [request.tool_names for request in fake.requests] == [["Read"]] * 3 + [["Grep"]]
    assert len(fake.requests[-1].messages) == 7


def test_an_agent_that_does_not_exist_ends_the_command_with_the_nearest_name(home: Home) -> None:
    with FakeModel([]) as fake:
        result = ask_command(home, fake, "-p", "Go", "--agent", "debuger")
    assert (result.code, result.out, fake.requests) == (2, "", [])
    assert "There is no agent named 'debuger'. Did you mean debugger?" in result.err


def test_whoever_picks_the_tools_themselves_is_no_agent(home: Home) -> None:
    command = [MOORING, "chat", "-b", "manual", "--agent", "plan"]
    done = subprocess.run(command, cwd=home.cwd, env=home.env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "--agent" in done.stderr


@pytest.mark.processes
def test_a_chat_names_its_agent_lists_all_and_says_what_it_goes_without(home: Home) -> None:
    home.configure(demo=DEMO)
    write_agent(home, f"{CLAUDE}/reviewer.md", "name: reviewer\ndescription: Reviews\ntools: Read, mcp__nobody__x")
    with FakeModel([Say("Hello from the agent.")]) as fake:
        words = ("chat", "-m", MODELS["anthropic"], "--agent", "reviewer")
        with Person(home, *words, **variables(fake)) as person:
            person.sees("goes without mcp__nobody__x")
            person.sees("The agent reviewer of this project (anthropic:claude-sonnet-5-5) answers.")
            person.types("/agents")
            person.sees("*reviewer")
            person.sees("codebase-online-researcher")
            person.types("Hello")
            person.sees("Hello from the agent.")
            person.types("/quit")
            assert person.ended() == 0, person.shown
    assert fake.requests[0].tool_names == ["Read"]
