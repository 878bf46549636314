"""The one place where a definition becomes something to start or to reach: templates are expanded, secrets fetched,
the environment made."""

from collections.abc import Awaitable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mooring.core.approved import Approved
from mooring.core.config import Http, Stdio
from mooring.core.question import Ask
from mooring.core.secret import is_secret, is_secret_in_query, list_secrets, redact
from mooring.core.template import Template
from mooring.core.where import Where
from mooring.errors import NotApproved, Unresolved
from mooring.servers.launch import shell
from mooring.servers.launch.blanks import Blanks, read
from mooring.servers.launch.environment import Launch, Omission, launch, usual_path
from mooring.servers.launch.secrets import Secrets
from mooring.servers.launch.shell import CommandFailed, Spawner
from mooring.servers.launch.target import UNRESOLVED, origin, steers, target

if TYPE_CHECKING:
    from mooring.wire.session.remote import TransportKind

__all__ = ["Launch", "LaunchContext", "Omission", "Reach", "Secrets", "Spawner", "prepare"]


class LaunchContext(Struct, frozen=True):
    """What a host has for all of its servers."""

    where: Where
    guard: Spawner
    secrets: Secrets
    ask: Ask | None = None
    env: Mapping[str, str] = {}
    """What the person's settings add to the environment of everything that is started."""
    seconds: float = shell.SECONDS
    """How long a command that prints a secret may take."""

    def __repr__(self) -> str:
        return f"<Context of {self.where.home}>"

    @property
    def path(self) -> str:
        """The search path of whatever is started and names no other."""
        return usual_path(self.where, self.env)


class Reach(Struct, frozen=True):
    """Everything needed to reach a server behind an address."""

    url: str
    headers: Mapping[str, str]
    transport: "TransportKind" = "auto"
    secrets: tuple[str, ...] = ()
    """Values that were given and must not be shown, whoever repeats them."""
    omitted: tuple[Omission, ...] = ()

    def redact(self, text: str) -> str:
        """What the server said, without the secrets it was given."""
        return redact(text, self.secrets)

    def __repr__(self) -> str:
        return f"<Reach {self.redact(origin(self.url) or 'a socket')}>"


async def prepare(approved: Approved, context: LaunchContext) -> Launch | Reach:
    """How to start or reach a server that was let through, with everything in its definition filled in.

    Nothing is fetched for one that no longer stands for what was approved.

    Raises:
        NotApproved: its command is another program now, or its address leads elsewhere.
        Unresolved: a blank in its definition cannot be filled in.
        GuardLost: the guard died, or was closed.
    """
    folder = approved.folder
    blanks = Blanks(
        approved,
        context.where,
        secrets=context.secrets,
        ask=context.ask,
        run=lambda line: _printed(line, context, folder),
    )
    if approved.target is not None:
        _same(approved, target(approved.config.connection, folder, context.where, context.path))
    match approved.config.connection:
        case Stdio() as stdio:
            return await _program(approved, stdio, context, blanks)
        case Http() as http:
            return await _address(approved, http, context, blanks)


def _printed(line: str, context: LaunchContext, cwd: str, **more: str) -> Awaitable[str | CommandFailed]:
    """What a command prints that runs as if the person had typed it in that folder."""
    env = {**context.where.env, **context.env, "PATH": context.path, **more}
    return shell.printed(line, context.guard, env=env, cwd=cwd, seconds=context.seconds)


# --- programs -----------------------------------------------------------------------------------------------


async def _program(approved: Approved, stdio: Stdio, context: LaunchContext, blanks: Blanks) -> Launch:
    command = blanks.place(await blanks.needed("command", stdio.command), "")
    if not command:
        raise Unresolved(approved.name, "command", "is empty once it is filled in")
    below = await blanks.needed("cwd", stdio.cwd) if stdio.cwd else ""
    cwd = blanks.place(below, approved.folder) if below else approved.folder
    await blanks.fetch((*stdio.args, *stdio.env.values()))
    args = [await blanks.needed("args", arg) for arg in stdio.args]
    env = await blanks.entries("env", stdio.env)
    file = await _file(approved, stdio.env_file, blanks) if stdio.env_file else {}
    made = launch(
        (command, *args), context.where, cwd,
        own=approved.own, env={**file, **env}, pass_env=stdio.pass_env, settings=context.env,
    )  # fmt: skip
    for name in stdio.pass_env:
        if name not in made.env:
            blanks.omit(f"passEnv.{name}", "is not set")
    return replace(made, secrets=list_secrets((*made.secrets, *blanks.secrets)), omitted=tuple(blanks.omitted))


