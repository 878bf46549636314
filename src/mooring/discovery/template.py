"""Turns a configured string into a template, by its tool's dialect; and finds what is literal and should not be."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from mooring.core.definitions.config import Connection, Http, InProcess, ServerConfig, Stdio, list_templates
from mooring.core.definitions.template import (
    OWN_KEEPER,
    CommandPart,
    FilePart,
    ForeignPart,
    InputPart,
    KnownPart,
    Part,
    SecretPart,
    Template,
    TextPart,
    Unset,
    VariablePart,
    join_texts,
)
from mooring.core.text.secret import find_in_arguments, find_in_url, is_secret
from mooring.discovery.dialect import Dialect, Inputs, TextSlot
from mooring.discovery.values import text_or_none

# A value such as GITHUB_TOKEN can only be meant as a name; one such as DEBUG or production may be meant literally.
_SURELY_A_NAME = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z"

_KNOWN_PLACES: dict[str, KnownPart] = {
    "workspaceFolder": KnownPart("workspace"),
    "workspaceFolderBasename": KnownPart("workspace-name"),
    "userHome": KnownPart("home"),
    "pathSeparator": KnownPart("separator"),
    "/": KnownPart("separator"),
}

_NO_INPUTS: Inputs = {}


def parse_template(
    text: str,
    dialect: Dialect,
    slot: TextSlot,
    inputs: Inputs = _NO_INPUTS,
    known_values: Mapping[str, str | SecretPart] | None = None,
    keeper: str = "",
) -> Template:
    """What a string means in its slot.

    `known_values` are variables and secrets whose values the configuration itself gives; `keeper` names the store
    that holds all other secrets.
    """
    parts = _parse(text, dialect.slots.get(slot, dialect), inputs)
    if known_values or keeper:
        parts = tuple(join_texts(_fill_in(part, known_values or {}, keeper) for part in parts))
    return Template(text, parts)


def _parse(text: str, dialect: Dialect, inputs: Inputs) -> tuple[Part, ...]:
    if dialect.commands and text.startswith("!"):
        command = _parse_placeholders(text[1:], dialect, inputs)
        return (CommandPart(command),)
    if dialect.bare_names and text.isascii() and text.isidentifier():
        # An unset GITHUB_TOKEN is left out rather than sent to a server as the literal text "GITHUB_TOKEN".
        unset: Unset = "omit" if re.match(_SURELY_A_NAME, text) else "literal"
        return (VariablePart(text, unset=unset),)
    if dialect.tilde and text == "~":
        return (KnownPart("home"),)
    if dialect.tilde and text.startswith("~/"):
        below = _parse_placeholders(text[1:], dialect, inputs)
        return (KnownPart("home"), *below)
    return _parse_placeholders(text, dialect, inputs)


def _parse_placeholders(text: str, dialect: Dialect, inputs: Inputs) -> tuple[Part, ...]:
    # Every placeholder of every dialect has one of these characters. Most strings have none, and a pattern takes long
    # to compile.
    may_hold_any = "$" in text or "{" in text or "%" in text
    if dialect.pattern is None or not may_hold_any:
        return (TextPart(text),)
    parts: list[Part] = []
    end = 0
    for found in re.finditer(dialect.pattern, text):
        if found.start() > end:
            parts.append(TextPart(text[end : found.start()]))
        parts.append(_make_part(found, dialect.unset, inputs))
        end = found.end()
    if end < len(text):
        parts.append(TextPart(text[end:]))
    return tuple(parts)


def _make_part(found: re.Match[str], unset: Unset, inputs: Inputs) -> Part:
    """The part that a match means, by the last group that took part in it."""
    match found.lastgroup:
        case "name" | "default":
            return VariablePart(found["name"], found.groupdict().get("default"), unset)
        case "bare" | "percent" as group:
            return VariablePart(found[group], None, unset)
        case "file":
            return FilePart(found["file"])
        case "input":
            id = found["input"]
            return _make_input(id, inputs.get(id, {}))
        case "secret":
            return SecretPart(found["secret"])
        case "keyring":
            return SecretPart(found["keyring"], OWN_KEEPER)
        case "command":
            return CommandPart((TextPart(found["command"]),))
        case "known":
            return _KNOWN_PLACES[found["known"]]
        case _:
            return ForeignPart(found[0])


def _make_input(id: str, question: Mapping[str, object]) -> InputPart:
    options = question.get("options")
    return InputPart(
        id,
        description=text_or_none(question.get("description")) or "",
        default=text_or_none(question.get("default")),
        secret=question.get("password") is True,
        options=tuple(map(str, options)) if isinstance(options, list) else (),
    )


def _fill_in(part: Part, known_values: Mapping[str, str | SecretPart], keeper: str) -> Part:
    """A part, or its value if that is known."""
    if not isinstance(part, VariablePart | SecretPart):
        return part
    if isinstance(part, SecretPart) and part.keeper:
        return part
    value = known_values.get(part.name)
    if isinstance(value, str):
        return TextPart(value)
    if value is not None:
        return value
    if isinstance(part, SecretPart):
        return SecretPart(part.name, keeper)
    return part


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
    for found in re.finditer(_ANY_SPELLING, text):
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

    slot: str
    """`env` or `headers`."""
    name: str
    value: str

    def __repr__(self) -> str:
        return f"LiteralSecret({self.slot}, {self.name})"


def find_literal_secrets(connection: Connection) -> Iterator[LiteralSecret]:
    """The variables and headers of a definition that look like secrets and are no references."""
    for key, template in list_templates(connection):
        slot, _, name = key.partition(".")
        if name and _is_literal(template) and is_secret(name, template.text):
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
