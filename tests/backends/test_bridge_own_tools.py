"""An agent's own tools, judged as the local tools that do the same, whatever the agent calls them."""

from contextlib import AbstractAsyncContextManager
from itertools import count
from typing import Any

import bridging
import pytest
from bridging import Person, Talk, open_host, read_history

from mooring.backends.bridge.bridge import AgentCall, OwnTool
from mooring.backends.bridge.own_tools import ActReport
from mooring.backends.own_tools import OWN_TOOLS
from mooring.core.conversation.backend_name import ProgramName
from mooring.core.conversation.event import TurnFailed
from mooring.core.conversation.question import Allow, No, Permission
from mooring.core.conversation.verdict import Rule
from mooring.errors import Denied
from mooring.host.host import Host
from support import Home

Arguments = dict[str, Any]
IDS = count(1)


def talking(
    host: Host, person: Person | None = None, program: ProgramName = "opencode", **options: Any
) -> AbstractAsyncContextManager[Talk]:
    """A conversation with a program of which the tools are known."""
    return bridging.talking(host, person, program=OWN_TOOLS[program], **options)


async def permit(
    talk: Talk, name: str, arguments: Arguments | None, id: str | None = None, report: ActReport | None = None
) -> int:
    """Have a call decided; returns how many questions that took."""
    before = len(talk.person.asked)
    await talk.bridge.permit(AgentCall(id or f"call {next(IDS)}", OwnTool(name), arguments, report))
    return len(talk.person.asked) - before


def last_question(talk: Talk) -> Permission:
    question = talk.person.asked[-1]
    assert isinstance(question, Permission)
    return question


COMMANDS = [
    ("claude", "Bash", {"command": "git log -3", "description": "Shows the log"}),
    ("opencode", "bash", {"command": "git log -3", "timeout": 1000}),
    ("copilot", "bash", {"command": "git log -3", "description": "Shows the log", "mode": "sync", "detach": False}),
]


@pytest.mark.parametrize(("program", "name", "arguments"), COMMANDS)
async def test_a_rule_about_bash_holds_for_every_agent(
    home: Home, program: ProgramName, name: str, arguments: Arguments
) -> None:
    rules = (Rule("Bash", "allow", "git *"),)
    async with open_host(home, {}) as host, talking(host, program=program, rules=rules) as talk:
        assert await permit(talk, name, arguments) == 0
        other = {key: "rm -rf ." if value == "git log -3" else value for key, value in arguments.items()}
        assert await permit(talk, name, other) == 1
        assert last_question(talk).tool == "Bash"
        assert "rm -rf ." in last_question(talk).preview
        second = {key: "git log; rm x" if value == "git log -3" else value for key, value in arguments.items()}
        assert await permit(talk, name, second) == 1


READS = [
    ("claude", "Read", "file_path"),
    ("opencode", "read", "filePath"),
    ("copilot", "view", "path"),
    ("claude", "Grep", "path"),
    ("opencode", "glob", "path"),
    ("claude", "LS", "path"),
    ("copilot", "glob", "paths"),
]


@pytest.mark.parametrize(("program", "name", "key"), READS)
async def test_reading_inside_the_project_is_free_and_outside_is_asked_about(
    home: Home, program: ProgramName, name: str, key: str
) -> None:
    home.write("project/notes.txt", "x")
    more = {"pattern": "x"} if name in ("Grep", "glob") else {}
    async with open_host(home, {}) as host, talking(host, program=program) as talk:
        assert await permit(talk, name, {key: "notes.txt", **more}) == 0
        assert await permit(talk, name, {key: "/etc/passwd", **more}) == 1
        assert await permit(talk, name, {key: "../../home/x", **more}) == 1


async def test_each_path_of_a_list_is_judged(home: Home) -> None:
    rules = (Rule("Grep", "deny", "/etc/**"),)
    async with open_host(home, {}) as host, talking(host, program="copilot", rules=rules) as talk:
        assert await permit(talk, "grep", {"pattern": "x", "paths": ["a", "b"]}) == 0
        assert await permit(talk, "grep", {"pattern": "x", "paths": ["a", "/srv"]}) == 1
        with pytest.raises(Denied):
            await permit(talk, "grep", {"pattern": "x", "paths": ["a", "/etc/ssl"]})


LEAVING = [
    "/etc/*",
    "src/../../../*",
    "{/etc,x}/*",
    "{a,{../..,b}}/../*",
    "~/x*",
    ".{.,x}/../../*",
    "*/../../out/*",
    "[.].",
    "**/../x",
    "@(..|x)/*",
    "x\\/y",
    " /etc/*",
    "file:///etc/*",
    "{a,b}" * 8,
]


