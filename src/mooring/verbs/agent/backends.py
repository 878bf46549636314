"""Who can answer in a chat on this machine: each with its version and login, and the one command that is missing."""

import asyncio
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.backends.api.providers import has_key, list_providers
from mooring.backends.probing import PROBE_SECONDS, LoginState, ProgramProbe
from mooring.backends.programs import PROGRAM_FACTS, find_program, has_library
from mooring.core.conversation.backend_name import BACKENDS, BackendName, ProgramName, is_program
from mooring.core.definitions.paths import Workspace
from mooring.display.text import quote_command
from mooring.files.installation import find_version, spell_install
from mooring.process.programs import Guard
from mooring.servers.launch.environment import make_launch
from mooring.settings import load

BackendStateWord: TypeAlias = Literal["ready", "not-installed", "needs-login", "unknown"]


class BackendState(Struct, frozen=True, rename="camel"):
    """One of those who can answer."""

    name: BackendName
    state: BackendStateWord
    """`unknown` if it is installed, and doesn't say whether somebody is logged in."""
    version: str | None = None
    login: str | None = None
    """Whose login it uses, or the name of the variable with the key; never a secret."""
    fix: str | None = None
    """The one command that installs it, or logs in to it."""
    default: bool = False
    """The setting `backend` names it."""


async def list_backends(workspace: Workspace, guard: Guard, seconds: float = PROBE_SECONDS) -> tuple[BackendState, ...]:
    """Everyone who can answer. Programs are asked all at the same time, and each has so many `seconds` to answer."""
    survey = _Survey(workspace, guard, seconds)
    return tuple(await asyncio.gather(*map(survey.find_state, BACKENDS)))


class _Survey:
    """Looks for those who can answer."""

    def __init__(self, workspace: Workspace, guard: Guard, seconds: float) -> None:
        self._where = workspace.where
        self._guard = guard
        self._seconds = seconds
        # What matters here, no project may set.
        self._settings = load(workspace.where, None)

    async def find_state(self, name: BackendName) -> BackendState:
        found = await self._find_program(name) if is_program(name) else self._find_own(name)
        return replace(found, default=self._settings["backend"] == name)

    def _find_own(self, name: BackendName) -> BackendState:
        own_version = find_version()
        if name == "manual":
            return BackendState(name, "ready", own_version)
        providers = list_providers(self._settings["models"]).values()
        keys = [f"key of {row.word}" for row in providers if row.needs_key and has_key(row, self._where)]
        chosen = self._where.env.get("MOORING_MODEL") or self._settings["model"]
        login = ", ".join(filter(None, (chosen, *keys)))
        if not login:
            return BackendState(name, "needs-login", own_version, fix="mooring secret set ANTHROPIC_API_KEY")
        return BackendState(name, "ready", own_version, login)

    async def _find_program(self, name: ProgramName) -> BackendState:
        facts = PROGRAM_FACTS[name]
        if not has_library(name):
            return BackendState(name, "not-installed", fix=spell_install(name))
        # Away from the working folder: a repository's own settings may start programs.
        folder = self._where.home
        launch = make_launch(
            (name,), self._where, folder, own=True, pass_env=facts.keys, settings=self._settings["env"]
        )
        path = find_program(name, launch.env)
        if path is None:
            return BackendState(name, "not-installed", fix=facts.install)
        probe = ProgramProbe(self._guard, launch.env, folder, self._seconds)
        version, login = await asyncio.gather(probe.find_version(path), _ask_login(probe, name, path))
        if login is None:
            return BackendState(name, "unknown", version)
        if login.is_logged_in:
            return BackendState(name, "ready", version, login.who)
        return BackendState(name, "needs-login", version, fix=_write_login(name, path))


async def _ask_login(probe: ProgramProbe, name: ProgramName, path: str) -> LoginState | None:
    match name:
        case "claude":
            return await probe.find_claude_login(path)
        case "copilot":
            return await probe.find_copilot_login(path)
        case "opencode":
            return await probe.find_opencode_login(path)


def _write_login(name: ProgramName, path: str) -> str:
    match name:
        case "claude":
            # It comes with its library, and need not be on PATH.
            return quote_command((path, "auth", "login"))
        case "copilot":
            return "copilot login"
        case "opencode":
            return "opencode auth login"
