"""Cline: seconds between 1 and 3600, a flat or a nested `transport`, live tokens that stay where they are."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import ENV
from mooring.discovery.format import SECONDS, Field, Format, fields, user, without

_NAME = "cline_mcp_settings.json"
TIMEOUT = Field("call_timeout", SECONDS, (1, 3600))


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**raw, **nested} if isinstance(nested := raw.get("transport"), Mapping) else raw


FORMAT = Format(
    tool="cline",
    title="Cline",
    places=(
        user("${CLINE_MCP_SETTINGS_PATH}"),
        user(f"${{CLINE_DATA_DIR}}/settings/{_NAME}", unless=("CLINE_MCP_SETTINGS_PATH",)),
        user(f"${{CLINE_DIR:-~/.cline}}/data/settings/{_NAME}", unless=("CLINE_MCP_SETTINGS_PATH", "CLINE_DATA_DIR")),
        user(f"{{app}}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/{_NAME}"),
        user(f"~/Documents/Cline/MCP/{_NAME}"),
    ),
    fields={
        **without("transport", "oauth", "auth"),
        **fields(transportType="type", timeout=TIMEOUT, oauthClient="oauth"),
    },
    untyped="sse",
    dialect=ENV,
    prepare=_prepare,
)
