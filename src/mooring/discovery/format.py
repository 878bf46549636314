"""The vocabulary that describes a tool's configuration in a row: its files, its entries, and what switches them off."""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.core.definitions.config import Origin, Scope, Transport
from mooring.core.definitions.paths import Paths, Platform
from mooring.core.definitions.template import SecretPart
from mooring.core.protocol.units import MIB
from mooring.discovery.dialect import CLAUDE, Dialect, Inputs
from mooring.syntax.document import Document, Kind

PROJECT = "<project>"
"""In a key path: the current folder, or the nearest one above it that has an entry there."""

SECONDS = 1.0
MILLISECONDS = 0.001
MINUTES = 60.0

Prepare: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Rewrites an entry into the common shape, or raises `EntryRefused` or `NoServer`."""

# --- where files are ----------------------------------------------------------------------------------------


class Place(Struct, frozen=True):
    """A file to look for.

    The path of a project's file is relative; the file is looked for in each folder from the current one up to the
    project's root. Other paths begin with `~`, `{app}`, `{xdg}`, `{data}`, `{local}`, `{programdata}` or `{mooring}`
    (see `Paths`), `{system}` for the machine's own files, `{each}` for folders that another file names, or
    `${VARIABLE:-fallback}`; one variable may also be inside the path. A place whose variable is unset and has no
    fallback does not exist. Any path may hold one `*`.
    """

    scope: Scope
    path: str
    key: tuple[str, ...] | None = None
    """Where in the file the servers are, if not under the format's key."""
    owned: bool = False
    """The file is the person's own although it describes a project's servers: they need no approval."""
    platform: Platform | None = None
    """The only platform where the place exists."""
    folders: "Folders | None" = None
    """The folders that `{each}` means, one after another."""
    folder_variables: tuple[str, ...] = ()
    """Variables that stand for the file's folder, or for the one among `folders`."""
    inline: bool = False
    """The path is the name of a variable that holds the configuration itself."""
    literal: bool = False
    """The path is taken as it is: nothing in it is a variable or a pattern."""
    limit: int = MIB
    extract: Callable[[bytes], Any] | None = None
    """Takes the part about servers out of a file that is larger than 1 MiB."""
    read_program: Callable[[bytes], Document | None] | None = None
    """Finds what a program says about servers without running it; `None` if it is about something else."""
    unless_set: tuple[str, ...] = ()
    """If one of these variables is set, the tool reads another file instead of this one."""
    path_list: bool = False
    """The path is a list of files, separated as in `$PATH`; the last one wins."""
    off: "tuple[Switch, ...]" = ()
    """Where the file's folder can be switched off by name, as Gemini does with its extensions."""
    may_name_files: bool = False
    """The value under the key may also be the path of a file inside the folder, or a list of such paths."""
    prepare: Prepare | None = None
    """Used instead of the format's for entries in this file."""

    @property
    def walked(self) -> bool:
        """Whether it is looked for in every folder of the project."""
        return self.scope == "project" and not self.owned


class Folder(Struct, frozen=True):
    """A folder that another file names, such as that of an installed plugin."""

    path: str = ""
    """May end in `/*`, which stands for the newest version in it."""
    id: str = ""
    prefix: str = ""
    """Is put before the names of its servers."""
    variables: Mapping[str, str] = {}
    """Variables, and the plugin's questions to the person, whose values are known."""
    disabled_by: str | None = None
    """Where the whole folder is switched off."""


class Folders(Struct, frozen=True):
    """Folders that another file names, such as a tool's registry of installed plugins."""

    tool: Literal["claude-code", "omp", "codex", "copilot-cli", "factory", "roo"]
    """Whose they are, which says how the registry is written. If the tool's files are not read, neither are these."""
    registries: "tuple[Switch, ...]"
    """Where the folders are named."""
    off: "tuple[Switch, ...]" = ()
    """Where folders are switched off by their ids."""
    answers: "tuple[Switch, ...]" = ()
    """Where the person's answers to the plugins' questions are kept, by the plugins' ids."""


class Unreadable(Struct, frozen=True):
    """A file that is a program and so cannot be read; a note says so if it contains all of these words."""

    place: Place
    message: str
    hint: str
    words: tuple[bytes, ...] = ()


def user_file(path: str, *key: str, platform: Platform | None = None, unless_set: tuple[str, ...] = ()) -> Place:
    return Place("user", path, key or None, platform=platform, unless_set=unless_set)