@pytest.mark.parametrize("pattern", LEAVING)
async def test_a_glob_that_can_leave_the_project_is_asked_about(home: Home, pattern: str) -> None:
    async with open_host(home, {}) as host, talking(host) as talk:
        assert await permit(talk, "glob", {"pattern": pattern}) == 1
        assert await permit(talk, "grep", {"pattern": "x", "include": pattern}) == 1


STAYING = ["**/*.py", "*.{ts,tsx}", "src/[id]/*.svelte", "[!a]*", "a/../*.md", "x?.txt", "!*.py"]


@pytest.mark.parametrize("pattern", STAYING)
async def test_a_glob_that_stays_inside_is_free(home: Home, pattern: str) -> None:
    async with open_host(home, {}) as host, talking(host) as talk:
        assert await permit(talk, "glob", {"pattern": pattern}) == 0
        # The words of a search are no path.
        assert await permit(talk, "grep", {"pattern": "/etc/../x", "include": pattern}) == 0


PATCH = "*** Begin Patch\n*** Update File: $\n@@\n-old\n+new\n*** End Patch"
WRITES = [
    ("claude", "Write", {"file_path": "$", "content": "new\n"}, "Write"),
    ("copilot", "create", {"path": "$", "file_text": "new\n"}, "Write"),
    ("claude", "Edit", {"file_path": "$", "old_string": "old", "new_string": "new"}, "Edit"),
    ("opencode", "edit", {"filePath": "$", "oldString": "old", "newString": "new"}, "Edit"),
    ("copilot", "edit", {"path": "$", "old_str": "old", "new_str": "new"}, "Edit"),
    ("claude", "MultiEdit", {"file_path": "$", "edits": [{"old_string": "old", "new_string": "new"}]}, "Edit"),
    ("opencode", "apply_patch", {"patchText": PATCH}, "Edit"),
    ("copilot", "apply_patch", {"input": f"{PATCH}\n"}, "Edit"),
]


def fill(arguments: Arguments, path: str) -> Arguments:
    return {key: value.replace("$", path) if isinstance(value, str) else value for key, value in arguments.items()}


@pytest.mark.parametrize(("program", "name", "arguments", "tool"), WRITES)
async def test_a_change_is_shown_before_it_is_made(
    home: Home, program: ProgramName, name: str, arguments: Arguments, tool: str
) -> None:
    home.write("project/notes.txt", "old\n")
    async with open_host(home, {}) as host, talking(host, program=program) as talk:
        assert await permit(talk, name, fill(arguments, str(home.project / "notes.txt"))) == 1
        question = last_question(talk)
        assert question.tool == tool
        assert "old" in question.preview
        assert "new" in question.preview


@pytest.mark.parametrize(("program", "name", "arguments", "_"), WRITES)
async def test_no_agent_writes_settings_of_mooring_whatever_is_allowed(
    home: Home, program: ProgramName, name: str, arguments: Arguments, _: str
) -> None:
    rules = (Rule("Edit", "allow"), Rule("Write", "allow"))
    async with open_host(home, {}) as host, talking(host, program=program, policy="allow", rules=rules) as talk:
        for path in (".mooring/settings.json", f"{home.where.config}/settings.json"):
            with pytest.raises(Denied, match="Mooring's own"):
                await permit(talk, name, fill(arguments, path))
        assert await permit(talk, name, fill(arguments, "notes.txt")) == 0


@pytest.mark.parametrize(("program", "name", "arguments", "_"), WRITES)
async def test_in_plan_mode_nothing_is_changed(
    home: Home, program: ProgramName, name: str, arguments: Arguments, _: str
) -> None:
    home.write("project/notes.txt", "old\n")
    async with open_host(home, {}) as host:
        async with talking(host, program=program, policy="plan") as talk:
            with pytest.raises(Denied, match="plan"):
                await permit(talk, name, fill(arguments, "notes.txt"))
        async with talking(host, program="copilot", policy="plan") as talk:
            assert await permit(talk, "view", {"path": "notes.txt"}) == 0
            assert await permit(talk, "task", {"prompt": "Look around."}) == 0


