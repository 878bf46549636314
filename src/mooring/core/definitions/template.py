"""A configured string, parsed once: the fixed text in it, and the placeholders, which are filled in for a start."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

Unset: TypeAlias = Literal["literal", "empty", "omit", "error"]
"""What an unset variable does: stays as written, becomes empty, drops its env entry or header, stops the start."""

SECRET_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}+"
"""What a secret, and a login that a definition names by its id, can be called."""

OWN_KEEPER = "mooring"
"""Whose secrets `${keyring:NAME}` names."""

# An approval is bound to a digest over these parts, tags and field names included: renaming one of them would make
# every person approve their project's servers again.


class TextPart(Struct, frozen=True, tag="TextPart"):
    """Characters that stand for themselves."""

    text: str

    @property
    def written(self) -> str:
        """How the part could have been written, in whichever dialect; every part has this."""
        return self.text


class VariablePart(Struct, frozen=True, tag="VariablePart"):
    """An environment variable, as in `${NAME:-default}`."""

    name: str
    default: str | None = None
    unset: Unset = "literal"

    @property
    def written(self) -> str:
        if self.default is None:
            return f"${{{self.name}}}"
        return f"${{{self.name}:-{self.default}}}"


class FilePart(Struct, frozen=True, tag="FilePart"):
    """The trimmed contents of a file, as in `{file:~/.token}`."""

    path: str

    @property
    def written(self) -> str:
        return f"{{file:{self.path}}}"


class CommandPart(Struct, frozen=True, tag="CommandPart"):
    """What a shell command prints, as in `!op read …`."""

    line: "tuple[Part, ...]"

    @property
    def written(self) -> str:
        return f"$({self.written_line})"

    @property
    def written_line(self) -> str:
        """The command alone."""
        return "".join(part.written for part in self.line)


class InputPart(Struct, frozen=True, tag="InputPart"):
    """A value to ask the person for, as in `${input:token}`."""

    id: str
    description: str = ""
    default: str | None = None
    secret: bool = False
    options: tuple[str, ...] = ()

    @property
    def written(self) -> str:
        return f"${{input:{self.id}}}"


class KnownPart(Struct, frozen=True, tag="KnownPart"):
    """Something Mooring knows: the project's folder or its name, the person's home, the path separator."""

    place: Literal["workspace", "workspace-name", "home", "separator"]

    @property
    def written(self) -> str:
        return f"${{{self.place}}}"


# Defaults are left out, so that fields added later do not change the digest of an approval given before.
class SecretPart(Struct, frozen=True, tag="SecretPart", omit_defaults=True):
    """A secret under a name: in a tool's store (`${{ secrets.TOKEN }}`), or in Mooring's (`${keyring:TOKEN}`)."""

    name: str
    keeper: str = ""
    """Whose store holds it: a tool's, that of one of its plugins, or Mooring's."""
    variable: bool = False
    """An environment variable of that name wins over the store."""

    @property
    def written(self) -> str:
        return f"${{keyring:{self.name}}}" if self.keeper == OWN_KEEPER else f"${{{{ secrets.{self.name} }}}}"


class ForeignPart(Struct, frozen=True, tag="ForeignPart"):
    """A placeholder only its own tool can fill, as in `${config:editor.tabSize}`."""

    text: str

    @property
    def written(self) -> str:
        return self.text


Part: TypeAlias = TextPart | VariablePart | FilePart | CommandPart | InputPart | KnownPart | SecretPart | ForeignPart


class Template(Struct, frozen=True):
    """A string as written, and the parts it means.

    Two templates with equal parts mean the same and are equal, whichever dialect they were written in. The text can
    be a secret, so it never shows in a repr.
    """

    text: str
    parts: tuple[Part, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return "Template(…)"

    @property
    def plain(self) -> str | None:
        """The text it stands for, or `None` if something in it is filled in later."""
        match self.parts:
            case (TextPart(text),):
                return text
            case _:
                return None

    @property
    def all_parts(self) -> tuple[Part, ...]:
        """The parts in order; a command is followed by the parts of its line."""
        found: list[Part] = []
        for part in self.parts:
            found.append(part)
            if isinstance(part, CommandPart):
                found += part.line
        return tuple(found)

    @property
    def variables(self) -> tuple[VariablePart, ...]:
        """The variables in it, in order, including those inside a command."""
        return tuple(part for part in self.all_parts if isinstance(part, VariablePart))

    @property
    def own_secrets(self) -> tuple[str, ...]:
        """The names of the secrets of Mooring's own store in it, in order, including those inside a command."""
        parts = (part for part in self.all_parts if isinstance(part, SecretPart))
        return tuple(part.name for part in parts if part.keeper == OWN_KEEPER)


