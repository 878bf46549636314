"""The C halves of `os`, `signal` and `socket`: what the full modules add would make the start 7 ms longer, of 11."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
else:
    import _signal as signal
    import _socket as socket

if sys.platform == "win32":  # where there is no guard, and what imports us must load all the same
    import os
else:
    import posix as os

__all__ = ["os", "signal", "socket"]
