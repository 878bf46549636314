"""What is known of the own tools of other agents' programs: every argument, and what the program does with it.

A tool that isn't listed, and an argument that isn't listed with its tool, are unknown: what they do isn't judged, so
the person is asked and sees everything.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from mooring.core.conversation.backend_name import ProgramName

ArgumentRole: TypeAlias = Literal[
    "command",  # a command line
    "folder",  # the folder in which a command runs
    "path",  # a file or a folder
    "paths",  # one of them, or a list
    "glob",  # a pattern of paths, from the folder that is searched
    "content",  # the whole new text of a file
    "old",  # a text that is replaced
    "new",  # what replaces it
    "everywhere",  # whether each place is replaced
    "patch",  # a patch of several files
    "change",  # some other description of a change to the file
    "url",
    "sql",  # statements for the tables of its plan
    "query",  # the words of a search on the web
    "inert",  # nothing outside of the call depends on it
    "off",  # has to be left out or false: what it turns on isn't judged
]
"""What a program does with the value of an argument."""


class OwnToolSchema(Struct, frozen=True):
    like: str
    """The local tool that does the same; else a name of its own, under which rules speak of it."""
    arguments: Mapping[str, ArgumentRole] = {}


class ProgramSchema(Struct, frozen=True, dict=True):
    """All of a program's own tools, as of one version. A newer version is judged by the same schema."""

    program: str
    """What people call it."""
    version: str
    """The newest version whose tools were compared with this schema."""
    tools: Mapping[str, OwnToolSchema]
    """By the exact names that the program has for them."""
    mark: str = ""
    """What the program puts between the names of a server and its tool; empty if it can't be mistaken for its own."""

    @cached_property
    def reserved(self) -> frozenset[str]:
        """Names that no server may have for this program, in lower case.

        With a tool of its own it would become one of the program's tools: `apply` with `patch` is `apply_patch`.
        """
        return frozenset(head for name in self.tools for head in _list_heads(name.lower(), self.mark))

    def is_newer(self, version: str) -> bool:
        """Whether a program's version is newer than what is known here."""
        return _read_version(version) > _read_version(self.version)


NO_PROGRAM: Final = ProgramSchema("the agent", "0", {})
"""A program of which nothing is known: whatever it does by itself is asked about."""


def _list_heads(name: str, mark: str) -> list[str]:
    places = [place for place in range(1, len(name)) if mark and name.startswith(mark, place)]
    return [name, *(name[:place] for place in places)]


def _read_version(text: str) -> tuple[int, ...]:
    numbers = text.strip().removeprefix("v").split("-")[0].split(".")
    return tuple(int(number) for number in numbers if number.isdecimal())


def _make_tool(like: str, judged: Mapping[str, ArgumentRole] | None = None, inert: str = "") -> OwnToolSchema:
    """One tool: the arguments that decide what it touches, and the names of those that don't, with blanks between."""
    return OwnToolSchema(like, {**(judged or {}), **dict.fromkeys(inert.split(), "inert")})


# As its program offers them to a model; with those that older versions offer.
CLAUDE_TOOLS: Final = ProgramSchema(
    "Claude Code",
    "2.1.325",
    {
        "Bash": _make_tool("Bash", {"command": "command"}, "description timeout run_in_background"),
        "BashOutput": _make_tool("BashOutput", inert="bash_id filter"),
        "TaskOutput": _make_tool("BashOutput", inert="task_id block timeout"),
        "KillShell": _make_tool("KillShell", inert="shell_id"),
        "TaskStop": _make_tool("KillShell", inert="task_id shell_id"),
        "Read": _make_tool("Read", {"file_path": "path"}, "offset limit pages allow_large"),
        "LS": _make_tool("LS", {"path": "path"}, "ignore"),
        "Glob": _make_tool("Glob", {"pattern": "glob", "path": "path"}),
        "Grep": _make_tool(
            "Grep",
            {"path": "path", "glob": "glob"},
            "pattern type output_mode -A -B -C -i -n context head_limit offset multiline",
        ),
        "Edit": _make_tool(
            "Edit", {"file_path": "path", "old_string": "old", "new_string": "new", "replace_all": "everywhere"}
        ),
        "MultiEdit": _make_tool("Edit", {"file_path": "path", "edits": "change"}),
        "Write": _make_tool("Write", {"file_path": "path", "content": "content"}),
        "NotebookEdit": _make_tool(
            "NotebookEdit", {"notebook_path": "path", "new_source": "change"}, "cell_id cell_type edit_mode"
        ),
        "WebFetch": _make_tool("WebFetch", {"url": "url"}, "prompt offset"),
        "WebSearch": _make_tool("WebSearch", {"query": "query"}, "allowed_domains blocked_domains"),
        "TodoWrite": _make_tool("TodoWrite", inert="todos"),
        # A worktree, or another machine, is somewhere else than what is judged.
        "Agent": _make_tool("Task", {"isolation": "off"}, "description prompt subagent_type model effort"),
        "Task": _make_tool("Task", inert="description prompt subagent_type model"),
        "AskUserQuestion": _make_tool("AskUserQuestion", inert="questions answers annotations metadata"),
        "ToolSearch": _make_tool("ToolSearch", inert="query max_results"),
        "Skill": _make_tool("Skill", inert="skill args"),
        "ListMcpResourcesTool": _make_tool("ListMcpResourcesTool", inert="server"),
        "ReadMcpResourceTool": _make_tool("ReadMcpResourceTool", inert="server uri"),
        "ListAgents": _make_tool("ListAgents", inert="channel q"),
        "SendMessage": _make_tool("SendMessage", inert="to summary message notify_when_idle"),
        "ReportFindings": _make_tool("ReportFindings", inert="level findings"),
    },
)


