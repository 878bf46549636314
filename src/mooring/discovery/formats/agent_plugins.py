"""Agent Plugins (agent-plugins.org), in the folders of installed plugins: a closed set of keys, each with its rule."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from msgspec.structs import replace

from mooring.discovery.dialect import PLUGIN
from mooring.discovery.format import Format, Place, RawEntry, ScanContext, Sheet, fields
from mooring.discovery.formats import claude_plugins, codex_plugins, omp_plugins
from mooring.discovery.scan import maps
from mooring.discovery.values import EntryRefused, NoServer
from mooring.syntax import Document

_SCHEMAS = "https://agent-plugins.org/schemas/"
_SCHEMA = f"{_SCHEMAS}1.0.0/mcp.schema.json"
_KEYS = {
    "stdio": frozenset({"type", "command", "args", "env", "cwd"}),
    "remote": frozenset({"type", "url", "headers"}),
}
# Patterns stay texts until there is such a plugin.
_FOLDER = r"\./|\$\{PLUGIN_(?:ROOT|DATA)\}(?:/|\Z)"
_SAFE = (
    r"(?i)https://[^/?#@]+(?:[/?][^#]*)?\Z|http://(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})(?::\d+)?(?:[/?][^#]*)?\Z"
)


def _gather(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    for entry in maps(
        format, tuple(sheet for sheet in sheets if _schema(sheet.document).startswith(_SCHEMAS)), context
    ):
        known = _schema(entry.document) == _SCHEMA
        yield entry if known else replace(entry, prepare=_unknown)


def _schema(document: Document) -> str:
    return str(document.data.get("$schema")) if isinstance(document.data, Mapping) else ""


def _unknown(raw: Mapping[str, Any]) -> NoReturn:
    raise NoServer("belongs to a version of Agent Plugins that is not known", "nothing to do; it is left out")


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if "type" not in raw:
        return raw
    known = _KEYS["stdio" if raw.get("type") == "stdio" else "remote"]
    if unknown := sorted(map(str, raw.keys() - known)):
        raise EntryRefused(f"has `{unknown[0]}`, which such a plugin cannot have", "remove it", unknown[0])
    if raw.get("type") == "stdio":
        _check_program(raw)
    elif isinstance(url := raw.get("url"), str) and not re.match(_SAFE, url):
        raise EntryRefused(
            "`url` is not https, or holds a login or a fragment", "a plugin reaches others by https", "url"
        )
    return raw


def _check_program(raw: Mapping[str, Any]) -> None:
    command, cwd, env = raw.get("command"), raw.get("cwd"), raw.get("env")
    if isinstance(command, str) and not command.startswith("./") and re.search(r"[/\\]", command):
        raise EntryRefused("`command` is neither a bare name nor a path in the plugin", "begin it with `./`", "command")
    for path in (command, cwd):
        if isinstance(path, str) and ".." in re.split(r"[/\\]", path):
            raise EntryRefused("leads out of the plugin", "name what lies in it", "cwd" if path is cwd else "command")
    if isinstance(cwd, str) and not re.match(_FOLDER, cwd):
        raise EntryRefused(
            "`cwd` is not in the plugin", "begin it with `./`, `${PLUGIN_ROOT}` or `${PLUGIN_DATA}`", "cwd"
        )
    if isinstance(env, Mapping) and (own := {"PLUGIN_ROOT", "PLUGIN_DATA"} & env.keys()):
        raise EntryRefused(f"sets {min(own)}, which is not its own to set", "remove it", "env")


FORMAT = Format(
    tool="shared",
    title="Agent Plugins",
    places=tuple(
        Place("user", "{each}/mcp.json", each=plugins.FOLDERS, here=("PLUGIN_ROOT",))
        for plugins in (omp_plugins, codex_plugins, claude_plugins)
    ),
    fields=fields(type="type", command="command", args="args", env="env", cwd="cwd", url="url", headers="headers"),
    types={"stdio": "stdio", "http": "http", "sse": "sse"},
    typed=True,
    dialect=PLUGIN,
    prepare=_prepare,
    gather=_gather,
    relative=True,
    at_home=True,
)
