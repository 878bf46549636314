"""What the person has configured for OpenCode itself: the servers and agents that are off in a conversation here."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final, Self

import msgspec
from msgspec import Struct

from mooring.discovery.values import as_mapping
from mooring.errors import FileError, ParseError
from mooring.files import match_paths, read
from mooring.syntax.parse import parse

CONTENT: Final = "OPENCODE_CONFIG_CONTENT"
"""The variable with a configuration that OpenCode merges over its files."""
MOST_FILES: Final = 500
"""How many files of agents are looked at."""


class OwnNames(Struct, frozen=True):
    """The names of servers and agents that are configured for OpenCode itself."""

    servers: frozenset[str] = frozenset()
    """Those that it would start."""
    agents: frozenset[str] = frozenset()

    def __or__(self, other: Self) -> "OwnNames":
        return OwnNames(self.servers | other.servers, self.agents | other.agents)

    def __sub__(self, other: Self) -> "OwnNames":
        return OwnNames(self.servers - other.servers, self.agents - other.agents)

    def __bool__(self) -> bool:
        return bool(self.servers or self.agents)


def read_own_names(env: Mapping[str, str]) -> OwnNames:
    """The names in the person's own files.

    A guess, which spares a second start: what OpenCode says about its configuration decides. An organization's
    servers are in no file.
    """
    names = OwnNames()
    for path in _list_files(env):
        names |= find_names(_read(path))
    return names | OwnNames(agents=frozenset(_list_agent_files(env)))


def read_own_shell(env: Mapping[str, str]) -> str:
    """The shell that the person wants OpenCode to use for commands; empty if they don't say."""
    configs = (*map(_read, _list_files(env)), read_given(env))
    named = [config.get("shell") for config in configs]
    found = [shell for shell in named if isinstance(shell, str) and shell]
    # What is read later wins.
    return found[-1] if found else ""


def find_names(config: Mapping[str, Any]) -> OwnNames:
    """The names in a configuration of OpenCode: those of servers that it would start, and of agents."""
    servers = as_mapping(config.get("mcp"))
    enabled = (name for name, entry in servers.items() if as_mapping(entry).get("enabled") is not False)
    agents = [*as_mapping(config.get("agent")), *as_mapping(config.get("mode"))]
    return OwnNames(frozenset(map(str, enabled)), frozenset(map(str, agents)))


def read_given(env: Mapping[str, str]) -> dict[str, Any]:
    """What the person gives OpenCode in the environment, without its servers."""
    try:
        given = msgspec.json.decode(env.get(CONTENT) or "{}", type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}
    return {key: value for key, value in given.items() if key != "mcp"}


def _list_files(env: Mapping[str, str]) -> Iterator[str]:
    for folder in _list_folders(env):
        for name in ("config.json", "opencode.json", "opencode.jsonc"):
            yield f"{folder}/{name}"
    named = env.get("OPENCODE_CONFIG")
    if named:
        yield named


def _list_folders(env: Mapping[str, str]) -> Iterable[str]:
    home = env.get("HOME", "")
    config = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
    folders = (f"{config}/opencode", f"{home}/.opencode", env.get("OPENCODE_CONFIG_DIR", ""))
    return filter(os.path.isabs, folders)


def _list_agent_files(env: Mapping[str, str]) -> Iterator[str]:
    for folder in _list_folders(env):
        for kind in ("agent", "agents", "mode", "modes"):
            for path in match_paths(f"{folder}/{kind}/*.md", MOST_FILES):
                yield PurePath(path).stem


def _read(path: str) -> Mapping[str, Any]:
    try:
        data = read(path)
        return {} if data is None else as_mapping(parse(data, "json").data)
    except (FileError, ParseError):
        return {}  # OpenCode says it better