def project_file(path: str, *key: str) -> Place:
    return Place("project", path, key or None)


def system_files(scope: Scope, *, linux: str, win32: str, darwin: str = "") -> tuple[Place, ...]:
    """A file that belongs to the machine rather than to a person; on a Mac it may be where it is on Linux."""
    # On Windows such a file may also be in %PROGRAMDATA%, or in the tool's own folder (Codex).
    if not win32.startswith(("{", "$")):
        win32 = f"{{system}}{win32}"
    return (
        Place(scope, f"{{system}}{linux}", platform="linux"),
        Place(scope, f"{{system}}{darwin or linux}", platform="darwin"),
        Place(scope, win32, platform="win32"),
    )


def files_in(folders: Folders, *paths: str, folder_variables: tuple[str, ...] = ()) -> tuple[Place, ...]:
    """These files in each of the folders."""
    return tuple(_file_in(folders, path, folder_variables) for path in paths)


def _file_in(folders: Folders, path: str, folder_variables: tuple[str, ...]) -> Place:
    # A plugin's manifest has servers among other things, or names the files that have them.
    is_manifest = path.endswith("plugin.json")
    return Place(
        "user",
        f"{{each}}/{path}",
        ("mcpServers",) if is_manifest else None,
        folders=folders,
        folder_variables=folder_variables,
        may_name_files=is_manifest,
    )


_MARKS = {
    "app": "app_config",
    "xdg": "xdg_config",
    "data": "xdg_data",
    "local": "local",
    "programdata": "program_data",
    "mooring": "config",
    "system": "system",
}


def locate(place: Place, where: Paths) -> str | None:
    """The absolute path, or pattern, of a place outside a project on this machine; `None` if it does not exist."""
    if place.literal:
        return place.path
    if place.inline:
        return f"${place.path}" if where.env.get(place.path) else None
    if place.platform not in (None, where.platform):
        return None
    if any(map(where.env.get, place.unless_set)):
        return None
    path = place.path
    if path.startswith("{"):
        path = _expand_mark(path, where)
    if "$" in place.path:
        path = _expand_variable(path, where.env)
    if path.startswith("~/"):
        path = where.home + path[1:]
    # A relative path in a variable would turn a file of some repository into the person's own.
    return path if _is_absolute(path) else None


def _expand_mark(path: str, where: Paths) -> str:
    mark, _, rest = path[1:].partition("}")
    if mark not in _MARKS:
        return ""
    folder: str = getattr(where, _MARKS[mark])
    return folder + rest


def _expand_variable(path: str, env: Mapping[str, str]) -> str:
    """The path with the value of its variable, or with its fallback; empty if there is neither."""
    before, _, rest = path.partition("${")
    inside, _, after = rest.partition("}")
    name, _, fallback = inside.partition(":-")
    value = env.get(name) or fallback
    return f"{before}{value}{after}" if value else ""


def _is_absolute(path: str) -> bool:
    # Not os.path.isabs: a Windows path must be one on any platform, so that tests can describe every machine.
    return path.startswith(("/", "\\\\")) or path[1:3] in (":/", ":\\")


_KINDS: Mapping[str, Kind] = {"toml": "toml", "yaml": "yaml", "yml": "yaml", "plist": "plist"}


def document_kind(path: str) -> Kind:
    """The syntax of a file, by its name."""
    suffix = path.rpartition(".")[2]
    # JSON also for .jsonc, and for variables that hold a configuration, which have no suffix.
    return _KINDS.get(suffix, "json")


# --- what other files say about servers --------------------------------------------------------------

Says: TypeAlias = Literal[
    "names", "only", "states", "true", "trusted", "denied", "allowed", "rules",
    "chosen", "paths", "folders", "approved", "rejected", "servers",
]  # fmt: skip
"""How a switch is written.

`names` is a list of servers, `only` a list of those that may run, `states` a map from names to false or
`{"enabled": false}`, `true` a plain true, and `trusted` that word. `denied`, `allowed` and `rules` are lists of rules
about what a server would start. The rarer forms are described in `marks`.
"""


class Switch(Struct, frozen=True):
    """A statement about servers in another file. In a project's file, it affects only the project's own servers."""

    place: Place
    key: tuple[str, ...]
    says: Says = "names"
    fold: bool = False
    """Names are compared without regard to case."""


class Named(Struct, frozen=True):
    """Some servers by their names, or all but those."""

    names: frozenset[str] = frozenset()
    all_but: bool = False


