"""Mooring: every MCP server you have configured, in any coding tool, from one place."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mooring.core.config import ServerConfig
    from mooring.core.problem import Problem
    from mooring.errors import ConfigError, FileError, MooringError, ParseError, UnknownServer
    from mooring.inventory import Inventory, discover

__all__ = [
    "ConfigError",
    "FileError",
    "Inventory",
    "MooringError",
    "ParseError",
    "Problem",
    "ServerConfig",
    "UnknownServer",
    "discover",
]

# Loaded on first use: the demo server runs this file too, and must start in an instant.
_HOMES = {
    "ServerConfig": "mooring.core.config",
    "Problem": "mooring.core.problem",
    "Inventory": "mooring.inventory",
    "discover": "mooring.inventory",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'mooring' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "mooring.errors")), name)


def __dir__() -> list[str]:
    return __all__
