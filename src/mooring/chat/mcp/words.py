"""The words behind a verb: the servers that it is about, and its options."""

import shlex
from collections.abc import Mapping, Sequence
from typing import get_args

from msgspec import Struct

from mooring.discovery.targets import WriteScope
from mooring.errors import ConfigError

SCOPE = ("-s", "--scope")
_SCOPES: tuple[WriteScope, ...] = get_args(WriteScope)


class VerbWords(Struct, frozen=True):
    """What was typed behind a verb."""

    names: tuple[str, ...]
    options: Mapping[str, str]
    """By the option as it is spelled in the usage line; empty for those without a value."""

    @property
    def name(self) -> str:
        """The words as the name of one server, which may have blanks in it."""
        return " ".join(self.names)

    @property
    def scope(self) -> WriteScope | None:
        """Which of two files is meant. Raises: ConfigError."""
        typed = self.options.get("-s", self.options.get("--scope"))
        if typed is not None and typed not in _SCOPES:
            raise ConfigError(f"-s takes {' or '.join(_SCOPES)}, not {typed}.")
        return typed


def parse_words(text: str, *, valued: Sequence[str] = (), flags: Sequence[str] = ()) -> VerbWords:
    """The names of servers, and the options around them.

    Raises:
        ConfigError: an option is unknown, or lacks its value.
    """
    from getopt import GetoptError, gnu_getopt  # few chats type an option

    short = "".join(f"{option[1]}:" for option in valued if not option.startswith("--"))
    long = [f"{option[2:]}=" for option in valued if option.startswith("--")]
    try:
        options, names = gnu_getopt(_split(text), short, [*long, *(flag[2:] for flag in flags)])
    except GetoptError as error:
        raise ConfigError(f"{error.msg[0].upper()}{error.msg[1:]}. /mcp help lists the options.") from None
    return VerbWords(tuple(names), dict(options))


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a name with an apostrophe, as its file has it
        return text.split()
