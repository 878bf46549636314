"""The one place where a definition becomes something to start or to reach.

Placeholders are filled in, secrets fetched, and the environment made here, and nowhere earlier: listing servers runs,
reads and asks nothing.
"""

import re
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mooring.auth.store import SecretStore
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import LOGIN_SECRETS, Http, InProcess, OAuth, Stdio, find_input_variables
from mooring.core.definitions.paths import Paths, is_below
from mooring.core.definitions.template import Template, find_unset, is_bare_name
from mooring.core.text.secret import find_in_url, is_secret, list_secrets, redact
from mooring.display.text import short_path
from mooring.errors import InputMissing, Unresolved
from mooring.process.programs import Guard
from mooring.process.surroundings import surround
from mooring.servers.launch import shell
from mooring.servers.launch.act import describe_act
from mooring.servers.launch.environment import (
    Launch,
    OmittedEntry,
    default_search_path,
    is_search_path,
    make_launch,
    may_replace_program,
)
from mooring.servers.launch.fetch import ActFetcher, resolve_path
from mooring.servers.launch.inputs import Secrets, find_missing_inputs
from mooring.servers.launch.isolate import isolate
from mooring.servers.launch.placeholders import Placeholders, fill_without_fetching
from mooring.servers.launch.shell import CommandFailed
from mooring.servers.launch.target import check_approval, url_origin

if TYPE_CHECKING:
    from mooring.auth.oauth.options import LoginOptions
    from mooring.wire.session.remote import TransportKind

__all__ = ["Endpoint", "Launch", "LaunchContext", "OmittedEntry", "Secrets", "prepare"]


class LaunchContext(Struct, frozen=True):
    """What a host has for all of its servers."""

    where: Paths
    guard: Guard
    secrets: Secrets
    store: SecretStore
    env: Mapping[str, str] = {}
    """What the person's settings add to the environment of everything that is started."""
    seconds: float = shell.COMMAND_TIMEOUT
    """How long a command that prints a secret may take."""

    def __repr__(self) -> str:
        return f"<LaunchContext of {self.where.home}>"


class Endpoint(Struct, frozen=True):
    """Everything needed to reach a server behind a URL."""

    url: str
    headers: Mapping[str, str]
    fetcher: ActFetcher
    """The only way to the login that is stored for its address."""
    transport: "TransportKind" = "auto"
    secrets: tuple[str, ...] = ()
    """Values it was given that must not be shown, whoever repeats them."""
    omitted: tuple[OmittedEntry, ...] = ()
    login: "LoginOptions | None" = None
    """What its definition says about logging in."""
    unset: tuple[str, ...] = ()
    """The variables in its address and headers that have no value: the likeliest reason if it refuses the request."""

    def redact(self, text: str) -> str:
        """The text without the secrets that the server was given."""
        return redact(text, self.secrets)

    def __repr__(self) -> str:
        return f"<Endpoint {self.redact(url_origin(self.url) or 'a socket')}>"


async def prepare(approved: Approved, context: LaunchContext) -> Launch | Endpoint:
    """How to start or reach an approved server, with everything in its definition filled in.

    Raises:
        NotApproved: its command is another program now, or its URL leads elsewhere.
        InputMissing: it needs a value that only the person can give, and did not.
        SecretMissing: it names a secret that is not stored.
        Unresolved: another placeholder in its definition has no value.
        GuardLost: the guard died, or was closed.
    """
    # First of all: no secret is fetched for a program that nobody approved.
    check_approval(approved, context.where, context.env)
    fetcher = ActFetcher(
        describe_act(approved.config, own=approved.own),
        approved,
        context.where,
        secrets=context.secrets,
        store=context.store,
        run=lambda line: _run_command(line, context, approved),
    )
    placeholders = Placeholders(approved, context.where, fetcher)
    # Before any command runs for it: without an input there will be no server.
    for part in find_missing_inputs(approved, context.secrets):
        variables = find_input_variables(approved.config.connection, part.id)
        raise InputMissing(approved.name, part.id, variables)
    match approved.config.connection:
        case Stdio() as stdio:
            return await _prepare_program(stdio, context, placeholders)
        case Http() as http:
            return await _prepare_endpoint(http, context, placeholders)
        case InProcess():
            raise Unresolved(approved.name, "server", "is an object of this program, which nothing has to start")


