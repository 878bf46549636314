"""Crush: values go through a shell; an entry may be only a login, and its other files are shell scripts."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import CRUSH
from mooring.discovery.format import (
    BASIC,
    SECONDS,
    Field,
    Format,
    Obeyed,
    Place,
    Unreadable,
    Writes,
    fields,
    project_file,
    system_files,
    user_file,
)
from mooring.discovery.values import NoServer


def _movable(variable: str, usual: str, name: str) -> tuple[Place, Place]:
    """A file in a folder that a variable moves."""
    return user_file(f"${{{variable}}}/{name}"), user_file(f"{usual}/crush/{name}", unless_set=(variable,))


_CONFIG = ("CRUSH_GLOBAL_CONFIG", "{xdg}")
_SCRIPTS = (project_file(".crushrc"), project_file("crushrc"), *_movable(*_CONFIG, "crushrc"))


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    # Crush writes the tokens of servers from other layers into its data file.
    if raw and raw.keys() <= {"oauth_token", "oauth_client_id", "oauth_client_secret"}:
        raise NoServer("is not a server: it only has the login of one", "nothing to do; it is skipped")
    return raw


_FIELDS = fields(
    type="type", command="command", args="args", env="env", url="url", headers="headers", disabled="disabled",
    enabled="enabled", timeout=Field("call_timeout", SECONDS, whole=True),
    disabled_tools="tools_deny", enabled_tools="tools_allow",
    oauth="oauth", oauth_client_id="oauth_client_id", oauth_client_secret="oauth_client_secret",
    oauth_callback_port="oauth_port",
)  # fmt: skip

FORMAT = Format(
    tool="crush",
    title="Crush",
    places=(
        project_file(".crush.json"),
        project_file("crush.json"),
        *_movable("CRUSH_GLOBAL_DATA", "{data}", "crush.json"),
        *_movable(*_CONFIG, "crush.json"),
        *system_files(
            "user",
            linux="/etc/crush/crush.json",
            darwin="/etc/crush/crush.json",
            win32="{programdata}/crush/crush.json",
        ),
    ),
    key=("mcp",),
    fields=_FIELDS,
    types={"stdio": "stdio", "http": "http", "sse": "sse"},
    type_required=True,
    dialect=CRUSH,
    prepare=_prepare,
    unreadable=tuple(
        Unreadable(
            place,
            "The file is a shell script, so the servers that it sets up for Crush cannot be read",
            "move them to crush.json beside it, under `mcp`",
            (b"mcp",),
        )
        for place in _SCRIPTS
    ),
    writes=Writes(
        user=_movable(*_CONFIG, "crush.json"),
        project=(project_file(".crush.json"), project_file("crush.json")),
        slots=(
            *BASIC,
            "disabled",
            "call_timeout",
            "tools_allow",
            "tools_deny",
            "oauth_client_id",
            "oauth_client_secret",
            "oauth_port",
        ),
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
    ),
    obeys=(
        Obeyed("rules", "CRUSH.md", "{xdg}/crush/CRUSH.md"),
        Obeyed("rules", "CRUSH.local.md"),
        Obeyed("commands", ".crush/commands", "{xdg}/crush/commands"),
        Obeyed("skills", ".crush/skills", "{xdg}/crush/skills"),
    ),
)
