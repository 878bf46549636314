"""Writes `schemas.json`: the schemas of the tools that real servers list, by server and tool.

    python tests/tools/data/collect.py [FOLDER]

Servers are installed into FOLDER (a new one where none is named) with npm and pip, started without an account, asked
for their list and ended. One that does not start keeps what was written of it before.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import mooring
from mooring.core.protocol.raw import read

HERE = Path(__file__).parent
KEPT = HERE / "schemas.json"


class Npm(NamedTuple):
    package: str
    program: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = MappingProxyType({})


SERVERS = {
    "everything": Npm("@modelcontextprotocol/server-everything", "mcp-server-everything"),
    "filesystem": Npm("@modelcontextprotocol/server-filesystem", "mcp-server-filesystem", ("/tmp",)),
    "memory": Npm("@modelcontextprotocol/server-memory", "mcp-server-memory"),
    "thinking": Npm("@modelcontextprotocol/server-sequential-thinking", "mcp-server-sequential-thinking"),
    "github": Npm("@modelcontextprotocol/server-github", "mcp-server-github"),
    "gitlab": Npm(
        "@modelcontextprotocol/server-gitlab", "mcp-server-gitlab", (), {"GITLAB_PERSONAL_ACCESS_TOKEN": "x"}
    ),
    "slack": Npm(
        "@modelcontextprotocol/server-slack", "mcp-server-slack", (), {"SLACK_BOT_TOKEN": "x", "SLACK_TEAM_ID": "x"}
    ),
    "playwright": Npm("@playwright/mcp", "playwright-mcp"),
    "context7": Npm("@upstash/context7-mcp", "context7-mcp"),
    "chrome": Npm("chrome-devtools-mcp", "chrome-devtools-mcp"),
    "notion": Npm("@notionhq/notion-mcp-server", "notion-mcp-server", (), {"NOTION_TOKEN": "x"}),
    "firecrawl": Npm("firecrawl-mcp", "firecrawl-mcp", (), {"FIRECRAWL_API_KEY": "x"}),
    "tavily": Npm("tavily-mcp", "tavily-mcp", (), {"TAVILY_API_KEY": "x"}),
    "sentry": Npm("@sentry/mcp-server", "sentry-mcp", ("--access-token", "x")),
}
PYPI = {"git": "mcp_server_git", "time": "mcp_server_time", "fetch": "mcp_server_fetch"}


def main(folder: Path) -> None:
    """Install, ask and write."""
    _install(folder)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    found = asyncio.run(_ask(folder))
    lines = [f"{json.dumps(name)}: {_compact(tools)}" for name, tools in sorted({**kept, **found}.items())]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _install(folder: Path) -> None:
    (folder / "package.json").write_text('{"private": true}')
    packages = [server.package for server in SERVERS.values()]
    subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *packages], cwd=folder, check=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "python")], check=True)
    packages = [module.replace("_", "-") for module in PYPI.values()]
    subprocess.run([str(folder / "python/bin/pip"), "install", "--quiet", *packages], check=True)


async def _ask(folder: Path) -> dict[str, Any]:
    found = {}
    for name, server in SERVERS.items():
        found[name] = await _schemas(
            name, [str(folder / "node_modules/.bin" / server.program), *server.args], server.env
        )
    for name, module in PYPI.items():
        found[name] = await _schemas(name, [str(folder / "python/bin/python"), "-m", module], {})
    return {name: tools for name, tools in found.items() if tools}


async def _schemas(name: str, command: list[str], env: Mapping[str, str]) -> dict[str, Any] | None:
    try:
        async with mooring.connect(command, env={"PATH": os.environ["PATH"], **env}) as session:
            return {tool.name: read(tool.input_schema) for tool in session.tools.items}
    except mooring.MooringError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return None


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
