"""One key in place of a line, read in the main thread from a terminal that the chat has for itself."""

import os
import sys

_ESCAPE, _END = "\x1b", "\x04"
_LONGEST = 64
"""Bytes of a key: those of arrows and the like send several."""


def type_key(prompt: str, keys: str) -> str:
    """The key that is pressed, if it is one of these; empty for Enter and Esc. Others do nothing.

    Raises: EOFError for Ctrl+D, or at the end of all keys.
    """
    sys.stdout.write(prompt)
    sys.stdout.flush()
    key = _wait_for_key(sys.stdin.fileno(), keys)
    sys.stdout.write(f"{key}\n")  # nothing else shows it
    sys.stdout.flush()
    return key


def _wait_for_key(descriptor: int, keys: str) -> str:
    while True:
        pressed = os.read(descriptor, _LONGEST).decode(errors="replace")
        if not pressed:
            raise EOFError
        # What begins with Esc and goes on is an arrow, a paste or the like.
        plain, escape, rest = pressed.partition(_ESCAPE)
        for key in plain + ("" if rest else escape):
            if key == _END:
                raise EOFError
            if key in f"\r\n{_ESCAPE}":
                return ""
            if key in keys:
                return key
