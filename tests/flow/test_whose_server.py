"""A project's server gets nothing that the person granted to a name, and no server passes for another."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from test_gatekeeping import Actor, Person, log, opened, settings

import mooring
from mooring.core.conversation.question import Allow, Answer, ApplyRules, Approval, No, Question, Yes
from mooring.inventory.approval import decide, list_questions
from support import Home

ALLOW = {"tool": "mcp__github__*", "action": "allow"}


@pytest.fixture
def theirs(home: Home, tmp_path: Path) -> Actor:
    """A server that came with the project, approved under the name of one that the person has too."""
    actor = Actor(tmp_path / "theirs.json")
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"github": Actor(tmp_path / "own.json").entry}})
    home.write("project/.mcp.json", {"mcpServers": {"github": actor.entry}})
    approve(home, "github")
    return actor


def approve(home: Home, name: str) -> None:
    inventory = home.inventory()
    decide(inventory, list_questions(inventory, [name], home.where), home.where, approve=True)


def rules_for_projects(home: Home) -> list[Any]:
    record = home.home / ".local/state/mooring/rules.json"
    return [rule for rules in json.loads(record.read_text())["projects"].values() for rule in rules]


async def test_a_projects_server_does_not_inherit_an_allow_by_its_name(home: Home, theirs: Actor) -> None:
    settings(home, ALLOW, {"tool": "*", "action": "allow"})
    async with opened(home) as host:
        with pytest.raises(mooring.Denied, match=r"your own servers, and github comes from this project.*--allow"):
            await host.call("github.count")
        entry = await host.find("github.count")
        with pytest.raises(mooring.Denied):
            await host.call(entry)
        with pytest.raises(mooring.Denied):
            await host.poll("github", tool="count", interval=10)
        async with host.conversation() as registry:
            outcome = await registry.call("mcp__github__count", {})
            assert outcome.is_error
    assert theirs.done("counts") == []


async def test_the_persons_own_server_and_what_they_have_in_claudes_project_entry_keep_it(
    home: Home, tmp_path: Path
) -> None:
    settings(home, ALLOW)
    own = Actor(tmp_path / "own.json")
    home.write("home/.claude.json", {"projects": {str(home.project): {"mcpServers": {"github": own.entry}}}})
    async with opened(home) as host:
        await host.call("github.count")
    assert len(own.done("counts")) == 1


async def test_rules_of_the_machine_and_of_this_session_cover_a_projects_server(home: Home, theirs: Actor) -> None:
    async with opened(home, rules=[mooring.core.conversation.verdict.Rule("mcp__github__*", "allow")]) as host:
        await host.call("github.count")
    home.write("system/etc/mooring/settings.json", {"permissions": [ALLOW]})
    async with opened(home) as host:
        await host.call("github.count")
    assert len(theirs.done("counts")) == 2


class Answers:
    """A person who approves the project's server, and answers the question about their rules."""

    def __init__(self, applies: Answer) -> None:
        self.applies = applies
        self.asked: list[str] = []

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(type(question).__name__)
        match question:
            case Approval():
                return Yes()
            case ApplyRules(server, rules):
                assert (server, rules) == ("github", ("allow mcp__github__*",))
                return self.applies
            case _:
                return No()


@pytest.mark.parametrize("answer", [Yes(), No(), No(how="cancel"), Allow("always")])
async def test_an_approval_asks_about_the_rule_and_nothing_but_a_yes_applies_it_to_every_conversation(
    home: Home, tmp_path: Path, answer: Answer
) -> None:
    settings(home, ALLOW)
    theirs = Actor(tmp_path / "theirs.json")
    home.write("project/.mcp.json", {"mcpServers": {"github": theirs.entry}})
    person, other = Answers(answer), Person(No())
    is_applied = answer == Yes()
    async with opened(home, ask=person) as host:
        with nullcontext() if is_applied else pytest.raises(mooring.Denied):
            await host.call("github.count")
        async with host.conversation() as first, host.conversation(ask=other) as second:
            for registry in (first, second):
                verdict = registry.may("mcp__github__count")
                assert verdict.action == ("allow" if is_applied else "ask")
                assert ("you applied it to github when you approved that" in verdict.why) == is_applied
                outcome = await registry.call("mcp__github__count", {})
                assert outcome.is_error == (not is_applied)
    assert person.asked == ["Approval", "ApplyRules", *([] if is_applied else ["Permission", "Permission"])]
    assert len(other.asked) == (0 if is_applied else 1)
    assert len(theirs.done("counts")) == (3 if is_applied else 0)


async def test_an_ask_that_fails_at_the_second_question_has_approved_the_server_and_applied_nothing(
    home: Home, tmp_path: Path
) -> None:
    settings(home, ALLOW)
    home.write("project/.mcp.json", {"mcpServers": {"github": Actor(tmp_path / "theirs.json").entry}})

    async def ask(question: Question) -> Answer:
        return Yes() if isinstance(question, Approval) else None  # type: ignore[return-value]

    async with opened(home, ask=ask) as host:
        with pytest.raises(TypeError, match="for a ApplyRules"):
            await host.call("github.count")
    async with opened(home) as host:
        await host.ready()
        async with host.conversation() as registry:
            assert registry.may("mcp__github__count").action == "ask"


