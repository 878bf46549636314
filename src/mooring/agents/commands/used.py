"""A line that a person typed, as the command of a file that it begins with."""

import asyncio
import re

from msgspec import Struct

from mooring.agents.commands.command_file import WrittenCommand
from mooring.agents.commands.find import CommandFiles, FoundCommands


class UsedCommand(Struct, frozen=True):
    """A command as it was typed."""

    name: str
    command: WrittenCommand
    typed: str
    """What is behind its name."""
    found: FoundCommands
    """All commands, as they were when it was looked for."""


async def find_used_command(files: CommandFiles, line: str) -> UsedCommand | None:
    """The command that a line begins with; `None` if it is just a line, such as one that begins with a path."""
    word, typed = split_line(line)
    if not word:
        return None
    found = await asyncio.to_thread(files.find)
    command = found.by_name.get(word)
    return UsedCommand(word, command, typed, found) if command is not None and command.is_for_person else None


def split_line(line: str) -> tuple[str, str]:
    """The word behind the slash that a line begins with, and what is behind the word; both empty without a slash."""
    if not line.startswith("/"):
        return "", ""
    word, _, rest = re.sub(r"\s", " ", line[1:], count=1).partition(" ")
    return word, rest.strip()
