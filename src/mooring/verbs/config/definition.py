"""One server's definition in full, as lines with labels; nothing in them is secret."""

from collections.abc import Iterator

from msgspec.structs import replace

from mooring.core.definitions.paths import Workspace
from mooring.core.protocol.units import MIB
from mooring.display.status import STATUS_WORDS
from mooring.display.text import (
    describe_origin,
    describe_path,
    describe_trust,
    quote_argument,
    quote_command,
    safe,
    short_path,
)
from mooring.inventory.load import load
from mooring.verbs.config.get import Details, get_details
from mooring.verbs.config.known import find_known
from mooring.verbs.verb import Shown, ShownLine, ShownTable, VerbResult


def get(workspace: Workspace, name: str) -> VerbResult:
    """One server's definition in full, with what is known of the server. Raises: as `get_details`."""
    where = workspace.where
    inventory = load(workspace)
    details = get_details(inventory, name, where.env)
    details = replace(details, server=find_known(details.server, inventory, where))
    return VerbResult(details, show_details(details, where.home))


def show_details(details: Details, home: str) -> Iterator[Shown]:
    """The server's name, and what its definition says."""
    yield ShownLine(safe(details.server.name), "title")
    yield ShownTable([(f"  {label}", text) for label, text in _describe_details(details, home)])


def _describe_details(details: Details, home: str) -> Iterator[tuple[str, str]]:
    """Each thing that a definition says, with its label."""
    row = details.server
    word = STATUS_WORDS[row.status]
    yield "status", f"{word} (by {safe(details.disabled_by)})" if details.disabled_by else word
    adopted = f", adopted from {safe(row.adopted_from)}" if row.adopted_from else ""
    standing = _STANDINGS[details.standing].format(name=quote_argument(row.name))
    yield "approval", safe(standing) + adopted
    for rule in row.applied_rules or ():
        yield "rule", f"{safe(str(rule))}, which you applied to it when you approved it"
    if row.error:
        # What is wrong with an invalid entry is said of the entry, anything else in a sentence of its own.
        is_invalid = row.command is None and row.url is None
        yield "error", f"it {safe(row.error)}" if is_invalid else safe(row.error)
    if row.command is not None:
        yield "command", quote_command((row.command, *row.args))
    if row.url is not None:
        yield "url", f"{safe(row.url)} ({row.transport})"
    yield "from", describe_origin(row.source.tool, row.source.shown_scope, row.source.path, home)
    for path in details.merged:
        yield "merged", short_path(path, home)
    if details.key:
        yield "key", safe(" › ".join(map(str, details.key)))
    yield from _list_connection_lines(details)
    yield from _list_limits(details)
    for missing in details.missing:
        variable = missing.variable or "the variable it names"
        yield "missing", f"{safe(missing.where)}: {safe(variable)} is not set; it {missing.effect}"
    for other in details.shadowed:
        yield "shadows", describe_origin(other.tool, other.shown_scope, other.path, home)
    if row.proposed:
        source = row.proposed.source
        yield "proposed", f"{source.tool}: {describe_path(source.path, home)} (not approved)"
    if row.aliases:
        yield "aliases", safe(", ".join(row.aliases))


_STANDINGS = {
    "own": "not needed: your own configuration",
    "approved": "approved for this project",
    "rejected": "rejected for this project",
    "changed": "no longer what you decided about; mooring mcp approve {name} shows it",
    "unseen": "not yet given; mooring mcp approve {name} shows what it would start",
}


def _list_connection_lines(details: Details) -> Iterator[tuple[str, str]]:
    for name, value in details.env.items():
        yield "env", f"{safe(name)}={safe(value)}"
    for name, value in details.headers.items():
        yield "header", f"{safe(name)}: {safe(value)}"
    if details.headers_helper:
        yield "headers", "from a helper command"
    optional = (
        ("passes on", ", ".join(details.pass_env)),
        ("env file", details.env_file),
        ("cwd", details.cwd),
        ("asks for", ", ".join(details.inputs)),
    )
    for label, text in optional:
        if text:
            yield label, safe(text)


def _list_limits(details: Details) -> Iterator[tuple[str, str]]:
    if details.start_timeout:
        yield "start", f"within {details.start_timeout:g} s"
    if details.call_timeout:
        yield "call", f"within {details.call_timeout:g} s"
    if details.max_in_flight:
        yield "requests", f"{details.max_in_flight} at once"
    if details.max_message_bytes:
        yield "messages", f"up to {details.max_message_bytes / MIB:.3g} MiB"
    if details.era:
        yield "protocol", f"only the {details.era} era"
    # No list allows every tool, an empty one allows none.
    if details.tools_allow is not None:
        yield "tools", "only " + (safe(", ".join(details.tools_allow)) or "none")
    if details.tools_deny:
        yield "tools", "not " + safe(", ".join(details.tools_deny))
    # What other tools may do unasked is information: only the person's own rules grant anything here.
    if details.auto_approve:
        yield "elsewhere", f"approves {safe(', '.join(details.auto_approve))} unasked; here that grants nothing"
    if details.trusted_by and not details.server.adopted_from:
        yield "elsewhere", describe_trust(details.trusted_by)
    if details.oauth:
        yield "oauth", "configured"
