"""`serve`: all servers as one MCP server, for other programs to connect to."""

from functools import partial
from importlib.metadata import version

from msgspec import Struct

from mooring.core.hello import Implementation
from mooring.core.limits import Limits
from mooring.core.verdict import CommandPermissions
from mooring.host.host import Host
from mooring.host.shown import NameStyle
from mooring.serve.caller import ServeOptions
from mooring.serve.stdio import serve_stdio

_INBOUND = 1024
"""How many requests of one client are worked on at a time."""


class ServeTerms(Struct, frozen=True):
    """What holds for every client: the names it is shown, and what it may call."""

    names: NameStyle = "full"
    permissions: CommandPermissions = CommandPermissions()


async def serve_on_stdio(host: Host, terms: ServeTerms) -> None:
    """Serve the program at the other end of stdin and stdout until it closes one of them."""
    await serve_stdio(make_serve_options(host, terms))


def make_serve_options(host: Host, terms: ServeTerms) -> ServeOptions:
    """What to serve every client with: one host for all, and permissions of its own for each."""
    open_upstream = partial(host.open_client, policy=terms.permissions.mode, names=terms.names)
    limits = Limits(line=host.settings["maxMessageBytes"], inbound=_INBOUND)
    return ServeOptions(open_upstream, Implementation("mooring", version("mooring")), limits)
