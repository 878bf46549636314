"""Reads the tables of the search: text files beside the code, made for people to edit."""

import os
from typing import Final

from mooring import files
from mooring.core.protocol.units import MIB
from mooring.errors import FileError

_FOLDER: Final = os.path.join(os.path.dirname(__file__), "tables")
_LARGEST: Final = MIB


def read_words(name: str) -> list[str]:
    """The words of a table that is one list of words.

    Raises:
        FileError: the table cannot be read, so the installation is broken.
    """
    return " ".join(read_lines(name)).split()


def read_lines(name: str) -> list[str]:
    """The lines of a table without its comments; an indented line continues the one above.

    Raises:
        FileError: the table cannot be read, so the installation is broken.
    """
    path = os.path.join(_FOLDER, f"{name}.txt")
    data = files.read(path, _LARGEST)
    if data is None:
        raise FileError(path, "no such file")
    lines: list[str] = []
    for line in data.decode().splitlines():
        if line.startswith(" "):
            lines[-1] += line
        elif line and not line.startswith("#"):
            lines.append(line)
    return lines
