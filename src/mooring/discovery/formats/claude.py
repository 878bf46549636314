"""Claude Code's own folders and `~/.claude.json`, where it also keeps each project's private servers."""

from typing import Any

from msgspec import UNSET, Struct

from mooring.discovery.format import COMMON, PROJECT, Format, Place, Switch, fields, project, system, user

HOME = "${CLAUDE_CONFIG_DIR:-~/.claude}"
STATE = "${CLAUDE_CONFIG_DIR:-~}/.claude.json"
LARGE = 256 * 1024 * 1024

MANAGED = system(
    "managed",
    linux="/etc/claude-code/managed-mcp.json",
    darwin="/Library/Application Support/ClaudeCode/managed-mcp.json",
    win32="C:/Program Files/ClaudeCode/managed-mcp.json",
)
OFF = Switch(user(STATE), ("projects", PROJECT, "disabledMcpServers"))
FIELDS = {**COMMON, **fields(timeout="call_timeout", tools="tools_policy")}


class Project(Struct):
    """What concerns servers in one project of `~/.claude.json`."""

    mcpServers: Any = UNSET  # noqa: N815  # the file's own words
    disabledMcpServers: Any = UNSET  # noqa: N815
    enabledMcpjsonServers: Any = UNSET  # noqa: N815
    disabledMcpjsonServers: Any = UNSET  # noqa: N815


class State(Struct):
    """What concerns servers in `~/.claude.json`, which grows to hundreds of megabytes with everything else."""

    mcpServers: Any = UNSET  # noqa: N815
    projects: dict[str, Project] = {}


FORMAT = Format(
    tool="claude-code",
    title="Claude Code",
    places=(
        *MANAGED,
        Place("project", STATE, ("projects", PROJECT, "mcpServers"), owned=True),
        project(".claude/.mcp.json"),
        project(".claude/mcp.json"),
        user(STATE),
        user(f"{HOME}/mcp.json"),
    ),
    fields=FIELDS,
    ask_for_type=True,
    off=(OFF,),
    exclusive=MANAGED,
    limit=LARGE,
    pick=State,
)