NONE = Named()
ALL = Named(all_but=True)


class StartPolicy(Struct, frozen=True):
    """One list of rules about what may start, and where it is."""

    says: str
    rules: tuple[Any, ...]
    where: str
    scope: Scope = "user"


# --- how an entry reads -------------------------------------------------------------------------------------

Slot: TypeAlias = Literal[
    "type", "command", "args", "env", "pass_env", "env_secrets", "env_file", "cwd",
    "url", "headers", "env_headers", "bearer", "bearer_env", "headers_helper",
    "enabled", "disabled", "required", "timeout", "start_timeout", "call_timeout", "idle_timeout",
    "max_in_flight", "max_message_bytes", "era",
    "tools_allow", "tools_deny", "tools_policy", "oauth", "oauth_client_id", "oauth_scopes", "oauth_resource",
    "oauth_grant", "oauth_client_secret", "oauth_port", "always_load", "lifecycle", "auto_approve",
]  # fmt: skip
"""What a key of an entry can mean, whatever a tool calls it."""


class Field(Struct, frozen=True):
    """What a tool's key means; for times, also the unit and the bounds that its tool keeps them within."""

    slot: Slot
    unit: float = MILLISECONDS
    bounds: tuple[float, float] | None = None
    whole: bool = False
    """A time has to be a whole number of units: with a fraction, the tool refuses the entry or the file."""


Fields: TypeAlias = Mapping[str, Field]
"""A tool's keys and what they mean. If an entry has two keys for one slot, the first in this order wins."""


def fields(dotted: Mapping[str, Slot] | None = None, /, **slots: Slot | Field) -> dict[str, Field]:
    """Fields by their keys. A key with a dot is a key inside another."""
    meanings = {**(dotted or {}), **slots}
    return {key: meaning if isinstance(meaning, Field) else Field(meaning) for key, meaning in meanings.items()}


COMMON: Fields = MappingProxyType(fields(
    type="type", transport="type", command="command", args="args", env="env", cwd="cwd", envFile="env_file",
    url="url", headers="headers", headersHelper="headers_helper",
    enabled="enabled", disabled="disabled", required="required", timeout="timeout",
    oauth="oauth", auth="oauth", alwaysLoad="always_load", lifecycle="lifecycle",
    autoApprove="auto_approve", alwaysAllow="auto_approve", trust="auto_approve",
))  # fmt: skip
"""The keys that most tools share. `enabled`, `disabled` and `cwd` work here even for tools that do not have them."""


def common_without(*keys: str) -> dict[str, Field]:
    """The common keys except these."""
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
    "ws": "uses WebSocket, which no released revision of the protocol supports",
    "websocket": "uses WebSocket, which no released revision of the protocol supports",
    "sdk": "runs inside the program that configured it",
    "sse-ide": "belongs to an editor's own connection",
    "ws-ide": "belongs to an editor's own connection",
    "claudeai-proxy": "is reached through the account of claude.ai",
    "tcp": "uses a plain TCP connection, which the protocol does not support",
    "mock": "is a mock for tests",
    "builtin": "is part of the tool itself",
    "platform": "is part of the tool itself",
    "frontend": "runs inside the program that configured it",
    "inline_python": "is a script inside the configuration",
    "extension": "is set up by an extension of the editor",
}
"""Types that some tool has and that are not servers to connect to, and why."""

Remark: TypeAlias = tuple[str, str, str]
"""A key, what is odd about it, and what to do."""


PROGRAM: tuple[Slot, ...] = ("command", "args", "env")
BASIC: tuple[Slot, ...] = (*PROGRAM, "type", "url", "headers")
"""What the entries of nearly every tool can say."""


