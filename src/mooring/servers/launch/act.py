"""One description of what a definition does when its server starts: what it reads, runs, asks and sends, and where to.

It is made once, by `describe_act`. An approval question shows it, an approval remembers what was shown, and a start
fetches through an `ActFetcher`, which knows nothing but what is described here.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from mooring.core.definitions.config import Http, InProcess, ServerConfig, Stdio, list_templates
from mooring.core.definitions.template import (
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

UseKind: TypeAlias = Literal["command", "file", "variable", "secret", "question", "login"]

HELPER_OUTPUT: Final = "headers."
"""Where the output of a headers helper goes."""
ENV_FILE_CONTENT: Final = "variables"
"""Where the content of an `envFile` goes."""
OWN_ADDRESS: Final = "address"
"""Where the login at the server's own address goes."""
TOKEN_HEADER: Final = "headers.Authorization"
TOKEN_VARIABLE: Final = "env.OAUTH_ACCESS_TOKEN"


class Use(Struct, frozen=True):
    """Something that a start uses, and where its value goes."""

    kind: UseKind
    what: str
    """A command's line or a file's path as written, or a name."""
    slot: str
    """What receives the value: a key of the definition, such as `env.TOKEN`; `shell.LINE` for a command's own line."""
    default: str | None = None
    """For a question, what an empty answer means."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it this use and no other."""
        return self.kind, self.what, self.slot

    @property
    def mark(self) -> str:
        """A short digest of that, to remember that it was shown."""
        import json  # lazy, as the next one: few starts need either
        from hashlib import sha256

        return sha256(json.dumps(self.key).encode()).hexdigest()[:16]


Act: TypeAlias = tuple[Use, ...]
"""Everything that a start uses, each once, in the order of the definition."""


def describe_act(config: ServerConfig, *, own: bool) -> Act:
    """What a definition does, for the person whose `own` it is or for a project."""
    return tuple({use.key: use for use in _iterate_uses(config, own)}.values())


def list_unshown(act: Act, shown: tuple[str, ...] | None) -> tuple[Use, ...]:
    """What an act uses that the person was not shown when they approved it.

    `shown` are the marks of what they were shown; `None` for an approval from before those were kept.
    """
    if shown is None:
        return tuple(use for use in act if not _was_always_shown(use))
    return tuple(use for use in act if use.mark not in shown)


def name_slot(command: CommandPart) -> str:
    """What receives the values of the placeholders inside a command."""
    return f"shell.{command.written_line}"


_FORMERLY_MISDESCRIBED: Final = ("oauth.privateKey", "oauth.assertion", "oauth.idToken")
"""Questions said of these that they went to the login server as the client's secret."""


def _was_always_shown(use: Use) -> bool:
    # The login at an address goes to that address alone, which was always shown.
    if use.kind == "login":
        return use.slot == OWN_ADDRESS
    return use.slot not in _FORMERLY_MISDESCRIBED


def _iterate_uses(config: ServerConfig, own: bool) -> Iterator[Use]:
    for key, template in list_templates(config.connection, config.oauth):
        yield from _iterate_parts(template.parts, key)
        if key == "headersHelper":
            yield Use("command", template.text, HELPER_OUTPUT)
        elif key == "envFile":
            yield Use("file", template.text, ENV_FILE_CONTENT)
    match config.connection:
        case Stdio() as program:
            yield from (Use("variable", name, f"passEnv.{name}") for name in program.pass_env)
            # A login is the person's, and a project's program could do with it whatever it likes.
            if own:
                yield from _iterate_credential(config, TOKEN_VARIABLE, own)
        case Http():
            yield from _iterate_credential(config, TOKEN_HEADER, own)
            if config.oauth is None or config.oauth.enabled:
                yield Use("login", "", OWN_ADDRESS)
        case InProcess():
            pass


def _iterate_credential(config: ServerConfig, slot: str, own: bool) -> Iterator[Use]:
    if config.oauth is None or config.oauth.credential_id is None:
        return
    yield Use("login", config.oauth.credential_id, slot)
    # A project has to name a stored secret as one, `${keyring:NAME}`.
    if own:
        yield Use("secret", config.oauth.credential_id, slot)


def _iterate_parts(parts: Iterable[Part], slot: str) -> Iterator[Use]:
    for part in parts:
        match part:
            case CommandPart(line) as command:
                yield Use("command", command.written_line, slot)
                yield from _iterate_parts(line, name_slot(command))
            case FilePart(path):
                yield Use("file", path, slot)
            case VariablePart(name):
                yield Use("variable", name, slot)
            case SecretPart(name):
                yield Use("secret", name, slot)
            case InputPart(id, default=default):
                yield Use("question", id, slot, default)
            case TextPart() | KnownPart() | ForeignPart():
                pass  # text, folders that everybody knows, and what nobody fills in
