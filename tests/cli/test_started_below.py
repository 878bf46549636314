"""What Mooring started, such as an agent's command, writes no servers: it must not decide what is started next."""

import asyncio
import sys
from pathlib import Path

import pytest

from mooring.process.programs import Guard
from support import Home, run_beside

OWN = "home/.config/mooring/mcp.json"
SERVERS = {"own": {"command": "true", "env": {"A": "1"}}, "off": {"command": "true", "enabled": False}}
WRITES = {
    "add": ("mcp", "add", "--no-test", "evil", "--", "sh"),
    "add for another tool": ("mcp", "add", "--no-test", "--to", "cursor", "evil", "--", "sh"),
    "add for the project": ("mcp", "add", "--no-test", "-s", "project", "evil", "--", "sh"),
    "add a text": ("mcp", "add", "--no-test", '{"mcpServers": {"evil": {"command": "sh"}, "two": {"command": "sh"}}}'),
    "add-json": ("mcp", "add-json", "--no-test", "evil", '{"command": "sh"}'),
    "edit": ("mcp", "edit", "--no-test", "own", "--unset", "env"),
    "import": ("mcp", "import", "-y", "--from", "~/evil.json"),
    "export": ("mcp", "export", "own", "--to", "cursor", "-y"),
    "enable": ("mcp", "enable", "off"),
    "disable": ("mcp", "disable", "own"),
    "disable in the project": ("mcp", "disable", "own", "-s", "project"),
    "remove": ("mcp", "remove", "own"),
}


def read_files(home: Home) -> dict[str, bytes]:
    """Every file but what a look leaves behind: a cache, a lock."""
    files = [path for path in Path(home.folder).rglob("*") if path.is_file()]
    passing = ("/.cache/", "/locks/", "/logs/", "printed")
    return {str(path): path.read_bytes() for path in files if not any(word in str(path) for word in passing)}


@pytest.mark.processes
@pytest.mark.parametrize("words", WRITES.values(), ids=WRITES)
def test_what_mooring_started_writes_no_server_and_anything_else_does(words: tuple[str, ...], home: Home) -> None:
    home.write(OWN, {"mcpServers": SERVERS})
    home.write("home/evil.json", {"mcpServers": {"evil": {"command": "sh"}}})
    printed = home.folder / "printed"

    async def run_below() -> int:
        async with Guard() as guard:
            shell = ["sh", "-c", '"$@" >"$0" 2>&1', str(printed), sys.executable, "-m", "mooring", *words]
            child = await guard.spawn(shell, env=home.env, cwd=str(home.cwd))
            child.close_stdin()
            return await child.exited

    before = read_files(home)
    assert asyncio.run(run_below()) == 4
    assert "must not change its own rights. Run it in another terminal." in printed.read_text()
    assert f"`mooring mcp {words[1].removesuffix('-json')}` did nothing" in printed.read_text()
    assert read_files(home) == before
    done = run_beside(home, *words)
    assert done.code == 0, done.err
    assert read_files(home) != before


@pytest.mark.processes
def test_what_mooring_started_may_see_what_an_import_would_write(home: Home) -> None:
    home.write("home/evil.json", {"mcpServers": {"evil": {"command": "sh"}}})

    async def run_below() -> int:
        async with Guard() as guard:
            words = [sys.executable, "-m", "mooring", "mcp", "import", "--dry-run", "--from", "~/evil.json"]
            child = await guard.spawn(words, env=home.env, cwd=str(home.cwd))
            child.close_stdin()
            return await child.exited

    assert asyncio.run(run_below()) == 0
    assert not (home.folder / OWN).exists()
