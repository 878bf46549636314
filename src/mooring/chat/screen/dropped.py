"""A file that is dropped on a terminal arrives as a paste of its path: quoted, escaped, as a URL, or as it is."""

import os
import shlex
import socket
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit

from mooring.core.conversation.mention import spell_mention

LONGEST_PASTE = 20_000
"""Characters; what is longer is a text."""
MOST_PATHS = 100
_BEGINNINGS = ("/", "'/", '"/', "file://")


def may_be_dropped(text: str) -> bool:
    """Whether a paste begins as the path of a dropped file does. Looks at no disk."""
    return len(text) <= LONGEST_PASTE and text.lstrip().startswith(_BEGINNINGS)


def spell_dropped(text: str) -> str:
    """A paste as it names files in a message; empty unless it is nothing but the paths of files that exist."""
    for paths in _list_readings(text.strip()):
        spelled = [spell_mention(path) if _is_file(path) else None for path in paths]
        if None not in spelled:
            return " ".join(filter(None, spelled))
    return ""


def _list_readings(text: str) -> Iterator[Sequence[str]]:
    """The paths that it may be: one that nothing was done to, or several as a shell would read them."""
    if text.startswith("/"):
        yield [text]
    try:
        words = shlex.split(text)
    except ValueError:  # a sentence with an apostrophe
        return
    paths = [_read_url(word) if word.startswith("file://") else word for word in words]
    if len(paths) <= MOST_PATHS and all(path.startswith("/") for path in paths):
        yield paths


def _read_url(url: str) -> str:
    """The path that a `file://` URL names; empty if the file is on another machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    is_here = parts.netloc in ("", "localhost", socket.gethostname())
    return unquote(parts.path) if is_here else ""


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a NUL in it
        return False
