"""The names of those who can answer in a chat."""

from typing import Literal, TypeAlias, TypeGuard

ProgramName: TypeAlias = Literal["claude", "copilot", "opencode"]
"""Another agent's program."""
BackendName: TypeAlias = Literal["api", "manual", "claude", "copilot", "opencode"]
"""A model behind an API, the person, or another agent's program."""
ServersWay: TypeAlias = Literal["shared", "native"]
"""How another agent's program gets the servers: through Mooring, or as its own."""

PROGRAMS: tuple[ProgramName, ...] = ("claude", "copilot", "opencode")
BACKENDS: tuple[BackendName, ...] = ("api", "manual", *PROGRAMS)
SERVERS_WAYS: tuple[ServersWay, ...] = ("shared", "native")


def is_program(name: str | None) -> TypeGuard[ProgramName]:
    """Whether another agent's program answers under this name."""
    return name in PROGRAMS