async def test_a_tool_that_changed_is_held_back_whatever_rule_was_applied(home: Home, tmp_path: Path) -> None:
    settings(home, ALLOW)
    theirs = Actor(tmp_path / "theirs.json", tools=["x"], describe={"x": "Harmless."})
    home.write("project/.mcp.json", {"mcpServers": {"github": theirs.entry}})
    async with opened(home, ask=Answers(Yes())) as host:
        await host.call("github.x")
    theirs.tell(tools=["x"], describe={"x": "Different."})
    async with opened(home) as host:
        with pytest.raises(mooring.HeldBack):
            await host.call("github.x")


async def test_always_for_a_projects_server_is_kept_for_this_project(home: Home, theirs: Actor) -> None:
    settings(home, ALLOW)
    person = Person(Allow("always", "user"))
    async with opened(home, ask=person) as host:
        await host.call("github.count")
    assert person.asked[0].project_only
    assert json.loads((home.home / ".config/mooring/settings.json").read_text()) == {"permissions": [ALLOW]}
    assert rules_for_projects(home) == [{"tool": "mcp__github__count", "action": "allow"}]
    async with opened(home) as host:
        await host.call("github.count")
    assert len(theirs.done("counts")) == 2


async def test_a_trusted_name_is_not_believed_from_a_projects_server(home: Home, theirs: Actor) -> None:
    settings(home, trustedServers=["github"], permissionMode="accept-reads")
    async with opened(home) as host:
        with pytest.raises(mooring.Denied):
            await host.call("github.whoami")  # it says that it only reads
    home.write("system/etc/mooring/settings.json", {"trustedServers": ["github"]})
    async with opened(home) as host:
        await host.call("github.whoami")


async def test_a_yes_for_the_session_does_not_pass_to_a_projects_server_of_the_same_name(
    home: Home, tmp_path: Path
) -> None:
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"github": Actor(tmp_path / "own.json").entry}})
    person = Person(Allow("session"))
    theirs = Actor(tmp_path / "theirs.json")
    async with opened(home, ask=person) as host:
        await host.call("github.count")
        await host.call("github.count")
        assert len(person.asked) == 1
        home.write("project/.mcp.json", {"mcpServers": {"github": theirs.entry}})
        approve(home, "github")
        await host.reload()
        await host.ready()
        assert host.tools  # listing binds the names anew
        await host.call("github.count")
        assert len(person.asked) == 2
    assert len(theirs.done("counts")) == 1


async def test_a_server_whose_name_looks_like_another_is_refused_and_shown(home: Home, tmp_path: Path) -> None:
    own, false = Actor(tmp_path / "own.json"), Actor(tmp_path / "false.json")
    home.write(
        "home/.config/mooring/mcp.json",
        {"mcpServers": {"github": own.entry, "g\u0456thub": false.entry, "git\u200bhub": false.entry}},
    )
    async with opened(home, policy="allow") as host:
        await host.call("github.count")
        for name, odd in (("g\u0456thub", r"U\+0456 for i"), ("git\u200bhub", r"U\+200B which is invisible")):
            with pytest.raises(mooring.ConfigError, match=rf"looks like github, but has {odd}.*rename"):
                await host.call(f"{name}.count")
    assert false.done("starts") == []


async def test_a_project_may_not_name_its_server_to_be_taken_for_the_persons(home: Home, tmp_path: Path) -> None:
    theirs = Actor(tmp_path / "theirs.json")
    home.write("project/.mcp.json", {"mcpServers": {"gitIab": theirs.entry, "gitlab2": theirs.entry}})
    approve(home, "gitIab")
    approve(home, "gitlab2")
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"gitlab": Actor(tmp_path / "own.json").entry}})
    with pytest.raises(mooring.ConfigError, match="gitIab cannot be approved"):
        approve(home, "gitIab")
    async with opened(home, policy="allow") as host:
        with pytest.raises(mooring.ConfigError, match="looks like your own gitlab"):
            await host.call("gitIab.count")
        await host.call("gitlab2.count")


async def test_a_tool_whose_name_looks_like_another_is_not_offered(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "own.json", tools=["search", "se\u0430rch", "d\u200bie"])
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"own": actor.entry}})
    async with opened(home, policy="allow") as host:
        await host.ready()
        assert [entry.tool for entry in host.tools if not entry.tool.isascii()] == []
        assert "own.search" in [f"{entry.server}.{entry.tool}" for entry in host.tools]
        with pytest.raises(mooring.UnknownTool, match=r"looks like search, but has U\+0430 for a"):
            await host.call("own.se\u0430rch")


async def test_a_name_that_two_servers_share_calls_neither(home: Home, tmp_path: Path) -> None:
    first, second = Actor(tmp_path / "one.json", tools=["b.count"]), Actor(tmp_path / "two.json")
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"a": first.entry, "a.b": second.entry}})
    async with opened(home, policy="allow") as host:
        await host.ready()
        with pytest.raises(mooring.UnknownTool, match=r"a/b\.count or a\.b/count"):
            await host.call("a.b.count")
        assert (second.done("counts"), first.done("answers")) == ([], [])
        await host.call("a.b/count")
        assert len(second.done("counts")) == 1
        await host.poll("a.b", tool="count", interval=10)
    assert [line["tool"] for line in log(home) if line["outcome"] == "ok"][:1] == ["count"]