async def _file(approved: Approved, template: Template, blanks: Blanks) -> dict[str, str]:
    """The variables in a definition's own file, which in a project nobody approved."""
    path = await blanks.wanted("envFile", template)
    text = read(blanks.place(path, approved.folder)) if path else ""
    if isinstance(text, CommandFailed):
        blanks.omit("envFile", text.how)
        return {}
    from mooring.servers.launch import dotenv  # few definitions have such a file

    found = dotenv.variables(text)
    unseen = [] if approved.own else list(filter(steers, found))
    for name in unseen:
        blanks.omit(f"envFile.{name}", "decides which program runs, so it belongs into env, where an approval shows it")
    return {name: value for name, value in found.items() if name not in unseen}


def _same(approved: Approved, now: str | None) -> None:
    """Hold what would be started or reached to what was approved; what cannot be found is for the start to explain."""
    before = approved.target
    if before is None or now in (before, None, UNRESOLVED):
        return
    if before == UNRESOLVED:
        raise NotApproved(approved.name, f"stood for nothing when it was approved, and now stands for {now}")
    other = "another program" if isinstance(approved.config.connection, Stdio) else "another address"
    raise NotApproved(approved.name, f"now stands for {other} ({before}, now {now})")


# --- addresses ----------------------------------------------------------------------------------------------


async def _address(approved: Approved, http: Http, context: LaunchContext, blanks: Blanks) -> Reach:
    url = await blanks.needed("url", http.url)
    headers = await blanks.entries("headers", http.headers)
    if http.headers_helper:
        headers = _over(headers, await _helped(approved, http.headers_helper, url, context, blanks))
    secrets = list_secrets((*blanks.secrets, *_in_headers(headers), *_in_address(url)))
    transport = "auto" if http.transport == "stdio" else http.transport
    return Reach(url, headers, transport, secrets, tuple(blanks.omitted))


async def _helped(
    approved: Approved, helper: Template, url: str, context: LaunchContext, blanks: Blanks
) -> Mapping[str, str]:
    """The headers that a command prints: each time anew, for it is meant for what expires."""
    line = await blanks.wanted("headersHelper", helper)
    if line is None:
        return {}
    # So that one helper can serve several servers: Claude Code's names.
    names = {"CLAUDE_CODE_MCP_SERVER_NAME": approved.name, "CLAUDE_CODE_MCP_SERVER_URL": url}
    output = await _printed(line, context, approved.folder, **names)
    headers = output if isinstance(output, CommandFailed) else _headers(output)
    if isinstance(headers, CommandFailed):
        blanks.omit("headersHelper", headers.how)
        return {}
    blanks.secrets += headers.values()
    return headers


def _headers(output: str) -> Mapping[str, str] | CommandFailed:
    try:
        return msgspec.json.decode(output, type=dict[str, str])
    except msgspec.DecodeError:
        return CommandFailed("printed something else than a JSON object of headers and texts")


def _over(headers: Mapping[str, str], newer: Mapping[str, str]) -> dict[str, str]:
    """Both together; of a header in both, in whatever case, the newer."""
    replaced = {name.lower() for name in newer}
    return {**{name: value for name, value in headers.items() if name.lower() not in replaced}, **newer}


def _in_headers(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if is_secret(name, value):
            yield value
            yield value.rpartition(" ")[2]  # the token without the word before it


def _in_address(url: str) -> Iterator[str]:
    from urllib.parse import parse_qsl, urlsplit  # only for addresses

    try:
        parts = urlsplit(url)
        yield parts.password or ""
        yield from (value for name, value in parse_qsl(parts.query) if is_secret_in_query(name))
    except ValueError:
        return
