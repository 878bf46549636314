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
    """One of a program's own tools."""

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


# As its program offers them to a model; with those that older versions offer.
CLAUDE_TOOLS: Final = ProgramSchema(
    "Claude Code",
    "2.1.325",
    {
        "Bash": OwnToolSchema(
            "Bash",
            {"command": "command", "description": "inert", "timeout": "inert", "run_in_background": "inert"},
        ),
        "BashOutput": OwnToolSchema("BashOutput", {"bash_id": "inert", "filter": "inert"}),
        "TaskOutput": OwnToolSchema("BashOutput", {"task_id": "inert", "block": "inert", "timeout": "inert"}),
        "KillShell": OwnToolSchema("KillShell", {"shell_id": "inert"}),
        "TaskStop": OwnToolSchema("KillShell", {"task_id": "inert", "shell_id": "inert"}),
        "Read": OwnToolSchema(
            "Read",
            {"file_path": "path", "offset": "inert", "limit": "inert", "pages": "inert", "allow_large": "inert"},
        ),
        "LS": OwnToolSchema("LS", {"path": "path", "ignore": "inert"}),
        "Glob": OwnToolSchema("Glob", {"pattern": "glob", "path": "path"}),
        "Grep": OwnToolSchema(
            "Grep",
            {
                "pattern": "inert",
                "path": "path",
                "glob": "glob",
                "type": "inert",
                "output_mode": "inert",
                "-A": "inert",
                "-B": "inert",
                "-C": "inert",
                "-i": "inert",
                "-n": "inert",
                "context": "inert",
                "head_limit": "inert",
                "offset": "inert",
                "multiline": "inert",
            },
        ),
        "Edit": OwnToolSchema(
            "Edit", {"file_path": "path", "old_string": "old", "new_string": "new", "replace_all": "everywhere"}
        ),
        "MultiEdit": OwnToolSchema("Edit", {"file_path": "path", "edits": "change"}),
        "Write": OwnToolSchema("Write", {"file_path": "path", "content": "content"}),
        "NotebookEdit": OwnToolSchema(
            "NotebookEdit",
            {
                "notebook_path": "path",
                "cell_id": "inert",
                "new_source": "change",
                "cell_type": "inert",
                "edit_mode": "inert",
            },
        ),
        "WebFetch": OwnToolSchema("WebFetch", {"url": "url", "prompt": "inert", "offset": "inert"}),
        "WebSearch": OwnToolSchema(
            "WebSearch", {"query": "query", "allowed_domains": "inert", "blocked_domains": "inert"}
        ),
        "TodoWrite": OwnToolSchema("TodoWrite", {"todos": "inert"}),
        # A worktree, or another machine, is somewhere else than what is judged.
        "Agent": OwnToolSchema(
            "Task",
            {
                "description": "inert",
                "prompt": "inert",
                "subagent_type": "inert",
                "model": "inert",
                "effort": "inert",
                "isolation": "off",
            },
        ),
        "Task": OwnToolSchema(
            "Task", {"description": "inert", "prompt": "inert", "subagent_type": "inert", "model": "inert"}
        ),
        "AskUserQuestion": OwnToolSchema(
            "AskUserQuestion",
            {"questions": "inert", "answers": "inert", "annotations": "inert", "metadata": "inert"},
        ),
        "ToolSearch": OwnToolSchema("ToolSearch", {"query": "inert", "max_results": "inert"}),
        "Skill": OwnToolSchema("Skill", {"skill": "inert", "args": "inert"}),
        "ListMcpResourcesTool": OwnToolSchema("ListMcpResourcesTool", {"server": "inert"}),
        "ReadMcpResourceTool": OwnToolSchema("ReadMcpResourceTool", {"server": "inert", "uri": "inert"}),
        "ListAgents": OwnToolSchema("ListAgents", {"channel": "inert", "q": "inert"}),
        "SendMessage": OwnToolSchema(
            "SendMessage", {"to": "inert", "summary": "inert", "message": "inert", "notify_when_idle": "inert"}
        ),
        "ReportFindings": OwnToolSchema("ReportFindings", {"level": "inert", "findings": "inert"}),
    },
)


_SEARCH: Final[Mapping[str, ArgumentRole]] = {
    "pattern": "inert",
    "paths": "paths",
    "glob": "glob",
    "output_mode": "inert",
    "type": "inert",
    "-i": "inert",
    "-A": "inert",
    "-B": "inert",
    "-C": "inert",
    "-n": "inert",
    "head_limit": "inert",
    "multiline": "inert",
}

