"""The command line: words go in, data comes out on stdout and everything else on stderr."""

import gc
import os
import sys
from typing import NoReturn

SELDOM = 100_000
"""After so many new objects the collector looks for garbage: while modules load there is none to find."""
STARTERS = (
    "chat",
    "call",
    "read",
    "prompt",
    "watch",
    "resources",
    "prompts",
    "mcp test",
    "mcp reload",
    "mcp reconnect",
)
"""Commands that start servers: their guard starts while the rest is loaded."""
ASKED = ("tools", "mcp list", "mcp ls")
"""Commands that start servers only where one of these options says so."""
ASKING = ("--server", "--url", "--refresh", "--check")
VALUED = ("--cwd", "--config")
"""Global options whose value is the next word."""


def main() -> None:
    """The command `mooring`."""
    gc.set_threshold(SELDOM)
    try:
        begun = _begin() if _starts(sys.argv[1:]) else None
        from mooring.cli.app import run

        code = run(sys.argv[1:], begun)
    except KeyboardInterrupt:
        code = 130
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End at once: all is closed by now, and to take hundreds of modules apart costs a short command a sixth."""
    threading = sys.modules.get("threading")
    if threading is None or threading.active_count() == 1:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            pass  # the interpreter says what it could not write
        else:
            os._exit(code)
    sys.exit(code)


def _starts(words: list[str]) -> bool:
    command = _command(words)
    if not command and sys.stdin is not None and sys.stdin.isatty():
        return not {"-h", "--help", "--version", "--json"} & {*words}  # the chat
    return command in STARTERS or (command in ASKED and any(word in ASKING for word in words))


def _command(words: list[str]) -> str:
    """The first word that is neither an option nor the value of one; after `mcp`, the one after it too."""
    found: list[str] = []
    expected = iter(words)
    for word in expected:
        if not word.startswith("-"):
            found.append(word)
            if word != "mcp" or len(found) > 1:
                break
        elif word in VALUED:
            next(expected, None)
    return " ".join(found)


def _begin() -> object:
    if "--url" in sys.argv:
        _load_ahead()
        return None
    if sys.platform == "win32":
        return None
    from mooring.process.guard.boot import start_guard

    try:
        return start_guard()
    except OSError:
        return None  # it is tried again where its failure can be told


def _load_ahead() -> None:
    """Load what speaks HTTP beside the rest: a third of that time goes into certificates, and lets others run."""
    from threading import Thread

    Thread(target=__import__, args=("aiohttp",)).start()
