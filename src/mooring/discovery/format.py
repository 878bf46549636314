"""The vocabulary in which a tool's configuration is a row: where it lies, how an entry reads, what switches it off."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.core.config import Origin, Scope, Transport
from mooring.core.template import SecretPart
from mooring.core.where import Platform, Where
from mooring.discovery.dialect import BRACES, Dialect, Inputs
from mooring.syntax import Document, Kind

PROJECT = "<project>"
"""In a key path: the folder one stands in, or the nearest one above it that is named there."""

SECONDS = 1.0
MILLISECONDS = 0.001
MINUTES = 60.0
MIB = 1024 * 1024


class Place(Struct, frozen=True):
    """A file to look for.

    A project's path is relative, and looked for in each folder from the one we stand in up to the project's root.
    Other paths begin with `~`, `{app}`, `{xdg}`, `{data}`, `{local}`, `{programdata}`, `{mooring}` (see `Where`),
    `{system}` for the machine's own files, `{each}` for folders that another file names, or `${VARIABLE:-fallback}`;
    one variable may also stand inside. A place whose variable is unset and has no fallback does not exist. Any path
    may hold one `*`.
    """

    scope: Scope
    path: str
    key: tuple[str, ...] | None = None
    owned: bool = False
    """The file is the person's own though it speaks of a project: what it says needs no approval."""
    only: Platform | None = None
    each: "Folders | None" = None
    """Where the folders stand that `{each}` is, one after the other."""
    here: tuple[str, ...] = ()
    """Variables that stand for the folder of the file, or for the one among `each`."""
    inline: bool = False
    """The path is the name of a variable that holds the text itself."""
    literal: bool = False
    """The path is taken as it is: nothing in it is a variable or a pattern."""
    limit: int = MIB
    pick: Callable[[bytes], Any] | None = None
    """How to take the wanted part out of a file that is larger than `MIB`."""
    unless: tuple[str, ...] = ()
    """Variables that, where one of them is set, put other places in this one's stead."""
    several: bool = False
    """The path is that of several files, as in `$PATH`; the last counts first."""
    off: "tuple[Switch, ...]" = ()
    """Where the folder that a file lies in is switched off by its name."""
    leads: bool = False
    """What stands under the key may also be the path of a file inside the folder, or a list of such."""
    prepare: "Prepare | None" = None
    """Counts instead of the format's for what stands here."""


def kind(path: str) -> Kind:
    """Which sort of text a file is, by its name."""
    match path.rpartition(".")[2]:
        case "toml":
            return "toml"
        case "yaml" | "yml":
            return "yaml"
        case "plist":
            return "plist"
        case _:
            return "json"


class Folder(Struct, frozen=True):
    """One folder that some other file names, such as that of an installed plugin."""

    path: str = ""
    """May end in `/*`: the newest version in it."""
    id: str = ""
    prefix: str = ""
    """Stands before the names of its servers."""
    fixed: "Mapping[str, str]" = {}
    """Variables, and answers to its questions, whose values are known."""
    off: str | None = None
    """Where all of it is switched off."""


class Folders(Struct, frozen=True):
    """Folders that some other file names; how, is known by whose they are."""

    whose: Literal["claude-code", "omp", "codex", "copilot-cli", "factory", "roo"]
    """The tool. They are not looked for where its files are not to be read."""
    listed: "tuple[Switch, ...]"
    """Where they are named."""
    off: "tuple[Switch, ...]" = ()
    """Where folders are switched off by their ids."""
    answers: "tuple[Switch, ...]" = ()
    """Where the person's answers to the questions of plugins are kept, by their ids."""


def user(path: str, *key: str, only: Platform | None = None, unless: tuple[str, ...] = ()) -> Place:
    return Place("user", path, key or None, only=only, unless=unless)


def inside(folders: Folders, *paths: str, here: tuple[str, ...] = ()) -> tuple[Place, ...]:
    """Files in each of the folders. A manifest holds servers among other things, or names the files that do."""
    return tuple(
        Place("user", f"{{each}}/{path}", ("mcpServers",), each=folders, here=here, leads=True)
        if path.endswith("plugin.json")
        else Place("user", f"{{each}}/{path}", each=folders, here=here)
        for path in paths
    )


def project(path: str, *key: str) -> Place:
    return Place("project", path, key or None)


def system(scope: Scope, *, linux: str, darwin: str, win32: str) -> tuple[Place, ...]:
    """A file of the machine rather than the person, by platform."""
    paths: tuple[tuple[Platform, str], ...] = (
        ("linux", f"{{system}}{linux}"),
        ("darwin", f"{{system}}{darwin}"),
        ("win32", win32 if win32.startswith(("{", "$")) else f"{{system}}{win32}"),
    )
    return tuple(Place(scope, path, only=platform) for platform, path in paths)