class Writes(Struct, frozen=True, kw_only=True):
    """How a tool's entries are written.

    Reading is lenient: many keys work in every file. Written are only those that the tool itself has.
    """

    user: tuple[Place, ...] | None = None
    """The person's file: the first of these that exists, else the first; if `None`, the first that is read."""
    project: tuple[Place, ...] | None = None
    """The project's file, likewise."""
    slots: tuple[Slot, ...] = BASIC
    """What the tool's entries can say."""
    keys: Mapping[Slot, str] = {}
    """The key for a slot, if not the first of those that are read."""
    types: Mapping[Transport, str] = MappingProxyType({"http": "http", "sse": "sse"})
    """The tool's word for each transport; one without a word is written without a type."""
    oauth: Mapping[str, str] = {}
    """The fields of a login that go into its block, and their keys there."""
    joined_scopes: bool = False
    """Scopes are one text with spaces between them."""
    always: Mapping[str, Any] = {}
    """Keys that the tool requires in every entry."""
    always_args: bool = False
    """The tool requires a program's arguments, even if there are none."""
    name_key: str | None = None
    """Where an entry repeats its name."""
    starter: Mapping[str, Any] = {}
    """What a new file begins with."""
    dialect: Dialect | None = None
    """The tool's own placeholders, if its file is read with more than those."""
    find_container: Callable[[Any], tuple[tuple[str, ...], Any]] | None = None
    """Finds the map of servers in a file's data, and the keys that lead to it, where these depend on the data."""
    arrange: Prepare | None = None
    """Turns the common shape into the tool's: the opposite of the format's `prepare`."""


LOGIN_KEYS = {
    "client_id": "clientId",
    "client_secret": "clientSecret",
    "callback_port": "callbackPort",
    "redirect_uri": "redirectUri",
    "scopes": "scopes",
    "metadata_url": "authServerMetadataUrl",
    "resource": "resource",
    "grant": "grantType",
    "credential_id": "credentialId",
    "private_key": "privateKey",
    "assertion": "assertion",
    "id_token": "idToken",
    "idp_token_endpoint": "idpTokenEndpoint",
    "idp_client_id": "idpClientId",
    "pkce": "pkce",
}
"""The fields of a login, and the keys that Mooring and most tools have for them."""


def login_keys(*fields: str) -> dict[str, str]:
    """Some fields of a login with the usual keys."""
    return {field: LOGIN_KEYS[field] for field in fields}


ObeyedKind: TypeAlias = Literal[
    "agents", "commands", "hooks", "instructions", "paths", "prompts", "rules", "settings", "skills",
]  # fmt: skip
"""`instructions` are files that Mooring gives to its own agent too; `rules` are texts that only their tool reads.
`paths` are commands whose folders are named with a slash."""


class Obeyed(Struct, frozen=True):
    """A file or a folder whose words a tool follows, or whose lines it runs, as soon as it is there."""

    kind: ObeyedKind
    project: str
    """Its path in any folder of a project; empty if there is none."""
    user: str = ""
    """Its path among the person's files; empty if there is none."""
    nested: bool = True
    """For agents: whether those in folders below count."""


def obeyed_everywhere(kind: ObeyedKind, path: str) -> Obeyed:
    """What a tool obeys at one path in any folder of a project, and at the same one in the person's home."""
    return Obeyed(kind, path, f"~/{path}")


def obeyed_folders(project: str, *kinds: ObeyedKind, user: str = "") -> tuple[Obeyed, ...]:
    """Folders that are named for what is in them, below one of a project and one of the person's.

    The latter is the same one in their home unless `user` says otherwise.
    """
    user = user or f"~/{project}"
    return tuple(Obeyed(kind, f"{project}/{kind}", f"{user}/{kind}") for kind in kinds)