@pytest.mark.parametrize(("program", "name", "arguments", "_"), WRITES)
async def test_in_edits_mode_files_of_the_project_are_changed_unasked_and_those_that_always_ask_still_do(
    home: Home, program: ProgramName, name: str, arguments: Arguments, _: str
) -> None:
    home.write("project/notes.txt", "old\n")
    async with open_host(home, {}) as host, talking(host, program=program, policy="edits") as talk:
        assert await permit(talk, name, fill(arguments, "notes.txt")) == 0
        for path in (".mcp.json", ".vscode/tasks.json", f"{home.home}/notes.txt"):
            assert await permit(talk, name, fill(arguments, path)) == 1


@pytest.mark.parametrize(("program", "name", "arguments"), COMMANDS)
async def test_in_edits_mode_a_command_is_asked_about(
    home: Home, program: ProgramName, name: str, arguments: Arguments
) -> None:
    async with open_host(home, {}) as host, talking(host, program=program, policy="edits") as talk:
        assert await permit(talk, name, arguments) == 1


async def test_a_patch_of_several_files_is_one_question_and_each_file_is_judged(home: Home) -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n*** Move to: d.txt\n@@\n-x\n+y\n"
        "*** Add File: b.txt\n+x\n*** Delete File: {}\n*** End Patch"
    )
    rules = (Rule("Edit", "allow", "a.txt"), Rule("Edit", "allow", "b.txt"), Rule("Edit", "deny", "secret.txt"))
    async with open_host(home, {}) as host, talking(host, Person(Allow("session")), rules=rules) as talk:
        assert await permit(talk, "apply_patch", {"patchText": patch.format("c.txt")}) == 1
        # The answer was about four files: no rule about one of them came of it.
        assert last_question(talk).scopes == ("once",)
        with pytest.raises(Denied):
            await permit(talk, "apply_patch", {"patchText": patch.format("secret.txt")})
        assert await permit(talk, "write", {"filePath": "d.txt", "content": "x"}) == 1


FETCHERS = [("claude", "WebFetch"), ("opencode", "webfetch"), ("copilot", "web_fetch")]


@pytest.mark.parametrize(("program", "name"), FETCHERS)
async def test_rules_about_hosts_hold_for_every_agent(home: Home, program: ProgramName, name: str) -> None:
    rules = (Rule("WebFetch", "allow", "domain:example.org"), Rule("WebFetch", "allow", "domain:127.0.0.1"))
    async with open_host(home, {}) as host, talking(host, program=program, rules=rules) as talk:
        assert await permit(talk, name, {"url": "https://example.org/x"}) == 0
        assert await permit(talk, name, {"url": "https://example.com/example.org"}) == 1
        # This machine is asked about each time.
        assert await permit(talk, name, {"url": "http://127.0.0.1:1/"}) == 1


FREE = [
    ("claude", "TodoWrite", {"todos": []}, "TodoWrite"),
    ("opencode", "todowrite", {"todos": []}, "TodoWrite"),
    ("claude", "Agent", {"prompt": "x", "description": "y"}, "Task"),
    ("claude", "AskUserQuestion", {"questions": []}, "AskUserQuestion"),
    ("claude", "ToolSearch", {"query": "x"}, "ToolSearch"),
    ("copilot", "read_bash", {"shellId": "0", "delay": 1}, "BashOutput"),
    ("copilot", "sql", {"description": "x", "query": "UPDATE todos SET status = 'done' WHERE id = 'x';"}, "TodoWrite"),
]


@pytest.mark.parametrize(("program", "name", "arguments", "label"), FREE)
async def test_what_touches_nothing_is_free_and_can_be_denied(
    home: Home, program: ProgramName, name: str, arguments: Arguments, label: str
) -> None:
    async with open_host(home, {}) as host:
        async with talking(host, program=program) as talk:
            assert await permit(talk, name, arguments) == 0
        async with talking(host, program=program, rules=(Rule(label, "deny"),)) as talk:
            with pytest.raises(Denied):
                await permit(talk, name, arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("skill", {"name": "x"}), ("bash", {}), ("read", {"filePath": ""}), ("webfetch", {"url": 7}), ("", {})],
)
async def test_what_is_not_understood_is_asked_about(home: Home, name: str, arguments: Arguments) -> None:
    async with open_host(home, {}) as host, talking(host, Person(Allow("session"))) as talk:
        assert await permit(talk, name, arguments) == 1
        # A yes to something that nobody could read is a yes to that alone.
        assert await permit(talk, name, arguments) == 1
    async with open_host(home, {}) as host, talking(host, Person(No("Not that."))) as talk:
        with pytest.raises(Denied, match=r"Not that\."):
            await permit(talk, name, arguments)


