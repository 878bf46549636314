"""Mooring: every MCP server you have configured, in any coding tool, from one place."""

from typing import TYPE_CHECKING, Any

# For type checkers alone: at run time, `__getattr__` below loads each name when it is first used.
if TYPE_CHECKING:
    from mooring.core.config import ServerConfig
    from mooring.core.limits import Limits, Timeout
    from mooring.core.outcome import Outcome
    from mooring.core.problem import Problem
    from mooring.core.result import Progress, Result
    from mooring.core.tool import Tool
    from mooring.errors import (
        BadArguments,
        Clogged,
        Closed,
        ConfigError,
        ConnectError,
        Denied,
        FileError,
        GuardLost,
        HandshakeError,
        HeldBack,
        HttpError,
        InputMissing,
        MooringError,
        NeedsLogin,
        NotApproved,
        ParseError,
        ProtocolError,
        RpcError,
        ServerDied,
        ServerDisabled,
        ServerError,
        SpawnError,
        Stale,
        Suspended,
        TimedOut,
        TooLarge,
        UnknownServer,
        UnknownTool,
        Unresolved,
    )
    from mooring.host.host import Host
    from mooring.host.open import Loaded, discover_and_load, open
    from mooring.inventory.load import Inventory, discover
    from mooring.process.programs import Guard
    from mooring.servers.connect import connect
    from mooring.tools.function import tool
    from mooring.tools.registry import Registry
    from mooring.wire.session.client import Client, Root
    from mooring.wire.session.session import Session

__all__ = [
    "BadArguments",
    "Client",
    "Clogged",
    "Closed",
    "ConfigError",
    "ConnectError",
    "Denied",
    "FileError",
    "Guard",
    "GuardLost",
    "HandshakeError",
    "HeldBack",
    "Host",
    "HttpError",
    "InputMissing",
    "Inventory",
    "Limits",
    "Loaded",
    "MooringError",
    "NeedsLogin",
    "NotApproved",
    "Outcome",
    "ParseError",
    "Problem",
    "Progress",
    "ProtocolError",
    "Registry",
    "Result",
    "Root",
    "RpcError",
    "ServerConfig",
    "ServerDied",
    "ServerDisabled",
    "ServerError",
    "Session",
    "SpawnError",
    "Stale",
    "Suspended",
    "TimedOut",
    "Timeout",
    "TooLarge",
    "Tool",
    "UnknownServer",
    "UnknownTool",
    "Unresolved",
    "connect",
    "discover",
    "discover_and_load",
    "open",
    "tool",
]

# The module of each name; names that are not listed are in `errors`. Loaded on first use: the guard and the demo server
# run this file, too, and must start in an instant.
_MODULES = {
    "Client": "wire.session.client",
    "Guard": "process.programs",
    "Host": "host.host",
    "Inventory": "inventory.load",
    "Limits": "core.limits",
    "Loaded": "host.open",
    "Outcome": "core.outcome",
    "Problem": "core.problem",
    "Progress": "core.result",
    "Registry": "tools.registry",
    "Result": "core.result",
    "Root": "wire.session.client",
    "ServerConfig": "core.config",
    "Session": "wire.session.session",
    "Timeout": "core.limits",
    "Tool": "core.tool",
    "connect": "servers.connect",
    "discover": "inventory.load",
    "discover_and_load": "host.open",
    "open": "host.open",
    "tool": "tools.function",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'mooring' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"mooring.{_MODULES.get(name, 'errors')}")
    return getattr(module, name)


# Names that are not loaded yet are completed in a shell, too.
def __dir__() -> list[str]:
    return __all__