class Format(Struct, frozen=True, kw_only=True):
    """One tool's configuration."""

    tool: str
    title: str
    places: tuple[Place, ...]
    """Highest first inside each scope."""

    # How entries are found.
    key: tuple[str, ...] = ("mcpServers",)
    """Where in a file the map of servers is."""
    other_keys: tuple[tuple[str, ...], ...] = ()
    """Other places for it in the same file."""
    bare_map: bool = False
    """A file may also be the map of servers itself."""
    as_list: bool = False
    """The map may also be a list of entries with a `name`."""
    single_entry: bool = False
    """A file may also be one entry, named after the file."""
    name_pattern: str | None = None
    """The names the tool accepts; entries with others are left out, as the tool does."""
    gather: Callable[..., Iterable["RawEntry"]] | None = None
    """`gather(format, sheets, context)`: replaces the usual way to collect entries."""

    # What an entry means.
    fields: Fields = COMMON
    closed: bool = False
    """A key that is not among these is a mistake: no other program reads the file."""
    types: Mapping[str, Transport] = STANDARD_TYPES
    untyped_url: Transport | None = "auto"
    """What a URL without a type means; `None` refuses the entry."""
    suggest_type: bool = False
    """The tool itself would skip a URL without a type, so a note suggests adding one."""
    type_required: bool = False
    """No entry is accepted without a type, not even one with a command."""
    dialect: Dialect = CLAUDE
    prepare: Prepare | None = None
    remarks: Callable[[Mapping[str, Any]], Iterable[Remark]] | None = None
    """Warnings about what an entry says."""
    defaults: Mapping[str, tuple[str, ...]] = {}
    """Where in the file a key is set once for all entries."""
    entry_variables: Callable[[Mapping[str, Any]], Mapping[str, str | SecretPart]] | None = None
    """The variables that an entry sets itself, for use in its own strings."""
    relative_paths: bool = False
    """Relative paths in an entry start from its file's or its plugin's folder."""
    start_in_folder: bool = False
    """With `relative_paths`: a program without a `cwd` starts in that folder."""

    writes: Writes | None = None
    """How entries are written; `None` if they are only read."""

    # What other files say about them.
    user_first: bool = False
    """The person's own entry wins over a project's of the same name; with every other tool, the project's wins."""
    off: tuple[Switch, ...] = ()
    on: tuple[Switch, ...] = ()
    """Where servers are switched on, whatever their entries say."""
    approved_in: tuple[Switch, ...] = ()
    """Where the tool records which of a project's servers the person approved."""
    trust_marks: tuple[Switch, ...] = ()
    """Where the tool records that the person trusts a whole project, or any project: shown, but no approval."""
    exclusive: tuple[Place, ...] = ()
    """If one of these exists, nothing of this format outside it may start."""
    policies: tuple[Switch, ...] = ()
    """Rules about what may start, by name, command or address; highest first."""
    only_managed_allow: tuple[Switch, ...] = ()
    """If one of these is true, only the machine's own lists of allowed servers apply."""
    unreadable: tuple[Unreadable, ...] = ()
    obeys: tuple[Obeyed, ...] = ()
    """What the tool obeys or runs besides, highest first. Our loaders read from these places what they understand, and
    nothing is written to any of them unasked."""

    def list_container_keys(self, place: Place) -> tuple[tuple[str, ...], ...]:
        """Where the map of servers may be in the files of a place."""
        return (place.key,) if place.key else (self.key, *self.other_keys)

    def list_written_places(self, scope: Scope | Literal["local"]) -> tuple[Place, ...]:
        """Where entries of a scope may be written, best first."""
        if self.writes is None:
            return ()
        if scope == "local":
            return tuple(place for place in self.places if place.scope == "project" and place.owned)
        named = self.writes.user if scope == "user" else self.writes.project
        if named is not None:
            return named
        return tuple(place for place in self.places if place.scope == scope and not place.owned)[:1]


# --- what was found -----------------------------------------------------------------------------------------


class ScanContext(Struct, frozen=True):
    """Where a scan looks from: the machine, the current folder, and the folders up to the project's root."""

    where: Paths
    cwd: str
    folders: tuple[str, ...]
    """Nearest first; the last is the project's root. Empty if projects are left out."""
    real: tuple[str, ...] = ()
    """The same folders with symbolic links resolved."""
    drafts: Mapping[str, bytes] = {}
    """By path, what is read in place of a file: what it would say, before anybody writes it."""

    @property
    def root(self) -> str:
        return self.folders[-1] if self.folders else self.cwd

    @property
    def known_as(self) -> Iterable[str]:
        """Each folder under both of its paths, once.

        A person may have come by a link, while the tool wrote down the real path, or the other way round.
        """
        pairs = zip(self.folders, self.real, strict=True)
        return dict.fromkeys(chain.from_iterable(pairs))


class Sheet(Struct, frozen=True):
    """One file that was read for a format."""

    place: Place
    path: str
    document: Document
    folder: Folder = Folder()
    """The one among the place's `folders` that it is in."""


class RawEntry(Struct, frozen=True):
    """One named entry as written, before it is understood."""

    name: str
    raw: Any
    origin: Origin
    document: Document
    order: int
    """Its rank among the entries of its tool: the lower wins."""
    inputs: Inputs = {}
    variables: Mapping[str, str] = {}
    """Variables whose values the configuration itself gives."""
    disabled_by: str | None = None
    """Where its whole folder is switched off."""
    plugin_env: Mapping[str, str] = {}
    """Variables that its tool sets for a plugin's programs."""
    base: str = ""
    """The folder that relative paths start from, if not the project's."""
    keeper: str = ""
    """Whose store holds its secrets."""
    prepare: Prepare | None = None
    """Used instead of the format's."""
