"""OpenCode's own tools, read from the schemas in its program."""

from typing import Final

from mooring.backends.own_tools.schema import OwnToolSchema, ProgramSchema

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
