"""Kiro, the successor of Amazon Q: the same shape, but a type is optional and placeholders are others."""

from mooring.discovery.dialect import AMP
from mooring.discovery.format import COMMON, Format, fields, project_file, user_file

FORMAT = Format(
    tool="kiro",
    title="Kiro",
    places=(project_file(".kiro/settings/mcp.json"), user_file("~/.kiro/settings/mcp.json")),
    fields={**COMMON, **fields(timeout="call_timeout", disabledTools="tools_deny", oauthScopes="oauth_scopes")},
    dialect=AMP,
)
