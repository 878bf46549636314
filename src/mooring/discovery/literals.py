"""Finds what is meant literally and should not be: placeholders in another tool's spelling, and written-out secrets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from mooring.core.definitions.config import Connection, Http, InProcess, ServerConfig, Stdio, list_templates
from mooring.core.definitions.template import Template, TextPart, VariablePart
from mooring.core.text.secret import find_in_arguments, find_in_url, is_secret
from mooring.discovery.dialect import Dialect, TextSlot
from mooring.discovery.template import compile_pattern, parse_template

# Upper case only: editors have variables of their own, such as ${file}, that are no environment variables.
_ANY_SPELLING: Final = r"\$?\{env:(?P<env>[A-Z_][A-Z0-9_]{0,99})\}|\$\{(?P<plain>[A-Z_][A-Z0-9_]{0,99})\}"
_SPELLINGS: Final = ("${%s}", "${env:%s}", "{env:%s}")
# Not in args: those of a shell are full of `${NAME}`.
_SLOTS: Final[tuple[TextSlot, ...]] = ("env", "headers", "url")


class LiteralPlaceholder(Struct, frozen=True):
    """Text that looks like a placeholder and isn't one in its file, and how the file's tool spells it."""

    key: str
    """Where it is, such as `headers.Authorization`."""
    slot: TextSlot
    text: str
    spelling: str


def find_literal_placeholders(connection: Connection, dialect: Dialect) -> Iterator[LiteralPlaceholder]:
    """Every placeholder that is taken literally; none if the dialect has no spelling for a variable."""
    for key, template in list_templates(connection):
        slot = next((each for each in _SLOTS if each == key.partition(".")[0]), None)
        if slot is None:
            continue
        for part in template.parts:
            if isinstance(part, TextPart) and "{" in part.text:
                yield from _find_in_text(key, slot, part.text, dialect)


def _find_in_text(key: str, slot: TextSlot, text: str, dialect: Dialect) -> Iterator[LiteralPlaceholder]:
    for found in compile_pattern(_ANY_SPELLING).finditer(text):
        spelling = spell_variable(found["env"] or found["plain"], dialect, slot)
        if spelling is not None and spelling != found[0]:
            yield LiteralPlaceholder(key, slot, found[0], spelling)


def spell_variable(name: str, dialect: Dialect, slot: TextSlot) -> str | None:
    """How a variable is written as part of a value in this slot; `None` if it can't be."""
    for spelling in _SPELLINGS:
        written = spelling % name
        # With text before it: some dialects fill in only what is the whole value.
        before, *placeholder = parse_template(f"Bearer {written}", dialect, slot).parts
        if before == TextPart("Bearer ") and [type(part) for part in placeholder] == [VariablePart]:
            return written
    return None


class LiteralSecret(Struct, frozen=True):
    """A variable or a header whose value looks like a secret and is written out instead of referred to."""

    slot: Literal["env", "headers"]
    name: str
    value: str

    def __repr__(self) -> str:
        return f"LiteralSecret({self.slot}, {self.name})"


def find_literal_secrets(connection: Connection) -> Iterator[LiteralSecret]:
    """The variables and headers of a definition that look like secrets and are no references."""
    match connection:
        case Stdio():
            yield from _find_in_map("env", connection.env)
        case Http():
            yield from _find_in_map("headers", connection.headers)
        case InProcess():
            pass


def _find_in_map(slot: Literal["env", "headers"], values: Mapping[str, Template]) -> Iterator[LiteralSecret]:
    for name, template in values.items():
        if _is_literal(template) and is_secret(name, template.text):
            yield LiteralSecret(slot, name, template.text)


def _is_literal(template: Template) -> bool:
    """Whether a value stands for itself, or does so if no variable happens to have that name."""
    match template.parts:
        case (VariablePart(name, None, "literal"),):
            return name == template.text
        case parts:
            return all(isinstance(part, TextPart) for part in parts)


def list_written_secrets(connection: Connection) -> Iterator[str]:
    """Every text in a definition that looks like a secret, also in its arguments and its address."""
    yield from (secret.value for secret in find_literal_secrets(connection))
    match connection:
        case Stdio():
            yield from find_in_arguments([arg.text for arg in connection.args])
        case Http():
            yield from find_in_url(connection.url.text)
        case InProcess():
            pass


def list_secret_keys(config: ServerConfig) -> Iterator[str]:
    """The keys of a definition, such as `env.TOKEN`, under which there is a secret itself and no reference to it."""
    connection = config.written or config.connection
    for secret in find_literal_secrets(connection):
        yield f"{secret.slot}.{secret.name}"
    match connection:
        case Stdio():
            if _has_secret_argument(connection.args):
                yield "args"
        case Http(url):
            if _is_literal(url) and any(find_in_url(url.text)):
                yield "url"
        case InProcess():
            pass
    login = config.oauth and config.oauth.client_secret
    if login and _is_literal(login):
        yield "oauth.clientSecret"


def _has_secret_argument(args: Sequence[Template]) -> bool:
    references = {arg.text for arg in args if not _is_literal(arg)}
    return any(found not in references for found in find_in_arguments([arg.text for arg in args]))
