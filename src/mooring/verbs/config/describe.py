"""The quick form of `add`: what a person types or pastes about a server becomes an entry, for every face."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args

from msgspec import Struct

from mooring.core.definitions.config import Transport
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.targets import WriteScope
from mooring.display.text import safe
from mooring.errors import ConfigError
from mooring.verbs.parse import is_address, parse_words

TRANSPORTS: tuple[Transport, ...] = ("stdio", "http", "sse")
SCOPES: tuple[WriteScope, ...] = ("user", "project")
"""Those that Mooring's own files have."""

_PLACING = ("--to", "--in", "--scope", "--no-test")
"""Options that hardly any server has too; `--url`, `--token` and `-e` are as common among theirs."""


class ServerDescription(Struct, frozen=True, kw_only=True):
    """What was typed about a server, word by word; nothing is checked yet."""

    name: str = ""
    words: tuple[str, ...] = ()
    """The address, or the command and its arguments."""
    env: tuple[str, ...] = ()
    """`KEY=VALUE`, each."""
    headers: tuple[str, ...] = ()
    """`NAME: VALUE`, each."""
    transport: str | None = None
    url: str | None = None
    token: str | None = None
    scope: WriteScope = "user"
    tool: str = OWN.tool
    """The tool whose file it is written into."""
    no_test: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether nothing says what the server is, so that only questions can find out."""
        return not any((self.words, self.env, self.headers, self.transport, self.url, self.token))


def parse_description(args: Sequence[str]) -> ServerDescription:
    """What the words behind `add` say: a name, options, and an address or a command. Raises: UsageError."""
    from mooring.verbs.mcp_rows import ROWS  # the shell has parsed them by then

    row = next(row for row in ROWS if row.name == "add")
    return ServerDescription(**parse_words(row, args))


def describe_swallowed_options(description: ServerDescription) -> Iterator[str]:
    """Which arguments of the server's command were probably meant for the command that adds or edits it."""
    command, *args = description.words or [""]
    for word, following in pairwise([*args, ""]):
        is_scope = word == "-s" and following in get_args(WriteScope)
        if is_scope or word.partition("=")[0] in _PLACING:
            yield f"{safe(word)} became an argument of {safe(command)}: options go before the server's command."


def split_words(text: str) -> list[str]:
    """The words of a command line, as a shell splits them. Raises: ConfigError if a quotation mark is missing."""
    from shlex import split  # only for a whole line

    try:
        return split(text)
    except ValueError:
        raise ConfigError("Invalid server config: unbalanced quotes.") from None


def describe_entry(description: ServerDescription) -> dict[str, Any]:
    """The entry that a description means, as in Mooring's own files.

    Raises:
        ConfigError: it describes no server, or two kinds of server at once.
    """
    words, transport, url = description.words, description.transport, description.url
    if url and words:
        raise ConfigError("Use either --url or -- <command...>, not both.")
    if len(words) == 1 and transport != "stdio" and is_address(words[0]):
        url = words[0]
    if description.token and not url:
        raise ConfigError("--token requires --url (HTTP/SSE transport).")
    if url:
        return _describe_address(url, description)
    if not words:
        raise ConfigError("Invalid server config: it has neither a command nor a URL. Add one: -- <command...>.")
    return _describe_program(description)


def _describe_address(url: str, description: ServerDescription) -> dict[str, Any]:
    if description.env:
        raise ConfigError("Invalid server config: -e goes with a command, and this is a URL. Use -H for headers.")
    entry: dict[str, Any] = {"type": description.transport} if description.transport else {}
    entry["url"] = url
    headers = dict(map(parse_header, description.headers))
    if description.token:
        headers["Authorization"] = f"Bearer {description.token}"
    return {**entry, "headers": headers} if headers else entry


