"""What a definition resolves to, the program that its command runs or the origin of its URL; and if it was approved.

An approval is bound to this. A command such as `${HOME}/bin/x`, or one with a PATH in its env, can become another
program without a change in its text.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from mooring import files
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Connection, Http, InProcess, Stdio
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import Expanded, Gap, Template
from mooring.display.text import safe
from mooring.errors import NotApproved
from mooring.servers.launch.act import describe_act, list_unshown
from mooring.servers.launch.environment import default_search_path, search_path
from mooring.servers.launch.fetch import resolve_path
from mooring.servers.launch.placeholders import fill_without_fetching

UNRESOLVED: Final = "unresolved"
"""It resolves to nothing: a variable is not set, or there is no such program."""


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
    found = files.which(program, path, start_folder)
    if found is None:
        return UNRESOLVED
    return _hide_secrets(os.path.realpath(found), (*command.secrets, *cwd.secrets))


def _hide_secrets(found: str, secrets: Sequence[str]) -> str:
    """The same, fit to be shown and stored: a digest if a secret is part of it."""
    if not any(secret and secret in found for secret in secrets):
        return found
    from hashlib import sha256  # lazy: hardly any definition gets here

    return f"something with a secret in it (sha256 {sha256(found.encode()).hexdigest()})"


# --- whether it still leads to what was approved ----------------------------------------------------------------------


def check_approval(approved: Approved, where: Paths, env: Mapping[str, str]) -> None:
    """See whether a definition still stands for what was approved; `env` is what settings add. Raises: NotApproved."""
    if approved.target is not None:
        path = default_search_path(where, env)
        _check_target(approved, resolve_target(approved.config.connection, approved.folder, where, path))
    if not approved.own:
        _check_uses(approved)
        _check_files(approved, where)


def _check_target(approved: Approved, now: str | None) -> None:
    """Compare what would be started or reached with what was approved. Raises: NotApproved."""
    before = approved.target
    # If it can't be found, the start itself has the better explanation.
    if before is None or now in (before, None, UNRESOLVED):
        return
    if before == UNRESOLVED:
        raise NotApproved(approved.name, f"led nowhere when it was approved, and now leads to {now}")
    other = "another program" if isinstance(approved.config.connection, Stdio) else "another address"
    raise NotApproved(approved.name, f"now leads to {other} ({before}, now {now})")


def _check_uses(approved: Approved) -> None:
    """See that the person was shown everything that it uses when they approved it. Raises: NotApproved."""
    unshown = list_unshown(describe_act(approved.config, own=False), approved.shown)
    if unshown:
        names = " and ".join(f"the {use.kind} {safe(use.what)}" for use in unshown)
        reason = f"uses {names} for more than the question that you answered showed"
        raise NotApproved(approved.name, reason)


def _check_files(approved: Approved, where: Paths) -> None:
    """Compare what the files it names lead to, and set, with what was approved. Raises: NotApproved."""
    # Lazy: a project's alone.
    from mooring.servers.launch.named_files import bind_files, describe_bound, find_argument_paths, find_named_files

    in_arguments = find_argument_paths(approved.config, approved.folder, where)
    read = find_named_files(approved.config, approved.folder, where)
    named = (*read, *(path.file for path in in_arguments))
    if bind_files(named) != approved.files:
        now = describe_bound(named) or "its files no longer set what they did"
        raise NotApproved(approved.name, f"now loads or reads something different from when it was approved: {now}")
