"""Copilot's own tools, as its program offers them to a model."""

from collections.abc import Mapping
from typing import Final

from mooring.backends.own_tools.schema import ArgumentRole, OwnToolSchema, ProgramSchema

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
