"""Agent files as people write them, laid out in a sample home."""

from typing import Any

from support import Cli, Home

CLAUDE = "project/.claude/agents"
OPENCODE = "project/.opencode/agent"
COPILOT = "project/.github/agents"
OWN = "project/.mooring/agents"


def write_agent(home: Home, path: str, header: str = "", prompt: str = "Do it well.") -> str:
    """Write an agent file; `header` is YAML. Returns its path."""
    return str(home.write(path, f"---\n{header}\n---\n{prompt}\n"))


def list_agents(cli: Cli) -> dict[str, Any]:
    """What `mooring agents --json` says, by name."""
    return {agent["name"]: agent for agent in list_all(cli)["agents"]}


def list_all(cli: Cli) -> Any:
    result = cli("agents", "--json")
    assert (result.code, result.err) == (0, "")
    return result.data