def _describe_program(description: ServerDescription) -> dict[str, Any]:
    transport = description.transport
    if description.headers:
        raise ConfigError("Invalid server config: -H goes with a URL, and this is a command. Use -e for variables.")
    if transport in ("http", "sse"):
        raise ConfigError(f"Invalid server config: {transport} needs a URL, and this is a command.")
    command, *args = description.words
    # A whole line in quotes. A path with blanks in it may be a program's.
    if " " in command.strip() and "/" not in command.partition(" ")[0]:
        raise _refuse_blanks(command)
    entry: dict[str, Any] = {"command": command}
    if args:
        entry["args"] = args
    if description.env:
        entry["env"] = dict(map(parse_variable, description.env))
    return entry


def check_command(raw: Mapping[str, Any], cwd: str) -> None:
    """Refuse a whole line as a command: no program is called so, unless its path has blanks. Raises: ConfigError."""
    command = raw.get("command")
    if isinstance(command, str) and is_whole_line(command, cwd):
        raise _refuse_blanks(command)


def is_whole_line(command: str, cwd: str) -> bool:
    """Whether a command has its arguments in the same text, and is no path with blanks in it."""
    if " " not in command.strip():
        return False
    program, *others = command.split()
    is_line = "/" not in program or _exists(program, cwd) or any(word.startswith("-") for word in others)
    return is_line and not _exists(command, cwd)


def _exists(path: str, cwd: str) -> bool:
    return os.path.lexists(os.path.join(cwd, os.path.expanduser(path)))


def _refuse_blanks(command: str) -> ConfigError:
    return ConfigError(
        "Invalid server config: the command has blanks in it; write its words apart, behind --.",
        f"For example: -- {safe(command.strip())}",
    )


def parse_variable(text: str) -> tuple[str, str]:
    """The name and the value of `KEY=VALUE`. Raises: ConfigError."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ConfigError("Invalid server config: a variable is written as KEY=VALUE.")
    return name, value


def parse_header(text: str) -> tuple[str, str]:
    """The name and the value of `NAME: VALUE`. Raises: ConfigError."""
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise ConfigError("Invalid server config: a header is written as NAME: VALUE.")
    return name.strip(), value.strip()


_ASSIGNMENT = r"[A-Za-z_][A-Za-z0-9_]*=.*"
# What the names of packages and hosts have around the name that people use.
_AROUND_NAME = r"^(?:mcp[-_.]server|server|mcp)[-_.]|[-_.](?:mcp[-_.]server|server[-_.]mcp|server|mcp)$"
_DULL_LABELS = ("www", "api", "mcp")


def parse_command_line(text: str) -> dict[str, Any]:
    """The entry of a command line or an address; variables may stand before the command, as in a shell.

    Raises:
        ConfigError: a quotation mark is missing, or there is no command.
    """
    words = split_words(text)
    env: list[str] = []
    while words and re.fullmatch(_ASSIGNMENT, words[0]):
        env.append(words.pop(0))
    return describe_entry(ServerDescription(words=tuple(words), env=tuple(env)))


# --- a name -------------------------------------------------------------------------------------------------


def suggest_name(raw: Mapping[str, Any]) -> str:
    """What people would call a server, by its host or its package; empty if nothing comes to mind."""
    if "url" in raw:
        return _clean_name(_name_host(raw["url"]))
    candidates = [word for word in raw.get("args", ()) if not word.startswith("-")]
    telling = [word for word in candidates if "mcp" in word or "server" in word]
    package = next(iter((*telling, *candidates, raw["command"])))
    return _clean_name(package)


def _name_host(url: str) -> str:
    host = re.sub(r"[:/?#].*", "", url.partition("://")[2].rpartition("@")[2])
    labels = [label for label in host.split(".") if label not in _DULL_LABELS]
    return labels[-2] if len(labels) > 1 else host


def _clean_name(text: str) -> str:
    """`@modelcontextprotocol/server-github@1.2` as `github`."""
    last = text.rstrip("/").rpartition("/")[2] or text
    unversioned = re.split(r"(?<=.)[@:=]", last)[0].removesuffix(".py").removesuffix(".js")
    name = re.sub(r"[^A-Za-z0-9_.-]", "", unversioned)
    return re.sub(_AROUND_NAME, "", name) or name
