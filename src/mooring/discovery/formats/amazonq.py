"""Amazon Q CLI: its agents' files before the older `mcp.json`; a remote server must say so."""

from mooring.discovery.dialect import ENV
from mooring.discovery.format import COMMON, Format, fields, project, user

FORMAT = Format(
    tool="amazonq",
    title="Amazon Q CLI",
    places=(
        project(".amazonq/cli-agents/*.json"),
        project(".amazonq/mcp.json"),
        user("~/.aws/amazonq/cli-agents/*.json"),
        user("~/.aws/amazonq/mcp.json"),
    ),
    fields={**COMMON, **fields(timeout="call_timeout", oauthScopes="oauth_scopes")},
    types={"stdio": "stdio", "http": "http"},
    untyped=None,
    dialect=ENV,
)