Says: TypeAlias = Literal[
    "names", "only", "states", "true", "trusted", "denied", "allowed", "rules",
    "chosen", "paths", "folders", "approved", "rejected", "servers",
]  # fmt: skip


class Switch(Struct, frozen=True):
    """A word on servers kept in some other file. One in a project's file concerns the project's own servers alone.

    It says `names` in a list, the `only` names that may run, `states` as a map of names to false or
    `{"enabled": false}`, a plain `true` or the word `trusted`; `denied`, `allowed` and `rules` are lists that go by
    what a server would start. The rarer forms are in `marks`.
    `fold` compares names without regard to case.
    """

    place: Place
    key: tuple[str, ...]
    says: Says = "names"
    fold: bool = False


class StartPolicy(Struct, frozen=True):
    """One list of rules about what may start, and where it stands."""

    says: str
    rules: tuple[Mapping[str, Any], ...]
    where: str
    scope: Scope = "user"


class Unreadable(Struct, frozen=True):
    """A file that is a program: where it exists and holds these words, its servers are said to be out of reach."""

    place: Place
    message: str
    hint: str
    words: tuple[bytes, ...] = ()


Slot: TypeAlias = Literal[
    "type", "command", "args", "env", "pass_env", "env_secrets", "env_file", "cwd",
    "url", "headers", "env_headers", "bearer", "bearer_env", "headers_helper",
    "enabled", "disabled", "required", "timeout", "start_timeout", "call_timeout", "idle_timeout",
    "tools_allow", "tools_deny", "tools_policy", "oauth", "oauth_client_id", "oauth_scopes", "oauth_resource",
    "oauth_grant", "oauth_client_secret", "oauth_port", "always_load", "lifecycle", "auto_approve",
]  # fmt: skip


class Field(Struct, frozen=True):
    """What a tool's key means; for times, in which unit and between which bounds."""

    slot: Slot
    unit: float = MILLISECONDS
    bounds: tuple[float, float] | None = None


Fields: TypeAlias = Mapping[str, Field]


def fields(dotted: Mapping[str, Slot] | None = None, /, **slots: Slot | Field) -> dict[str, Field]:
    """Keys and what they mean; a key with a dot is one inside another."""
    slots = {**(dotted or {}), **slots}
    return {key: slot if isinstance(slot, Field) else Field(slot) for key, slot in slots.items()}


COMMON: Fields = MappingProxyType(fields(
    type="type", transport="type", command="command", args="args", env="env", cwd="cwd", envFile="env_file",
    url="url", headers="headers", headersHelper="headers_helper",
    enabled="enabled", disabled="disabled", required="required", timeout="timeout",
    oauth="oauth", auth="oauth", alwaysLoad="always_load", lifecycle="lifecycle",
    autoApprove="auto_approve", alwaysAllow="auto_approve", trust="auto_approve",
))  # fmt: skip


def without(*keys: str) -> dict[str, Field]:
    """The common keys but these."""
    return {key: field for key, field in COMMON.items() if key not in keys}


STANDARD_TYPES: Mapping[str, Transport] = MappingProxyType(
    {
        "stdio": "stdio",
        "http": "http",
        "streamable-http": "http",
        "streamable_http": "http",
        "streamableHttp": "http",
        "sse": "sse",
    }
)

NO_SERVER: Mapping[str, str] = {
    "ws": "speaks WebSocket, which no released revision of the protocol has",
    "websocket": "speaks WebSocket, which no released revision of the protocol has",
    "sdk": "lives inside the program that configured it",
    "sse-ide": "belongs to an editor's own connection",
    "ws-ide": "belongs to an editor's own connection",
    "claudeai-proxy": "is reached through the account of claude.ai",
    "tcp": "speaks over a bare TCP connection, which the protocol does not have",
    "mock": "is made up for tests",
    "builtin": "is part of the tool itself",
    "platform": "is part of the tool itself",
    "frontend": "lives inside the program that configured it",
    "inline_python": "is a script inside the configuration",
    "extension": "is set up by an extension of the editor",
}


class Sheet(Struct, frozen=True):
    """One file that was read for a format."""

    place: Place
    path: str
    document: Document
    folder: Folder = Folder()
    """The one among those another file names."""


class ScanContext(Struct, frozen=True):
    """From where the search looks: the machine, the folder, and the folders up to the project's root."""

    where: Where
    cwd: str
    folders: tuple[str, ...]
    """Nearest first; the last is the project's root. Empty where projects are left out."""
    real: tuple[str, ...] = ()
    """The same folders, where links lead to."""

    @property
    def root(self) -> str:
        return self.folders[-1] if self.folders else self.cwd


