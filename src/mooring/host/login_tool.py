"""The tool that stands for a server whose tools are unknown until somebody has logged in to it."""

from typing import Final

from msgspec import Raw, json

from mooring.core.protocol.content import Text
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Hints, Tool
from mooring.display.text import safe
from mooring.errors import NeedsLogin
from mooring.servers.server import Server

LOG_IN: Final = "log_in"
_NO_ARGUMENTS: Final = Raw(json.encode({"type": "object", "properties": {}}))


def find_login_error(server: Server) -> NeedsLogin | None:
    """Why nothing is known of a server's tools, if a login would change that."""
    error = server.error
    is_unknown = server.offer is None and not server.is_connected
    return error if is_unknown and isinstance(error, NeedsLogin) and error.hint else None


def make_login_tool(name: str, server: Server) -> Tool:
    words = f"Log in to the server {safe(server.name)}. Its tools are available after that."
    return Tool(name=name, description=words, input_schema=_NO_ARGUMENTS, annotations=Hints(open_world_hint=True))


def make_login_result(server: Server) -> Result:
    """What a client is told once somebody has logged in."""
    state = "Its tools follow when it is connected." if server.offer is None else "Its tools are listed now."
    return Result((Text(f"Logged in to {server.name}. {state}"),))
