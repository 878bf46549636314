"""What is known of a server that could not be connected: why, what its process was not given, and what it wrote."""

import re

from mooring.display.text import quote_argument, safe
from mooring.errors import MOST_NAMED, MooringError, ServerDied, ServerError, TimedOut


def describe_failed_connection(name: str, error: ServerError) -> str:
    """That a server could not be connected, and why."""
    return f'Failed to connect to "{safe(name)}": {safe(str(error).removeprefix(f"{name}: "))}'


def describe_missing(name: str, error: MooringError) -> str:
    """Why the tools of a server are missing, and the command that shows more or helps."""
    text, quoted = str(error), quote_argument(name)
    if isinstance(error, TimedOut):
        return f"{text.rstrip('.')} and was not waited for any longer; `mooring tools {quoted}` waits until it does."
    if "mooring " in text:
        return text
    return f"{text} `mooring mcp test {quoted}` shows more."


def describe_withheld(error: MooringError) -> str:
    """The variables that a server names in its error and was not given; empty if that cannot be why it failed."""
    # Once a server takes calls it has what it needs to start.
    if not isinstance(error, ServerError) or error.stage == "call":
        return ""
    names = ", ".join(_list_blamed(error)[:MOST_NAMED])
    return f"It was not given {names}" if names else ""


def _list_blamed(error: ServerError) -> list[str]:
    words = set(re.findall(r"\w+", " ".join((*error.stderr, str(error)))))
    blamed = words.intersection(error.withheld)
    return sorted(name for name in blamed if not is_model_key(name))


def is_model_key(name: str) -> bool:
    """Whether a variable is for reaching a model: no one should be led to hand it to a server."""
    # Loaded here: hardly any server names a variable that it lacks.
    from mooring.backends.api.providers import list_providers
    from mooring.backends.programs import PROVIDER_KEYS

    is_providers = any(name in provider.key_names for provider in list_providers({}).values())
    return is_providers or name in PROVIDER_KEYS or name.startswith(("ANTHROPIC_", "CLAUDE_"))


def list_output(error: MooringError) -> list[str]:
    """What a server's process wrote last, marked as its own words."""
    # The message of a server that died already ends with its last line.
    is_told = isinstance(error, ServerDied) and len(error.stderr) == 1
    if is_told or not isinstance(error, ServerError):
        return []
    return [f"| {line}" for line in error.stderr]
