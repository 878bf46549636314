"""What a definition resolves to: the program that its command runs, or the origin of its URL.

An approval is bound to this. A command such as `${HOME}/bin/x`, or one with a PATH in its env, can become another
program without a change in its text.
"""

import os
import re
from collections.abc import Sequence
from typing import Final

from mooring import files
from mooring.core.definitions.config import Connection, Http, InProcess, Stdio
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import Expanded, Gap, Template
from mooring.servers.launch.environment import search_path
from mooring.servers.launch.fetch import resolve_path
from mooring.servers.launch.placeholders import fill_without_fetching

UNRESOLVED: Final = "unresolved"
"""It resolves to nothing: a variable is not set, or there is no such program."""

# Variables that can replace a program, or make it load other code or load it from elsewhere. Names are compared in
# capitals: npm and every proxy variable are read in either case, and Windows knows no difference at all.
_STEERING = "|".join(
    (
        # Where programs, libraries, settings and plugins are found, in any language.
        r"PATH$|HOME$|_PRELOAD$|(?:OPTS|OPTIONS|FLAGS|MODULES|PLUGINS)$|^XDG_|^USERPROFILE$|^(?:LOCAL)?APPDATA$",
        r"^(?:LD|DYLD)_|^GLIBC_TUNABLES$|^OPENSSL_|^AWS_(?:CONFIG|SHARED_CREDENTIALS)_FILE$|^(?:KUBE|CLOUDSDK_)CONFIG$",
        # Shells, and programs that other programs start.
        r"^BASH_ENV$|^BASH_FUNC_|^ENV$|^ZDOTDIR$|^BASHOPTS$|^PROMPT_COMMAND$|^PS4$|^IFS$|^SHELL$|^COMSPEC$|^PATHEXT$",
        r"ASKPASS$|^(?:VISUAL|EDITOR|PAGER|BROWSER|MANPAGER)$|^LESS(?:OPEN|CLOSE)$",
        r"^GIT_(?!AUTHOR_|COMMITTER_|TOKEN$)",
        # Package managers and runtimes. NODE_ENV is in every other `.env` and loads nothing.
        r"^(?:NPM_CONFIG|YARN|PNPM|COREPACK|BUN|DENO|ELECTRON)_|^NODE_(?!ENV$)",
        r"^PYTHON|^VIRTUAL_ENV$|^(?:UV|PIP|PIPX|PDM|POETRY|CONDA|MAMBA|HATCH)_",
        r"^PERL|^RUBY|^(?:GEM|BUNDLE)_|^PHP|^COMPOSER|^(?:LUA|JULIA|ERL|R)_|^CARGO_|^RUST(?:C|UP)",
        r"^_?JAVA_|^JDK_|^(?:DOTNET|COREHOST|CORECLR|COR|COMPLUS|NUGET)_|^ASPNETCORE_HOSTINGSTARTUPASSEMBLIES$",
        r"^GO(?:PROXY|ROOT|SUMDB|NOSUMDB|NOSUMCHECK|PRIVATE|INSECURE|ENV|TOOLCHAIN|VCS|BIN)$",
        r"^(?:DOCKER|CONTAINERS?|PODMAN|COMPOSE)_",
        # Whom downloads come from, and who may pretend to be them.
        r"_PROXY$|^SSL_CERT_|CA_BUNDLE$|CA_CERTS$",
    )
)


def resolve_target(connection: Connection, folder: str, where: Paths, path: str) -> str | None:
    """The executable or the origin that would be started or reached now, or `UNRESOLVED`.

    `None` if only its start can know, because something has to be asked for, run or read. An approval and a start both
    call this, so that they mean the same. `folder` is the project's; `path` is the search path for definitions without
    a PATH of their own.
    """
    match connection:
        case Stdio():
            return _resolve_program(connection, folder, where, path)
        case Http(url):
            return _resolve_origin(url, folder, where)
        case InProcess():
            return None


def may_replace_program(name: str) -> bool:
    """Whether a variable of that name can replace a program, or change what it loads."""
    return re.search(_STEERING, name.upper()) is not None


def is_search_path(name: str) -> bool:
    """Whether a variable of that name says where commands are found."""
    return name.upper() == "PATH"


def url_origin(url: str) -> str | None:
    """The scheme and host of a URL, without a password in it; `None` if it has no host."""
    from urllib.parse import urlsplit  # lazy: only approvals and definitions with a URL need it

    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}" if host else None


def _resolve_origin(url: Template, folder: str, where: Paths) -> str | None:
    match fill_without_fetching(url, where, folder):
        case Expanded(text, secrets):
            return _hide_secrets(url_origin(text) or _socket_origin(text), secrets)
        case Gap():
            return UNRESOLVED
        case None:
            return None


def _socket_origin(url: str) -> str:
    """A URL without a host: a socket, or nothing that could be reached."""
    scheme, _, rest = url.partition("://")
    return f"unix://{rest.partition('#')[0]}" if scheme == "unix" else "no host"


def _resolve_program(stdio: Stdio, folder: str, where: Paths, path: str) -> str | None:
    command = fill_without_fetching(stdio.command, where, folder)
    cwd = fill_without_fetching(stdio.cwd, where, folder) if stdio.cwd else Expanded("")
    own_path = stdio.env.get("PATH")
    search = fill_without_fetching(own_path, where, folder) if own_path else Gap("has no search path of its own")
    if command is None or cwd is None or search is None:
        return None
    if isinstance(command, Gap) or isinstance(cwd, Gap):
        return UNRESOLVED
    if isinstance(search, Expanded):
        path = search_path(search.text, where.home, chosen=True)
    program = resolve_path(command.text, "", where.home)
    # As a start does: joined with nothing, the folder would get a slash at its end.
    start_folder = resolve_path(cwd.text, folder, where.home) if stdio.cwd else folder
    found = find_executable(program, path, start_folder)
    if found is None:
        return UNRESOLVED
    return _hide_secrets(found, (*command.secrets, *cwd.secrets))


def find_executable(command: str, path: str, cwd: str) -> str | None:
    """The file that would run, with links resolved, if there is one."""
    found = files.which(command, path, cwd)
    return os.path.realpath(found) if found else None


def _hide_secrets(found: str, secrets: Sequence[str]) -> str:
    """The same, fit to be shown and stored: a digest if a secret is part of it."""
    if not any(secret and secret in found for secret in secrets):
        return found
    from hashlib import sha256  # lazy: hardly any definition gets here

    return f"something with a secret in it (sha256 {sha256(found.encode()).hexdigest()})"
