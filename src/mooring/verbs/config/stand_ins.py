"""What a page writes in place of a value, such as `YOUR_API_KEY` or `<token>`: found in an entry, and asked for."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.question import Ask, MissingValue, Yes
from mooring.core.definitions.config import ServerConfig, map_templates
from mooring.core.definitions.template import Template, TextPart
from mooring.core.text.secret import is_secret_name
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.errors import ConfigError
from mooring.verbs.config.references import GivenUp, Referring, SecretToStore
from mooring.verbs.config.secrets import name_secret

_ANYWHERE = re.compile(
    r"(?i)<[a-z][\w .:/'-]*>"
    r"|(?<![a-z0-9])your[-_ ]\w[\w-]*"
    r"|(?<![a-z0-9])x{3,}(?![a-z0-9])"
    r"|/?(?<!\w)path/to/[\w./-]*"
)
"""`<token>`, `YOUR_API_KEY`, `ghp_xxxx`, `/path/to/folder`."""
_WHOLE = re.compile(
    r"(?i)(?:\.\.\.|…)|(?:change|replace)[-_ ]?(?:me|this|with)(?:[-_ ]\w+)*|placeholder"
    r"|(?:insert|enter|paste)[-_ ]\w[\w -]*|\w[\w-]*[-_]here"
)
"""`...`, `CHANGE_ME`, `INSERT_KEY`, `api_key_here`."""
_CUT_SHORT = re.compile(r"[\w-]{2,}(?:\.\.\.|…)")
"""`sk-...`; an argument such as `./...` means something."""
_LOGIN_WORD = re.compile(r"(?i)^(?:bearer|basic|token)\s+")
_REFERENCE = re.compile(r"\$\{[^}]*\}")


class StandIn(Struct, frozen=True):
    """A text in an entry that stands for a value which only the person has."""

    key: str
    """Where it is: `env.TOKEN`, `args[2]`, `url`."""
    text: str
    secret: str
    """The name under which the value is stored."""
    is_secret: bool


def find_stand_ins(server: str, raw: Mapping[str, Any]) -> tuple[StandIn, ...]:
    """The stand-ins of an entry of Mooring's own."""
    return tuple(_find_all(server, raw))


def spell_stand_ins(config: ServerConfig) -> ServerConfig:
    """A definition with `<YOUR_TOKEN>` for `YOUR_TOKEN` alone, which is a variable's name in Mooring's own files."""

    def spell(_: str, template: Template) -> Template:
        is_word = template.text.isidentifier()
        is_stand_in = is_word and any(_find_in(template.text, is_argument=False))
        text = f"<{template.text}>"
        return Template(text, (TextPart(text),)) if is_stand_in else template

    connection = map_templates(config.written or config.connection, spell)
    return replace(config, written=connection) if config.written else replace(config, connection=connection)


def refuse_stand_ins(server: str, found: Sequence[StandIn]) -> ConfigError:
    """The refusal where nobody can be asked."""
    named = ", ".join(f"{each.key} ({each.text})" for each in found)
    noun = "is a placeholder" if len(found) == 1 else "are placeholders"
    name = next((each.secret for each in found if each.is_secret), found[0].secret)
    hint = f"Write the value, or store it with `mooring secret set {name}` and write ${{keyring:{name}}}."
    return ConfigError(f"Nothing was written: {named} of {server} {noun}.", hint)


async def ask_for_stand_ins(ask: Ask, server: str, tool: str, raw: Mapping[str, Any]) -> Referring:
    """Ask for each value; a secret becomes a reference, if the tool can read one. Nothing is stored yet.

    Raises: GivenUp.
    """
    values: dict[StandIn, str] = {}
    kept: list[SecretToStore] = []
    for each in find_stand_ins(server, raw):
        # The same word stands for the same value.
        known = [value for other, value in values.items() if other.secret == each.secret]
        if known:
            values[each] = known[0]
            continue
        value = await _ask_for_value(ask, server, each)
        if each.is_secret and tool == OWN.tool:
            kept.append(SecretToStore(each.secret, value))
            value = f"${{keyring:{each.secret}}}"
        values[each] = value
    return Referring(fill_in(raw, values), tuple(kept))


async def _ask_for_value(ask: Ask, server: str, wanted: StandIn) -> str:
    description = f"{wanted.text} stands for it"
    answer = await ask(MissingValue(server, wanted.key, description, secret=wanted.is_secret))
    if not isinstance(answer, Yes) or not answer.content:
        raise GivenUp
    return str(answer.content)


def fill_in(raw: Mapping[str, Any], values: Mapping[StandIn, str]) -> dict[str, Any]:
    """An entry with these values in place of their stand-ins."""
    by_key: dict[str, list[tuple[str, str]]] = {}
    for each, value in values.items():
        by_key.setdefault(each.key, []).append((each.text, value))

    def fill(key: str, text: Any) -> Any:
        for stand_in, value in by_key.get(key, ()):
            text = text.replace(stand_in, value)
        return text

    filled = {key: fill(key, value) for key, value in raw.items()}
    for slot in ("env", "headers"):
        if isinstance(raw.get(slot), Mapping):
            filled[slot] = {name: fill(f"{slot}.{name}", value) for name, value in raw[slot].items()}
    if isinstance(raw.get("args"), Sequence) and not isinstance(raw["args"], str):
        filled["args"] = [fill(f"args[{at}]", value) for at, value in enumerate(raw["args"])]
    return filled


# --- where they are -----------------------------------------------------------------------------------------


def _find_all(server: str, raw: Mapping[str, Any]) -> Iterator[StandIn]:
    for key, name, text in _list_texts(raw):
        for stand_in in _find_in(text, is_argument=not name):
            word = name or stand_in.strip("<>/")
            secret = name_secret(server, word)
            is_secret = any(is_secret_name(text) or "key" in text.lower() for text in (word, stand_in))
            yield StandIn(key, stand_in, secret, is_secret)


def _list_texts(raw: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The texts of an entry: where each is, its name if it is a variable or a header, and the text."""
    for slot in ("env", "headers"):
        values = raw.get(slot)
        for name, value in values.items() if isinstance(values, Mapping) else ():
            if isinstance(value, str):
                yield f"{slot}.{name}", name, value
    args = raw.get("args")
    for at, value in enumerate(args if isinstance(args, list | tuple) else ()):
        if isinstance(value, str):
            yield f"args[{at}]", "", value
    if isinstance(raw.get("url"), str):
        yield "url", "", raw["url"]


def _find_in(text: str, *, is_argument: bool) -> Iterator[str]:
    # `${YOUR_TOKEN}` is a variable of that name.
    plain = _REFERENCE.sub(" ", text)
    value = _LOGIN_WORD.sub("", plain)
    if _WHOLE.fullmatch(value) or (not is_argument and _CUT_SHORT.fullmatch(value)):
        yield value
        return
    yield from dict.fromkeys(found[0] for found in _ANYWHERE.finditer(plain))
