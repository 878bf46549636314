"""magenta.nvim: no types and no placeholders; a list of tools makes an entry a mock."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import NO_SERVER, Format, Writes, fields, project_file, user_file
from mooring.discovery.values import EntryRefused, NoServer


def prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    # An entry copied from Copilot's files, where `tools` is a filter, stops being a real server in magenta.nvim.
    if isinstance(raw.get("tools"), list):
        raise NoServer(
            f"is not a server to connect to: it {NO_SERVER['mock']}", "remove `tools` to make it one", "tools"
        )
    # A url wins over a command.
    if "url" in raw:
        return {**raw, "command": None}
    if "command" in raw and not isinstance(raw.get("args"), list):
        raise EntryRefused(
            "has no list of `args`, which magenta.nvim requires", "add `args`, as an empty list if there are none"
        )
    return raw


_FIELDS = fields(
    {"requestInit.headers": "headers"}, command="command", args="args", env="env", url="url", enabled="enabled",
)  # fmt: skip


def _arrange(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"command": raw["command"], "args": [], **raw} if "command" in raw else raw


FORMAT = Format(
    tool="magenta",
    title="magenta.nvim",
    places=(project_file(".magenta/options.json"), user_file("~/.magenta/options.json")),
    name_pattern="[A-Za-z0-9-]+",
    fields=_FIELDS,
    dialect=PLAIN,
    prepare=prepare,
    writes=Writes(
        user=(user_file("~/.magenta/options.json"),),
        project=(project_file(".magenta/options.json"),),
        types={},
        arrange=_arrange,
    ),
)
