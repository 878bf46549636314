"""What a definition stands for: the program that its command is, or the origin of its address."""

import os
import re

from mooring import files
from mooring.core.config import Connection, Http, Stdio
from mooring.core.template import Template, Text

# Values by which a program can be replaced or made to load another: no secrets, and the person must see them.
_STEERING = r"PATH$|^(LD|DYLD)_|^NODE_OPTIONS$|^NODE_PATH$|^PYTHON|^PERL5|^RUBY|^BASH_ENV$|^ENV$|_PRELOAD$"
_WHOLE_ORIGIN = r"[^:/?#]+://[^/?#]*[/?#]"


def target(connection: Connection, folder: str, path: str) -> str | None:
    """What is known of it before anything is filled in: nothing where blanks, or a search path of its own, decide.

    `folder` is the project's, `path` the search path it will be given.
    """
    match connection:
        case Stdio(command, env=env, cwd=cwd):
            word, place = command.plain, cwd.plain if cwd else ""
            known = "PATH" not in env and word is not None and place is not None
            return executable(word, path, os.path.join(folder, place)) if known else None  # type: ignore[arg-type]
        case Http(url):
            return origin(url.text) if _fixed_origin(url) else None


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


def _fixed_origin(url: Template) -> bool:
    """Whether nothing that is filled in later can change where the address leads."""
    match url.parts:
        case (Text(),):
            return True
        case (Text(text), *_):
            return re.match(_WHOLE_ORIGIN, text) is not None
        case _:
            return False
