"""Roo Code: an address needs its type, seconds between 1 and 3600; a setting of the editor may move its files."""

from mooring.discovery.dialect import WORKSPACE
from mooring.discovery.format import COMMON, Folders, Format, Switch, fields, inside, project, user
from mooring.discovery.formats.cline import TIMEOUT

_EDITORS = tuple(f"{{app}}/{name}/User" for name in ("Code", "Code - Insiders", "Cursor"))
_STORAGE = "globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"
_MOVED = tuple(Switch(user(f"{editor}/settings.json"), ("roo-cline.customStoragePath",)) for editor in _EDITORS)

FORMAT = Format(
    tool="roo",
    title="Roo Code",
    places=(
        *inside(Folders("roo", _MOVED), "settings/mcp_settings.json"),
        project(".roo/mcp.json"),
        *(user(f"{editor}/{_STORAGE}") for editor in _EDITORS),
    ),
    fields={**COMMON, **fields(timeout=TIMEOUT, disabledTools="tools_deny")},
    types={"stdio": "stdio", "sse": "sse", "streamable-http": "http"},
    untyped=None,
    dialect=WORKSPACE,
)
