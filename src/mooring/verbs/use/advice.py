"""What a person may do about a server that failed: one sentence or one command for each kind of failure."""

from mooring.core.definitions.config import Broken, ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.discovery.formats import find_format
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.template import find_literal_placeholders, spell_variable
from mooring.display.text import quote_argument, short_path
from mooring.errors import HttpError, NeedsLogin, ServerError, TimedOut
from mooring.servers.log import read

_TIMES = ("timeout", "call_timeout", "start_timeout")


def advise_on_failure(config: ServerConfig | Broken, error: ServerError, where: Paths) -> str:
    """What may help with a configured server that failed; empty if nothing comes to mind."""
    path = config.origin.path
    place = short_path(path, where.home) if path else "its definition"
    if isinstance(error, TimedOut):
        return f"It may need longer: {_advise_time(config, place)}."
    if error.unset:
        return f"Set it first: export {error.unset[0]}=…"
    if lacks_token(error):
        return _advise_token(config, place)
    # What the process wrote was shown already, if it wrote anything.
    if error.stage in ("spawn", "handshake") and not error.stderr:
        return advise_to_look(config.name, where)
    return ""


def _advise_time(config: ServerConfig | Broken, place: str) -> str:
    """How a timeout is raised: by a command, if the file may be changed and has a place for one."""
    if not can_edit_timeout(config):
        return f'raise "timeout" in {place}'
    tool = config.origin.tool
    where = "" if tool == OWN.tool else f" --in {tool}"
    return f"`mooring mcp edit {quote_argument(config.name)}{where} --timeout 120` raises its timeout"


def can_edit_timeout(config: ServerConfig | Broken) -> bool:
    """Whether `mcp edit` writes the file of a definition, and that has a place for a timeout."""
    format = find_format(config.origin.tool)
    return can_edit(config) and format is not None and any(field.slot in _TIMES for field in format.fields.values())


def can_edit(config: ServerConfig | Broken) -> bool:
    """Whether `mcp edit` writes the file that a definition is in."""
    format = find_format(config.origin.tool)
    return format is not None and format.writes is not None and config.origin.scope in ("user", "project")


def _advise_token(config: ServerConfig | Broken, place: str) -> str:
    """How a token is given in a file, spelled as the tool that the file belongs to spells it."""
    format = find_format(config.origin.tool)
    if format is None or isinstance(config, Broken):
        return f"Give it a token in {place}."
    for literal in find_literal_placeholders(config.written or config.connection, format.dialect):
        if literal.slot == "headers":
            return f"Write {literal.spelling} for {literal.text} in {place}: {format.title} takes that literally."
    variable = spell_variable("TOKEN", format.dialect, "headers") or "…"
    return f'Give it a token: "headers": {{"Authorization": "Bearer {variable}"}} in {place}.'


def advise_to_look(name: str, where: Paths) -> str:
    """Which commands show how a server is started, and what it wrote."""
    quoted = quote_argument(name)
    advice = f"`mooring mcp get {quoted}` shows how it is started"
    if read(where, name, 1):
        advice += f", `mooring logs {quoted}` what it wrote before"
    return f"{advice}."


def lacks_token(error: ServerError) -> bool:
    """Whether a server refused somebody it does not know, or who may not."""
    is_refused = isinstance(error, HttpError) and error.status in (401, 403)
    return is_refused or isinstance(error, NeedsLogin)
