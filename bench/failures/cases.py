"""The clients, and what is wrong with the servers that they are given."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

from bench.ground import locked, python_of

DRIVERS = Path(__file__).parent / "drivers"
GOOD = {"command": sys.executable, "args": ["-I", "-m", "mooring.demo"]}


class Rival(NamedTuple):
    """A client, and how its program is started."""

    name: str
    command: tuple[str, ...]
    environment: str = ""
    """The lock in `bench/peers` that it comes from; empty for ours."""


def _other(package: str, environment: str, script: str) -> Rival:
    name = f"{package} {locked(environment, package)}"
    return Rival(name, (python_of(environment), str(DRIVERS / script)), environment)


RIVALS = (
    Rival("Mooring", (sys.executable, str(DRIVERS / "with_mooring.py"))),
    _other("fastmcp", "fastmcp", "with_fastmcp.py"),
    _other("langchain-mcp-adapters", "langchain", "with_langchain.py"),
    _other("mcp-use", "mcp-use", "with_mcp_use.py"),
    _other("pydantic-ai-slim", "pydantic-ai", "with_pydantic_ai.py"),
)


class Case(NamedTuple):
    key: str
    title: str
    about: str
    bad: dict[str, Any] | None
    """The server beside the good one; without it, the good one is killed in the middle of a call."""


CASES = (
    Case(
        "missing",
        "A command that does not exist",
        "One of two servers is a command that is not installed.",
        {"command": "no-such-program", "args": []},
    ),
    Case(
        "dies",
        "A server that dies at start",
        "One of two servers writes `DATABASE_URL is not set` to stderr and exits with 3.",
        {"command": "sh", "args": ["-c", "echo DATABASE_URL is not set >&2; exit 3"]},
    ),
    Case(
        "hangs",
        "A server that hangs at start",
        "One of two servers never answers.",
        {"command": "sleep", "args": ["600"]},
    ),
    Case(
        "killed",
        "A server that is killed in a call",
        "One second into a call that takes three, its server gets SIGKILL. The tool is marked as read-only and "
        "idempotent. Afterwards another tool of the same server is called.",
        None,
    ),
)
