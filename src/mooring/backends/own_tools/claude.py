"""Claude Code's own tools, as its program offers them to a model; with those that older versions offer."""

from typing import Final

from mooring.backends.own_tools.schema import OwnToolSchema, ProgramSchema

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