# As its program offers them to a model.
COPILOT_TOOLS: Final = ProgramSchema(
    "Copilot",
    "1.0.102",
    {
        "bash": OwnToolSchema(
            "Bash",
            {
                "command": "command",
                "description": "inert",
                "shellId": "inert",
                "mode": "inert",
                "initial_wait": "inert",
                # What it starts then would outlive the conversation.
                "detach": "off",
            },
        ),
        "read_bash": OwnToolSchema("BashOutput", {"shellId": "inert", "delay": "inert"}),
        "stop_bash": OwnToolSchema("KillShell", {"shellId": "inert"}),
        "list_bash": OwnToolSchema("BashOutput"),
        "view": OwnToolSchema("Read", {"path": "path", "view_range": "inert", "forceReadLargeFiles": "inert"}),
        "create": OwnToolSchema("Write", {"path": "path", "file_text": "content"}),
        "edit": OwnToolSchema("Edit", {"path": "path", "old_str": "old", "new_str": "new"}),
        "apply_patch": OwnToolSchema("Edit", {"input": "patch"}),
        "grep": OwnToolSchema("Grep", _SEARCH),
        "rg": OwnToolSchema("Grep", _SEARCH),
        "glob": OwnToolSchema("Glob", {"pattern": "glob", "paths": "paths"}),
        "web_fetch": OwnToolSchema(
            "WebFetch", {"url": "url", "max_length": "inert", "start_index": "inert", "raw": "inert"}
        ),
        # The tables of its session, which hold its plan.
        "sql": OwnToolSchema("TodoWrite", {"description": "inert", "query": "sql"}),
        "semantic_code_search": OwnToolSchema("semantic_code_search", {"query": "inert", "repo": "inert"}),
        "task": OwnToolSchema(
            "Task",
            {
                "description": "inert",
                "prompt": "inert",
                "agent_type": "inert",
                "name": "inert",
                "model": "inert",
                "reasoning_effort": "inert",
                "context_tier": "inert",
                "mode": "inert",
            },
        ),
        "read_agent": OwnToolSchema(
            "Task", {"agent_id": "inert", "wait": "inert", "timeout": "inert", "since_turn": "inert"}
        ),
        "list_agents": OwnToolSchema("Task", {"include_completed": "inert", "scope": "inert"}),
        "write_agent": OwnToolSchema(
            "Task", {"agent_id": "inert", "agent_ids": "inert", "scope": "inert", "message": "inert"}
        ),
    },
    mark="-",
)


# Read from the schemas in its program.
OPENCODE_TOOLS: Final = ProgramSchema(
    "OpenCode",
    "1.18.18",
    {
        "bash": OwnToolSchema("Bash", {"command": "command", "workdir": "folder", "timeout": "inert"}),
        "read": OwnToolSchema("Read", {"filePath": "path", "offset": "inert", "limit": "inert"}),
        "glob": OwnToolSchema("Glob", {"pattern": "glob", "path": "path"}),
        "grep": OwnToolSchema("Grep", {"pattern": "inert", "path": "path", "include": "glob"}),
        "edit": OwnToolSchema(
            "Edit", {"filePath": "path", "oldString": "old", "newString": "new", "replaceAll": "everywhere"}
        ),
        "write": OwnToolSchema("Write", {"filePath": "path", "content": "content"}),
        "apply_patch": OwnToolSchema("Edit", {"patchText": "patch"}),
        "webfetch": OwnToolSchema("WebFetch", {"url": "url", "format": "inert", "timeout": "inert"}),
        "websearch": OwnToolSchema(
            "WebSearch",
            {
                "query": "query",
                "numResults": "inert",
                "livecrawl": "inert",
                "type": "inert",
                "contextMaxCharacters": "inert",
            },
        ),
        "todowrite": OwnToolSchema("TodoWrite", {"todos": "inert"}),
        "task": OwnToolSchema(
            "Task",
            {
                "description": "inert",
                "prompt": "inert",
                "subagent_type": "inert",
                "task_id": "inert",
                "command": "inert",
                "background": "off",
            },
        ),
        "question": OwnToolSchema("AskUserQuestion", {"questions": "inert"}),
        "skill": OwnToolSchema("Skill", {"name": "inert"}),
        "lsp": OwnToolSchema(
            "Read",
            {"operation": "inert", "filePath": "path", "line": "inert", "character": "inert", "query": "inert"},
        ),
        "list_mcp_resources": OwnToolSchema("list_mcp_resources", {"server": "inert"}),
        "list_mcp_resource_templates": OwnToolSchema("list_mcp_resource_templates", {"server": "inert"}),
        "read_mcp_resource": OwnToolSchema("read_mcp_resource", {"server": "inert", "uri": "inert"}),
        "plan_exit": OwnToolSchema("plan_exit"),
        "invalid": OwnToolSchema("invalid", {"tool": "inert", "error": "inert"}),
        # Words for permissions that are no tools: a server's tool must not be asked about by them.
        "external_directory": OwnToolSchema("external_directory"),
        "doom_loop": OwnToolSchema("doom_loop"),
    },
    mark="_",
)


OWN_TOOLS: Final[Mapping[ProgramName, ProgramSchema]] = {
    "claude": CLAUDE_TOOLS,
    "copilot": COPILOT_TOOLS,
    "opencode": OPENCODE_TOOLS,
}
