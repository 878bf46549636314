"""What would become of a call, found out without making it."""

from pathlib import Path
from typing import Any

import pytest
from test_gatekeeping import Person, opened, settings

import mooring
from mooring.core.conversation.question import Allow, No
from mooring.core.conversation.verdict import Rule
from mooring.inventory.approval import decide, list_questions
from support import DEMO, Actor, Home

SERVERS = {"demo": DEMO}


@pytest.fixture
def actor(home: Home, tmp_path: Path) -> Actor:
    actor = Actor(tmp_path / "actor.json")
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"actor": actor.entry}})
    return actor


def was_logged(home: Home) -> bool:
    return (home.home / ".local/state/mooring/audit.jsonl").exists()


async def test_each_verdict_comes_with_its_reason_and_nothing_is_called_or_asked(home: Home, actor: Actor) -> None:
    settings(home, {"tool": "actor.whoami", "action": "allow"}, {"tool": "actor.die", "action": "deny"})
    person = Person(No("never"))
    async with opened(home, ask=person) as host:
        await host.ready()
        async with host.conversation() as tools:
            allowed = tools.may("mcp__actor__whoami")
            asked = tools.may("mcp__actor__count", {"of": "x"})
            denied = tools.may("mcp__actor__die", {})
    assert [verdict.action for verdict in (allowed, asked, denied)] == ["allow", "ask", "deny"]
    assert allowed.why == "your settings say: allow actor.whoami"
    assert asked.why == "no rule matches it"
    assert denied.rule == Rule("actor.die", "deny")
    assert person.asked == []
    assert actor.done("counts") == []
    assert not was_logged(home)


async def test_it_says_what_the_call_then_does_whatever_the_arguments(home: Home, actor: Actor) -> None:
    settings(home, {"tool": "actor.count", "action": "deny", "pattern": "/etc/*"})
    async with opened(home, policy="allow") as host:
        await host.ready()
        async with host.conversation() as tools:
            for arguments in (
                {"of": "/etc/passwd"},
                '{"of": "/etc/passwd"}',
                {"of": "/home"},
                {},
                "no JSON",
                {"of": 7},
            ):
                verdict = tools.may("actor.count", arguments)
                outcome = await tools.call("actor.count", arguments)
                assert ("/etc/passwd" in str(arguments)) == (verdict.action == "deny")
                if verdict.action == "deny":
                    assert outcome.is_error


async def test_an_answer_for_the_session_and_the_rules_of_the_conversation_are_in_it(home: Home, actor: Actor) -> None:
    async with opened(home, ask=Person(Allow("session"))) as host:
        await host.ready()
        async with host.conversation() as one, host.conversation(rules=[Rule("actor.count", "deny")]) as other:
            assert one.may("actor.count").action == "ask"
            await one.call("actor.count")
            assert one.may("actor.count").action == "allow"
            assert other.may("actor.count").action == "deny"


async def test_the_strictest_rule_about_any_name_of_a_server_decides(home: Home, actor: Actor) -> None:
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"one": actor.entry, "two": actor.entry}})
    settings(home, {"tool": "two.whoami", "action": "deny"}, {"tool": "two.count", "action": "ask"})
    async with opened(home, rules=[Rule("one.*", "allow")]) as host:
        await host.ready()
        async with host.conversation() as tools:
            actions = [tools.may(f"mcp__one__{tool}").action for tool in ("whoami", "count", "die")]
    assert actions == ["deny", "ask", "allow"]


@pytest.mark.parametrize("known_before", [True, False])
async def test_a_tool_that_is_held_back_is_denied_with_the_reason(
    home: Home, tmp_path: Path, known_before: bool
) -> None:
    theirs = Actor(tmp_path / "theirs.json", tools=["x"], describe={"x": "good"})
    home.write("project/.mcp.json", {"mcpServers": {"theirs": theirs.entry}})
    inventory = home.inventory()
    decide(inventory, list_questions(inventory, ["theirs"], home.where), home.where, approve=True)
    async with opened(home, policy="allow") as host:
        await host.call("theirs.x")
        async with host.conversation() as before:
            assert before.may("mcp__theirs__x").action == "allow"
            theirs.tell(tools=["x"], describe={"x": "evil"})
            await host.ready(refresh=True)
            tools = before if known_before else host.conversation()
            async with tools:
                verdict = tools.may("mcp__theirs__x")
                outcome = await tools.call("mcp__theirs__x")
    assert outcome.is_error
    assert "changed or was added since you approved" in outcome.text
    assert "mooring mcp pins" not in outcome.text  # advice for the user is nothing that a model can follow
    assert verdict.action == "deny"
    assert verdict.why == "held back: changed or added since you approved its server's tools"


async def test_an_unknown_tool_is_an_error_that_names_those_there_are(home: Home) -> None:
    async with opened(home, servers=SERVERS) as host:
        await host.ready()
        async with host.conversation() as tools:
            with pytest.raises(mooring.UnknownTool, match="mcp__demo__echo"):
                tools.may("mcp__demo__ecko")


async def test_the_program_s_own_tools_and_those_of_mooring_are_judged_too(home: Home) -> None:
    @mooring.tool
    def shout(text: str) -> str:
        return text.upper()

    rules = [Rule("shout", "deny"), Rule("ListMcpResourcesTool", "deny")]
    async with opened(home, servers=SERVERS, rules=rules) as host:
        await host.ready()
        async with host.conversation(more=[shout]) as tools:
            assert tools.may("shout", {"text": "x"}).action == "deny"
            assert tools.may("ListMcpResources").action == "deny"
            assert tools.may("ToolResult", {"id": "1"}).action == "allow"


READS: list[tuple[str, dict[str, Any], str]] = [
    ("ReadMcpResource", {"server": "demo", "uri": "demo://readme"}, "allow"),
    ("ReadMcpResource", {"server": "demo", "uri": "demo://elsewhere"}, "ask"),
    ("SubscribeMcpResource", {"server": "demo", "uri": "demo://elsewhere"}, "ask"),
    ("SubscribePolling", {"type": "resource", "server": "demo", "uri": "demo://readme"}, "allow"),
    ("SubscribePolling", {"type": "tool", "server": "demo", "toolName": "add"}, "ask"),
    ("SubscribePolling", {"type": "tool", "server": "demo", "toolName": "echo"}, "deny"),
    ("SubscribePolling", {"type": "tool"}, "allow"),
]


@pytest.mark.parametrize(("tool", "arguments", "action"), READS)
async def test_what_a_tool_asks_of_a_server_is_judged(
    home: Home, tool: str, arguments: dict[str, Any], action: str
) -> None:
    async with opened(home, servers=SERVERS, rules=[Rule("demo.echo", "deny")]) as host:
        await host.ready()
        await host.resources("demo")
        async with host.conversation() as tools:
            assert tools.may(tool, arguments).action == action
    assert not was_logged(home)
