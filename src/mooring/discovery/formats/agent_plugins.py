"""Agent Plugins (agent-plugins.org), in the folders of installed plugins: a closed set of keys, each with its rule."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from msgspec.structs import replace

from mooring.discovery.dialect import AGENT_PLUGINS
from mooring.discovery.format import Format, Place, RawEntry, ScanContext, Sheet, fields
from mooring.discovery.formats import claude, codex, common_shape
from mooring.discovery.scan import gather_entries
from mooring.discovery.values import EntryRefused, NoServer, as_mapping
from mooring.syntax.document import Document

_SCHEMAS = "https://agent-plugins.org/schemas/"
_SCHEMA = f"{_SCHEMAS}1.0.0/mcp.schema.json"

_STDIO_KEYS = frozenset({"type", "command", "args", "env", "cwd"})
_REMOTE_KEYS = frozenset({"type", "url", "headers"})
_RESERVED_VARIABLES = frozenset({"PLUGIN_ROOT", "PLUGIN_DATA"})

# Patterns stay strings, compiled only if there is such a plugin.
_FOLDER_IN_PLUGIN = r"\./|\$\{PLUGIN_(?:ROOT|DATA)\}(?:/|\Z)"
# https without a login or a fragment, or plain http on this machine.
_SAFE_ADDRESS = (
    r"(?i)https://[^/?#@]+(?:[/?][^#]*)?\Z|http://(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})(?::\d+)?(?:[/?][^#]*)?\Z"
)


def _gather(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    # Other plugins have an mcp.json, too; only the schema differs.
    ours = tuple(sheet for sheet in sheets if _schema(sheet.document).startswith(_SCHEMAS))
    for entry in gather_entries(format, ours, context):
        is_known = _schema(entry.document) == _SCHEMA
        yield entry if is_known else replace(entry, prepare=_refuse_version)


def _schema(document: Document) -> str:
    return str(as_mapping(document.data).get("$schema"))


def _refuse_version(raw: Mapping[str, Any]) -> NoReturn:
    raise NoServer("belongs to a version of Agent Plugins that is not known", "nothing to do; it is skipped")


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if "type" not in raw:
        return raw
    allowed = _STDIO_KEYS if raw["type"] == "stdio" else _REMOTE_KEYS
    unknown = sorted(map(str, raw.keys() - allowed))
    if unknown:
        raise EntryRefused(f"has `{unknown[0]}`, which such a plugin cannot have", "remove it", unknown[0])
    for key, check in _CHECKS.items():
        value = raw.get(key)
        # A value of the wrong type is refused when the entry is read, with a better message.
        if isinstance(value, str):
            check(value)
    _check_env(raw.get("env"))
    return raw


def _check_command(command: str) -> None:
    if not command.startswith("./") and re.search(r"[/\\]", command):
        raise EntryRefused("`command` is neither a bare name nor a path in the plugin", "begin it with `./`", "command")
    _check_stays_inside(command, "command")


def _check_cwd(cwd: str) -> None:
    _check_stays_inside(cwd, "cwd")
    if not re.match(_FOLDER_IN_PLUGIN, cwd):
        hint = "begin it with `./`, `${PLUGIN_ROOT}` or `${PLUGIN_DATA}`"
        raise EntryRefused("`cwd` is not in the plugin", hint, "cwd")


def _check_stays_inside(path: str, key: str) -> None:
    if ".." in re.split(r"[/\\]", path):
        raise EntryRefused("leads out of the plugin", "name something inside it", key)


def _check_env(env: Any) -> None:
    reserved = _RESERVED_VARIABLES & as_mapping(env).keys()
    if reserved:
        raise EntryRefused(f"sets {min(reserved)}, which a plugin must not set", "remove it", "env")


def _check_url(url: str) -> None:
    if not re.match(_SAFE_ADDRESS, url):
        hint = "a plugin must use https"
        raise EntryRefused("`url` is not https, or contains a login or a fragment", hint, "url")


_CHECKS: Mapping[str, Callable[[str], None]] = {"command": _check_command, "cwd": _check_cwd, "url": _check_url}


FORMAT = Format(
    tool="shared",
    title="Agent Plugins",
    places=tuple(
        Place("user", "{each}/mcp.json", folders=folders, folder_variables=("PLUGIN_ROOT",))
        for folders in (common_shape.OMP_PLUGIN_FOLDERS, codex.PLUGIN_FOLDERS, claude.PLUGIN_FOLDERS)
    ),
    gather=_gather,
    fields=fields(type="type", command="command", args="args", env="env", cwd="cwd", url="url", headers="headers"),
    types={"stdio": "stdio", "http": "http", "sse": "sse"},
    type_required=True,
    dialect=AGENT_PLUGINS,
    prepare=_prepare,
    relative_paths=True,
    start_in_folder=True,
)
