"""What is known of the programs of other agents: how each is found and installed, and which keys it needs."""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from msgspec import Struct

from mooring.core.conversation.backend_name import ProgramName
from mooring.errors import ConfigError
from mooring.files import which
from mooring.files.installation import spell_install


class ProgramFacts(Struct, frozen=True, kw_only=True):
    """One program, and the library that Mooring speaks to it with, if there is one."""

    label: str
    """What people call it. Its command has the name that it goes by here."""
    install: str
    """The command that installs the program."""
    library: str | None = None
    """The Python module that is needed, too. The extra of Mooring that brings it has the program's name."""
    path_variable: str | None = None
    """The variable in which a person can name the program's path."""
    keys: tuple[str, ...]
    """Variables that it needs to reach its provider. They look like secrets, so it would not get them otherwise."""
    sub_agents: tuple[str, ...] = ()
    """Its own sub-agents that go by the name of one of Mooring's built-in agents. They know its tools, so they stay."""
    reads_instructions: bool = True
    """Whether it still reads AGENTS.md and the like by itself, without a repository's settings."""


PROVIDER_KEYS: Final = (
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENROUTER_API_KEY", "OPENCODE_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY",
    "AZURE_API_KEY",
)  # fmt: skip
"""Variables with the keys of model providers."""

PROGRAM_FACTS: Final[Mapping[ProgramName, ProgramFacts]] = {
    "claude": ProgramFacts(
        label="Claude Code",
        # Its library brings the program; not for every platform.
        install="npm install -g @anthropic-ai/claude-code",
        library="claude_agent_sdk",
        keys=(
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_CUSTOM_HEADERS",
            "ANTHROPIC_FOUNDRY_API_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_BEARER_TOKEN_BEDROCK",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ),
        sub_agents=("explore", "general-purpose", "plan"),
        reads_instructions=False,
    ),
    "copilot": ProgramFacts(
        label="Copilot",
        install="npm install -g @github/copilot",
        library="copilot",
        path_variable="COPILOT_CLI_PATH",
        keys=(
            "COPILOT_GITHUB_TOKEN",
            "COPILOT_PROVIDER_API_KEY",
            "COPILOT_PROVIDER_API_KEY_COMMAND",
            "COPILOT_PROVIDER_BEARER_TOKEN",
            "COPILOT_PROVIDER_HEADERS",
            "GH_TOKEN",
            "GITHUB_TOKEN",
        ),
        sub_agents=("explore", "general-purpose"),
    ),
    "opencode": ProgramFacts(
        label="OpenCode",
        install="npm install -g opencode-ai",
        keys=PROVIDER_KEYS,
        sub_agents=("explore",),
    ),
}


def find_program(name: ProgramName, env: Mapping[str, str]) -> str | None:
    """The path of a program, where its person or PATH has it; for Claude, the one that its library brings."""
    facts = PROGRAM_FACTS[name]
    bundled = _find_bundled(facts.library) if name == "claude" else None
    if bundled is not None:
        return bundled
    named = env.get(facts.path_variable or "")
    # Not looked for in the working folder: that may be a repository.
    return which(named or name, env.get("PATH", os.defpath), "/")


def require_program(name: ProgramName, env: Mapping[str, str]) -> str:
    """The path of a program. Raises: ConfigError if it isn't installed, or the library that Mooring needs for it."""
    facts = PROGRAM_FACTS[name]
    if not has_library(name):
        raise ConfigError(f"Mooring can't talk to {facts.label} yet.", f"Install what it needs: {spell_install(name)}")
    path = find_program(name, env)
    if path is None:
        raise ConfigError(f"{facts.label} is not installed.", f"Install it: {facts.install}")
    return path


def has_library(name: ProgramName) -> bool:
    """Whether the library of a program is installed, without loading it."""
    library = PROGRAM_FACTS[name].library
    return library is None or find_spec(library) is not None


def _find_bundled(library: str | None) -> str | None:
    spec = None if library is None else find_spec(library)
    if spec is None or spec.origin is None:
        return None
    path = os.path.join(os.path.dirname(spec.origin), "_bundled", "claude")
    return path if os.access(path, os.X_OK) else None
