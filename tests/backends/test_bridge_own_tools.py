"""An agent's own tools, judged as the local tools that do the same, whatever the agent calls them."""

from typing import Any

import pytest
from bridging import Person, Talk, open_host, read_history, talking

from mooring.backends.bridge.bridge import OwnTool
from mooring.core.question import Allow, No, Permission
from mooring.core.verdict import Rule
from mooring.errors import Denied
from support import Home

Arguments = dict[str, Any]


async def permit(talk: Talk, name: str, arguments: Arguments, id: str = "1") -> int:
    """Have a call decided; returns how many questions that took."""
    before = len(talk.person.asked)
    await talk.bridge.permit(OwnTool(name), arguments, call_id=id)
    return len(talk.person.asked) - before


def last_question(talk: Talk) -> Permission:
    question = talk.person.asked[-1]
    assert isinstance(question, Permission)
    return question


COMMANDS = [
    ("Bash", {"command": "git log -3", "description": "Shows the log"}),
    ("bash", {"command": "git log -3", "timeout": 1000}),
    ("shell", {"fullCommandText": "git log -3"}),
    ("write_bash", {"sessionId": "1", "input": "git log -3"}),
]


@pytest.mark.parametrize(("name", "arguments"), COMMANDS)
async def test_a_rule_about_bash_holds_for_every_agent(home: Home, name: str, arguments: Arguments) -> None:
    rules = (Rule("Bash", "allow", "git *"),)
    async with open_host(home, {}) as host, talking(host, rules=rules) as talk:
        assert await permit(talk, name, arguments) == 0
        other = {key: "rm -rf ." if value == "git log -3" else value for key, value in arguments.items()}
        assert await permit(talk, name, other) == 1
        assert last_question(talk).tool == "Bash"
        assert "rm -rf ." in last_question(talk).preview
        second = {key: "git log; rm x" if value == "git log -3" else value for key, value in arguments.items()}
        assert await permit(talk, name, second) == 1


READS = [
    ("Read", "file_path"),
    ("read", "filePath"),
    ("view", "path"),
    ("str_replace_editor", "path"),
    ("Grep", "path"),
    ("glob", "path"),
    ("list", "path"),
]


@pytest.mark.parametrize(("name", "key"), READS)
async def test_reading_inside_the_project_is_free_and_outside_is_asked_about(home: Home, name: str, key: str) -> None:
    home.write("project/notes.txt", "x")
    more = {"command": "view", "pattern": "x"}
    async with open_host(home, {}) as host, talking(host) as talk:
        assert await permit(talk, name, {key: "notes.txt", **more}) == 0
        assert await permit(talk, name, {key: "/etc/passwd", **more}) == 1
        assert await permit(talk, name, {key: "../home/x", **more}) == 1


async def test_a_path_that_only_one_of_two_programs_would_see_is_asked_about(home: Home) -> None:
    home.write("project/notes.txt", "x")
    async with open_host(home, {}) as host, talking(host) as talk:
        assert await permit(talk, "view", {"path": "notes.txt", "file_path": "/etc/passwd"}) == 1
        assert await permit(talk, "glob", {"pattern": "/etc/*"}) == 1
        assert await permit(talk, "glob", {"pattern": "src/../../*"}) == 1
        assert await permit(talk, "glob", {"pattern": "**/*.py"}) == 0


WRITES = [
    ("Write", {"file_path": "$", "content": "new\n"}, "Write"),
    ("create", {"path": "$", "file_text": "new\n"}, "Write"),
    ("Edit", {"file_path": "$", "old_string": "old", "new_string": "new"}, "Edit"),
    ("edit", {"filePath": "$", "oldString": "old", "newString": "new"}, "Edit"),
    ("str_replace_editor", {"command": "str_replace", "path": "$", "old_str": "old", "new_str": "new"}, "Edit"),
    ("write", {"fileName": "$", "diff": "-old\n+new\n"}, "Write"),
    ("apply_patch", {"patchText": "*** Begin Patch\n*** Update File: $\n-old\n+new\n*** End Patch"}, "Edit"),
]


def fill(arguments: Arguments, path: str) -> Arguments:
    return {key: value.replace("$", path) for key, value in arguments.items()}


@pytest.mark.parametrize(("name", "arguments", "tool"), WRITES)
async def test_a_change_is_shown_before_it_is_made(home: Home, name: str, arguments: Arguments, tool: str) -> None:
    home.write("project/notes.txt", "old\n")
    async with open_host(home, {}) as host, talking(host) as talk:
        assert await permit(talk, name, fill(arguments, "notes.txt")) == 1
        question = last_question(talk)
        assert question.tool == tool
        assert "old" in question.preview
        assert "new" in question.preview


@pytest.mark.parametrize(("name", "arguments", "_"), WRITES)
async def test_no_agent_writes_settings_of_mooring_whatever_is_allowed(
    home: Home, name: str, arguments: Arguments, _: str
) -> None:
    rules = (Rule("Edit", "allow"), Rule("Write", "allow"))
    async with open_host(home, {}) as host, talking(host, policy="allow", rules=rules) as talk:
        for path in (".mooring/settings.json", f"{home.where.config}/settings.json"):
            with pytest.raises(Denied, match="Mooring's own"):
                await permit(talk, name, fill(arguments, path))
        assert await permit(talk, name, fill(arguments, "notes.txt")) == 0


