"""Servers to test against: one in memory, one behind a loopback URL, one for logins, and one that misbehaves.

`Server` is written as Python functions and talks to the real client without a process. `Site` is a server behind a URL.
`Issuer` gives out tokens for it, and `log_in` is an `ask` that agrees to every login.
`python -m mooring.testing FAULT` is a server over stdio with one fault; it needs only the standard library.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mooring.testing.issuer import Issuer, log_in
    from mooring.testing.memory import Call, Refused
    from mooring.testing.memory import MemoryServer as Server
    from mooring.testing.site import Site

__all__ = ["Call", "Issuer", "Refused", "Server", "Site", "log_in"]

_CLASSES = {
    "Call": ("memory", "Call"),
    "Issuer": ("issuer", "Issuer"),
    "Refused": ("memory", "Refused"),
    "Server": ("memory", "MemoryServer"),
    "Site": ("site", "Site"),
    "log_in": ("issuer", "log_in"),
}


def __getattr__(name: str) -> Any:
    # `python -m mooring.testing` runs this file first and must start fast, on the standard library alone. So
    # everything else is loaded when it is named.
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, own_name = _CLASSES[name]
    return getattr(import_module(f"mooring.testing.{module}"), own_name)
