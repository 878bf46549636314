"""The text of a command: what is in it to fill in, and the text with its arguments."""

import re
import shlex
from collections.abc import Sequence

from msgspec import Struct

from mooring.errors import ConfigError

# One pass over the text as it was written: what is filled in is never looked through again, so that no argument and no
# output can hold a command.
_SHELL = re.compile(r"!`([^`\n]+)`")
_FIELD = re.compile(r"\$ARGUMENTS\[(\d{1,2})\]|\$(ARGUMENTS)\b|\$([1-9]\d?)\b|\$\{input:([\w-]+)(?::[^{}\n]*)?\}")


class ShellPiece(Struct, frozen=True):
    """A command line whose output belongs in the text."""

    command: str


class CommandArguments:
    """What was typed behind a command's name."""

    def __init__(self, typed: str) -> None:
        self.typed = typed.strip()
        self._words = _split(self.typed)
        self._pairs = dict(word.split("=", 1) for word in self._words if "=" in word)

    def fill(self, text: str) -> str:
        """A text with the arguments in place of their fields. Raises: ConfigError if one is missing."""
        return _FIELD.sub(self._fill_one, text)

    def _fill_one(self, field: re.Match[str]) -> str:
        from_zero, all, from_one, named = field.groups()
        if all:
            return self.typed
        if named is not None:
            return self._find_named(named)
        position = int(from_zero) if from_zero is not None else int(from_one) - 1
        return self._words[position] if position < len(self._words) else ""

    def _find_named(self, name: str) -> str:
        if name in self._pairs:
            return self._pairs[name]
        if self.typed and not self._pairs:
            return self.typed
        raise ConfigError(f"The command needs {name}: write {name}=… behind its name.")


def split_pieces(body: str) -> Sequence[str | ShellPiece]:
    """The text in its order, and the command lines between."""
    pieces: list[str | ShellPiece] = []
    end = 0
    for found in _SHELL.finditer(body):
        pieces += [body[end : found.start()], ShellPiece(found[1].strip())]
        end = found.end()
    return [*pieces, body[end:]]


def has_fields(body: str) -> bool:
    """Whether a text says where its arguments belong."""
    return _FIELD.search(body) is not None


def _split(typed: str) -> list[str]:
    try:
        return shlex.split(typed)
    except ValueError:  # an apostrophe
        return typed.split()
