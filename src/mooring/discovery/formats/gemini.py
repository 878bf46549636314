"""Gemini CLI: an old word for HTTP, names compared without regard to case, servers switched off in three places."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from mooring.core.definitions.config import Origin, Scope
from mooring.discovery.dialect import GEMINI
from mooring.discovery.documents import dig
from mooring.discovery.format import (
    BASIC,
    COMMON,
    NO_SERVER,
    PROJECT,
    Format,
    Obeyed,
    Place,
    RawEntry,
    Remark,
    ScanContext,
    Sheet,
    Switch,
    Writes,
    fields,
    login_keys,
    obeyed_everywhere,
    obeyed_folders,
    project_file,
    system_files,
    user_file,
)
from mooring.discovery.scan import gather_entries
from mooring.discovery.values import NoServer

# Qwen Code is a fork: what both have takes the names and folders that differ.


def _list_settings(project: str, home: str, folders: tuple[str, str], variable: str) -> tuple[Place, ...]:
    """The settings, highest first: the machine's, then everyone's, then the machine's defaults."""
    return (
        *_machine_file("managed", "settings.json", *folders, f"{variable}_SYSTEM_SETTINGS_PATH"),
        project_file(f"{project}/settings.json"),
        user_file(f"{home}/settings.json"),
        *_machine_file("user", "system-defaults.json", *folders, f"{variable}_SYSTEM_DEFAULTS_PATH"),
    )


def _machine_file(scope: Scope, name: str, folder: str, mac_folder: str, moved_by: str) -> tuple[Place, ...]:
    usual = system_files(
        scope,
        linux=f"/etc/{folder}/{name}",
        darwin=f"/Library/Application Support/{mac_folder}/{name}",
        win32=f"{{programdata}}/{folder}/{name}",
    )
    return (Place(scope, f"${{{moved_by}}}"), *(replace(place, unless_set=(moved_by,)) for place in usual))


def extensions(home: str, manifest: str) -> Place:
    states = Switch(user_file(f"{home}/extensions/extension-enablement.json"), (), "paths")
    return Place("user", f"{home}/extensions/*/{manifest}", folder_variables=("extensionPath",), off=(states,))


def off_switches(places: tuple[Place, ...], home: str) -> tuple[Switch, ...]:
    return (
        *(Switch(place, ("mcp", "excluded"), fold=True) for place in places),
        *(Switch(place, ("mcp", "allowed"), "only", fold=True) for place in places),
        Switch(user_file(f"{home}/mcp-server-enablement.json"), (), "states", fold=True),
    )


def gather(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    """The usual maps, and the older `mcp.serverCommand`: one command line for one server."""
    yield from gather_entries(format, sheets, context)
    for order, sheet in enumerate(sheets):
        for key, line in dig(sheet.document.data, ("mcp", "serverCommand"), context):
            if not isinstance(line, str) or not line.split():
                continue
            program, *args = line.split()
            origin = Origin(format.tool, sheet.place.scope, sheet.path, key)
            yield RawEntry("mcp", {"command": program, "args": args}, origin, sheet.document, order)


def prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if "tcp" in raw and not {"command", "url", "httpUrl"} & raw.keys():
        raise NoServer(f"is not a server to connect to: it {NO_SERVER['tcp']}", "nothing to do; it is skipped", "tcp")
    # The deprecated `httpUrl` says both the address and the type, and wins over `url`.
    if raw.get("httpUrl"):
        return {**raw, "url": None, "type": "http"}
    return raw


def remarks(raw: Mapping[str, Any]) -> Iterable[Remark]:
    if raw.get("authProviderType") not in (None, "dynamic_discovery"):
        remark = "uses a login with Google, which only its tool supports"
        yield "authProviderType", remark, "give it a token in `headers`"


FIELDS = {
    **fields(httpUrl="url"),
    **COMMON,
    **fields(timeout="call_timeout", includeTools="tools_allow", excludeTools="tools_deny"),
}
_HOME = "${GEMINI_CLI_HOME:-~}/.gemini"
_PLACES = _list_settings(".gemini", _HOME, ("gemini-cli", "GeminiCli"), "GEMINI_CLI")

WRITES = Writes(
    slots=(*BASIC, "cwd", "call_timeout", "tools_allow", "tools_deny", "oauth"),
    keys={"url": "url"},
    oauth=login_keys("client_id", "client_secret", "redirect_uri", "scopes"),
)

FORMAT = Format(
    tool="gemini",
    title="Gemini CLI",
    places=(*_PLACES, extensions(_HOME, "gemini-extension.json")),
    gather=gather,
    fields=FIELDS,
    dialect=GEMINI,
    prepare=prepare,
    remarks=remarks,
    off=off_switches(_PLACES, _HOME),
    trust_marks=(Switch(user_file(f"{_HOME}/trustedFolders.json"), (), "folders"),),
    writes=WRITES,
    obeys=(
        *obeyed_folders(".gemini", "agents", "skills", "commands"),
        Obeyed("rules", "GEMINI.md", "~/.gemini/GEMINI.md"),
        obeyed_everywhere("hooks", ".gemini/extensions"),
        obeyed_everywhere("settings", ".gemini/settings.json"),
    ),
)


_QWEN_HOME = "${QWEN_HOME:-~/.qwen}"
_QWEN_PLACES = _list_settings(".qwen", _QWEN_HOME, ("qwen-code", "QwenCode"), "QWEN_CODE")
_QWEN_APPROVALS = user_file(f"{_QWEN_HOME}/mcpApprovals.json")


def _arrange_qwen(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """`httpUrl` says that an address is not SSE's."""
    if raw.get("type") != "http":
        return raw
    entry = {key: value for key, value in raw.items() if key not in ("type", "url")}
    return {**entry, "httpUrl": raw["url"]}


# Qwen Code: Gemini's shape, but a URL without a type is SSE, and its own state is elsewhere.
QWEN = replace(
    FORMAT,
    tool="qwen",
    title="Qwen Code",
    places=(*_QWEN_PLACES, extensions(_QWEN_HOME, "qwen-extension.json")),
    fields={**FIELDS, **fields(discoveryTimeoutMs="start_timeout", alwaysLoadTools="always_load")},
    untyped_url="sse",
    off=(*off_switches(_QWEN_PLACES, _QWEN_HOME), Switch(_QWEN_APPROVALS, (PROJECT,), "rejected")),
    trust_marks=(Switch(_QWEN_APPROVALS, (PROJECT,), "approved"),),
    writes=replace(WRITES, slots=(*WRITES.slots, "start_timeout"), arrange=_arrange_qwen),
    obeys=(
        *obeyed_folders(".qwen", "agents", "skills", "commands"),
        Obeyed("rules", "QWEN.md", "~/.qwen/QWEN.md"),
        obeyed_everywhere("hooks", ".qwen/extensions"),
        obeyed_everywhere("settings", ".qwen/settings.json"),
    ),
)
