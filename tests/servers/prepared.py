"""What the tests of a start share: a definition read from a file by its tool's rules, and what it becomes."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from msgspec.structs import replace

from mooring.auth.store import SecretStore
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import ServerConfig
from mooring.process.surroundings import ProgramSurroundings
from mooring.servers.launch.prepare import Endpoint, Launch, LaunchContext, Secrets, prepare
from support import Home

OWN = "home/.config/mooring/mcp.json"
SHARED = "project/mcp.json"
CLAUDE = "project/.claude/mcp.json"
CURSOR = "home/.cursor/mcp.json"
VSCODE = "project/.vscode/mcp.json"
OPENCODE = "home/.config/opencode/opencode.json"
MCPORTER = "home/.mcporter/mcporter.json"
CRUSH = "home/.config/crush/crush.json"


class NoGuard:
    """Nothing may be started."""

    async def start(self, argv: Sequence[str], surroundings: ProgramSurroundings) -> NoReturn:
        raise AssertionError(f"{argv} was started")


def defined(home: Home, file: str, entry: Any, *, key: str = "mcpServers", **more: Any) -> Approved:
    """The server `x` as that file defines it."""
    home.write(file, {key: {"x": entry}, **more})
    return found(home, own=not file.startswith("project/"))


def found(home: Home, *, own: bool = True) -> Approved:
    """The server `x` of the files that were written."""
    config = home.inventory().find("x").definition.config
    assert isinstance(config, ServerConfig), config.problem
    return Approved(config, str(home.project), own=own)


def context(home: Home, env: Mapping[str, str] | None = None, /, **changes: Any) -> LaunchContext:
    where = replace(home.where, env={**home.env, **(env or {})})
    return replace(LaunchContext(where, NoGuard(), Secrets(), SecretStore(where)), **changes)


async def started(approved: Approved, given: LaunchContext) -> Launch:
    made = await prepare(approved, given)
    assert isinstance(made, Launch)
    return made


async def reached(approved: Approved, given: LaunchContext) -> Endpoint:
    made = await prepare(approved, given)
    assert isinstance(made, Endpoint)
    return made


async def until(true: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    for _ in range(1000):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to pass")
