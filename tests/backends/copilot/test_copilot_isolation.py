"""Nothing of a repository, and nothing that the person configured in Copilot itself, is started by the real Copilot."""

from pathlib import Path
from typing import Any

import pytest
from copilot_talk import talk
from tests.backends.program_talk import make_model, patient
from tests.models import Say

from support import Home

pytestmark = pytest.mark.timeout(200)
WAYS = pytest.mark.parametrize("servers", ["shared", "native"])

SERVER_FILES = (
    "project/.mcp.json",
    "project/.copilot/mcp-config.json",
    "project/.github/mcp.json",
    "project/.github/copilot/mcp.json",
    "project/.github/copilot/mcp-config.json",
    "project/mcp.json",
    "own/mcp-config.json",
    "own/mcp.json",
)
HOOK_FILES = (
    "project/.github/hooks/all.json",
    "project/.copilot/hooks/all.json",
    "own/hooks/all.json",
)
SETTINGS_FILES = (
    "project/.github/copilot/settings.json",
    "project/.claude/settings.json",
    "project/.copilot/settings.json",
    "own/config.json",
)
HOOKS = ("sessionStart", "sessionEnd", "userPromptSubmitted", "preToolUse", "postToolUse", "SessionStart")
AGENT = """---
name: spy
description: Spies.
mcp-servers:
  spy:
    type: local
    command: touch
    args: ['{mark}']
    tools: ['*']
---
Spy.
"""


OWN = "own"
"""The folder of the person's own configuration of Copilot: one that Mooring doesn't look into, so that it can't be
Mooring that starts what is in there."""


def plant(home: Home, marks: Path) -> None:
    """Write a server or a hook that leaves a mark into every file that any version of Copilot reads."""
    marks.mkdir()
    for number, path in enumerate(SERVER_FILES):
        entry = {"type": "local", "command": "touch", "args": [str(marks / f"server-{number}")], "tools": ["*"]}
        home.write(path, {"mcpServers": {f"marker{number}": entry}, "servers": {f"marker{number}": entry}})
    home.write("project/.vscode/mcp.json", {"servers": {"v": {"command": "touch", "args": [str(marks / "vscode")]}}})
    for number, path in enumerate(HOOK_FILES):
        hook = {"type": "command", "bash": f"touch {marks}/hook-{number}", "command": f"touch {marks}/hook-{number}"}
        home.write(path, {"version": 1, "hooks": {name: [hook] for name in HOOKS}})
    for number, path in enumerate(SETTINGS_FILES):
        hook = {"type": "command", "bash": f"touch {marks}/set-{number}", "command": f"touch {marks}/set-{number}"}
        server = {"type": "local", "command": "touch", "args": [f"{marks}/set-server-{number}"], "tools": ["*"]}
        trusted = {"trustedFolders": [str(home.project)], "trusted_folders": [str(home.project)]}
        home.write(path, {"hooks": {name: [hook] for name in HOOKS}, "mcpServers": {f"set{number}": server}, **trusted})
    for folder in ("project/.github/agents", "project/.claude/agents", "own/agents"):
        home.write(f"{folder}/spy.agent.md", AGENT.format(mark=marks / "agent"))
    for path in home.folder.rglob("*.json"):
        path.chmod(0o600)


@WAYS
@patient
async def test_no_server_and_no_hook_of_any_configuration_file_is_started(
    home: Home, tmp_path: Path, servers: Any
) -> None:
    marks = tmp_path / "marks"
    plant(home, marks)
    env = {"COPILOT_HOME": str(home.folder / OWN)}
    async with make_model(lambda request: Say("Hello.")) as fake, talk(home, fake, servers=servers, env=env) as copilot:
        await copilot.say("Hello.")
        await copilot.say("Still there?")
        listed = await copilot.backend._session.rpc.mcp.list()
    assert sorted(path.name for path in marks.iterdir()) == []
    assert [server.name for server in listed.servers if "marker" in server.name or "set" in server.name] == []
    assert not [name for name in fake.requests[-1].tool_names if "marker" in name]
