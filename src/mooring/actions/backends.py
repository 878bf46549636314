"""Who can answer in a chat on this machine: each with its version and login, and the one command that is missing."""

import asyncio
from importlib.metadata import version as find_package_version
from importlib.util import find_spec
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.backends.api.keys import has_key
from mooring.backends.api.providers import list_providers
from mooring.backends.probing import LoginState, ProgramProbe
from mooring.backends.programs import PROGRAM_FACTS, find_program, has_library
from mooring.core.backend_name import BACKENDS, BackendName, ProgramName, is_program
from mooring.core.where import Viewpoint
from mooring.display.text import quote_command
from mooring.process.programs import Guard
from mooring.servers.launch.environment import make_launch
from mooring.settings import Settings, load

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


async def list_backends(viewpoint: Viewpoint, guard: Guard) -> tuple[BackendState, ...]:
    """Everyone who can answer. Programs are asked all at the same time; one that hangs costs its time and no more."""
    # What matters here, no project may set.
    settings = load(viewpoint.where, None)
    states = await asyncio.gather(*(_find_state(name, viewpoint, settings, guard) for name in BACKENDS))
    return tuple(states)


async def _find_state(name: BackendName, viewpoint: Viewpoint, settings: Settings, guard: Guard) -> BackendState:
    is_default = settings["backend"] == name
    if is_program(name):
        return await _find_program_state(name, viewpoint, settings, guard, is_default)
    own_version = find_package_version("mooring")
    if name == "manual":
        return BackendState(name, "ready", own_version, default=is_default)
    return _find_api_state(viewpoint, settings, own_version, is_default)


def _find_api_state(viewpoint: Viewpoint, settings: Settings, own_version: str, is_default: bool) -> BackendState:
    if find_spec("pydantic_ai") is None:
        return BackendState("api", "not-installed", fix="pip install 'mooring[api]'", default=is_default)
    providers = list_providers(settings["models"]).values()
    keys = [row.word for row in providers if row.needs_key and has_key(row, viewpoint.where)]
    chosen = viewpoint.where.env.get("MOORING_MODEL") or settings["model"]
    login = ", ".join(filter(None, (chosen, *(f"key of {word}" for word in keys)))) or None
    if login is None:
        fix = "mooring secret set ANTHROPIC_API_KEY"
        return BackendState("api", "needs-login", own_version, fix=fix, default=is_default)
    return BackendState("api", "ready", own_version, login, default=is_default)


async def _find_program_state(
    name: ProgramName, viewpoint: Viewpoint, settings: Settings, guard: Guard, is_default: bool
) -> BackendState:
    where, facts = viewpoint.where, PROGRAM_FACTS[name]
    if not has_library(name):
        return BackendState(name, "not-installed", fix=f"pip install 'mooring[{facts.extra}]'", default=is_default)
    # Away from the working folder: a repository's own settings may start programs.
    launch = make_launch((name,), where, where.home, own=True, pass_env=facts.keys, settings=settings["env"])
    path = find_program(name, launch.env)
    if path is None:
        return BackendState(name, "not-installed", fix=facts.install, default=is_default)
    probe = ProgramProbe(guard, launch.env, where.home)
    version, login = await asyncio.gather(probe.find_version(path), _ask_login(probe, name, path))
    if login is None:
        return BackendState(name, "unknown", version, default=is_default)
    if login.is_logged_in:
        return BackendState(name, "ready", version, login.who, default=is_default)
    return BackendState(name, "needs-login", version, fix=_write_login(name, path), default=is_default)


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