def _run_command(line: str, context: LaunchContext, approved: Approved, **more: str) -> Awaitable[str | CommandFailed]:
    """Run a command with the person's whole environment, secrets too."""
    path = default_search_path(context.where, context.env)
    env = {**context.where.env, **context.env, "PATH": path, **more}
    cwd = find_command_folder(approved, line, context.where.home)
    return shell.run_command(line, context.guard, surround(env, cwd), timeout=context.seconds)


_RELATIVE_PROGRAM = re.compile(r"""\s*["']?[\w.+-]+/""")


def find_command_folder(approved: Approved, line: str, home: str) -> str:
    """Where a command that prints a secret or headers runs: in the project if it is the project's, or means its file.

    A person's own command means the same wherever they work: in a project, git, npx or python would take the project's
    settings and code.
    """
    origin = approved.config.origin
    is_projects = not approved.own or origin.typed
    # A file of the project may be named with --config.
    if is_projects or (origin.scope == "cli" and is_below(origin.path or "", approved.folder)):
        return approved.folder
    # Of what is kept for one project, or named for one command, `./token.sh` is a file of the project.
    is_for_project = origin.scope in ("project", "cli")
    return approved.folder if is_for_project and _RELATIVE_PROGRAM.match(line) else home


# --- programs -----------------------------------------------------------------------------------------------


async def _prepare_program(stdio: Stdio, context: LaunchContext, placeholders: Placeholders) -> Launch:
    approved, home = placeholders.approved, context.where.home
    command = resolve_path(await placeholders.fill("command", stdio.command), "", home)
    if not command:
        raise Unresolved(approved.name, "command", "is empty once it is filled in")
    subfolder = await placeholders.fill("cwd", stdio.cwd) if stdio.cwd else ""
    cwd = resolve_path(subfolder, approved.folder, home) if subfolder else approved.folder
    # All at once here, so that the loops below find every value fetched.
    env_templates = ((f"env.{name}", value) for name, value in stdio.env.items())
    await placeholders.fetch((*(("args", arg) for arg in stdio.args), *env_templates))
    args = [await placeholders.fill("args", arg) for arg in stdio.args]
    env = await placeholders.fill_entries("env", stdio.env)
    token = await placeholders.fetch_token(None)
    if token is not None:
        env["OAUTH_ACCESS_TOKEN"] = token
    file_env = await _read_env_file(stdio.env_file, context, placeholders) if stdio.env_file else {}
    passed = [
        name for name in stdio.pass_env if placeholders.fetcher.read_variable(name, f"passEnv.{name}") is not None
    ]
    launch = make_launch(
        (command, *args),
        context.where,
        cwd,
        own=approved.own,
        env={**file_env, **env},
        pass_env=passed,
        settings=context.env,
        secrets=placeholders.secrets,
        typed=approved.config.origin.typed,
    )
    for name in stdio.pass_env:
        if name not in launch.env:
            placeholders.omit(f"passEnv.{name}", "is not set")
    path = approved.config.origin.path
    defined_in = short_path(path, home) if path else ""
    launch = replace(launch, omitted=tuple(placeholders.omitted), defined_in=defined_in)
    return isolate(launch, approved, context.where)


async def _read_env_file(template: Template, context: LaunchContext, placeholders: Placeholders) -> dict[str, str]:
    """The variables in the file that a definition names."""
    path = await placeholders.fill_or_omit("envFile", template)
    text = placeholders.fetcher.read_env_file(template, path) if path else ""
    if isinstance(text, CommandFailed):
        placeholders.omit("envFile", text.how)
        return {}
    from mooring.servers.launch.named_files import parse_dotenv  # lazy: few definitions have such a file

    variables = parse_dotenv(text)
    if placeholders.approved.own:
        return variables
    # Whoever can write to a project must not choose the program by this file, so no PATH is taken from it. An approval
    # shows its other variables that change what is loaded, and is bound to them, if it can tell which file it is.
    is_bound = fill_without_fetching(template, context.where, placeholders.approved.folder) is not None
    refused = is_search_path if is_bound else may_replace_program
    for name in filter(refused, tuple(variables)):
        reason = "changes what a program loads, so it belongs in env, where the approval question shows it"
        placeholders.omit(f"envFile.{name}", reason)
        del variables[name]
    return variables


# --- endpoints ----------------------------------------------------------------------------------------------