class RawEntry(Struct, frozen=True):
    """One named entry as written, before it is understood."""

    name: str
    raw: Any
    origin: Origin
    document: Document
    order: int
    """Its place among the entries of its tool: the lower wins."""
    inputs: Inputs = {}
    fixed: Mapping[str, str] = {}
    """Variables whose values the configuration itself gives."""
    off: str | None = None
    """Where the file as a whole is switched off."""
    given: Mapping[str, str] = {}
    """Variables that its tool gives to a plugin's programs."""
    base: str = ""
    """Where relative folders are meant from, if not from the project's."""
    keeper: str = ""
    """In whose store its secrets are."""
    prepare: "Prepare | None" = None


Prepare: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Remark: TypeAlias = tuple[str, str, str]
"""A key, what is odd about it, and what to do."""


class Format(Struct, frozen=True, kw_only=True):
    """One tool's configuration.

    `places` are listed highest first inside each scope. `also` are other words for `key`; `bare` lets a file be the
    map of servers itself, `listed` lets the map be a list of entries with names, `single` lets a file be one entry.
    `untyped` is what an address without a type means (`None`: the entry is refused), `ask_for_type` says that its tool
    would not take it, and `typed` that no entry goes without one. `names` is a pattern; others are left out.
    `prepare` may rewrite an entry into the common shape; `gather` replaces the way entries are collected; `remarks`
    are warnings about what an entry says. With `relative`, folders in an entry are meant from its file or its plugin,
    and with `at_home` its program starts there.
    `user_first` says that in this tool a person's own entry counts before a project's of the same name.
    """

    tool: str
    title: str
    places: tuple[Place, ...]
    key: tuple[str, ...] = ("mcpServers",)
    also: tuple[tuple[str, ...], ...] = ()
    bare: bool = False
    listed: bool = False
    single: bool = False
    names: str | None = None
    fields: Fields = COMMON
    types: Mapping[str, Transport] = STANDARD_TYPES
    untyped: Transport | None = "auto"
    ask_for_type: bool = False
    typed: bool = False
    dialect: Dialect = BRACES
    prepare: Prepare | None = None
    remarks: Callable[[Mapping[str, Any]], Iterable[Remark]] | None = None
    relative: bool = False
    at_home: bool = False
    defaults: Mapping[str, tuple[str, ...]] = {}
    """Where in its file a key of an entry stands once for all entries."""
    fixed: Callable[[Mapping[str, Any]], Mapping[str, str | SecretPart]] | None = None
    """The variables whose values an entry gives itself."""
    user_first: bool = False
    gather: Callable[..., Iterable[RawEntry]] | None = None
    """`gather(format, sheets, context)`"""
    off: tuple[Switch, ...] = ()
    on: tuple[Switch, ...] = ()
    """Where the tool says of servers that they are on, whatever their entries say."""
    approved_in: tuple[Switch, ...] = ()
    """Where the tool records which of a project's servers the person approved."""
    trust_marks: tuple[Switch, ...] = ()
    exclusive: tuple[Place, ...] = ()
    """Where one of these exists, nothing of this format outside it may start."""
    policies: tuple[Switch, ...] = ()
    """Where it is said what may start, by name, command or address; highest first."""
    unreadable: tuple[Unreadable, ...] = ()


_MARKS = {
    "app": "app_config",
    "xdg": "xdg_config",
    "data": "xdg_data",
    "local": "local",
    "programdata": "program_data",
    "mooring": "config",
    "system": "system",
}


def locate(place: Place, where: Where) -> str | None:
    """The absolute path, or pattern, a place outside a project stands for; `None` where it does not exist.

    A variable with a relative path names no place: it would make a repository's file the person's own.
    """
    if place.literal:
        return place.path
    if place.inline:
        return f"${place.path}" if where.env.get(place.path) else None
    if place.only is not None and place.only != where.platform:
        return None
    if place.unless and any(map(where.env.get, place.unless)):
        return None
    path = place.path
    if path[0] == "{":
        mark, _, rest = path[1:].partition("}")
        path = getattr(where, _MARKS[mark]) + rest if mark in _MARKS else ""
    if "$" in place.path:
        path = _filled(path, where.env)
    if path[:2] == "~/":
        path = where.home + path[1:]
    return path if _is_absolute(path) else None


def _filled(path: str, env: Mapping[str, str]) -> str:
    """A path with the value of its one variable, or what stands for it where it is not set; nothing without either."""
    before, _, rest = path.partition("${")
    inside, _, after = rest.partition("}")
    name, _, fallback = inside.partition(":-")
    value = env.get(name) or fallback
    return f"{before}{value}{after}" if value else ""


def _is_absolute(path: str) -> bool:
    return path[:1] == "/" or path[1:3] in (":/", ":\\") or path.startswith("\\\\")
