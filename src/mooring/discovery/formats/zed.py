"""Zed: `context_servers` in its settings, times in seconds; an entry that configures an extension is not a server."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import (
    BASIC,
    NO_SERVER,
    SECONDS,
    Field,
    Format,
    Obeyed,
    Writes,
    fields,
    project_file,
    user_file,
)
from mooring.discovery.values import NoServer


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    command = raw.get("command")
    if command is None and "url" not in raw:
        reason = f"is not a server to connect to: it {NO_SERVER['extension']}"
        raise NoServer(reason, "nothing to do; it is skipped", "settings" if "settings" in raw else None)
    # Older files have the program and its arguments inside `command`.
    if isinstance(command, Mapping):
        return {**raw, "command": command.get("path"), "args": command.get("args"), "env": command.get("env")}
    return raw


_FIELDS = fields(
    command="command", args="args", env="env", url="url", headers="headers", enabled="enabled", oauth="oauth",
    timeout=Field("call_timeout", SECONDS, whole=True),
)  # fmt: skip

# On macOS, too, Zed uses ~/.config, but without $XDG_CONFIG_HOME.
_USER = (
    user_file("{xdg}/zed/settings.json", platform="linux"),
    user_file("~/.config/zed/settings.json", platform="darwin"),
    user_file("{app}/Zed/settings.json", platform="win32"),
)

FORMAT = Format(
    tool="zed",
    title="Zed",
    places=(
        project_file(".zed/settings.json"),
        *_USER,
    ),
    key=("context_servers",),
    fields=_FIELDS,
    defaults={"timeout": ("context_server_timeout",)},
    untyped_url="http",
    dialect=PLAIN,
    prepare=_prepare,
    writes=Writes(
        user=_USER,
        project=(project_file(".zed/settings.json"),),
        slots=(*BASIC, "enabled", "call_timeout", "oauth"),
        types={},
        oauth={"client_id": "client_id", "client_secret": "client_secret"},
        # Without them, Zed takes the entry for the settings of an extension.
        always_args=True,
    ),
    obeys=(
        Obeyed("rules", ".rules"),
        Obeyed("hooks", ".zed/tasks.json", "{xdg}/zed/tasks.json"),
        Obeyed("settings", ".zed/settings.json", "{xdg}/zed/settings.json"),
    ),
)
