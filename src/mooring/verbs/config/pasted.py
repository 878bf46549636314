"""What people copy from a README to describe a server: an address, a command line, another tool's command, or JSON."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from mooring.discovery.values import as_mapping
from mooring.errors import ConfigError, ParseError
from mooring.syntax.parse import parse
from mooring.verbs.config.describe import ServerDescription, describe_entry, parse_description, split_words
from mooring.verbs.parse import is_address

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
