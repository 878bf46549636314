"""Mooring's own files: the common shape with every key that any tool has, published as a JSON schema."""

from mooring.discovery.dialect import MOORING
from mooring.discovery.format import (
    BASIC,
    COMMON,
    LOGIN_KEYS,
    Format,
    Obeyed,
    Slot,
    Writes,
    fields,
    obeyed_folders,
    project_file,
    user_file,
)

_SLOTS: tuple[Slot, ...] = (
    *BASIC, "cwd", "pass_env", "env_file", "headers_helper", "enabled", "required", "start_timeout", "call_timeout",
    "max_in_flight", "max_message_bytes", "era", "tools_allow", "tools_deny", "oauth", "always_load", "lifecycle",
)  # fmt: skip

FORMAT = Format(
    tool="mooring",
    title="Mooring",
    places=(project_file(".mooring/mcp.json"), user_file("{mooring}/mcp.json")),
    fields={
        **COMMON,
        **fields(
            passEnv="pass_env",
            startTimeout="start_timeout",
            callTimeout="call_timeout",
            maxInFlight="max_in_flight",
            maxMessageBytes="max_message_bytes",
            era="era",
            allowedTools="tools_allow",
            blockedTools="tools_deny",
        ),
    },
    closed=True,
    dialect=MOORING,
    writes=Writes(slots=_SLOTS, oauth=LOGIN_KEYS),
    obeys=(
        *obeyed_folders(".mooring", "agents", "skills", "commands", user="{mooring}"),
        Obeyed("instructions", "", "{mooring}/AGENTS.md"),
    ),
)
