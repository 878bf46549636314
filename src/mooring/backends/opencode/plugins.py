"""Finds the plugins that a repository brings for OpenCode: it would run them, and nothing switches that off.

`OPENCODE_DISABLE_PROJECT_CONFIG` and `OPENCODE_PURE` keep one of the two readers of configuration in OpenCode 1.18 from
them. The other one imports them as soon as a prompt comes.
"""

import os
from collections.abc import Iterator
from typing import Final

from mooring.discovery.values import as_mapping
from mooring.display.text import safe
from mooring.errors import ConfigError, FileError, ParseError
from mooring.files import read, repository_folders
from mooring.syntax.parse import parse

_FILES: Final = ("opencode.json", "opencode.jsonc")
_KEYS: Final = ("plugin", "plugins")


def check_plugins(cwd: str, home: str) -> None:
    """Raises: ConfigError if OpenCode would run code of the repository."""
    for folder in _list_folders(cwd, home):
        for path in _find_plugins(folder):
            hint = "Remove it, or have another backend answer here."
            raise ConfigError(f"{safe(path)} is a plugin of this repository, which OpenCode would run unasked.", hint)


def _list_folders(cwd: str, home: str) -> Iterator[str]:
    """The folders in which OpenCode looks: up to the repository's, or all of them if there is none."""
    folders = repository_folders(cwd)
    if not os.path.lexists(os.path.join(folders[-1], ".git")):
        folders = [cwd]
        while os.path.dirname(folders[-1]) != folders[-1]:
            folders.append(os.path.dirname(folders[-1]))
    # What is in the person's own folder is theirs.
    return (folder for folder in folders if folder != home)


def _find_plugins(folder: str) -> Iterator[str]:
    own = os.path.join(folder, ".opencode")
    for kind in ("plugin", "plugins"):
        yield from _list_scripts(os.path.join(own, kind))
    paths = (os.path.join(place, name) for place in (folder, own) for name in _FILES)
    yield from filter(_names_plugins, paths)


def _list_scripts(folder: str) -> Iterator[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    yield from (os.path.join(folder, name) for name in names if name.endswith((".js", ".ts")))


def _names_plugins(path: str) -> bool:
    try:
        data = read(path)
        config = {} if data is None else as_mapping(parse(data, "json").data)
    except (FileError, ParseError):
        return True  # OpenCode may be able to read what we can't
    return any(config.get(key) for key in _KEYS)
