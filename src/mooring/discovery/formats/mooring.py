"""Mooring's own files: the common shape with every key that any tool has, published as a JSON schema."""

from mooring.discovery.dialect import MOORING
from mooring.discovery.format import COMMON, Format, fields, project_file, user_file

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
            allowedTools="tools_allow",
            blockedTools="tools_deny",
        ),
    },
    closed=True,
    dialect=MOORING,
)
