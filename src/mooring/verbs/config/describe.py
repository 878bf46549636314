"""The quick form of `add`: what a person types about a server becomes an entry, the same for every face."""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args

from msgspec import Struct

from mooring.core.definitions.config import Transport
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.targets import WriteScope
from mooring.display.text import safe
from mooring.errors import ConfigError

TRANSPORTS: tuple[Transport, ...] = ("stdio", "http", "sse")
SCOPES: tuple[WriteScope, ...] = get_args(WriteScope)

_ADDRESSES = ("http://", "https://")
_FLAGS: Mapping[str, str] = {"--no-test": "no_test"}
_VALUED: Mapping[str, str] = {
    "-s": "scope",
    "--scope": "scope",
    "--to": "tool",
    "-e": "env",
    "--env": "env",
    "-H": "headers",
    "--header": "headers",
    "-t": "transport",
    "--transport": "transport",
    "--url": "url",
    "--token": "token",
}
_REPEATED = ("env", "headers")
_CHOICES: Mapping[str, Sequence[str]] = {"scope": SCOPES, "transport": TRANSPORTS}
_PLACING = ("--to", "--in", "--scope", "--no-test")
"""Options that hardly any server has too; `--url`, `--token` and `-e` are as common among theirs."""
OPTIONS = (*_FLAGS, *_VALUED)
"""The options of the quick form."""


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
    from getopt import GetoptError, gnu_getopt  # only where no other parser of options is at work

    short = "".join(f"{option[1]}:" for option in _VALUED if not option.startswith("--"))
    long = [f"{option[2:]}=" for option in _VALUED if option.startswith("--")]
    long += [option[2:] for option in _FLAGS]
    try:
        options, words = gnu_getopt(end_options(args, _VALUED), short, long)
    except GetoptError as error:
        dashes = "-" if len(error.opt) == 1 else "--"
        reason = "needs a value" if "requires" in error.msg else "is not an option of add"
        raise ConfigError(f"{dashes}{error.opt} {reason}.") from None
    name, *others = words or [""]
    return ServerDescription(name=name, words=tuple(others), **_collect(options))


def _collect(options: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The values of options by the field that each one sets."""
    found: dict[str, Any] = {}
    for option, value in options:
        if option in _FLAGS:
            found[_FLAGS[option]] = True
            continue
        field = _VALUED[option]
        choices = _CHOICES.get(field)
        if choices and value not in choices:
            raise ConfigError(f"{option} takes {' or '.join(choices)}, not {value}.")
        found[field] = (*found.get(field, ()), value) if field in _REPEATED else value
    return found


def end_options(args: Sequence[str], valued: Container[str]) -> list[str]:
    """The words with `--` put before the server's command: `add NAME npx -y package` leaves `-y` to npx.

    `valued` are the options that take the next word as their value.
    """
    names = 0
    skip = False
    for index, word in enumerate(args):
        if word == "--":
            break
        if skip or word.startswith("-"):
            skip = not skip and word in valued
            continue
        names += 1
        # An address takes no words of its own, so options may follow it.
        if names == 2 and not is_address(word):
            return [*args[:index], "--", *args[index:]]
    return list(args)


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


def is_address(word: str) -> bool:
    """Whether a word is the address of a server, and no command."""
    return word.lower().startswith(_ADDRESSES)


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
