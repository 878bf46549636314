"""What Mooring knows of a program's own tools: every argument of each, and what the program does with it.

A tool that isn't listed, and an argument that isn't listed with its tool, are unknown: what they do isn't judged, so
the person is asked and sees everything.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Final, Literal, TypeAlias

from msgspec import Struct

ArgumentRole: TypeAlias = Literal[
    "command",  # a command line
    "folder",  # the folder in which a command runs
    "path",  # a file or a folder
    "paths",  # one of them, or a list
    "glob",  # a pattern of paths, from the folder that is searched
    "content",  # the whole new text of a file
    "old",  # a text that is replaced
    "new",  # what replaces it
    "everywhere",  # whether each place is replaced
    "patch",  # a patch of several files
    "change",  # some other description of a change to the file
    "url",
    "sql",  # statements for the tables of its plan
    "query",  # the words of a search on the web
    "inert",  # nothing outside of the call depends on it
    "off",  # has to be left out or false: what it turns on isn't judged
]
"""What a program does with the value of an argument."""


class OwnToolSchema(Struct, frozen=True):
    """One of a program's own tools."""

    like: str
    """The local tool that does the same; else a name of its own, under which rules speak of it."""
    arguments: Mapping[str, ArgumentRole] = {}


class ProgramSchema(Struct, frozen=True, dict=True):
    """All of a program's own tools, as of one version. A newer version is judged by the same schema."""

    program: str
    """What people call it."""
    version: str
    """The newest version whose tools were compared with this schema."""
    tools: Mapping[str, OwnToolSchema]
    """By the exact names that the program has for them."""
    mark: str = ""
    """What the program puts between the names of a server and its tool; empty if it can't be mistaken for its own."""

    @cached_property
    def reserved(self) -> frozenset[str]:
        """Names that no server may have for this program, in lower case.

        With a tool of its own it would become one of the program's tools: `apply` with `patch` is `apply_patch`.
        """
        return frozenset(head for name in self.tools for head in _list_heads(name.lower(), self.mark))

    def is_newer(self, version: str) -> bool:
        """Whether a program's version is newer than what is known here."""
        return _read_version(version) > _read_version(self.version)


NO_PROGRAM: Final = ProgramSchema("the agent", "0", {})
"""A program of which nothing is known: whatever it does by itself is asked about."""


def _list_heads(name: str, mark: str) -> list[str]:
    places = [place for place in range(1, len(name)) if mark and name.startswith(mark, place)]
    return [name, *(name[:place] for place in places)]


def _read_version(text: str) -> tuple[int, ...]:
    numbers = text.strip().removeprefix("v").split("-")[0].split(".")
    return tuple(int(number) for number in numbers if number.isdecimal())
