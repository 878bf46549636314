"""What a definition runs and reads when its server starts, and where each value goes: what an approval question names.

A placeholder such as `$(…)` or `{file:~/.ssh/id_rsa}` does its work before there is any server, with the person's own
rights. So it is named on its own, beside the text that it stands in.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.config import ServerConfig, Stdio, list_templates
from mooring.core.template import (
    CommandPart,
    FilePart,
    ForeignPart,
    InputPart,
    KnownPart,
    Part,
    SecretPart,
    TextPart,
    VariablePart,
)
from mooring.servers.launch.target import UNRESOLVED

EffectKind: TypeAlias = Literal["command", "file", "variable", "secret", "question"]


class Effect(Struct, frozen=True, rename="camel"):
    """A command that would run, something that would be read, or a question, and where the value would go."""

    kind: EffectKind
    what: str
    """The command's line, the file's path as written, or a name."""
    goes_to: str
    """What receives the value, in words."""
    path: str | None = None
    """For a file, where its path leads."""
    default: str | None = None
    """For a question, what an empty answer means."""


def list_effects(config: ServerConfig, target: str | None, paths: Mapping[str, str]) -> tuple[Effect, ...]:
    """Everything that a start would run, read or ask for, each once.

    `target` is what the definition resolves to; `paths` are the files it names, as written, and where they lead.
    """
    return tuple(dict.fromkeys(_iterate_effects(config, target, paths)))


def _iterate_effects(config: ServerConfig, target: str | None, paths: Mapping[str, str]) -> Iterator[Effect]:
    host = "the server's address" if target in (None, UNRESOLVED) else str(target)
    for key, template in list_templates(config.connection, config.oauth):
        goes_to = _describe_receiver(key, host)
        for part in template.parts:
            yield from _describe_part(part, goes_to, paths)
        if key == "headersHelper":
            yield Effect("command", template.text, f"{host}, as headers")
        elif key == "envFile":
            yield Effect("file", template.text, "the program, as variables", paths.get(template.text))
    if isinstance(config.connection, Stdio):
        for name in config.connection.pass_env:
            yield Effect("variable", name, f"the program, as its variable {name}")


def _describe_receiver(key: str, host: str) -> str:
    slot, _, name = key.partition(".")
    return _RECEIVERS[slot].format(host=host, name=name)


_RECEIVERS = {
    "env": "the program, as its variable {name}",
    "headers": "{host}, in the header {name}",
    "oauth": "the login server, as the client's secret",
    "command": "the command line, as the program to run",
    "args": "the program, as an argument",
    "cwd": "the folder that the program starts in",
    "envFile": "the path of the file with variables",
    "url": "{host}, in the URL",
    "headersHelper": "the command that prints headers",
}


def _describe_part(part: Part, goes_to: str, paths: Mapping[str, str]) -> Iterator[Effect]:
    match part:
        case CommandPart(line) as command:
            written = command.written_line
            yield Effect("command", written, goes_to)
            for inner in line:
                yield from _describe_part(inner, f"the command {written}", paths)
        case FilePart(path):
            yield Effect("file", path, goes_to, paths.get(path))
        case VariablePart(name):
            yield Effect("variable", name, goes_to)
        case SecretPart(name):
            yield Effect("secret", name, goes_to)
        case InputPart(id, default=default):
            yield Effect("question", id, goes_to, default=default)
        case TextPart() | KnownPart() | ForeignPart():
            pass  # text, folders that everybody knows, and what nobody fills in
