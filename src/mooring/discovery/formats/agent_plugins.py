"""Agent Plugins (agent-plugins.org), in the folders of installed plugins: every entry says its type."""

from collections.abc import Iterable, Mapping

from mooring.discovery.dialect import PLUGIN
from mooring.discovery.format import Context, Entry, Format, Place, Sheet, fields
from mooring.discovery.formats.claude_plugins import FOLDERS
from mooring.discovery.scan import maps

_SCHEMA = "https://agent-plugins.org/schemas/"


def _gather(format: Format, sheets: tuple[Sheet, ...], context: Context) -> Iterable[Entry]:
    return maps(format, tuple(filter(_is_one, sheets)), context)


def _is_one(sheet: Sheet) -> bool:
    data = sheet.document.data
    return isinstance(data, Mapping) and str(data.get("$schema")).startswith(_SCHEMA)


FORMAT = Format(
    tool="shared",
    title="Agent Plugins",
    places=(Place("user", "{each}/mcp.json", each=FOLDERS, here=("PLUGIN_ROOT",)),),
    fields=fields(type="type", command="command", args="args", env="env", cwd="cwd", url="url", headers="headers"),
    types={"stdio": "stdio", "http": "http", "sse": "sse"},
    typed=True,
    dialect=PLUGIN,
    gather=_gather,
)
