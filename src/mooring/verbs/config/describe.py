"""The quick form of `add`: what a person types or pastes about a server becomes an entry, for every face."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args

from msgspec import Struct

from mooring.core.definitions.config import Transport
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.targets import WriteScope
from mooring.discovery.values import as_mapping
from mooring.display.text import safe
from mooring.errors import ConfigError, ParseError
from mooring.syntax.parse import parse
from mooring.verbs.parse import is_address

TRANSPORTS: tuple[Transport, ...] = ("stdio", "http", "sse")
SCOPES: tuple[WriteScope, ...] = get_args(WriteScope)

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
    """Whose file it is written into."""
    no_test: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether nothing says what the server is, so that only questions can find out."""
        return not any((self.words, self.env, self.headers, self.transport, self.url, self.token))


def parse_description(args: Sequence[str]) -> ServerDescription:
    """What the words behind `add` say: a name, options, and an address or a command.

    Raises:
        ConfigError: an option is unknown, or lacks its value.
    """
    from getopt import GetoptError  # only where no other parser of options is at work

    from mooring.verbs.mcp_rows import ROWS
    from mooring.verbs.parse import parse_words

    row = next(row for row in ROWS if row.name == "add")
    try:
        return ServerDescription(**parse_words(row, args))
    except GetoptError as error:
        dashes = "-" if len(error.opt) == 1 else "--"
        reason = "needs a value" if "requires" in error.msg else "is not an option of add"
        raise ConfigError(f"{dashes}{error.opt} {reason}.") from None


def describe_swallowed_options(description: ServerDescription) -> Iterator[str]:
    """Which arguments of the server's command were probably meant for the command that adds or edits it."""
    command, *args = description.words or [""]
    for word, following in pairwise([*args, ""]):
        is_scope = word == "-s" and following in SCOPES
        if is_scope or word.partition("=")[0] in _PLACING:
            yield f"{safe(word)} became an argument of {safe(command)}: options go before the server's command."


def split_words(text: str) -> list[str]:
    """The words of a command line, as a shell splits them. Raises: ConfigError if a quotation mark is missing."""
    from shlex import split  # only for a whole line

    try:
        return split(text)
    except ValueError:
        raise ConfigError("Invalid server config: a quotation mark is missing its partner.") from None


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
    entry: dict[str, Any] = {"command": command}
    if args:
        entry["args"] = args
    if description.env:
        entry["env"] = dict(map(parse_variable, description.env))
    return entry


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


# `claude mcp add`, and those of the tools that copied it: the words behind it are the quick form's.
_ADDERS = r"[a-z-]+ mcp (add|add-json)"
_CONTAINERS = ("mcpServers", "servers", "mcp")
_ASSIGNMENT = r"[A-Za-z_][A-Za-z0-9_]*=.*"
# What the names of packages and hosts have around the name that people use.
_AROUND_NAME = r"^(?:mcp[-_.]server|server|mcp)[-_.]|[-_.](?:mcp[-_.]server|server[-_.]mcp|server|mcp)$"
_DULL_LABELS = ("www", "api", "mcp")


class Pasted(Struct, frozen=True):
    """A server that was pasted as a whole."""

    name: str
    """Its name, or one that may do if `is_named` is false; empty if none comes to mind."""
    raw: Mapping[str, Any]
    """Its entry, as in Mooring's own files."""
    is_named: bool = False


def parse_pasted(text: str) -> Pasted | None:
    """The server that a text describes; `None` if it is a single word, which may be a name.

    Raises:
        ConfigError: it begins like a description, and is none.
    """
    text = text.strip().removeprefix("$ ")
    if text.startswith(("{", '"')):
        return _parse_json(text)
    words = split_words(text)
    found = re.fullmatch(_ADDERS, " ".join(words[:3]))
    if found is not None:
        return _parse_command(found[1], words[3:])
    if len(words) == 1 and not is_address(words[0]):
        return None
    raw = parse_command_line(text)
    return Pasted(_suggest_name(raw), raw)


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


# --- JSON ---------------------------------------------------------------------------------------------------


def _parse_json(text: str) -> Pasted:
    """An entry, an entry with its name, or a file with one entry."""
    # Pages often show the member of a file alone: "github": {"command": …}
    whole = text if text.startswith("{") else f"{{{text.rstrip().rstrip(',')}}}"
    data = as_mapping(_load(whole))
    container = next((as_mapping(data[key]) for key in _CONTAINERS if key in data), data)
    if _is_entry(container):
        return Pasted("", container)
    entries = {name: entry for name, entry in container.items() if isinstance(entry, Mapping)}
    if len(entries) > 1:
        raise ConfigError(f"Invalid server config: it describes {', '.join(entries)}; add one at a time.")
    for name, entry in entries.items():
        return Pasted(name, entry, is_named=True)
    raise ConfigError("Invalid server config: it has neither a command nor a URL.")


def _load(text: str) -> Any:
    try:
        return parse(text.encode(errors="surrogateescape"), "json").data
    except ParseError:
        raise ConfigError("Invalid server config: it is not valid JSON.") from None


def _is_entry(data: Mapping[str, Any]) -> bool:
    return any(isinstance(data.get(key), str) for key in ("command", "url"))


# --- a command of another tool ------------------------------------------------------------------------------


def _parse_command(verb: str, words: list[str]) -> Pasted:
    described = parse_description(words)
    if verb == "add-json":
        pasted = _parse_json(" ".join(described.words))
        return Pasted(described.name, pasted.raw, is_named=True)
    return Pasted(described.name, describe_entry(described), is_named=True)


# --- a name -------------------------------------------------------------------------------------------------


def _suggest_name(raw: Mapping[str, Any]) -> str:
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
