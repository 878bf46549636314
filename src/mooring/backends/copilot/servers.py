"""Mooring's servers as Copilot's sessions take them, and their statuses as Copilot has them."""

import re
from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any, Final

from msgspec import Struct

from mooring.backends.bridge.bridge import AgentBridge, AgentEndpoint
from mooring.backends.bridge.native import LeftOut, NativeAddress, NativeProgram, NativeServer, write_milliseconds
from mooring.core.conversation.backend_name import ServersWay
from mooring.core.conversation.turn import ServerStatusWord

_DAY: Final = 24 * 60 * 60.0
"""In seconds. A person may take their time with a question, and the program counts that as part of a call."""

_WORDS: Final[Mapping[str, ServerStatusWord]] = {
    "connected": "connected",
    "pending": "pending",
    "failed": "failed",
    "needs-auth": "needs-auth",
    "disabled": "disabled",
    "stopped": "disabled",
    "not_configured": "disabled",
}

BLANKS: Final = {"MOORING_DOLLAR": "$", "MOORING_NOTHING": ""}
"""Variables for the program's environment. It fills in `$NAME` wherever it finds one in a server's definition, and
replaces a variable's value that is the name of another variable. Nothing turns that off, so it is given back."""
_NAME: Final = re.compile(r"\w+")


class SessionServers(Struct, frozen=True):
    """The servers of one session, by the name that Copilot knows them by."""

    configs: Mapping[str, Mapping[str, Any]] = {}
    """As a session takes them. They hold secrets."""
    names: Mapping[str, str] = {}
    """The name in the configuration of each."""
    left_out: Sequence[LeftOut] = ()
    """Those that it can't have."""

    def __repr__(self) -> str:
        return f"<SessionServers {sorted(self.configs)}>"


async def list_servers(bridge: AgentBridge, way: ServersWay) -> SessionServers:
    """The servers that a session is to have now."""
    if way == "shared":
        endpoints = bridge.list_endpoints()
        configs = {endpoint.name: write_endpoint(endpoint) for endpoint in endpoints}
        return SessionServers(configs, {endpoint.name: endpoint.server for endpoint in endpoints})
    native, left_out = await bridge.list_native()
    configs = {server.name: write_native(server) for server in native}
    return SessionServers(configs, {server.name: server.server for server in native}, left_out)


def write_endpoint(endpoint: AgentEndpoint) -> dict[str, Any]:
    """A server that Mooring serves."""
    return {
        "type": "http",
        "url": endpoint.url,
        "headers": dict(endpoint.headers),
        "tools": ["*"],
        "timeout": write_milliseconds(_DAY),
    }


def write_native(server: NativeServer) -> dict[str, Any]:
    """A server that Copilot starts or reaches itself."""
    config = _write_connection(server.connection)
    config["tools"] = ["*"] if server.tools is None else list(server.tools)
    if server.timeout is not None:
        # It knows no way to say that there is no limit.
        config["timeout"] = write_milliseconds(_DAY if isinf(server.timeout) else server.timeout)
    return config


def _write_connection(connection: NativeProgram | NativeAddress) -> dict[str, Any]:
    match connection:
        case NativeProgram(command, args, env, cwd):
            return {
                "type": "local",
                "command": command,
                "args": [_keep_dollars(text) for text in args],
                "env": {name: _keep_value(text) for name, text in env.items()},
                "cwd": cwd,
            }
        case NativeAddress(url, headers, transport):
            kept = {name: _keep_dollars(text) for name, text in headers.items()}
            return {"type": transport, "url": _keep_dollars(url), "headers": kept}


def _keep_dollars(text: str) -> str:
    """A text that comes out as it is here, after the program has filled it in."""
    return text.replace("$", "${MOORING_DOLLAR}")


def _keep_value(text: str) -> str:
    """The same, for the value of a variable."""
    return f"${{MOORING_NOTHING}}{text}" if _NAME.fullmatch(text) else _keep_dollars(text)


def read_status(word: str) -> ServerStatusWord:
    return _WORDS.get(word, "unknown")
