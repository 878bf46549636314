"""What a configuration file says about one server, and what to write where its command is wrong."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.definitions.problem import Problem
from mooring.core.definitions.template import InputPart, Template
from mooring.core.protocol.era import EraName

Scope: TypeAlias = Literal["cli", "managed", "project", "user"]
Transport: TypeAlias = Literal["stdio", "http", "sse", "auto"]
"""How a definition in a file is reached."""
Lifecycle: TypeAlias = Literal["lazy", "eager", "keep-alive"]


class Origin(Struct, frozen=True):
    """Where a definition was written: the tool, the level, the file and the keys that lead to it."""

    tool: str
    scope: Scope
    path: str | None
    key: tuple[str | int, ...] = ()
    owned: bool = False
    """It is in the person's own file even though it belongs to a project, so it needs no approval."""
    layers: tuple[str, ...] = ()
    """Other files whose entries of the same name were merged into this one, as OpenCode does."""

    @property
    def foreign(self) -> bool:
        """Whether it came with the project rather than from the person or the machine."""
        return self.scope == "project" and not self.owned

    @property
    def shown_scope(self) -> str:
        """The scope in the words of its tool: `local` is Claude Code's for what only the person has, in one project."""
        return "local" if self.owned and self.scope == "project" else self.scope

    @property
    def typed(self) -> bool:
        """Whether it was typed as a command, and is in no file and in no program."""
        return self.scope == "cli" and not self.key


class Stdio(Struct, frozen=True, tag=True):
    """A program to start and talk to over its pipes."""

    transport: ClassVar[Transport] = "stdio"
    command: Template
    args: tuple[Template, ...] = ()
    env: Mapping[str, Template] = {}
    pass_env: tuple[str, ...] = ()
    env_file: Template | None = None
    cwd: Template | None = None


class Http(Struct, frozen=True, tag=True):
    """A server to reach at its address; `auto` tries streamable HTTP, then SSE."""

    url: Template
    headers: Mapping[str, Template] = {}
    headers_helper: Template | None = None
    transport: Transport = "auto"


class InProcess(Struct, frozen=True, tag=True):
    """A server that is an object of this program; in no file, so that nothing remembers it."""

    transport: ClassVar[Literal["memory"]] = "memory"
    server: Any

    def __repr__(self) -> str:
        return f"<InProcess {type(self.server).__name__}>"


Connection: TypeAlias = Stdio | Http | InProcess


def list_templates(connection: Connection, oauth: "OAuth | None" = None) -> Iterator[tuple[str, Template]]:
    """Every string of a definition that may hold placeholders, with its key, such as `env.TOKEN`."""
    match connection:
        case Stdio() as program:
            yield "command", program.command
            for arg in program.args:
                yield "args", arg
            for name, value in program.env.items():
                yield f"env.{name}", value
            if program.env_file:
                yield "envFile", program.env_file
            if program.cwd:
                yield "cwd", program.cwd
        case Http() as remote:
            yield "url", remote.url
            for name, value in remote.headers.items():
                yield f"headers.{name}", value
            if remote.headers_helper:
                yield "headersHelper", remote.headers_helper
        case InProcess():
            pass
    if oauth:
        yield from ((f"oauth.{LOGIN_SECRETS[field]}", template) for field, template in oauth.templates.items())


def map_templates(connection: Connection, change: Callable[[str, Template], Template]) -> Connection:
    """The same connection with every string changed; the keys are those of `list_templates`."""

    def change_all(slot: str, values: Mapping[str, Template]) -> dict[str, Template]:
        return {name: change(f"{slot}.{name}", value) for name, value in values.items()}

    def change_optional(key: str, value: Template | None) -> Template | None:
        return None if value is None else change(key, value)

    match connection:
        case Stdio() as program:
            return replace(
                program,
                command=change("command", program.command),
                args=tuple(change("args", arg) for arg in program.args),
                env=change_all("env", program.env),
                env_file=change_optional("envFile", program.env_file),
                cwd=change_optional("cwd", program.cwd),
            )
        case Http() as remote:
            return replace(
                remote,
                url=change("url", remote.url),
                headers=change_all("headers", remote.headers),
                headers_helper=change_optional("headersHelper", remote.headers_helper),
            )
        case InProcess():
            return connection


def list_inputs(connection: Connection, oauth: "OAuth | None" = None) -> tuple[InputPart, ...]:
    """What the person is asked for when the server is used, each once, in the order of the definition."""
    found: dict[InputPart, None] = {}
    for _, template in list_templates(connection, oauth):
        found |= {part: None for part in template.all_parts if isinstance(part, InputPart)}
    return tuple(found)


