"""Copying: to the desktop's own clipboard where there is one, else through the terminal, and in words which it was."""

import asyncio
import os
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from mooring.files import which
from mooring.process.surroundings import feed_unguarded, surround

PATIENCE = 5
"""Seconds that a program may take to read a text: one whose display is gone waits for it forever."""
_SCREEN_PART = 700
"""Bytes that GNU screen hands on at once; its older versions drop a longer sequence."""


class CopyProgram(NamedTuple):
    """A program that reads a text and keeps it."""

    argv: Sequence[str]
    how: str
    """Where the text is then, in words that follow `copied`."""


class Clipboard:
    """Copies texts for one screen."""

    def __init__(self, env: Mapping[str, str], write: Callable[[str], None], patience: float = PATIENCE) -> None:
        """`write` sends a sequence to the terminal."""
        self._env = env
        self._write = write
        self._patience = patience

    async def copy(self, text: str) -> str:
        """Copy a text; how it was done, in words that follow `copied`."""
        data = text.encode(errors="replace")
        surroundings = surround(self._env, "/")
        for program in find_programs(self._env):
            # It may outlive us: xclip has the text as long as nothing else is copied.
            if await asyncio.to_thread(feed_unguarded, program.argv, surroundings, data, self._patience):
                return program.how
        if "STY" in self._env:
            self._write(wrap_for_screen(write_osc52(text)))
            return "through GNU screen and your terminal (OSC 52)"
        self._write(write_osc52(text))
        return "through your terminal (OSC 52), if it allows that"


def find_programs(env: Mapping[str, str]) -> Iterator[CopyProgram]:
    """The programs that can copy here, the best one first."""
    for command, (is_of_use, options, how) in _PROGRAMS.items():
        if not is_of_use(env):
            continue
        path = which(command, surround(env, "/").env.get("PATH", os.defpath), "/")
        if path is not None:
            yield CopyProgram([path, *options], how)


def is_remote(env: Mapping[str, str]) -> bool:
    """Whether the person sits at another machine, whose clipboard only the terminal reaches."""
    return "SSH_CONNECTION" in env or "SSH_TTY" in env


_PROGRAMS: Mapping[str, tuple[Callable[[Mapping[str, str]], bool], Sequence[str], str]] = {
    "wl-copy": (lambda env: "WAYLAND_DISPLAY" in env and not is_remote(env), (), "with wl-copy"),
    "xclip": (
        lambda env: "DISPLAY" in env and not is_remote(env),
        ("-selection", "clipboard", "-in"),
        "with xclip",
    ),
    "pbcopy": (lambda env: sys.platform == "darwin" and not is_remote(env), (), "with pbcopy"),
    # By default tmux drops what a program in it sends as OSC 52, but hands on what it is told to.
    "tmux": (lambda env: "TMUX" in env, ("load-buffer", "-w", "-"), "with tmux, which hands it to your terminal"),
}
"""When each is of use, its options, and how a text is copied with it."""


def write_osc52(text: str) -> str:
    """What has a terminal copy a text."""
    return f"\x1b]52;c;{b64encode(text.encode(errors='replace')).decode()}\x07"


def wrap_for_screen(sequence: str) -> str:
    """What has GNU screen hand a sequence on to its terminal."""
    parts = [sequence[start : start + _SCREEN_PART] for start in range(0, len(sequence), _SCREEN_PART)]
    return "".join(f"\x1bP{part}\x1b\\" for part in parts)
