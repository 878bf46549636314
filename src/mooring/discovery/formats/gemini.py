"""Gemini CLI: an old word for HTTP, names compared without regard to case, servers switched off in three places."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mooring.core.config import Origin
from mooring.discovery.dialect import LOOSE
from mooring.discovery.documents import dig
from mooring.discovery.format import (
    COMMON,
    NO_SERVER,
    Format,
    Place,
    RawEntry,
    Remark,
    ScanContext,
    Sheet,
    Switch,
    fields,
    project,
    system,
    user,
)
from mooring.discovery.scan import maps
from mooring.discovery.values import NoServer


def machine(linux: str, darwin: str, variable: str) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """The machine's own settings over the person's, and its defaults under them; variables may move both."""

    def file(scope: Any, name: str, kind: str) -> tuple[Place, ...]:
        moved = f"{variable}_{kind}_PATH"
        places = system(
            scope,
            linux=f"/etc/{linux}/{name}",
            darwin=f"/Library/Application Support/{darwin}/{name}",
            win32=f"{{programdata}}/{linux}/{name}",
        )
        fixed = (Place(scope, place.path, only=place.only, unless=(moved,)) for place in places)
        return (Place(scope, f"${{{moved}}}"), *fixed)

    return file("managed", "settings.json", "SYSTEM_SETTINGS"), file("user", "system-defaults.json", "SYSTEM_DEFAULTS")


def gather(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    """The usual maps, and the older `mcp.serverCommand`: one command line for one server."""
    yield from maps(format, sheets, context)
    for order, sheet in enumerate(sheets):
        for key, line in dig(sheet.document.data, ("mcp", "serverCommand"), context):
            if isinstance(line, str) and line.split():
                program, *args = line.split()
                origin = Origin(format.tool, sheet.place.scope, sheet.path, key)
                yield RawEntry("mcp", {"command": program, "args": args}, origin, sheet.document, order)


def switches(places: Iterable[Place], home: str) -> tuple[Switch, ...]:
    places = tuple(places)
    return (
        *(Switch(place, ("mcp", "excluded"), fold=True) for place in places),
        *(Switch(place, ("mcp", "allowed"), "only", fold=True) for place in places),
        Switch(user(f"{home}/mcp-server-enablement.json"), (), "states", fold=True),
    )


def extensions(home: str, name: str) -> Place:
    states = Switch(user(f"{home}/extensions/extension-enablement.json"), (), "paths")
    return Place("user", f"{home}/extensions/*/{name}", here=("extensionPath",), off=(states,))


def prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The older `httpUrl` says the type, and counts before `url`."""
    if "tcp" in raw and not {"command", "url", "httpUrl"} & raw.keys():
        raise NoServer(f"is no server to connect to: it {NO_SERVER['tcp']}", "nothing to do; it is left out", "tcp")
    return {**raw, "url": None, "type": "http"} if raw.get("httpUrl") else raw


def remarks(raw: Mapping[str, Any]) -> Iterable[Remark]:
    if raw.get("authProviderType") not in (None, "dynamic_discovery"):
        yield "authProviderType", "names a login with Google, which only its tool has", "give it a token in `headers`"


FIELDS = {
    **fields(httpUrl="url"),
    **COMMON,
    **fields(timeout="call_timeout", includeTools="tools_allow", excludeTools="tools_deny"),
}
_HOME = "${GEMINI_CLI_HOME:-~}/.gemini"
_OVER, _UNDER = machine("gemini-cli", "GeminiCli", "GEMINI_CLI")
_PLACES = (*_OVER, project(".gemini/settings.json"), user(f"{_HOME}/settings.json"), *_UNDER)

FORMAT = Format(
    tool="gemini",
    title="Gemini CLI",
    places=(*_PLACES, extensions(_HOME, "gemini-extension.json")),
    fields=FIELDS,
    dialect=LOOSE,
    prepare=prepare,
    remarks=remarks,
    gather=gather,
    off=switches(_PLACES, _HOME),
    trust_marks=(Switch(user(f"{_HOME}/trustedFolders.json"), (), "folders"),),
)
