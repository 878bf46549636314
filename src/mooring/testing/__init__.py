"""Servers to test against: one in memory, written as Python functions, and one that misbehaves on request.

`Server` talks to the real client without a process. `python -m mooring.testing FAULT` is a server over stdio with
one fault; it needs only the standard library.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mooring.testing.memory import Call, Refused
    from mooring.testing.memory import MemoryServer as Server

__all__ = ["Call", "Refused", "Server"]

_CLASSES = {"Call": "Call", "Refused": "Refused", "Server": "MemoryServer"}


def __getattr__(name: str) -> Any:
    # `python -m mooring.testing` runs this file first and must start fast, on the standard library alone. So
    # everything else is loaded when it is named.
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mooring.testing import memory

    return getattr(memory, _CLASSES[name])
