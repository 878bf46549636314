"""Opens a page in the person's browser, if there is one that can show it to them."""

import os
import shlex
import sys
from collections.abc import Mapping
from threading import Thread
from urllib.parse import urlsplit

from mooring.files import which
from mooring.process.surroundings import start_unguarded, surround

_SSH = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_OPENERS = ("xdg-open", "gio", "wslview", "x-www-browser", "firefox", "chromium", "google-chrome")
_NO_ADDRESS = frozenset(" \"'<>\\^`{|}")
"""Characters that no address has unless they are encoded, and that a shell or a program may read as something else."""


def has_browser(env: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a page can be opened here, for the person who sits at this terminal."""
    if env.get("BROWSER"):
        return True
    # Over SSH the browser would open where nobody sits.
    if is_remote(env):
        return False
    if platform in ("darwin", "win32"):
        return True
    return any(env.get(name) for name in _DISPLAYS) and _find_opener(env) is not None


def is_remote(env: Mapping[str, str]) -> bool:
    """Whether the person sits at another machine, where no browser can come back to this one."""
    return any(env.get(name) for name in _SSH)


def open_page(url: str, env: Mapping[str, str]) -> bool:
    """Open a page; whether something was started that may show it.

    A URL comes from a server: it is handed over as one argument, never through a shell, and only if it is one that a
    browser takes for an address (mcp-remote, CVE-2025-6514).
    """
    if not is_page(url):
        return False
    return any(_start(command, env) for command in _list_commands(url, env))


def is_page(url: str) -> bool:
    """Whether a text is an http or https address, and nothing that a program could take for something else."""
    if not url.isascii() or not url.isprintable() or not _NO_ADDRESS.isdisjoint(url):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or parts.username is not None:
        return False
    return bool(parts.hostname)


def _list_commands(url: str, env: Mapping[str, str]) -> list[list[str]]:
    """What to try, in order. `$BROWSER` is read as Python's `webbrowser` reads it: commands, with or without `%s`."""
    if env.get("BROWSER"):
        return [_fill(command, url) for command in env["BROWSER"].split(os.pathsep) if command.strip()]
    if sys.platform == "darwin":
        return [["open", url]]
    if sys.platform == "win32":
        return [["rundll32", "url.dll,FileProtocolHandler", url]]
    opener = _find_opener(env)
    if opener is None:
        return []
    return [[opener, "open", url] if os.path.basename(opener) == "gio" else [opener, url]]


def _fill(command: str, url: str) -> list[str]:
    try:
        words = shlex.split(command.removesuffix("&"))
    except ValueError:
        return []
    if any("%s" in word for word in words):
        return [word.replace("%s", url) for word in words]
    return [*words, url]


def _find_opener(env: Mapping[str, str]) -> str | None:
    path = surround(env, "/").env.get("PATH", os.defpath)
    return next(filter(None, (which(name, path, "/") for name in _OPENERS)), None)


def _start(command: list[str], env: Mapping[str, str]) -> bool:
    """Start a program and leave it to itself: a browser goes on when we end."""
    if not command:
        return False
    try:
        # Away from the working folder, where a repository may have a program of that name.
        program = start_unguarded(command, surround(env, "/"), detached=True)
    except (OSError, ValueError):
        return False
    # Somebody has to learn that it ended, or it stays in the table of processes for as long as we live.
    Thread(target=program.wait, name="mooring-browser", daemon=True).start()
    return True
