"""Copilot's program: what it takes from the person's environment, started by the guard on loopback, and ended."""

import asyncio
import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from secrets import token_urlsafe
from typing import Any, Final

from msgspec import Struct

from mooring.backends.bridge.program import explain_end, wait_until_listening
from mooring.backends.copilot.sdk import load_sdk, make_client
from mooring.backends.programs import PROGRAM_FACTS, require_program
from mooring.display.text import safe
from mooring.errors import ModelError
from mooring.process.child import Child
from mooring.process.programs import Guard
from mooring.process.surroundings import surround

LOGIN_VARIABLES: Final[tuple[str, ...]] = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
"""The person's login, in the order in which Copilot looks for it."""

_PROVIDER: Final = "COPILOT_PROVIDER_"
_TEXTS: Final = (
    "type", "base_url", "api_key", "api_key_command", "bearer_token", "wire_api", "transport", "model_id", "wire_model",
)  # fmt: skip
_NUMBERS: Final = ("max_prompt_tokens", "max_output_tokens")

_UNWANTED: Final = (
    # Allows every call without asking, and trusts the folder, whose servers and hooks it would start.
    "COPILOT_ALLOW_ALL",
    # Set where Mooring itself runs inside Copilot: the program would take itself for a part of that session.
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_CLI",
    "COPILOT_CLI_BINARY_VERSION",
    "COPILOT_CLI_RESOLVED_DIST_DIR",
)


class CopilotVariables:
    """What the person's environment says about Copilot."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """`env` has the keys that Copilot needs, too."""
        self.env = env

    @property
    def model(self) -> str | None:
        return self.env.get("COPILOT_MODEL") or None

    @property
    def home(self) -> str:
        return self.env.get("COPILOT_HOME") or os.path.join(self.env.get("HOME", ""), ".copilot")

    @property
    def has_provider(self) -> bool:
        """Whether models of a provider of the person's own are used, instead of GitHub's."""
        return bool(self.env.get(f"{_PROVIDER}BASE_URL"))

    def make_environment(self) -> dict[str, str]:
        """The program's whole environment.

        The keys of a provider are left out: they are given with the session, where commands that the program runs
        don't inherit them.
        """
        left_out = (*_UNWANTED, *LOGIN_VARIABLES) if self.has_provider else _UNWANTED
        kept = {name: value for name, value in self.env.items() if name not in left_out}
        return {name: value for name, value in kept.items() if not name.startswith(_PROVIDER)}

    def make_provider(self) -> dict[str, Any] | None:
        """The provider for a session; `None` for GitHub's models.

        The program reads these variables in its own chat, but not where another program drives it.
        """
        if not self.has_provider:
            return None
        provider: dict[str, Any] = {"type": "openai", **self._read(_TEXTS)}
        provider |= {name: int(text) for name, text in self._read(_NUMBERS).items() if text.isdecimal()}
        version = self.env.get(f"{_PROVIDER}AZURE_API_VERSION")
        if version:
            provider["azure"] = {"api_version": version}
        headers = self.env.get(f"{_PROVIDER}HEADERS")
        if headers:
            provider["headers"] = _read_headers(headers)
        return provider

    def _read(self, names: Iterable[str]) -> dict[str, str]:
        found = {name: self.env.get(f"{_PROVIDER}{name.upper()}", "") for name in names}
        return {name: text for name, text in found.items() if text}


def _read_headers(text: str) -> dict[str, str]:
    """Headers as the variable has them: one per line, or separated by a backslash and an `n`."""
    lines = text.replace("\\n", "\n").splitlines()
    pairs = [line.partition(":") for line in lines if ":" in line]
    return {name.strip(): value.strip() for name, _, value in pairs}


NAME: Final = PROGRAM_FACTS["copilot"].label

_LISTENING: Final = re.compile(rb"listening on port (\d+)")


class RunningCopilot(Struct, frozen=True):
    """A running program, and the library's client that is connected to it."""

    child: Child
    client: Any

    @property
    def is_running(self) -> bool:
        return not self.child.exited.done()

    async def close(self) -> None:
        """Disconnect, and end the program with everything that it started."""
        # Begun first: the client waits for answers, which a program that hangs never gives.
        self.child.end(0)
        await self.client.force_stop()
        await self.child.close(0)


async def start_program(guard: Guard, variables: CopilotVariables, cwd: str) -> RunningCopilot:
    """Start Copilot's program and connect to it.

    The library would start it by itself, and then nothing would end it if this process is killed. So it is told to
    connect to one that listens already, with a token that nobody else knows.

    Raises: ConfigError if the program or the library isn't installed; SpawnError; ModelError if it ends at once, or
    never listens.
    """
    path = _skip_loader(require_program("copilot", variables.env))
    token = token_urlsafe(32)
    argv = [path, "--headless", "--no-auto-update", "--log-level", "none", "--port", "0"]
    if variables.has_provider:
        argv.append("--no-auto-login")
    env = {**variables.make_environment(), "COPILOT_CONNECTION_TOKEN": token}
    child = await guard.start(argv, surround(env, cwd))
    try:
        port, _ = await asyncio.gather(wait_until_listening(child, NAME, _LISTENING), load_sdk())
        client = make_client(int(port), token)
        await _connect(client, child)
    except BaseException:
        child.end(0, 0)
        raise
    return RunningCopilot(child, client)


def _skip_loader(found: str) -> str:
    """The program itself, where a path leads to npm's script that does nothing but start it."""
    path = os.path.realpath(found)
    if not path.endswith(".js"):
        return path
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    package = f"copilot-{sys.platform}-{machine}"
    folder = os.path.dirname(path)
    beside = os.path.join(os.path.dirname(folder), package, "copilot")
    inside = os.path.join(folder, "node_modules", "@github", package, "copilot")
    return next((program for program in (beside, inside) if os.access(program, os.X_OK)), path)


async def _connect(client: Any, child: Child) -> None:
    try:
        await client.start()
    except (RuntimeError, OSError) as error:
        if child.exited.done():
            raise explain_end(NAME, child) from error
        hint = f"Update it: {PROGRAM_FACTS['copilot'].install}"
        raise ModelError(NAME, f"its program can't be used: {safe(str(error))}", hint) from error
