"""Which processes a test has started: each carries the nonce of its test in its environment."""

import os
from pathlib import Path


def marked(nonce: str) -> list[int]:
    needle = f"MOORING_TEST={nonce}".encode()
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if needle in _environ(pid)]


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
