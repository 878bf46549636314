"""The configuration that OpenCode gets for a conversation: whatever it does is asked about, and nothing is its own.

Servers are not in it. They are given to the running server, because the environment, which is how it gets this, is
also what every command that it runs gets.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from mooring.backends.bridge.options import BackendOptions
from mooring.backends.opencode.agents import ASK_ALWAYS, EXPLORE, MAIN_AGENT, KnownTools, split_model, write_agent
from mooring.backends.opencode.own_config import CONTENT, OwnNames, read_given
from mooring.backends.opencode.shell import PermittedShell
from mooring.core.definitions.paths import Paths, here, is_below
from mooring.discovery.values import as_mapping
from mooring.display.text import safe
from mooring.errors import ConfigError, FileError, ParseError
from mooring.files import read, repository_folders
from mooring.settings import find_project_folders
from mooring.syntax.parse import parse

SWITCHES: Final = {
    # A repository's opencode.json and .opencode would start its servers.
    "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
}
UNWANTED: Final = (
    # Calls that are made inside a program ask for no permission, and a sub-agent in the background outlives its turn.
    "OPENCODE_EXPERIMENTAL",
    "OPENCODE_EXPERIMENTAL_CODE_MODE",
    "OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS",
    "OPENCODE_EXPERIMENTAL_PLAN_MODE",
    "OPENCODE_PERMISSION",
    "OPENCODE_SERVER_USERNAME",
)
INSTRUCTION_FILES: Final = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")


def write_env(
    options: BackendOptions, own: OwnNames, known: KnownTools, shell: PermittedShell | None = None
) -> dict[str, str]:
    """The environment that OpenCode is started with; `own` are the names to switch off, `shell` runs its commands."""
    env = {name: value for name, value in options.env.items() if name not in UNWANTED}
    config = write_config(options, own, known)
    if shell is not None:
        config["shell"] = shell.path
    return {**env, **SWITCHES, CONTENT: encode_content(config)}


def encode_content(config: Mapping[str, Any]) -> str:
    """A configuration as OpenCode reads it from its environment, every text as it is.

    It would put the values of variables and files in the place of `{env:NAME}` and `{file:PATH}`, also in the prompt
    of an agent that came with a repository.
    """
    return msgspec.json.encode(config).decode().replace("{env:", "\\u007benv:").replace("{file:", "\\u007bfile:")


def write_config(options: BackendOptions, own: OwnNames, known: KnownTools) -> dict[str, Any]:
    """What OpenCode merges over everything that the person configured."""
    return {
        **read_given(options.env),
        "permission": ASK_ALWAYS,
        "agent": _write_agents(options, own.agents, known),
        "mcp": {name: {"enabled": False} for name in sorted(own.servers)},
        # Both run programs that a repository brings with it.
        "lsp": False,
        "formatter": False,
        "instructions": find_instruction_files(here(options.env), options.cwd),
        # A refused call ends that call, not the turn.
        "experimental": {"continue_loop_on_deny": True},
    }


def _write_agents(options: BackendOptions, own: Iterable[str], known: KnownTools) -> dict[str, Any]:
    # What a person's own agents may do is written in them, and would go past the gate. Those that Mooring knows are
    # among the options.
    agents: dict[str, Any] = {name: {"disable": True} for name in sorted(own)}
    for name in (MAIN_AGENT, "general"):
        agents[name] = {"permission": ASK_ALWAYS}
    agents["explore"] = {"permission": EXPLORE}
    for definition in options.agents:
        agents[definition.name] = write_agent(definition, known, is_main=definition.name == options.agent)
    return agents


def find_model(options: BackendOptions) -> str | None:
    """The model that answers: what the person says, else what the agent's definition does; `None` for the default."""
    agent = options.main_agent
    named = None if agent is None or agent.model is None else split_model(agent.model)
    return options.model or (None if named is None else "/".join(named))


def find_instruction_files(where: Paths, cwd: str) -> list[str]:
    """The files that OpenCode would have read by itself if a repository's configuration were not switched off.

    Links that lead out of the project are left out: OpenCode would follow them.
    """
    folders = find_project_folders(where, cwd)
    root = os.path.realpath(folders[-1])
    for name in INSTRUCTION_FILES:
        paths = [os.path.join(folder, name) for folder in folders]
        found = [path for path in paths if os.path.isfile(path) and is_below(os.path.realpath(path), root)]
        if found:
            return found
    return []


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
