"""Roo Code: an address needs its type, seconds between 1 and 3600."""

from mooring.discovery.dialect import WORKSPACE
from mooring.discovery.format import COMMON, Format, fields, project, user
from mooring.discovery.formats.cline import TIMEOUT

_STORAGE = "User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"

FORMAT = Format(
    tool="roo",
    title="Roo Code",
    places=(
        project(".roo/mcp.json"),
        user(f"{{app}}/Code/{_STORAGE}"),
        user(f"{{app}}/Code - Insiders/{_STORAGE}"),
        user(f"{{app}}/Cursor/{_STORAGE}"),
    ),
    fields={**COMMON, **fields(timeout=TIMEOUT, disabledTools="tools_deny")},
    types={"stdio": "stdio", "sse": "sse", "streamable-http": "http"},
    untyped=None,
    dialect=WORKSPACE,
)
