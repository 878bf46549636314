"""Crush: values go through a shell; entries may be only a login, and its other files are shell scripts."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import SHELL
from mooring.discovery.format import SECONDS, Field, Format, Place, Unreadable, fields, project, system, user
from mooring.discovery.values import NoServer


def _global(variable: str, usual: str, name: str) -> tuple[Place, Place]:
    return user(f"${{{variable}}}/{name}"), user(f"{usual}/crush/{name}", unless=(variable,))


_CONFIG = ("CRUSH_GLOBAL_CONFIG", "{xdg}")
_SCRIPTS = (project(".crushrc"), project("crushrc"), *_global(*_CONFIG, "crushrc"))


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if raw and raw.keys() <= {"oauth_token", "oauth_client_id", "oauth_client_secret"}:
        raise NoServer("is no server: it only holds the login of one", "nothing to do; it is left out")
    return raw


_FIELDS = fields(
    type="type", command="command", args="args", env="env", url="url", headers="headers", disabled="disabled",
    enabled="enabled", timeout=Field("call_timeout", SECONDS), disabled_tools="tools_deny", enabled_tools="tools_allow",
    oauth="oauth", oauth_client_id="oauth_client_id", oauth_client_secret="oauth_client_secret",
    oauth_callback_port="oauth_port",
)  # fmt: skip

FORMAT = Format(
    tool="crush",
    title="Crush",
    places=(
        project(".crush.json"),
        project("crush.json"),
        *_global("CRUSH_GLOBAL_DATA", "{data}", "crush.json"),
        *_global(*_CONFIG, "crush.json"),
        *system(
            "user",
            linux="/etc/crush/crush.json",
            darwin="/etc/crush/crush.json",
            win32="{programdata}/crush/crush.json",
        ),
    ),
    key=("mcp",),
    fields=_FIELDS,
    types={"stdio": "stdio", "http": "http", "sse": "sse"},
    typed=True,
    dialect=SHELL,
    prepare=_prepare,
    unreadable=tuple(
        Unreadable(
            place,
            "The file is a shell script, so the servers that it sets up for Crush cannot be read",
            "move them into crush.json beside it, under `mcp`",
            (b"mcp",),
        )
        for place in _SCRIPTS
    ),
)
