"""Roo Code: a URL needs a type, times are seconds between 1 and 3600; a setting of the editor may move its files."""

from mooring.discovery.dialect import ROO
from mooring.discovery.format import (
    BASIC,
    COMMON,
    Folders,
    Format,
    Obeyed,
    Switch,
    Writes,
    fields,
    files_in,
    project_file,
    user_file,
)
from mooring.discovery.formats.cline import TIMEOUT

_EDITORS = tuple(f"{{app}}/{name}/User" for name in ("Code", "Code - Insiders", "Cursor"))
_STORAGE = "globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"
_MOVED = tuple(Switch(user_file(f"{editor}/settings.json"), ("roo-cline.customStoragePath",)) for editor in _EDITORS)

FORMAT = Format(
    tool="roo",
    title="Roo Code",
    places=(
        *files_in(Folders("roo", registries=_MOVED), "settings/mcp_settings.json"),
        project_file(".roo/mcp.json"),
        *(user_file(f"{editor}/{_STORAGE}") for editor in _EDITORS),
    ),
    fields={**COMMON, **fields(timeout=TIMEOUT, disabledTools="tools_deny")},
    types={"stdio": "stdio", "sse": "sse", "streamable-http": "http"},
    untyped_url=None,
    dialect=ROO,
    writes=Writes(
        user=(user_file(f"{_EDITORS[0]}/{_STORAGE}"),),
        project=(project_file(".roo/mcp.json"),),
        slots=(*BASIC, "cwd", "call_timeout", "disabled", "tools_deny"),
        types={"stdio": "stdio", "http": "streamable-http", "sse": "sse"},
    ),
    obeys=(
        Obeyed("rules", ".roo/rules", "~/.roo/rules"),
        Obeyed("rules", ".roorules"),
        Obeyed("agents", ".roomodes"),
        Obeyed("commands", ".roo/commands", "~/.roo/commands"),
        Obeyed("skills", ".roo/skills", "~/.roo/skills"),
    ),
)
