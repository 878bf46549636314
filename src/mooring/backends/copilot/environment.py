"""What Copilot's program takes from the person's environment: a login, or a provider of their own."""

import os
from collections.abc import Mapping
from typing import Any, Final

LOGIN_VARIABLES: Final[tuple[str, ...]] = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
"""The person's login, in the order in which Copilot looks for it."""

_PROVIDER: Final = "COPILOT_PROVIDER_"
_KINDS_OF_TEXT: Final = {
    "TYPE": "type",
    "BASE_URL": "base_url",
    "API_KEY": "api_key",
    "API_KEY_COMMAND": "api_key_command",
    "BEARER_TOKEN": "bearer_token",
    "WIRE_API": "wire_api",
    "TRANSPORT": "transport",
    "MODEL_ID": "model_id",
    "WIRE_MODEL": "wire_model",
}
_KINDS_OF_NUMBER: Final = {"MAX_PROMPT_TOKENS": "max_prompt_tokens", "MAX_OUTPUT_TOKENS": "max_output_tokens"}

_UNWANTED: Final = (
    # Allows every call without asking, and trusts the folder, whose servers and hooks it would start.
    "COPILOT_ALLOW_ALL",
    # Set where Mooring itself runs inside Copilot: the program would take itself for a part of that session.
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_CLI",
    "COPILOT_CLI_BINARY_VERSION",
    "COPILOT_CLI_RESOLVED_DIST_DIR",
)


class CopilotVariables:
    """What the person's environment says about Copilot."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """`env` has the keys that Copilot needs, too."""
        self.env = env

    @property
    def model(self) -> str | None:
        return self.env.get("COPILOT_MODEL") or None

    @property
    def home(self) -> str:
        """The folder of Copilot's own configuration."""
        return self.env.get("COPILOT_HOME") or os.path.join(self.env.get("HOME", ""), ".copilot")

    @property
    def has_provider(self) -> bool:
        """Whether models of a provider of the person's own are used, instead of GitHub's."""
        return bool(self.env.get(f"{_PROVIDER}BASE_URL"))

    def make_environment(self) -> dict[str, str]:
        """The program's whole environment.

        The keys of a provider are left out: they are given with the session, where commands that the program runs
        don't inherit them.
        """
        left_out = (*_UNWANTED, *LOGIN_VARIABLES) if self.has_provider else _UNWANTED
        kept = {name: value for name, value in self.env.items() if name not in left_out}
        return {name: value for name, value in kept.items() if not name.startswith(_PROVIDER)}

    def make_provider(self) -> dict[str, Any] | None:
        """The provider for a session; `None` for GitHub's models.

        The program reads these variables in its own chat, but not where another program drives it.
        """
        if not self.has_provider:
            return None
        provider: dict[str, Any] = {"type": "openai", **self._read(_KINDS_OF_TEXT)}
        provider |= {name: int(text) for name, text in self._read(_KINDS_OF_NUMBER).items() if text.isdecimal()}
        version = self.env.get(f"{_PROVIDER}AZURE_API_VERSION")
        if version:
            provider["azure"] = {"api_version": version}
        headers = self.env.get(f"{_PROVIDER}HEADERS")
        if headers:
            provider["headers"] = _read_headers(headers)
        return provider

    def _read(self, names: Mapping[str, str]) -> dict[str, str]:
        found = {name: self.env.get(f"{_PROVIDER}{variable}", "") for variable, name in names.items()}
        return {name: text for name, text in found.items() if text}


def _read_headers(text: str) -> dict[str, str]:
    """Headers as the variable has them: one per line, or separated by a backslash and an `n`."""
    lines = text.replace("\\n", "\n").splitlines()
    pairs = [line.partition(":") for line in lines if ":" in line]
    return {name.strip(): value.strip() for name, _, value in pairs}
