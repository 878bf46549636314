"""What the program of another agent says of itself: its version, and whether somebody is logged in.

Each is asked by its own command, away from any repository, and nothing that it keeps is read.
"""

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from mooring.errors import GuardLost, SpawnError
from mooring.process.child import Child, OutputReader
from mooring.process.programs import Guard
from mooring.process.surroundings import surround

PROBE_SECONDS: Final = 20.0
"""How long a program may take. OpenCode needs seven seconds of a slow machine to list its logins."""
MAX_PRINTED: Final = 64 * 1024
_TERM_GRACE: Final = 0.3

_VERSION: Final = re.compile(r"\d+\.\d+[\w.+-]*")
_COLOR: Final = re.compile(r"\x1b\[[0-9;]*m")


class LoginState(Struct, frozen=True):
    """Whether a program can ask its model, and by whose login; never a secret."""

    is_logged_in: bool
    who: str | None = None


class ProgramProbe:
    """Asks programs, with one environment and in one folder."""

    def __init__(self, guard: Guard, env: Mapping[str, str], folder: str, seconds: float) -> None:
        """Each has so many `seconds` to answer. `folder` should be no repository: some programs read the files of the
        folder that they run in.
        """
        self._guard = guard
        self._env = env
        self._folder = folder
        self._seconds = seconds

    async def find_version(self, path: str) -> str | None:
        """The version of a program; `None` if it says none."""
        printed = await self._ask((path, "--version"))
        found = _VERSION.search(printed)
        return found[0].rstrip(".") if found else None

    async def find_claude_login(self, path: str) -> LoginState | None:
        """How Claude Code is logged in; `None` if it doesn't say."""
        said = _read_object(await self._ask((path, "auth", "status")))
        if not isinstance(said.get("loggedIn"), bool):
            return None
        names = ("email", "apiKeySource", "authMethod")
        who = next((str(said[name]) for name in names if said.get(name)), None)
        return LoginState(said["loggedIn"], who if said["loggedIn"] else None)

    async def find_copilot_login(self, path: str) -> LoginState | None:
        """How Copilot is logged in; `None` if it doesn't say. It has no command for that, so its protocol is used."""
        if self._env.get("COPILOT_PROVIDER_BASE_URL"):
            return LoginState(True, "COPILOT_PROVIDER_BASE_URL")
        request = msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "auth.getStatus", "params": {}})
        printed = await self._ask(
            (path, "--headless", "--no-auto-update", "--stdio"),
            f"Content-Length: {len(request)}\r\n\r\n".encode() + request,
            lambda data: _find_reply(data) is not None,
        )
        said = (_find_reply(printed.encode()) or {}).get("result")
        if not isinstance(said, dict) or not isinstance(said.get("isAuthenticated"), bool):
            return None
        who = said.get("login") or said.get("authType")
        return LoginState(said["isAuthenticated"], str(who) if who and said["isAuthenticated"] else None)

    async def find_opencode_login(self, path: str) -> LoginState | None:
        """Which providers OpenCode is logged in to; `None` if it doesn't say."""
        printed = _COLOR.sub("", await self._ask((path, "auth", "list")))
        if "credentials" not in printed:
            return None
        names = re.findall(r"^●\s+(.+?)\s+\S+$", printed, re.MULTILINE)
        return LoginState(bool(names), ", ".join(names) or None)

    async def _ask(
        self, argv: Sequence[str], said: bytes = b"", is_enough: Callable[[bytes], bool] = lambda data: False
    ) -> str:
        """What a program prints until it ends or that is enough; empty if it can't be run, or takes too long."""
        try:
            async with asyncio.timeout(self._seconds):
                child = await self._guard.start(argv, surround(self._env, self._folder))
                try:
                    return await _read_answer(child, said, is_enough)
                finally:
                    await child.close(0.0, _TERM_GRACE)
        except (TimeoutError, SpawnError, GuardLost):
            return ""


async def _read_answer(child: Child, said: bytes, is_enough: Callable[[bytes], bool]) -> str:
    printed = bytearray()
    enough: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(data: bytes) -> None:
        printed.extend(data)
        if not enough.done() and (len(printed) > MAX_PRINTED or is_enough(bytes(printed))):
            enough.set_result(None)

    reader = OutputReader(child, take)
    if said:
        # Its input stays open: some end with it, before they have answered.
        os.write(child.stdin, said)
    else:
        child.close_stdin()
    await asyncio.wait((child.exited, enough), return_when=asyncio.FIRST_COMPLETED)
    reader.drain()
    reader.stop()
    return printed.decode(errors="replace")


def _find_reply(data: bytes) -> dict[str, Any] | None:
    """The answer to the only request, among whatever else is told."""
    while data.startswith(b"Content-Length:"):
        head, _, rest = data.partition(b"\r\n\r\n")
        digits = head.removeprefix(b"Content-Length:").strip()
        size = int(digits) if digits.isdigit() else 0
        if not size or len(rest) < size:
            return None
        message = _read_object(rest[:size].decode(errors="replace"))
        if message.get("id") == 1 and "method" not in message:
            return message
        data = rest[size:]
    return None


def _read_object(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return {}
