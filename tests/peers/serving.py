"""A home whose two servers are served to clients: one that is a program, and one behind a URL."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from coding_tools import ask_mooring, lay_out
from fleet import EVERYTHING, NEWEST
from guarding import find_port, run_listening
from install import mooring

PATIENCE = 60.0
SERVE = [mooring(), "serve"]


class Address(NamedTuple):
    """Where `mooring serve --http` is, and the token that clients have to send."""

    url: str
    token: str


class ServedHome:
    """A person who has both servers in Cursor's file, and gives them to another client through `mooring serve`.

    The tool `echo` of either server is called without a question; every other call has to be asked about.
    """

    def __init__(self, folder: Path, tides: str, files: Mapping[str, Any] | None = None) -> None:
        program, *words = EVERYTHING
        servers = {"everything": {"command": program, "args": words}, "tides": {"url": tides}}
        own = {
            "home/.cursor/mcp.json": {"mcpServers": servers},
            "home/.config/mooring/settings.json": {"permissions": [{"tool": "*.echo", "action": "allow"}]},
        }
        self.cwd, self.env = lay_out(folder, {**own, **(files or {})})

    def list_tools(self) -> list[str]:
        """The names that Mooring itself shows."""
        return sorted(tool["name"] for tool in self._ask("tools")["tools"])

    def list_resources(self) -> list[str]:
        return sorted(resource["uri"] for resource in self._ask("resources")["resources"])

    def list_prompts(self) -> list[str]:
        return sorted(f"mcp__{prompt['server']}__{prompt['name']}" for prompt in self._ask("prompts")["prompts"])

    def list_calls(self) -> list[tuple[str, str, str]]:
        """The calls in the history, in order: server, tool and how each ended."""
        return [(call["server"], call["tool"], call["outcome"]) for call in self._ask("history")["calls"]]

    def _ask(self, *words: str) -> Any:
        return ask_mooring(self.cwd, self.env, *words)


@contextmanager
def run_tides() -> Iterator[str]:
    """The server behind a URL, made with the newest SDK."""
    port = find_port()
    with run_listening([*NEWEST.command, "streamable-http", str(port)], port):
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def serve_on_http(home: ServedHome) -> Iterator[Address]:
    """`mooring serve --http` in this home, until the block is left."""
    with subprocess.Popen(
        [*SERVE, "--http", "127.0.0.1:0"],
        cwd=home.cwd,
        env=home.env,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield _read_address(process)
        finally:
            process.terminate()
            assert process.wait(PATIENCE) == 0


def _read_address(process: "subprocess.Popen[str]") -> Address:
    assert process.stderr is not None
    url = re.fullmatch(r"Serving MCP at (\S+)\n", process.stderr.readline())
    token = re.search(r"Authorization: Bearer (\S+)", process.stderr.readline())
    assert url is not None
    assert token is not None
    return Address(url[1], token[1])
