"""Mooring's own files: the common shape with every key that any tool has, published as a JSON schema."""

from mooring.discovery.dialect import OWN
from mooring.discovery.format import COMMON, Format, fields, project, user

FORMAT = Format(
    tool="mooring",
    title="Mooring",
    places=(project(".mooring/mcp.json"), user("{mooring}/mcp.json")),
    fields={
        **COMMON,
        **fields(
            passEnv="pass_env",
            startTimeout="start_timeout",
            callTimeout="call_timeout",
            allowedTools="tools_allow",
            blockedTools="tools_deny",
        ),
    },
    dialect=OWN,
)
