"""The one command for each thing to fix: it comes first, and what to know about it follows in parentheses."""

import re

from mooring.core.definitions.config import Broken, Http, ServerConfig
from mooring.discovery.dialect import TextSlot
from mooring.discovery.formats import find_format
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.template import spell_variable
from mooring.display.text import quote_argument, quote_command
from mooring.verbs.use.advice import can_edit

_COMMAND = re.compile(r"(?:^|: |`)((?:mooring|mv|chmod|export|env|pip) [^`;,]+)")
"""A command in words of advice, such as "To store it: mooring secret set TOKEN"."""


def make_fix(command: str, words: str = "") -> str:
    """A command, and what to know before running it."""
    return f"{command}  ({words})" if words else command


def lead_with_command(advice: str, otherwise: str) -> str:
    """Advice with the command that it names in front; with another one if it names none."""
    advice = advice.rstrip(".")
    found = _COMMAND.search(advice)
    if found is None:
        return make_fix(otherwise, advice)
    rest = advice[found.end() :].strip("`,; ")
    return make_fix(found[1].strip(), rest)


def suggest_retry(server: str | None) -> str:
    """The command that tries again, for what is fixed outside of Mooring."""
    return f"mooring mcp doctor {quote_argument(server)}" if server else "mooring mcp doctor"


def suggest_editor(path: str) -> str:
    """The command that opens a file which Mooring doesn't write."""
    return f"${{EDITOR:-vi}} {quote_argument(path)}"


def suggest_edit(config: ServerConfig | Broken, options: str = "", words: tuple[str, ...] = ()) -> str:
    """The command that changes a server's entry: these options of it, or the whole of it in an editor."""
    origin = config.origin
    if not can_edit(config):
        return suggest_editor(origin.path) if origin.path else f"mooring mcp get {quote_argument(config.name)}"
    tool = "" if origin.tool == OWN.tool else f" --in {origin.tool}"
    scope = f" -s {origin.shown_scope}" if origin.scope == "project" else ""
    options = f" {options}" if options else ""
    edit = f"mooring mcp edit{tool}{scope}{options} {quote_argument(config.name)}"
    if not words:
        return edit
    # Behind a name that begins like an option, nothing is one any more.
    end_of_options = "" if config.name.startswith("-") else "-- "
    return f"{edit} {end_of_options}{quote_command(words)}"


def keeps_own_secrets(config: ServerConfig) -> bool:
    """Whether its entry can refer to secrets that Mooring stores."""
    return config.origin.tool == OWN.tool and config.origin.scope == "user"


def takes_references(config: ServerConfig, slot: TextSlot = "env") -> bool:
    """Whether its entry can be changed by a command, and can refer to a variable."""
    format = find_format(config.origin.tool)
    return can_edit(config) and format is not None and spell_variable("TOKEN", format.dialect, slot) is not None


def suggest_url(config: ServerConfig, url: str = "") -> str:
    """The command that gives a server another address; without one, `…` is for the person to fill in."""
    return suggest_edit(config, f"--url {quote_command((url,)) if url else '…'}")


def find_plain_url(config: ServerConfig) -> str:
    """A server's address, if it can be written into a command: one with placeholders or a login can not."""
    connection = config.connection
    url = connection.url.plain if isinstance(connection, Http) else None
    return url if url and "@" not in url and "?" not in url else ""
