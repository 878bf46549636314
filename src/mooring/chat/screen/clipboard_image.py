"""The image that the desktop's clipboard holds, fetched with whichever program of it is there."""

import os
import re
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from mooring.chat.screen.clipboard import PATIENCE, is_remote
from mooring.core.conversation.mention import spell_mention
from mooring.core.protocol.content import find_picture_type
from mooring.core.protocol.units import MIB
from mooring.errors import ConfigError
from mooring.files import which
from mooring.process.surroundings import read_unguarded, surround
from mooring.tools.results.deliver import ResultStore

MOST_BYTES = 10 * MIB
"""No larger file can be attached."""
_KINDS = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""The one that keeps all of it first; most programs offer that for any image."""

REMOTE = (
    "Over SSH, Mooring can't reach the clipboard of the machine you sit at."
    " Copy the image to a file on this machine, for instance with scp, then type @ and its path."
)
NO_DESKTOP = (
    "There is no desktop here whose clipboard could be read: neither WAYLAND_DISPLAY nor DISPLAY is set."
    " Save the image to a file, then type @ and its path."
)
NO_IMAGE = "The clipboard has no image."
TOO_LARGE = f"The image in the clipboard has more than {MOST_BYTES // MIB} MB, the most that can be attached."


class PasteProgram(NamedTuple):
    """A program that prints what the clipboard holds."""

    command: str
    is_of_use: Callable[[Mapping[str, str]], bool]
    options: Sequence[Sequence[str]]
    """Its options, one set after another until one gives an image."""
    decode: Callable[[bytes], bytes]
    """What it prints as the bytes of the image. Raises: ValueError."""
    package: str = ""
    """What to install if it is missing; empty if something else does as well."""


def keep_clipboard_image(env: Mapping[str, str], store: ResultStore, patience: float = PATIENCE) -> str:
    """Keep the image in a private file, and name that as a message does. Blocks.

    Raises:
        ConfigError: there is none, or it can't be read; what to do about that.
        FileError: it can't be written.
    """
    data = read_clipboard_image(env, patience)
    kept = store.save_blob(b64encode(data).decode(), find_picture_type(data))
    spelled = spell_mention(kept.path)
    if spelled is None:
        raise ConfigError(f"The image is in {kept.path}, a path that can't be written in a message.")
    return spelled


def read_clipboard_image(env: Mapping[str, str], patience: float = PATIENCE) -> bytes:
    """The image that was copied last. Blocks. Raises: ConfigError; what to do is in it."""
    if is_remote(env):
        raise ConfigError(REMOTE)
    programs = [program for program in _PROGRAMS if program.is_of_use(env)]
    if not programs:
        raise ConfigError(NO_DESKTOP)
    path = surround(env, "/").env.get("PATH", os.defpath)
    found = [(program, file) for program in programs if (file := which(program.command, path, "/")) is not None]
    if not found:
        raise ConfigError(f"To paste an image from the clipboard, install {programs[0].package} first.")
    for data in _read_with(found, env, time.monotonic() + patience):
        if len(data) > MOST_BYTES:
            raise ConfigError(TOO_LARGE)
        if find_picture_type(data) is not None:
            return data
    raise ConfigError(NO_IMAGE)


def _read_with(programs: Sequence[tuple[PasteProgram, str]], env: Mapping[str, str], until: float) -> Iterator[bytes]:
    """What each of them prints that may be an image."""
    for program, file in programs:
        for options in program.options:
            left = until - time.monotonic()
            if left <= 0:
                return
            printed = read_unguarded([file, *options], surround(env, "/"), left)
            # A program may say in words that there is none.
            with suppress(ValueError):
                yield program.decode(printed or b"")


def _read_raw(printed: bytes) -> bytes:
    return printed


def _read_base64(printed: bytes) -> bytes:
    return b64decode(b"".join(printed.split()), validate=True)


def _read_apple_data(printed: bytes) -> bytes:
    """What AppleScript writes as `«data PNGf89504E47…»`."""
    found = re.search(rb"PNGf([0-9A-Fa-f]+)", printed)
    return b"" if found is None else bytes.fromhex(found[1].decode())


_POWERSHELL = (
    "Add-Type -AssemblyName System.Windows.Forms,System.Drawing;"
    "$image = [Windows.Forms.Clipboard]::GetImage();"
    "if ($image) { $stream = New-Object IO.MemoryStream;"
    "$image.Save($stream, [Drawing.Imaging.ImageFormat]::Png);"
    "[Convert]::ToBase64String($stream.ToArray()) }"
)

_PROGRAMS: Sequence[PasteProgram] = (
    PasteProgram(
        "powershell.exe",
        lambda env: "WSL_DISTRO_NAME" in env,
        [("-NoProfile", "-NonInteractive", "-STA", "-Command", _POWERSHELL)],
        _read_base64,
        "PowerShell, or add its folder to PATH",
    ),
    PasteProgram("pngpaste", lambda _: sys.platform == "darwin", [("-",)], _read_raw, "pngpaste"),
    PasteProgram(
        "osascript",
        lambda _: sys.platform == "darwin",
        [("-e", "the clipboard as «class PNGf»")],
        _read_apple_data,
        "pngpaste",
    ),
    PasteProgram(
        "wl-paste",
        lambda env: "WAYLAND_DISPLAY" in env,
        [("--no-newline", "--type", kind) for kind in _KINDS],
        _read_raw,
        "wl-clipboard, which has wl-paste,",
    ),
    PasteProgram(
        "xclip",
        lambda env: "DISPLAY" in env,
        [("-selection", "clipboard", "-t", kind, "-o") for kind in _KINDS],
        _read_raw,
        "xclip",
    ),
)
"""The nearest clipboard first: what runs in WSL has a desktop of Linux, too, which is told of no images."""
