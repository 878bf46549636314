"""The tools' own programs list the same servers as we do: names, transports, what is on and what is off.

Where we choose to differ, the difference is named in its test.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import install
import pytest
from coding_tools import ADDRESS, PROGRAM, ask, ask_mooring, lay_out

Seen = dict[str, tuple[str, bool]]
"""What is known of each name: its transport, and whether it is on."""


def ours(tool: str, cwd: Path, env: Mapping[str, str]) -> Seen:
    rows = ask_mooring(cwd, env, "mcp", "list")["servers"]
    return {row["name"]: (row["transport"], row["enabled"]) for row in rows if row["source"]["tool"] == tool}


def codex(out: str) -> Seen:
    kinds = {"streamable_http": "http"}
    return {
        row["name"]: (kinds.get(row["transport"]["type"], row["transport"]["type"]), row["enabled"])
        for row in json.loads(out)
    }


def copilot(out: str) -> Seen:
    kinds = {"local": "stdio"}
    servers = json.loads(out)["mcpServers"]
    types = {name: row.get("type", "local") for name, row in servers.items()}
    return {name: (kinds.get(types[name], types[name]), row["enabled"]) for name, row in servers.items()}


def opencode(out: str) -> Seen:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    blocks = re.findall(r"●\s+\S\s+(\S+)\s+(\w[\w ]*)\n((?:│.*\n)*)", plain)
    return {
        name: ("auto" if "http://" in below else "stdio", not state.startswith("disabled"))
        for name, state, below in blocks
    }


def claude(out: str) -> Seen:
    rows = re.findall(r"^(\S+): (.*?) +(?:\((HTTP|SSE)\) )?- ", out, re.M)
    return {name: ((kind or "stdio").lower(), True) for name, _, kind in rows}


def gemini(out: str) -> Seen:
    rows = re.findall(r"^\S (\S+)(?: \(from \S+\))?: .*? \((\w+)\) - (\w+)", out, re.M)
    return {name: (kind, state not in ("Disabled", "Blocked")) for name, kind, state in rows}


class Case(NamedTuple):
    """One tool: its id here, the command that lists, how to read its answer, the files, and where we choose to differ."""

    tool: str
    command: list[str]
    parse: Callable[[str], Seen]
    files: Mapping[str, Any]
    here: Mapping[str, tuple[str, bool]]
    """What we say instead of what the tool says."""


CASES = {
    "codex": Case(
        "codex", ["codex", "mcp", "list", "--json"], codex,
        {
            "home/.codex/config.toml": f"""
                [mcp_servers.docs]
                command = "{PROGRAM}"
                [mcp_servers.web]
                url = "{ADDRESS}"
                [mcp_servers.off]
                command = "{PROGRAM}"
                enabled = false
                [projects."$PROJECT"]
                trust_level = "trusted"
                [plugins."kit@market"]
                enabled = true
            """,
            "home/.codex/plugins/cache/market/kit/1.0.0/.codex-plugin/plugin.json": {"name": "kit", "version": "1.0.0"},
            "home/.codex/plugins/cache/market/kit/1.0.0/.mcp.json": {"mcpServers": {"of-a-plugin": {"command": PROGRAM}}},
            "project/.codex/config.toml": f'[mcp_servers.here]\ncommand = "{PROGRAM}"\n[mcp_servers."dotted.name"]\ncommand = "{PROGRAM}"\n',
        },
        {},
    ),
    "opencode": Case(
        "opencode", ["opencode", "mcp", "list"], opencode,
        {
            "home/.config/opencode/opencode.json": {"mcp": {
                "local": {"type": "local", "command": [PROGRAM]},
                "off": {"type": "local", "command": [PROGRAM], "enabled": False},
                "remote": {"type": "remote", "url": ADDRESS, "oauth": False},
                "switched": {"type": "local", "command": [PROGRAM]},
            }},
            "project/opencode.jsonc": """{"mcp": {
                "here": {"type": "local", "command": ["true"]}, /* a comment */
                "switched": {"enabled": false},
            }}""",
        },
        # A project that nobody approved switches nothing of the person's own off.
        {"switched": ("stdio", True)},
    ),
    "claude": Case(
        "claude-code", ["claude", "mcp", "list"], claude,
        {
            "home/.claude.json": {
                "mcpServers": {
                    "mine": {"command": PROGRAM},
                    "web": {"type": "http", "url": ADDRESS},
                    "stream": {"type": "sse", "url": ADDRESS},
                    "untyped": {"url": ADDRESS},
                    "denied": {"command": PROGRAM},
                    "elsewhere": {"type": "http", "url": "http://127.0.0.1:10/mcp"},
                },
                "projects": {"$PROJECT": {
                    "mcpServers": {"private": {"command": PROGRAM}},
                    "enabledMcpjsonServers": ["shared"],
                    "hasTrustDialogAccepted": True,
                }},
            },
            "home/.claude/settings.json": {
                "deniedMcpServers": [{"serverName": "denied"}],
                "allowedMcpServers": [
                    {"serverCommand": [PROGRAM]}, {"serverUrl": "http://127.0.0.1:9"}, {"serverName": "elsewhere"},
                ],
            },
            "project/.mcp.json": {"mcpServers": {"shared": {"command": PROGRAM}}},
        },
        # Claude skips an address without a type; we use it, and ask for the type. What a policy forbids we show as off.
        {"untyped": ("auto", True), "denied": ("stdio", False), "elsewhere": ("http", False)},
    ),
    "copilot": Case(
        "copilot-cli", ["copilot", "mcp", "list", "--json"], copilot,
        {
            "home/.copilot/mcp-config.json": {"mcpServers": {
                "local": {"type": "local", "command": PROGRAM, "args": [], "tools": ["*"]},
                "web": {"type": "http", "url": ADDRESS, "tools": ["*"]},
                "stream": {"type": "sse", "url": ADDRESS, "tools": ["*"]},
                "off": {"type": "local", "command": PROGRAM, "args": [], "tools": ["*"]},
            }},
            "home/.copilot/settings.json": {"disabledMcpServers": ["off"], "enabledPlugins": {"kit@market": True}},
            "home/.copilot/config.json": {"installedPlugins": [
                {"name": "kit", "marketplace": "market", "installed_at": "2026-01-01", "enabled": True},
            ]},
            "home/.copilot/installed-plugins/market/kit/plugin.json": {"name": "kit"},
            "home/.copilot/installed-plugins/market/kit/.mcp.json": {"of-a-plugin": {"command": PROGRAM, "args": []}},
        },
        {},
    ),
    "gemini": Case(
        "gemini", ["gemini", "mcp", "list"], gemini,
        {
            "home/.gemini/settings.json": {
                "mcpServers": {
                    "local": {"command": PROGRAM},
                    "web": {"url": ADDRESS, "type": "http"},
                    "stream": {"url": ADDRESS, "type": "sse"},
                    "out": {"command": PROGRAM},
                },
                "mcp": {"excluded": ["out"]},
            },
            "home/.gemini/trustedFolders.json": {"$PROJECT": "TRUST_FOLDER"},
            "home/.gemini/extensions/kit/gemini-extension.json": {
                "name": "kit", "version": "1.0.0", "mcpServers": {"of-an-extension": {"command": PROGRAM}},
            },
            "home/.gemini/extensions/quiet/gemini-extension.json": {
                "name": "quiet", "version": "1.0.0", "mcpServers": {"quiet": {"command": PROGRAM}},
            },
            "home/.gemini/extensions/extension-enablement.json": {"quiet": {"overrides": ["!/*"]}},
            "project/.gemini/settings.json": {"mcpServers": {"here": {"command": PROGRAM}}},
        },
        # Gemini lists what lies in an extension that is off, though it does not start it.
        {"quiet": ("stdio", False)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_tools_own_program_lists_what_we_list(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    cwd, env = lay_out(tmp_path, case.files)
    theirs = case.parse(ask([install.tool(case.command[0]), *case.command[1:]], cwd, env))
    assert len(theirs) >= 3
    assert ours(case.tool, cwd, env) == {**theirs, **case.here}