async def test_a_tool_that_is_none_of_ours_is_allowed_by_a_rule_that_names_it(home: Home) -> None:
    async with open_host(home, {}) as host, talking(host, program="claude", rules=(Rule("Skill", "allow"),)) as talk:
        assert await permit(talk, "Skill", {"skill": "x"}) == 0
        assert await permit(talk, "SlashCommand", {"name": "x"}) == 1


UNKNOWN = [
    ("claude", "SlashCommand", {"name": "x"}, "SlashCommand"),
    ("claude", "bash", {"command": "ls"}, "bash"),
    ("claude", "Bash", {"command": "ls", "cwd": "/tmp"}, "Bash"),
    ("claude", "Bash", {"command": "ls", "dangerouslyDisableSandbox": True}, "Bash"),
    ("copilot", "bash", {"command": "ls", "detach": True}, "Bash"),
    ("copilot", "view", {"path": "notes.txt", "file_path": "notes.txt"}, "Read"),
    ("opencode", "read", {"filePath": ["notes.txt"]}, "Read"),
    ("opencode", "read", {"filePath": "notes.txt "}, "Read"),
    ("opencode", "write", {"filePath": "notes.txt", "content": "x", "mode": "0777"}, "Write"),
    ("opencode", "apply_patch", {"patchText": "*** Begin Patch\n*** Add File:a\n+x\n*** End Patch"}, "Edit"),
    ("opencode", "todowrite", {"todos": [], "file": "x"}, "TodoWrite"),
    ("opencode", "task", {"prompt": "x", "background": True}, "Task"),
    ("opencode", "bash_", {"command": "ls"}, "bash_"),
    ("copilot", "sql", {"description": "x", "query": "ATTACH 'x.db' AS x"}, "TodoWrite"),
    ("copilot", "sql", {"description": "x", "query": "SELECT 1; VACUUM INTO 'x.db'"}, "TodoWrite"),
    ("copilot", "sql", {"description": "x", "query": "SELECT load_extension('x')"}, "TodoWrite"),
]


@pytest.mark.parametrize(("program", "name", "arguments", "label"), UNKNOWN)
async def test_what_the_schema_does_not_cover_is_asked_about_in_every_mode_shown_whole_and_allowed_once(
    home: Home, program: ProgramName, name: str, arguments: Arguments, label: str
) -> None:
    rules = (Rule(label, "allow"),)
    async with open_host(home, {}) as host, talking(host, program="copilot", policy="bypass") as beside:
        assert await permit(beside, "view", {"path": "notes.txt"}) == 0
        for policy in ("ask", "bypass", "accept-reads"):
            person = Person(Allow("always"))
            async with talking(host, person, program=program, rules=rules, policy=policy) as talk:
                assert await permit(talk, name, arguments) == 1
                question = last_question(talk)
                assert question.tool == label
                assert question.arguments == arguments
                assert question.scopes == ("once",)
                assert all(str(key) in question.preview for key in arguments)
                assert await permit(talk, name, arguments) == 1
        async with talking(host, program=program, rules=(Rule(label, "deny"),)) as talk:
            with pytest.raises(Denied):
                await permit(talk, name, arguments)


async def test_a_command_in_another_folder_is_asked_about_with_the_folder(home: Home) -> None:
    home.write("project/src/x", "")
    rules = (Rule("Bash", "allow", "git *"),)
    async with open_host(home, {}) as host, talking(host, rules=rules) as talk:
        for inside in (".", "src", "src/..", str(home.cwd)):
            assert await permit(talk, "bash", {"command": "git status", "workdir": inside}) == 0
        for outside in ("/tmp", "../..", "~", "../../elsewhere"):
            assert await permit(talk, "bash", {"command": "git status", "workdir": outside}) == 1
            assert "Folder: /" in last_question(talk).preview
            assert "git status" in last_question(talk).preview


REPORTS = [
    ("bash", {"command": "ls"}, ActReport(command="rm x")),
    ("bash", {"command": "ls"}, ActReport(command="ls", folder="/")),
    ("read", {"filePath": "a"}, ActReport(reads=("/etc/passwd",))),
    ("write", {"filePath": "a", "content": "x"}, ActReport(writes=("/elsewhere/a",))),
    ("webfetch", {"url": "https://example.org/"}, ActReport(url="https://example.com/")),
]


