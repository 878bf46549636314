"""What a definition stands for: the program that its command is, or the origin of its address."""

import os
import re
from collections.abc import Iterable
from typing import Final

from mooring import files
from mooring.core.config import Connection, Http, Stdio
from mooring.core.where import Where
from mooring.servers.launch.blanks import placed, told
from mooring.servers.launch.environment import search_path
from mooring.servers.launch.expand import Expanded, Gap

UNRESOLVED: Final = "unresolved"
"""It stands for nothing: a variable is not set, or there is no such program."""

# Values by which a program can be replaced or made to load another: no secrets, and the person must see them.
_STEERING = r"PATH$|^(LD|DYLD)_|^NODE_OPTIONS$|^NODE_PATH$|^PYTHON|^PERL5|^RUBY|^BASH_ENV$|^ENV$|_PRELOAD$"


def target(connection: Connection, folder: str, where: Where, path: str) -> str | None:
    """The executable, or the origin of the address, that would be started or reached now, or `UNRESOLVED`.

    `None` where only its start can tell: something has to be asked for, run or read. An approval and a start both
    ask here, so that they mean the same. `folder` is the project's, `path` the search path of what names no other.
    """
    match connection:
        case Stdio():
            return _program(connection, folder, where, path)
        case Http(url):
            match told(url, where, folder):
                case Expanded(text, secrets):
                    return _discreet(origin(text) or _socket(text), secrets)
                case Gap():
                    return UNRESOLVED
                case None:
                    return None


def _program(stdio: Stdio, folder: str, where: Where, path: str) -> str | None:
    parts = [told(part, where, folder) for part in (stdio.command, *([stdio.cwd] if stdio.cwd else []))]
    own = told(stdio.env["PATH"], where, folder) if "PATH" in stdio.env else Gap("has no search path of its own")
    if None in parts or own is None:
        return None
    texts = [part.text for part in parts if isinstance(part, Expanded)]
    if len(texts) < len(parts):
        return UNRESOLVED
    if isinstance(own, Expanded):
        path = search_path(own.text, where.home)
    command, *below = texts
    cwd = placed(below[0], folder, where.home) if below else folder
    found = executable(placed(command, "", where.home), path, cwd)
    secrets = [secret for part in parts if isinstance(part, Expanded) for secret in part.secrets]
    return _discreet(found, secrets) if found else UNRESOLVED


def _discreet(found: str, secrets: Iterable[str]) -> str:
    """The same, to be shown and kept; a digest of it where a secret is part of it."""
    if not any(secret and secret in found for secret in secrets):
        return found
    from hashlib import sha256  # hardly ever

    return f"something with a secret in it (sha256 {sha256(found.encode()).hexdigest()})"


def _socket(url: str) -> str:
    """An address without a host: a socket, or nothing that could be reached."""
    scheme, _, rest = url.partition("://")
    return f"unix://{rest.partition('#')[0]}" if scheme == "unix" else "no host"


def executable(command: str, path: str, cwd: str) -> str | None:
    """The file that would run, links resolved; `None` where there is none."""
    found = files.which(command, path, cwd)
    return os.path.realpath(found) if found else None


def origin(url: str) -> str | None:
    """The scheme and host of an address, without the password that it may hold; `None` where it has no host."""
    from urllib.parse import urlsplit  # only when someone decides about an address

    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}" if host else None


def steers(name: str) -> bool:
    """Whether a variable of that name can put another program in place, or make it load another."""
    return re.search(_STEERING, name) is not None