@pytest.mark.parametrize(("name", "arguments", "_"), WRITES)
async def test_in_plan_mode_nothing_is_changed(home: Home, name: str, arguments: Arguments, _: str) -> None:
    home.write("project/notes.txt", "old\n")
    async with open_host(home, {}) as host, talking(host, policy="plan") as talk:
        with pytest.raises(Denied, match="plan"):
            await permit(talk, name, fill(arguments, "notes.txt"))
        assert await permit(talk, "view", {"path": "notes.txt"}) == 0
        assert await permit(talk, "task", {"prompt": "Look around."}) == 0


async def test_a_patch_of_several_files_is_one_question_and_each_file_is_judged(home: Home) -> None:
    patch = "*** Begin Patch\n*** Update File: a.txt\n*** Add File: b.txt\n*** Delete File: {}\n*** Move to: d.txt\n"
    rules = (Rule("Edit", "allow", "a.txt"), Rule("Edit", "allow", "b.txt"), Rule("Edit", "deny", "secret.txt"))
    async with open_host(home, {}) as host, talking(host, Person(Allow("session")), rules=rules) as talk:
        assert await permit(talk, "apply_patch", {"patchText": patch.format("c.txt")}) == 1
        # The answer was about four files: no rule about one of them came of it.
        assert last_question(talk).scopes == ("once",)
        with pytest.raises(Denied):
            await permit(talk, "apply_patch", {"patchText": patch.format("secret.txt")})
        assert await permit(talk, "edit", {"path": "d.txt", "diff": "x"}) == 1


@pytest.mark.parametrize(("name", "key"), [("WebFetch", "url"), ("webfetch", "url"), ("fetch", "url"), ("url", "url")])
async def test_rules_about_hosts_hold_for_every_agent(home: Home, name: str, key: str) -> None:
    rules = (Rule("WebFetch", "allow", "domain:example.org"), Rule("WebFetch", "allow", "domain:127.0.0.1"))
    async with open_host(home, {}) as host, talking(host, rules=rules) as talk:
        assert await permit(talk, name, {key: "https://example.org/x"}) == 0
        assert await permit(talk, name, {key: "https://example.com/example.org"}) == 1
        # This machine is asked about each time.
        assert await permit(talk, name, {key: "http://127.0.0.1:1/"}) == 1


@pytest.mark.parametrize("name", ["TodoWrite", "todowrite", "Task", "AskUserQuestion", "ToolSearch", "BashOutput"])
async def test_what_touches_nothing_is_free_and_can_be_denied(home: Home, name: str) -> None:
    async with open_host(home, {}) as host:
        async with talking(host) as talk:
            assert await permit(talk, name, {"anything": 1}) == 0
        label = "TodoWrite" if name == "todowrite" else name
        async with talking(host, rules=(Rule(label, "deny"),)) as talk:
            with pytest.raises(Denied):
                await permit(talk, name, {"anything": 1})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("Skill", {"name": "x"}), ("bash", {}), ("Read", {"file_path": ""}), ("webfetch", {"url": 7}), ("", {})],
)
async def test_what_is_not_understood_is_asked_about(home: Home, name: str, arguments: Arguments) -> None:
    async with open_host(home, {}) as host, talking(host, Person(Allow("session"))) as talk:
        assert await permit(talk, name, arguments) == 1
        # A yes to something that nobody could read is a yes to that alone.
        assert await permit(talk, name, arguments) == 1
    async with open_host(home, {}) as host, talking(host, Person(No("Not that."))) as talk:
        with pytest.raises(Denied, match=r"Not that\."):
            await permit(talk, name, arguments)


async def test_an_unknown_tool_that_a_rule_names_is_allowed(home: Home) -> None:
    async with open_host(home, {}) as host, talking(host, rules=(Rule("Skill", "allow"),)) as talk:
        assert await permit(talk, "Skill", {"name": "x"}) == 0
        assert await permit(talk, "SlashCommand", {"name": "x"}) == 1


async def test_a_path_that_is_none_is_refused(home: Home) -> None:
    async with open_host(home, {}) as host, talking(host) as talk:
        with pytest.raises(Denied, match="not a usable path"):
            await permit(talk, "Read", {"file_path": "a\0b"})


async def test_own_tools_are_on_record_with_how_they_ended(home: Home) -> None:
    async with open_host(home, {}) as host, talking(host) as talk:
        reporter = talk.bridge.reporter
        for id, success in (("1", True), ("2", False)):
            reporter.start_tool(id, "bash", None, "bash", {"command": "ls"})
            await permit(talk, "bash", {"command": "ls"}, id)
            reporter.finish_tool(id, success=success)
        talk.person.answer = No()
        with pytest.raises(Denied):
            await permit(talk, "bash", {"command": "rm x"}, "3")
        talk.end_turn()
    assert [(entry.tool, entry.outcome) for entry in read_history(home)] == [
        ("Bash", "ok"),
        ("Bash", "is_error"),
        ("Bash", "denied"),
    ]


@pytest.mark.parametrize(("name", "arguments"), [("Grep", {"pattern": "x"}), ("Glob", {"pattern": "**"}), ("LS", {})])
async def test_a_search_above_mooring_s_own_folders_asks_in_every_mode(
    home: Home, name: str, arguments: Arguments
) -> None:
    home.write("home/.local/state/mooring/secrets.json", "x")
    rules = (Rule("Read", "allow", "~/**"), Rule(name, "allow", "~/**"))
    async with open_host(home, {}, policy="bypass") as host, talking(host, rules=rules) as talk:
        for folder in ("~", "~/.local", "~/.local/state"):
            assert await permit(talk, name, {"path": folder, **arguments}, id=folder) == 1
            assert "Mooring keeps its own settings" in last_question(talk).why
        assert await permit(talk, name, {"path": "~/notes", **arguments}, id="other") == 0
