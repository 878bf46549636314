"""The C modules behind `os`, `signal` and `socket`.

The full modules load `abc`, `enum`, `collections` and more: 7 ms of CPU on top of the 11 ms that the guard takes.
"""

import sys

TYPE_CHECKING = False  # type checkers read it as true; `typing` itself is not loaded, for the same reason
if TYPE_CHECKING:
    import signal
    import socket
else:
    import _signal as signal
    import _socket as socket

if sys.platform == "win32":  # there is no guard on Windows, but the modules that import this one must load
    import os
else:
    import posix as os

__all__ = ["os", "signal", "socket"]
