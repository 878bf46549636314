"""Coding tools as agents: each with our one entry in its own file, and a model on loopback, for one turn."""

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from install import mooring
from serving import Address
from tests.models import FakeModel

PROMPT = "Call the tools."
KEY = "key-of-nobody"
Entry = dict[str, Any]


class Agent(NamedTuple):
    """One coding tool: what is in its files, how it is run without a terminal, and what becomes of our names."""

    write_files: Callable[[Entry, FakeModel], Mapping[str, Any]]
    write_program: Callable[[], Entry]
    """Our entry as a program."""
    write_link: Callable[[Address], Entry]
    """Our entry as a URL."""
    command: list[str]
    write_env: Callable[[FakeModel], dict[str, str]]
    show: Callable[[str], str]
    """What the model sees as the name of one of our tools."""
    is_asked: bool
    """It says that it can ask a person; nobody is there, so that it declines by itself."""
    pause: float = 0.0
    """How many seconds the model takes for its last words."""


def _write_program() -> Entry:
    # Not every tool passes its own variables on, and by this one what is left of a test is found.
    mark = {"MOORING_TEST": os.environ["MOORING_TEST"]}
    return {"command": mooring(), "args": ["serve"], "env": mark}


def _write_headers(address: Address) -> dict[str, str]:
    return {"Authorization": f"Bearer {address.token}"}


def _write_link(address: Address) -> Entry:
    return {"type": "http", "url": address.url, "headers": _write_headers(address)}


# --- Claude Code ------------------------------------------------------------------------------------------------------

CLAUDE = Agent(
    lambda entry, model: {"home/.claude.json": {"mcpServers": {"all": entry}, "hasCompletedOnboarding": True}},
    _write_program,
    _write_link,
    ["claude", "-p", PROMPT, "--allowedTools", "mcp__all"],
    lambda model: {
        "ANTHROPIC_BASE_URL": model.anthropic_url,
        "ANTHROPIC_API_KEY": KEY,
        # Otherwise it finds tools by a search of its own.
        "ENABLE_TOOL_SEARCH": "false",
        # Otherwise the first turn begins without the tools of a server that has not listed them soon.
        "MCP_CONNECTION_NONBLOCKING": "0",
        "MCP_CONNECT_TIMEOUT_MS": "60000",
    },
    lambda name: f"mcp__all__{name}",
    is_asked=True,
)


# --- Codex ------------------------------------------------------------------------------------------------------------


def _write_codex(entry: Entry, model: FakeModel) -> Mapping[str, Any]:
    lines = [
        'model = "scripted"',
        'model_provider = "fake"',
        "[model_providers.fake]",
        'name = "fake"',
        f'base_url = "{model.openai_url}"',
        'wire_api = "responses"',
        'env_key = "FAKE_KEY"',
        "[mcp_servers.all]",
        # Otherwise the first turn begins without the tools of a server that has not listed them within milliseconds.
        "required = true",
        'default_tools_approval_mode = "approve"',
        *(f"{key} = {_write_toml(value)}" for key, value in entry.items()),
    ]
    return {"home/.codex/config.toml": "\n".join(lines)}


def _write_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = "{text}"' for key, text in value.items()) + "}"
    return str(value) if isinstance(value, list) else f'"{value}"'


CODEX = Agent(
    _write_codex,
    _write_program,
    lambda address: {"url": address.url, "http_headers": _write_headers(address)},
    ["codex", "exec", "--skip-git-repo-check", PROMPT],
    lambda model: {"FAKE_KEY": KEY},
    # A server's tools are in a namespace, whose names have no dashes.
    lambda name: f"mcp__all.{name.replace('-', '_')}",
    is_asked=True,
)


# --- Gemini CLI -------------------------------------------------------------------------------------------------------


def _write_gemini(entry: Entry, model: FakeModel) -> Mapping[str, Any]:
    settings = {
        "mcpServers": {"all": {**entry, "trust": True}},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    }
    return {
        "home/.gemini/settings.json": settings,
        "home/.gemini/trustedFolders.json": {"$PROJECT": "TRUST_FOLDER"},
    }


GEMINI = Agent(
    _write_gemini,
    _write_program,
    _write_link,
    ["gemini", "-p", PROMPT],
    lambda model: {
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": model.gemini_url,
        "GEMINI_MODEL": "gemini-2.5-pro",
    },
    lambda name: f"mcp_all_{name}",
    is_asked=False,
)


# --- OpenCode ---------------------------------------------------------------------------------------------------------


def _write_opencode(entry: Entry, model: FakeModel) -> Mapping[str, Any]:
    options = {"baseURL": model.openai_url, "apiKey": KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": {}}}
    return {
        "home/.config/opencode/opencode.json": {
            "mcp": {"all": entry},
            "model": "fake/scripted",
            "small_model": "fake/scripted",
            "provider": {"fake": provider},
        }
    }


def _write_opencode_program() -> Entry:
    entry = _write_program()
    return {"type": "local", "command": [entry["command"], *entry["args"]], "environment": entry["env"]}


OPENCODE = Agent(
    _write_opencode,
    _write_opencode_program,
    lambda address: {"type": "remote", "url": address.url, "headers": _write_headers(address), "oauth": False},
    ["opencode", "run", PROMPT],
    lambda model: {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"},
    lambda name: f"all_{name}",
    is_asked=False,
)


# --- Copilot ----------------------------------------------------------------------------------------------------------

COPILOT = Agent(
    lambda entry, model: {
        "home/.copilot/mcp-config.json": {"mcpServers": {"all": {**entry, "tools": ["*"]}}},
        "home/.copilot/config.json": {"trustedFolders": ["$PROJECT"]},
    },
    lambda: {"type": "local", **_write_program()},
    _write_link,
    ["copilot", "-p", PROMPT, "--allow-all-tools"],
    lambda model: {
        "COPILOT_PROVIDER_BASE_URL": model.openai_url,
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": "scripted",
    },
    lambda name: f"all-{name}",
    is_asked=True,
    # It kills its servers as soon as the turn is over. Real models take as long as this for a sentence, and until then
    # all calls are logged.
    pause=5.0,
)

AGENTS = {"claude": CLAUDE, "codex": CODEX, "gemini": GEMINI, "opencode": OPENCODE, "copilot": COPILOT}