def is_bare_name(template: Template) -> bool:
    """Whether the whole value is a variable's name, or a secret that looks like one: it must not be shown."""
    match template.parts:
        case (VariablePart(name),):
            return name == template.text
        case _:
            return False


def find_unset(template: Template, env: Mapping[str, str]) -> list[VariablePart]:
    """The variables in a template that have neither a value nor a default."""
    return [variable for variable in template.variables if variable.default is None and variable.name not in env]


def effect_of_unset(key: str, template: Template, variable: VariablePart) -> Unset:
    """What a variable does if it is unset, in the template under a key such as `headers.Authorization`.

    Nothing like `${TOKEN}` is sent to a server: a header with such a variable is left out, and so is the variable
    itself in the path or the query of an address. Without it in the origin, the address would be another server's.
    """
    # Inside a command, the shell has the last word on its variables.
    if variable.unset != "literal" or is_bare_name(template) or variable not in template.parts:
        return variable.unset
    if key.startswith("headers."):
        return "omit"
    if key == "url":
        return "empty" if _is_behind_origin(template, variable) else "error"
    return "literal"


def _is_behind_origin(template: Template, variable: VariablePart) -> bool:
    before = "".join(part.written for part in template.parts[: template.parts.index(variable)])
    return not {"/", "?", "#"}.isdisjoint(before.partition("://")[2])


def join_texts(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts with texts that are neighbors as one: templates are compared by their parts."""
    text = ""
    is_all_text = True
    for part in parts:
        if isinstance(part, TextPart):
            text += part.text
            continue
        if text:
            yield TextPart(text)
        yield part
        text = ""
        is_all_text = False
    if text or is_all_text:
        yield TextPart(text)


def literal(text: str) -> Template:
    """The template that means exactly its text."""
    return Template(text, (TextPart(text),))


def written_text(template: Template | None) -> str | None:
    """An optional string of a definition, as written."""
    return None if template is None else template.text


_PLACEHOLDER = re.compile(r"\$\{\{[^}]{0,4096}\}\}|\$?\{[^}]{0,4096}\}|\$(?:env:)?\w+|~|\w+\Z", re.A)


class Expanded(Struct, frozen=True):
    """The text of a part or of a whole template, and which of it must not be shown."""

    text: str
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "Expanded(…)"  # the text may hold a secret


class Gap(Struct, frozen=True):
    """Why something has no value, to be read after its key, as in `env.TOKEN needs …`; never with a value in it."""

    reason: str
    stops: bool = False
    """The server cannot be started without it, wherever it occurs."""
    secret: str = ""
    """The secret that is missing because the person has not stored it."""
    fix: str = ""
    """What the person can do about it, where the reason alone does not say that."""


class KeptPlaceholder(Struct, frozen=True):
    """The placeholder itself stays in the text."""


PartValue: TypeAlias = Expanded | Gap | KeptPlaceholder


def expand(template: Template, look_up: Callable[[Part], PartValue]) -> Expanded | Gap:
    """The text of a template, or the first reason why it has none."""
    texts: list[str] = []
    secrets: list[str] = []
    for part, spelling in zip(template.parts, _spellings(template), strict=True):
        match look_up(part):
            case Expanded(text, hidden):
                texts.append(text)
                secrets += hidden
            case KeptPlaceholder():
                texts.append(spelling)
            case Gap() as gap:
                return gap
    return Expanded("".join(texts), tuple(secrets))


def _spellings(template: Template) -> Iterator[str]:
    """How each part is written in the template's text."""
    position = 0
    for part in template.parts:
        spelling = part.text if isinstance(part, TextPart) else _spelling_at(part, template.text, position)
        yield spelling
        position += len(spelling)


def _spelling_at(part: Part, text: str, position: int) -> str:
    found = _PLACEHOLDER.match(text, position)
    written = found[0] if found else ""
    # Other values may have been put into the text when it was read, which moves everything after them.
    if isinstance(part, VariablePart) and part.name not in written:
        return f"${{{part.name}}}"
    return written
