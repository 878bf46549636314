"""The home of someone with fifty servers in ten files of nine formats, and fifty for each of the others."""

import json
import os
from pathlib import Path

MAPS = (
    "home/.config/mooring/mcp.json", "home/.omp/agent/mcp.json", "home/.claude.json", "home/.mcp.json",
    "home/.copilot/mcp-config.json", "project/.mcp.json", "project/mcp.json",
)  # fmt: skip


def lay_out(folder: Path) -> tuple[Path, dict[str, str]]:
    """Fifty servers, five in each of ten files: the folder to stand in and the environment."""
    project = folder / "project"
    (project / ".git").mkdir(parents=True)
    for index, path in enumerate(MAPS):
        write(folder / path, {"mcpServers": five(index)})
    write(project / ".vscode/mcp.json", {"servers": five(7)})
    local = {name: {"type": "local", "command": ["npx", name]} for name in five(8)}
    write(project / "opencode.json", {"mcp": local})
    tables = "".join(f'[mcp_servers.{name}]\ncommand = "npx"\nargs = ["-y"]\n' for name in five(9))
    write(folder / "home/.codex/config.toml", tables)
    return project, {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]}


def lay_out_for_mcporter(folder: Path, server: Path) -> Path:
    """One file with fifty servers that do start, for a listing that starts them."""
    file = folder / "mcporter.json"
    entries = {f"server-{n}": {"command": str(server), "args": ["5"]} for n in range(50)}
    write(file, {"mcpServers": entries, "imports": []})
    return file


def lay_out_for_mcpm(folder: Path) -> None:
    """The home of someone who keeps fifty servers with mcpm."""
    names = [name for index in range(10) for name in five(index)]
    entries = {name: {"name": name, "command": "npx", "args": ["-y"]} for name in names}
    write(folder / "mcpm/.config/mcpm/servers.json", entries)


def lay_out_alike(folder: Path, server: Path, servers: int) -> tuple[Path, dict[str, str]]:
    """The same few servers for everyone, ready to be started."""
    project = folder / "project"
    (project / ".git").mkdir(parents=True)
    entries = {f"server-{n}": {"command": str(server), "args": ["5", "0", str(n)]} for n in range(servers)}
    write(folder / "home/.config/mooring/mcp.json", {"mcpServers": entries})
    write(folder / "mcporter.json", {"mcpServers": entries, "imports": []})
    return project, {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]}


def five(index: int) -> dict[str, object]:
    env = {"TOKEN": "${TOKEN}", "MODE": "${MODE:-fast}"}
    return {f"server-{index}-{n}": {"command": "npx", "args": ["-y", f"package-{n}"], "env": env} for n in range(5)}


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
