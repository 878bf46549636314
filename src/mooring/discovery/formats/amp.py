"""Amp: one key with a dot in it; rules of its own say what may start."""

from mooring.discovery.dialect import AMP
from mooring.discovery.format import (
    BASIC,
    COMMON,
    Format,
    Obeyed,
    Switch,
    Writes,
    fields,
    project_file,
    system_files,
    user_file,
)

_MANAGED = system_files(
    "managed",
    linux="/etc/ampcode/managed-settings.json",
    darwin="/Library/Application Support/ampcode/managed-settings.json",
    win32="{programdata}/ampcode/managed-settings.json",
)
_USER = (user_file("{xdg}/amp/settings.json"), user_file("{xdg}/amp/settings.jsonc"))

FORMAT = Format(
    tool="amp",
    title="Amp",
    places=(*_MANAGED, project_file(".amp/settings.json"), project_file(".amp/settings.jsonc"), *_USER),
    # One key with a dot in it, not a path of two.
    key=("amp.mcpServers",),
    name_pattern="[A-Za-z0-9@/_-]+",
    fields={**COMMON, **fields(includeTools="tools_allow")},
    dialect=AMP,
    policies=tuple(Switch(place, ("amp.mcpPermissions",), "rules") for place in (*_MANAGED, *_USER)),
    trust_marks=tuple(Switch(place, ("amp.mcpTrustedServers",), "servers") for place in _USER),
    writes=Writes(
        user=_USER,
        project=(project_file(".amp/settings.json"), project_file(".amp/settings.jsonc")),
        slots=(*BASIC, "tools_allow"),
        types={},
    ),
    obeys=(
        Obeyed("rules", "AGENT.md", "{xdg}/amp/AGENTS.md"),
        Obeyed("rules", "AGENTS.md", "{xdg}/AGENTS.md"),
        Obeyed("commands", ".agents/commands", "{xdg}/amp/commands"),
        Obeyed("hooks", ".amp/plugins", "{xdg}/amp/plugins"),
        Obeyed("hooks", ".amp/toolbox", "{xdg}/amp/toolbox"),
    ),
)