async def _prepare_endpoint(http: Http, context: LaunchContext, placeholders: Placeholders) -> Endpoint:
    oauth, fetcher = placeholders.approved.config.oauth, placeholders.fetcher
    url = await placeholders.fill("url", http.url)
    for variable in find_unset(http.url, context.where.env):
        if variable.unset == "literal":
            placeholders.omit(f"{variable.name} in url", "is not set")
    headers = await placeholders.fill_entries("headers", http.headers)
    token = await placeholders.fetch_token(url)
    if token is not None:
        headers = _merge_headers(headers, {"Authorization": f"Bearer {token}"})
    if http.headers_helper:
        newer = await _run_headers_helper(http.headers_helper, url, context, placeholders)
        headers = _merge_headers(headers, newer)
    login = await _fill_login(oauth, placeholders) if oauth else None
    in_headers = (value for name, value in headers.items() if is_secret(name, value))
    secrets = list_secrets((*placeholders.secrets, *in_headers, *_secrets_in_url(url)))
    transport = "auto" if http.transport == "stdio" else http.transport
    unset = _list_unset((http.url, *http.headers.values()), context.where.env)
    return Endpoint(url, headers, fetcher, transport, secrets, tuple(placeholders.omitted), login, unset)


async def _fill_login(oauth: OAuth, placeholders: Placeholders) -> "LoginOptions":
    from mooring.auth.oauth.options import LoginOptions  # lazy: few definitions say anything about it

    templates = {LOGIN_SECRETS[field]: template for field, template in oauth.templates.items()}
    filled = await placeholders.fill_entries("oauth", templates)
    placeholders.secrets += filled.values()
    return LoginOptions(
        enabled=oauth.enabled,
        client_id=oauth.client_id or "",
        client_secret=filled.get("clientSecret", ""),
        private_key=filled.get("privateKey", ""),
        scopes=oauth.scopes,
        callback_port=oauth.callback_port,
        redirect_uri=oauth.redirect_uri or "",
        metadata_url=oauth.metadata_url or "",
        resource=oauth.resource or "",
        grant=oauth.grant or "",
        assertion=filled.get("assertion", ""),
        id_token=filled.get("idToken", ""),
        idp_token_endpoint=oauth.idp_token_endpoint or "",
        idp_client_id=oauth.idp_client_id or "",
        assumes_pkce=oauth.pkce == "assume",
    )


def _list_unset(templates: Iterable[Template], env: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the variables without a value, each once; a bare name may be a secret, and is not repeated."""
    found: dict[str, None] = {}
    for template in templates:
        if not is_bare_name(template):
            found |= {variable.name: None for variable in find_unset(template, env)}
    return tuple(found)


async def _run_headers_helper(
    helper: Template, url: str, context: LaunchContext, placeholders: Placeholders
) -> Mapping[str, str]:
    """The headers that a command prints."""
    approved = placeholders.approved
    line = await placeholders.fill_or_omit("headersHelper", helper)
    if line is None:
        return {}
    # The names that Claude Code uses, so that one helper can serve several servers.
    names = {"CLAUDE_CODE_MCP_SERVER_NAME": approved.name, "CLAUDE_CODE_MCP_SERVER_URL": url}
    output = await placeholders.fetcher.run_helper(helper, lambda: _run_command(line, context, approved, **names))
    headers = output if isinstance(output, CommandFailed) else _parse_headers(output)
    if isinstance(headers, CommandFailed):
        placeholders.omit("headersHelper", headers.how)
        return {}
    placeholders.secrets += headers.values()
    return headers


def _parse_headers(output: str) -> Mapping[str, str] | CommandFailed:
    try:
        return msgspec.json.decode(output, type=dict[str, str])
    except msgspec.DecodeError:
        return CommandFailed("did not print a JSON object of header names and texts")


def _merge_headers(headers: Mapping[str, str], newer: Mapping[str, str]) -> dict[str, str]:
    """Both together; for a header in both, in whatever case, the newer one wins."""
    replaced = {name.lower() for name in newer}
    kept = {name: value for name, value in headers.items() if name.lower() not in replaced}
    return {**kept, **newer}


def _secrets_in_url(url: str) -> Iterator[str]:
    """The secrets in an address, as they are written there and as the server reads them."""
    from urllib.parse import unquote  # lazy: only definitions with a URL need it

    for secret in find_in_url(url):
        yield secret
        yield unquote(secret)