def find_input_variables(connection: Connection, input: str) -> tuple[str, ...]:
    """The environment variables that an input fills, if it fills nothing else: then they can be given instead."""
    names: list[str] = []
    for key, template in list_templates(connection):
        if not any(isinstance(part, InputPart) and part.id == input for part in template.all_parts):
            continue
        slot, _, name = key.partition(".")
        # A person may copy the names into a command: one that a shell would read as more is not offered.
        if slot != "env" or not (name.isascii() and name.isidentifier()):
            return ()
        names.append(name)
    return tuple(names)


LOGIN_SECRETS = {
    "client_secret": "clientSecret",
    "private_key": "privateKey",
    "assertion": "assertion",
    "id_token": "idToken",
}
"""The fields of a login that may hold placeholders, and Mooring's keys for them."""


class OAuth(Struct, frozen=True):
    """How to log in, where the configuration says so; `enabled=False` forbids trying."""

    enabled: bool = True
    client_id: str | None = None
    client_secret: Template | None = None
    callback_port: int | None = None
    redirect_uri: str | None = None
    scopes: tuple[str, ...] = ()
    metadata_url: str | None = None
    resource: str | None = None
    grant: str | None = None
    credential_id: str | None = None
    """The entry of Mooring's store whose token the server is given, whatever else is said about a login."""
    private_key: Template | None = None
    """The client signs with it instead of showing a secret."""
    assertion: Template | None = None
    """A statement about this workload, which the issuer turns into a token."""
    id_token: Template | None = None
    """The login at a company's identity provider, which is exchanged at its token endpoint."""
    idp_token_endpoint: str | None = None
    idp_client_id: str | None = None
    pkce: str | None = None
    """`assume` uses PKCE with an issuer that does not say that it checks it."""

    @property
    def templates(self) -> dict[str, Template]:
        """The fields that may hold placeholders, as far as they are set."""
        values = {field: getattr(self, field) for field in LOGIN_SECRETS}
        return {field: template for field, template in values.items() if template is not None}

    def __repr__(self) -> str:
        return "OAuth(…)"


class ServerConfig(Struct, frozen=True, kw_only=True):
    """One usable definition of a server, with no placeholder filled in yet.

    Timeouts are seconds: infinity where the file asks for no limit, `None` where it says nothing. `tools_allow` of
    `None` offers every tool. `auto_approve` lists what another tool was told to allow: information, never a grant.
    `raw` is the entry as written; like every template, it may hold secrets and stays out of the repr.
    """

    name: str
    origin: Origin
    connection: Connection
    written: Connection | None = None
    """What the file says, if `connection` is something else: `npx mcp-remote URL` is reached at its address."""
    disabled_by: str | None = None
    """Where it is switched off, in words; `None` if it is on."""
    required: bool = False
    start_timeout: float | None = None
    call_timeout: float | None = None
    idle_timeout: float | None = None
    """How long it may stay running unused."""
    max_in_flight: int | None = None
    """How many requests it is sent at once."""
    max_message_bytes: int | None = None
    """How large one message of it may be."""
    era: EraName | None = None
    """The only era of the protocol to speak with it, if it speaks that one; `None` for whichever suits."""
    tools_allow: tuple[str, ...] | None = None
    tools_deny: tuple[str, ...] = ()
    oauth: OAuth | None = None
    always_load: bool = False
    lifecycle: Lifecycle = "lazy"
    auto_approve: tuple[str, ...] = ()
    raw: Mapping[str, Any] = {}

    @property
    def enabled(self) -> bool:
        return self.disabled_by is None

    @property
    def transport(self) -> Transport | Literal["memory"]:
        return self.connection.transport

    def __repr__(self) -> str:
        return f"<ServerConfig {self.name!r}, {self.transport}, from {self.origin.path or self.origin.scope}>"


class Broken(Struct, frozen=True, kw_only=True):
    """A definition that cannot be used. It still owns its name: nothing of lower rank takes its place."""

    name: str
    origin: Origin
    problem: Problem
    disabled_by: str | None = None
    transport: Transport | None = None

    @property
    def enabled(self) -> bool:
        return self.disabled_by is None


def suggest_args(command: str) -> str:
    """How to write a command that has its arguments in the same text; empty if it has none.

    The most common mistake in a first entry: `"command": "npx -y some-server"`, copied from a shell.
    """
    program, *rest = command.split() or [""]
    if not rest or "/" in program:
        return ""
    import json  # only on the way to an error

    return f'write "command": {json.dumps(program)}, "args": {json.dumps(rest)}'


def suggest_install(file: str = "") -> str:
    """What to do about a program that is not on PATH; `file` is where its server is defined, if that is a file."""
    place = f" in {file}" if file else ""
    return f"install it, or give its full path{place}"


def describe_origin(config: ServerConfig) -> str:
    """Where a definition comes from, in words."""
    origin = config.origin
    if origin.path is None:
        return f"{origin.tool}, {origin.shown_scope}"
    return f"{origin.tool}: {origin.path}"