_COPILOT_SEARCH: Final = _make_tool(
    "Grep", {"paths": "paths", "glob": "glob"}, "pattern output_mode type -i -A -B -C -n head_limit multiline"
)

# As its program offers them to a model.
COPILOT_TOOLS: Final = ProgramSchema(
    "Copilot",
    "1.0.102",
    {
        # What it starts with `detach` would outlive the conversation.
        "bash": _make_tool("Bash", {"command": "command", "detach": "off"}, "description shellId mode initial_wait"),
        "read_bash": _make_tool("BashOutput", inert="shellId delay"),
        "stop_bash": _make_tool("KillShell", inert="shellId"),
        "list_bash": _make_tool("BashOutput"),
        "view": _make_tool("Read", {"path": "path"}, "view_range forceReadLargeFiles"),
        "create": _make_tool("Write", {"path": "path", "file_text": "content"}),
        "edit": _make_tool("Edit", {"path": "path", "old_str": "old", "new_str": "new"}),
        "apply_patch": _make_tool("Edit", {"input": "patch"}),
        "grep": _COPILOT_SEARCH,
        "rg": _COPILOT_SEARCH,
        "glob": _make_tool("Glob", {"pattern": "glob", "paths": "paths"}),
        "web_fetch": _make_tool("WebFetch", {"url": "url"}, "max_length start_index raw"),
        # The tables of its session, which hold its plan.
        "sql": _make_tool("TodoWrite", {"query": "sql"}, "description"),
        "semantic_code_search": _make_tool("semantic_code_search", inert="query repo"),
        "task": _make_tool("Task", inert="description prompt agent_type name model reasoning_effort context_tier mode"),
        "read_agent": _make_tool("Task", inert="agent_id wait timeout since_turn"),
        "list_agents": _make_tool("Task", inert="include_completed scope"),
        "write_agent": _make_tool("Task", inert="agent_id agent_ids scope message"),
    },
    mark="-",
)


# Read from the schemas in its program.
OPENCODE_TOOLS: Final = ProgramSchema(
    "OpenCode",
    "1.18.18",
    {
        "bash": _make_tool("Bash", {"command": "command", "workdir": "folder"}, "timeout"),
        "read": _make_tool("Read", {"filePath": "path"}, "offset limit"),
        "glob": _make_tool("Glob", {"pattern": "glob", "path": "path"}),
        "grep": _make_tool("Grep", {"path": "path", "include": "glob"}, "pattern"),
        "edit": _make_tool(
            "Edit", {"filePath": "path", "oldString": "old", "newString": "new", "replaceAll": "everywhere"}
        ),
        "write": _make_tool("Write", {"filePath": "path", "content": "content"}),
        "apply_patch": _make_tool("Edit", {"patchText": "patch"}),
        "webfetch": _make_tool("WebFetch", {"url": "url"}, "format timeout"),
        "websearch": _make_tool("WebSearch", {"query": "query"}, "numResults livecrawl type contextMaxCharacters"),
        "todowrite": _make_tool("TodoWrite", inert="todos"),
        "task": _make_tool("Task", {"background": "off"}, "description prompt subagent_type task_id command"),
        "question": _make_tool("AskUserQuestion", inert="questions"),
        "skill": _make_tool("Skill", inert="name"),
        "lsp": _make_tool("Read", {"filePath": "path"}, "operation line character query"),
        "list_mcp_resources": _make_tool("list_mcp_resources", inert="server"),
        "list_mcp_resource_templates": _make_tool("list_mcp_resource_templates", inert="server"),
        "read_mcp_resource": _make_tool("read_mcp_resource", inert="server uri"),
        "plan_exit": _make_tool("plan_exit"),
        "invalid": _make_tool("invalid", inert="tool error"),
        # Words for permissions that are no tools: a server's tool must not be asked about by them.
        "external_directory": _make_tool("external_directory"),
        "doom_loop": _make_tool("doom_loop"),
    },
    mark="_",
)


OWN_TOOLS: Final[Mapping[ProgramName, ProgramSchema]] = {
    "claude": CLAUDE_TOOLS,
    "copilot": COPILOT_TOOLS,
    "opencode": OPENCODE_TOOLS,
}