@pytest.mark.parametrize(("name", "arguments", "report"), REPORTS)
async def test_what_a_program_says_that_it_will_do_is_judged_too(
    home: Home, name: str, arguments: Arguments, report: ActReport
) -> None:
    rules = (
        Rule("Bash", "allow", "ls"),
        Rule("Write", "allow", "a"),
        Rule("WebFetch", "allow", "domain:example.org"),
    )
    async with open_host(home, {}) as host, talking(host, rules=rules) as talk:
        assert await permit(talk, name, arguments) == 0
        assert await permit(talk, name, arguments, report=report) == 1
        # Asked again about the same call, it says nothing new.
        assert await permit(talk, name, arguments, "1", report) == 1
        assert await permit(talk, name, arguments, "1", report) == 0
        assert await permit(talk, name, arguments, "1") == 0


@pytest.mark.parametrize(
    ("name", "report"),
    [("bash", ActReport(command="ls")), ("view", ActReport(reads=("a",))), ("edit", ActReport(writes=("a",)))],
)
async def test_a_call_of_which_only_the_report_is_known_is_asked_about_in_every_mode_and_allowed_once(
    home: Home, name: str, report: ActReport
) -> None:
    rules = (Rule("Bash", "allow", "ls"), Rule("Edit", "allow", "a"))
    async with open_host(home, {}) as host:
        for policy in ("ask", "bypass"):
            person = Person(Allow("always"))
            async with talking(host, person, program="copilot", rules=rules, policy=policy) as talk:
                assert await permit(talk, name, None, "1", report) == 1
                assert last_question(talk).scopes == ("once",)
                assert "doesn't say what the model wrote" in last_question(talk).why
                assert await permit(talk, name, None, "1", report) == 0
                assert await permit(talk, name, None, "2", report) == 1
        async with talking(host, program="copilot", rules=(Rule("*", "deny"),)) as talk:
            with pytest.raises(Denied):
                await permit(talk, name, None, "1", report)


async def test_two_calls_with_one_id_are_both_refused(home: Home) -> None:
    async with open_host(home, {}) as host, talking(host) as talk:
        bridge = talk.bridge
        bridge.begin_call("1")
        assert await permit(talk, "bash", {"command": "ls"}, "1") == 1
        bridge.reporter.finish_tool("1", success=True)
        bridge.begin_call("1")
        assert await permit(talk, "bash", {"command": "ls"}, "1") == 1
        bridge.begin_call("1")
        for command in ("ls", "rm x"):
            with pytest.raises(Denied, match="same id"):
                await permit(talk, "bash", {"command": command}, "1")
        assert await permit(talk, "bash", {"command": "ls"}, "2") == 1


async def test_a_program_that_is_newer_than_what_is_known_says_so_once(home: Home) -> None:
    async with open_host(home, {}) as host, talking(host) as talk:
        for version in ("1.18.18", "1.2", "", "1.19.0", "1.19.0"):
            talk.bridge.record_version(version)
        told = [event.error for event in talk.events if isinstance(event, TurnFailed)]
        assert told == [
            "Mooring knows the tools of OpenCode 1.18.18, and this is 1.19.0: what is new in its tools is asked about."
        ]
        assert await permit(talk, "read", {"filePath": "a"}) == 0


async def test_folders_that_a_setting_opens_are_written_as_the_project_is(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"writableFolders": ["~/drafts"]})
    async with open_host(home, {}, policy="bypass") as host, talking(host) as talk:
        for folder, questions in (("drafts", 0), ("elsewhere", 1)):
            written = {"filePath": str(home.home / folder / "a.txt"), "content": "x"}
            assert await permit(talk, "write", written) == questions


async def test_a_package_is_asked_about_only_if_what_runs_at_its_installation_changes(home: Home) -> None:
    home.write("project/package.json", '{"scripts": {"test": "x"}}')
    async with open_host(home, {}, policy="bypass") as host, talking(host) as talk:
        for content, questions in (('{"scripts": {"test": "y"}}', 0), ('{"scripts": {"prepare": "y"}}', 1)):
            written = {"filePath": str(home.cwd / "package.json"), "content": content}
            assert await permit(talk, "write", written) == questions


async def test_a_path_that_is_none_is_refused(home: Home) -> None:
    async with open_host(home, {}) as host, talking(host) as talk:
        with pytest.raises(Denied, match="not a usable path"):
            await permit(talk, "read", {"filePath": "a\0b"})


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
    async with open_host(home, {}, policy="bypass") as host, talking(host, program="claude", rules=rules) as talk:
        for folder in ("~", "~/.local", "~/.local/state"):
            assert await permit(talk, name, {"path": folder, **arguments}, id=folder) == 1
            assert "Mooring keeps its own settings" in last_question(talk).why
        assert await permit(talk, name, {"path": "~/notes", **arguments}, id="other") == 0
