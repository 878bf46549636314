"""Kiro, the successor of Amazon Q: the same shape with other placeholders."""

from mooring.discovery.dialect import VARS
from mooring.discovery.format import COMMON, Format, fields, project, user

FORMAT = Format(
    tool="kiro",
    title="Kiro",
    places=(project(".kiro/settings/mcp.json"), user("~/.kiro/settings/mcp.json")),
    fields={**COMMON, **fields(timeout="call_timeout", disabledTools="tools_deny", oauthScopes="oauth_scopes")},
    dialect=VARS,
)
