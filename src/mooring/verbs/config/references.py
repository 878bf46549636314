"""Puts references in the place of secrets that were typed, and asks for one detail until the answer can be used."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mooring.auth.store import StoredSecret
from mooring.core.conversation.question import Ask, ServerDetail, Yes
from mooring.core.definitions.paths import Paths
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.template import LiteralSecret, find_literal_secrets
from mooring.discovery.values import as_mapping
from mooring.errors import ConfigError
from mooring.verbs.config.add import understand
from mooring.verbs.config.secrets import name_secret, store_secret

_AS_TYPED = "as typed"
# A stand-in while there is no name: an entry is checked before it has one.
NAMELESS = "server"


class SecretToStore(Struct, frozen=True):
    """A value that goes into the store, and its name there."""

    name: str
    value: str

    def __repr__(self) -> str:
        return f"SecretToStore({self.name!r})"


class Referring(Struct, frozen=True):
    """An entry with references in the place of secrets, and what has to be stored for them."""

    raw: Mapping[str, Any]
    secrets: tuple[SecretToStore, ...] = ()

    def __repr__(self) -> str:
        return f"<Referring to {', '.join(secret.name for secret in self.secrets)}>"


async def ask_for_references(
    ask: Ask, where: Paths, server: str, tool: str, raw: Mapping[str, Any], only: str | None = None
) -> Referring:
    """Offer a reference for each value of an entry that looks like a secret, or for the one of that name.

    Nothing is stored yet: see `store_secrets`. Raises: GivenUp.
    """
    config, _ = understand(NAMELESS, raw)
    entry, kept = dict(raw), []
    for secret in find_literal_secrets(config.written or config.connection):
        values = as_mapping(entry.get(secret.slot))
        # A pasted entry may have its variables under another key, which stays as it is.
        if only not in (None, secret.name) or secret.name not in values:
            continue
        chosen = await _ask_for_reference(ask, where, server, tool, secret)
        entry[secret.slot] = {**values, secret.name: chosen.text}
        if chosen.stored is not None:
            kept.append(chosen.stored)
    return Referring(entry, tuple(kept))


async def store_secrets(where: Paths, secrets: Iterable[SecretToStore]) -> tuple[StoredSecret, ...]:
    """Store what the references of an entry stand for. Raises: StoreUnavailable, FileError, ConfigError."""
    return tuple([await store_secret(where, secret.name, secret.value) for secret in secrets])


def suggest_references(server: str, raw: Mapping[str, Any]) -> Iterator[str]:
    """What to do about each secret that is written in Mooring's own file as it is."""
    config, _ = understand(NAMELESS, raw)
    for secret in find_literal_secrets(config.written or config.connection):
        name = name_secret(server, secret.name)
        reference = f"{find_scheme(secret.value)}${{keyring:{name}}}"
        yield (
            f"{secret.slot}.{secret.name} is in the file as plain text. "
            f"To keep it out: mooring secret set {name}, and write {reference} in its place."
        )


class _Choice(Struct, frozen=True):
    """How a value is written, and what is stored for it."""

    text: str
    stored: SecretToStore | None = None


async def _ask_for_reference(ask: Ask, where: Paths, server: str, tool: str, secret: LiteralSecret) -> _Choice:
    choices = _list_choices(server, tool, secret)
    options = tuple(choices)
    variable = name_variable(secret, server)
    is_set = variable in where.env
    # A variable that is set already needs no second place; an unset one is what people forget.
    default = options[-2] if is_set else options[0]
    notes = [f"{secret.name} looks like a secret. A reference keeps it out of the file."]
    if tool == OWN.tool:
        notes.append("With ${keyring:…}, Mooring stores it in your system's keyring, or in a private file.")
    if not is_set:
        notes.append(f"{variable} is not set here. Before you use the server: export {variable}=…")
    detail = ServerDetail(server, "Write it as", tuple(notes), default, options)
    return choices[await ask_until(ask, detail, pick(options))]


def _list_choices(server: str, tool: str, secret: LiteralSecret) -> dict[str, _Choice]:
    """The ways in which a secret can be written, by what a person picks: stored, from the environment, as it is."""
    scheme = find_scheme(secret.value)
    choices: dict[str, _Choice] = {}
    if tool == OWN.tool:
        stored = SecretToStore(name_secret(server, secret.name), secret.value.removeprefix(scheme))
        text = f"{scheme}${{keyring:{stored.name}}}"
        choices[text] = _Choice(text, stored)
    text = f"{scheme}${{{name_variable(secret, server)}}}"
    choices[text] = _Choice(text)
    choices[_AS_TYPED] = _Choice(secret.value)
    return choices


def name_variable(secret: LiteralSecret, server: str) -> str:
    """The variable that a reference names: for a header, one that says which server it belongs to."""
    if secret.slot == "env":
        return secret.name
    what = "TOKEN" if secret.name.lower() == "authorization" else secret.name
    name = re.sub(r"[^A-Z0-9]+", "_", f"{server}_{what}".upper()).strip("_")
    return f"_{name}" if name[:1].isdigit() else name


def find_scheme(value: str) -> str:
    """The word before the token in a header such as `Bearer abc`, with its space."""
    found = re.match(r"(?i)(?:bearer|basic|token)\s+", value)
    return found[0] if found else ""


T = TypeVar("T")


class GivenUp(Exception):
    """There was no answer."""


async def ask_until(ask: Ask, detail: ServerDetail, check: Callable[[str], T]) -> T:
    """What `check` makes of the answer; asked again, with what was wrong, until it accepts one. Raises: GivenUp."""
    while True:
        answer = await ask(detail)
        if not isinstance(answer, Yes):
            raise GivenUp
        try:
            return check(str(answer.content or "").strip())
        except ConfigError as error:
            detail = replace(detail, notes=(str(error),))


def pick(options: tuple[T, ...]) -> Callable[[str], T]:
    """A check that accepts one of these, or the beginning of one."""

    def check(text: str) -> T:
        fitting = [option for option in options if text and str(option).startswith(text.lower())]
        exact = [option for option in options if option == text]
        for option in (*exact, *fitting):
            return option
        raise ConfigError(f"Type one of these: {', '.join(map(str, options))}.")

    return check
