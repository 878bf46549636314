"""`mooring mcp list` with 50 servers in 10 files, as a ratio to an interpreter that does nothing."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

GOAL = 9.0
ROUNDS = 25

MAPS = (
    "home/.config/mooring/mcp.json", "home/.omp/agent/mcp.json", "home/.claude.json", "home/.mcp.json",
    "home/.copilot/mcp-config.json", "project/.mcp.json", "project/mcp.json",
)  # fmt: skip


def main() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        cwd, env = lay_out(Path(folder))
        listing = [str(Path(sys.executable).parent / "mooring"), "mcp", "list"]
        rows = json.loads(subprocess.check_output([*listing, "--json"], cwd=cwd, env=env))["servers"]
        assert len(rows) == 50, f"expected 50 servers, found {len(rows)}"
        nothing, listed = interleave([[sys.executable, "-c", "pass"], listing], cwd, env)
    ratio = median(listed) / median(nothing)
    best = min(listed) / min(nothing)
    print(  # noqa: T201
        f"mcp list, 50 servers in 10 files: {median(listed) * 1e3:.0f} ms, python -c pass: "
        f"{median(nothing) * 1e3:.0f} ms, ratio {ratio:.1f} [best {best:.1f}], goal {GOAL:g}"
    )
    return max(ratio, best) <= GOAL


def interleave(commands: list[list[str]], cwd: Path, env: Mapping[str, str]) -> list[list[float]]:
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(ROUNDS):
        for command, kept in zip(commands, times, strict=True):
            started = time.perf_counter()
            subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            kept.append(time.perf_counter() - started)
    return times


def lay_out(folder: Path) -> tuple[Path, dict[str, str]]:
    """Fifty servers, five in each of ten files of nine formats."""
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


def five(index: int) -> dict[str, object]:
    env = {"TOKEN": "${TOKEN}", "MODE": "${MODE:-fast}"}
    return {f"server-{index}-{n}": {"command": "npx", "args": ["-y", f"package-{n}"], "env": env} for n in range(5)}


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
