"""A rule's pattern over the arguments of a call, or over what a local tool would touch: a command, a path or a host.

The pattern is a glob. It is compared with every value in the arguments, however deep, as text (`true`, `null`, `3`,
`[]` and `{}` as in JSON), and with `key=text`, where the key is the path with dots: `options.force=true`.

* A deny or an ask is touched if any value matches, by its text, its path or its last key, ignoring case, width, blanks
  around and in a row, and what cannot be seen. A number matches however it is written (`22`, `22.0`, `"2.2e1"`), and a
  list is compared as one line too: `["rm", "-rf"]` is `rm -rf`. Arguments that are too long or too many to search count
  as touched.
* An allow covers a call only if *every* value matches, to the letter, and there is at least one: an argument that the
  person did not think of is not allowed. A glob doesn't understand shells: `git *` matches `git x; rm y` as well.

The cost is bounded by a number of values and of characters. Of a long plain text only the ends are kept, which is all
that a pattern such as `/etc/*` or `path=*.pem` needs; one that looks further in counts as touched, and never covers.

For a local tool, the pattern is about what it would touch:

| tool | pattern | covers |
|---|---|---|
| `Bash` | `git *` | commands that begin with `git `, if nothing in them can start a second command |
| `Bash` | `git:*` | the same, and `git` alone |
| `Read`, `Edit`, … | `./src/**`, `src/**` | what is below that folder of the project |
| | `*.md` | files of that name anywhere in the project |
| | `~/notes/**`, `/srv/data/**`, `//srv/data/**` | what is below that folder of the home, or of the machine |
| `WebFetch` | `domain:example.com`, `domain:*.example.com` | that host; hosts below it; on their default ports |
| | `domain:example.com:8080` | that host on that port |
| | `origin:https://example.com` | that scheme, host and port |

As everywhere, an allow errs on the side of asking and a deny on the side of refusing: an allow is compared to the
letter with where the path really leads, a deny also with the path as it was written, with each part of a command line,
and with hosts below a domain.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import product
from math import isfinite
from typing import Any

from msgspec import Struct

from mooring.core.conversation.verdict import LocalAccess
from mooring.core.text.glob import WORK, Glob, folded, literal

MAX_VALUES = 256
MAX_TEXT = 64 * 1024
"""How many characters are searched in all."""
MAX_FOREIGN = 16 * 1024
"""How many characters of one text that is not ASCII, which costs more to fold."""
MAX_DEPTH = 32
_END = 2_048
"""How much is kept of each end of a long text: more than a rule is long."""
_MAX_BITS = 4_096
_LONGEST_NUMBER = 40
MAX_SEARCHED = 64 * MAX_TEXT
"""How many characters are searched for one call, by all patterns together."""
_PROGRAM_KEYS = ("command", "cmd", "program", "executable")
_WORD_KEYS = ("args", "arguments", "argv", "params")


class ArgumentValue(Struct, frozen=True):
    """One value as text, with its key."""

    path: str
    text: str
    clear: bool = True
    """None of its keys contains a dot or `=`, so that its path cannot pass for another one."""
    cut: bool = False
    """Only the ends of the text are here."""


class ValueSpellings(Struct, frozen=True):
    """A value with and without its key: folded, and as written where folding could change what it contains."""

    value: ArgumentValue
    folded: tuple[str, ...]
    raw: tuple[str, ...]


class ArgumentValues:
    """The values in the arguments of a call, collected once for all patterns.

    `whole` is false if some were left out, `cut` is true if only the ends of some are here.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.whole = True
        self.cut = False
        self.values: list[ArgumentValue] = []
        self._lines: list[ArgumentValue] = []
        """Lists of words, each as one line: another way to write what a program is called with."""
        self._room = MAX_TEXT
        self._searched = 0
        self._collect_members("", arguments, True, 0)

    @cached_property
    def spellings(self) -> list[ValueSpellings]:
        """Every value in the ways a deny or an ask could mean it."""
        return [_spell(value) for value in (*self.values, *self._lines)]

    @cached_property
    def _joined(self) -> str:
        """All of these in one text, in which one search rules out most patterns."""
        return "\n".join(text for value in self.spellings for text in (*value.folded, *value.raw))

    def begin_search(self, glob: Glob) -> bool:
        """Whether every value is here, and comparing them all with one more glob stays within bounds."""
        size = MAX_TEXT - self._room
        # A file may hold thousands of patterns: what they cost together is bounded as well.
        self._searched += size
        return self.whole and glob.weight * size <= WORK and self._searched <= MAX_SEARCHED

    def may_contain(self, text: str) -> bool:
        """Whether a folded text is in some value, or could be in what was cut out of one."""
        return self.cut or text in self._joined

    def _collect(self, path: str, value: Any, clear: bool, depth: int) -> None:
        is_within_bounds = len(self.values) < MAX_VALUES and depth <= MAX_DEPTH and len(path) <= _END
        if not is_within_bounds or _is_unprintable(value):
            self.whole = False
            return
        has_members = isinstance(value, dict | list | tuple) and bool(value)
        if not has_members:
            self._add(path, _to_text(value), clear)
        elif isinstance(value, dict):
            self._collect_members(f"{path}.", value, clear, depth + 1)
        else:
            self._collect_items(path, value, clear, depth + 1)

    def _collect_members(self, prefix: str, members: Mapping[str, Any], clear: bool, depth: int) -> None:
        for key, value in members.items():
            self._collect(f"{prefix}{key}", value, clear and _is_clear(str(key)), depth)
            if not self.whole:
                return
        self._add_command_line(prefix, members)

    def _collect_items(self, path: str, items: Iterable[Any], clear: bool, depth: int) -> None:
        # Items share the path of their list: a rule about `paths` means each of them.
        for item in items:
            self._collect(path, item, clear, depth)
            if not self.whole:
                return
        self._add_line(path, items)

    def _add_command_line(self, prefix: str, members: Mapping[str, Any]) -> None:
        """A program and its words side by side, as one line: `{"command": "rm", "args": ["-rf"]}`."""
        by_name = {str(key).casefold(): (str(key), value) for key, value in members.items()}
        programs = [by_name[key] for key in _PROGRAM_KEYS if key in by_name]
        words = [by_name[key][1] for key in _WORD_KEYS if key in by_name]
        for (key, program), rest in product(programs, words):
            rest_words = rest if isinstance(rest, list | tuple) else [rest]
            self._add_line(f"{prefix}{key}", [program, *rest_words])

    def _add_line(self, path: str, items: Iterable[Any]) -> None:
        words = [_to_text(item) for item in items if not isinstance(item, dict | list | tuple)]
        if len(words) > 1:
            self._lines.append(self._shorten(path, " ".join(words), True, MAX_TEXT))

    def _add(self, path: str, text: str, clear: bool) -> None:
        value = self._shorten(path, text, clear, max(self._room, 2 * _END))
        self.values.append(value)
        self._room -= len(value.text)
        # Invisible characters may be anywhere in a text that is not ASCII, so its ends alone prove nothing.
        unsearchable = not value.text.isascii() and (value.cut or len(value.text) > MAX_FOREIGN)
        if unsearchable or self._room <= -MAX_TEXT:
            self.whole = False

    def _shorten(self, path: str, text: str, clear: bool, most: int) -> ArgumentValue:
        if len(text) <= most:
            return ArgumentValue(path, text, clear)
        self.cut = True
        return ArgumentValue(path, text[:_END] + text[-_END:], clear, cut=True)


class ArgumentPattern:
    """The pattern of a rule, ready to be compared.

    The two questions err on opposite sides: in doubt `touches` says yes, since a deny that is missed runs a tool,
    and `covers` says no, since an allow that is missed only asks.
    """

    def __init__(self, text: str) -> None:
        self._exact = Glob(text)
        self._loose = Glob(text, loosely=True)

    def touches(self, values: ArgumentValues) -> bool:
        """Whether some value matches, or may match."""
        if not values.begin_search(self._loose):
            return True
        return values.may_contain(self._loose.needle) and any(map(self._touches, values.spellings))

    def covers(self, values: ArgumentValues) -> bool:
        """Whether every value certainly matches."""
        if not values.values or not values.begin_search(self._exact):
            return False
        return all(map(self._covers, values.values))

    def _touches(self, spelled: ValueSpellings) -> bool:
        if spelled.value.cut and not self._loose.plain:
            return True
        # A glob answers None if it cannot decide in reasonable time: anything but False is a possible match.
        if any(self._loose.matches(text) is not False for text in spelled.folded):
            return True
        return any(self._exact.matches(text) is not False for text in spelled.raw)

    def _covers(self, value: ArgumentValue) -> bool:
        if value.cut and not self._exact.plain:
            return False
        if self._exact.matches(value.text) is True:
            return True
        return value.clear and self._exact.matches(f"{value.path}={value.text}") is True


def _spell(value: ArgumentValue) -> ValueSpellings:
    plain = folded(value.text)
    texts = list(dict.fromkeys((plain, plain.strip(), *_list_numbers(plain))))
    path = folded(value.path).strip()
    keys = dict.fromkeys((path, path.rpartition(".")[2]))
    spellings = texts.copy()
    for key in keys:
        spellings += [f"{key}={text}" for text in texts]
    raw: tuple[str, ...] = ()
    if plain != value.text.lower() or path != value.path.lower():
        raw = (value.text, f"{value.path}={value.text}", f"{value.path.rpartition('.')[2]}={value.text}")
    return ValueSpellings(value, tuple(spellings), raw)


def _list_numbers(text: str) -> Iterator[str]:
    """The plain ways to write a number: a server that wants one reads `22`, `22.0` and `"2.2e1"` alike."""
    # Most texts are not numbers, as their first character shows.
    first = text.lstrip(" +-.")[:1]
    if not first.isdigit() or len(text) > _LONGEST_NUMBER:
        return
    number = _parse_number(text)
    if number is None:
        return
    yield str(number)
    if isinstance(number, int):
        yield f"{number}.0"
    elif number.is_integer():
        yield str(int(number))


def _parse_number(text: str) -> int | float | None:
    with suppress(ValueError):
        # Base 0 takes 0x16 and 0b10110 too, and refuses 022, which is left to the next line.
        return int(text, 0)
    with suppress(ValueError):
        number = float(text)
        return number if isfinite(number) else None
    return None


def _is_clear(key: str) -> bool:
    return "." not in key and "=" not in key


def _is_unprintable(value: Any) -> bool:
    """Whether it is a number too long to write down: Python refuses more than 4,300 digits."""
    return isinstance(value, int) and value.bit_length() > _MAX_BITS


def _to_text(value: Any) -> str:
    match value:
        case str():
            return value
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            return str(value)


MAX_COMMAND = 64 * 1024
"""A longer command is covered by no allow, and touched by every deny."""
# Whatever can begin another command, write to a file, or be replaced by something that the pattern never saw. `$` as a
# whole: `${x@P}` runs what is in a variable. A control character has no business in a command.
_OPERATORS = r"[;&|<>`$\x00-\x1f\x7f]"
_SEPARATORS = r"[;&|<>`$(){}\n\r]+"
_QUOTES = r"['\"\\]"
_KEYS = r"^(?:command|file_path|notebook_path|path|pattern|url|query)="


def is_plain_command(command: str) -> bool:
    """Whether a command line is one command: nothing in it starts another, redirects it, or is expanded."""
    return len(command) <= MAX_COMMAND and re.search(_OPERATORS, command) is None


class AccessPattern:
    """The pattern of a rule, ready to be compared with what local tools would touch."""

    def __init__(self, text: str) -> None:
        # Rules about other tools may name the argument: `command=git *`. Here there is only one to name.
        self._text = re.sub(_KEYS, "", text)
        self._path_globs: dict[tuple[str, str], _PathGlobs] = {}
        """By the project and the home: a search compares thousands of files in the same one."""

    def covers(self, access: LocalAccess) -> bool:
        """Whether an allow with this pattern certainly covers it."""
        match access.kind:
            case "command":
                command = access.subject.strip()
                globs = map(Glob, self._command_globs())
                return is_plain_command(access.subject) and any(glob.matches(command) is True for glob in globs)
            case "path":
                return any(glob.matches(access.subject) is True for glob in self._compile_paths(access).exact)
            case "domain":
                return self._covers_origin(access) or self._covers_host(access.subject)
            case "text":
                return Glob(self._text).matches(access.subject) is True
            case "nothing":
                return False

    def touches(self, access: LocalAccess) -> bool:
        """Whether a deny or an ask with this pattern may be meant for it."""
        match access.kind:
            case "command":
                return len(access.subject) > MAX_COMMAND or self._touches_command(access.subject)
            case "path":
                return self._touches_path(access)
            case "domain":
                return self._touches_host(access)
            case "text":
                return _may_match(self._text, access.subject)
            case "nothing":
                return False

    # --- commands -------------------------------------------------------------------------------------------------

    def _command_globs(self) -> tuple[str, ...]:
        """The globs that the pattern stands for; Claude Code writes `git:*` for `git` with anything behind it."""
        prefix = self._text.removesuffix(":*")
        if prefix == self._text:
            return (self._text,)
        return (prefix, f"{prefix} *")

    def _touches_command(self, command: str) -> bool:
        lines = dict.fromkeys(_list_parts(command))
        return any(_may_match(glob, line) for glob in self._command_globs() for line in lines)

    # --- paths ----------------------------------------------------------------------------------------------------

    def _touches_path(self, access: LocalAccess) -> bool:
        paths = [folded(path) for path in (access.subject, *access.spellings)]
        loose = self._compile_paths(access).loose
        return any(glob.matches(path) is not False for glob in loose for path in paths)

    def _compile_paths(self, access: LocalAccess) -> "_PathGlobs":
        key = (access.project, access.home)
        if key not in self._path_globs:
            exact = tuple(_list_path_globs(self._text, access))
            broad = (*exact, *_list_broad_globs(self._text, access))
            # Whoever denies a folder means what is in it.
            loose = (*broad, *(f"{glob}/*" for glob in broad))
            self._path_globs[key] = _PathGlobs(
                tuple(map(Glob, exact)), tuple(Glob(glob, loosely=True) for glob in dict.fromkeys(loose))
            )
        return self._path_globs[key]

    # --- hosts ----------------------------------------------------------------------------------------------------

    def _covers_origin(self, access: LocalAccess) -> bool:
        return self._text.startswith("origin:") and any(
            Glob(self._text).matches(spelling) is True
            for spelling in access.spellings
            if spelling.startswith("origin:")
        )

    def _covers_host(self, place: str) -> bool:
        domain = self._text.removeprefix("domain:").lower()
        host, port = _split_port(place)
        wanted, wanted_port = _split_port(domain)
        # A glob over whole addresses would let a path such as `/x.example.com` pass for the host.
        is_domain = self._text.startswith("domain:")
        # Without a port, a rule means those that every browser uses: another one is another program.
        return is_domain and port == wanted_port and Glob(wanted).matches(host) is True

    def _touches_host(self, access: LocalAccess) -> bool:
        domain = self._text.removeprefix("domain:")
        if domain == self._text:
            return any(_may_match(self._text, spelling) for spelling in (access.subject, *access.spellings))
        places = (access.subject, _split_port(access.subject)[0])
        return any(_may_match(glob, place) for glob in (domain, f"*.{domain}") for place in places)


class _PathGlobs(Struct, frozen=True):
    """The globs over absolute paths that a pattern stands for: for an allow, and for a deny."""

    exact: tuple[Glob, ...]
    loose: tuple[Glob, ...]


def _split_port(place: str) -> tuple[str, str]:
    """A host and its port, which is empty if it is not written."""
    host, _, port = place.rpartition(":")
    # An address of version 6 has colons of its own; with a port it is in brackets.
    has_port = port.isdecimal() and (":" not in host or host.endswith("]"))
    return (host.strip("[]"), port) if has_port else (place, "")


def _may_match(glob: str, text: str) -> bool:
    return Glob(glob, loosely=True).matches(folded(text).strip()) is not False


def _list_parts(command: str) -> Iterator[str]:
    """A command line as a deny sees it: whole, each command in it, and both without quotes."""
    for line in (command, re.sub(_QUOTES, "", command)):
        yield line
        yield from re.split(_SEPARATORS, line)


def _list_path_globs(pattern: str, access: LocalAccess) -> Iterator[str]:
    """The globs over absolute paths that a pattern stands for."""
    project, home = literal(access.project), literal(access.home)
    if pattern in ("~", "~/") or pattern.startswith("~/"):
        yield from _list_forms(f"{home}/{pattern[2:]}")
    elif pattern.startswith("/"):
        yield from _list_forms(f"/{pattern.lstrip('/')}")
    elif "/" in pattern.strip("/"):
        yield from _list_forms(f"{project}/{pattern.removeprefix('./')}")
    else:
        # A bare name is meant in every folder, as in a `.gitignore`.
        yield from _list_forms(f"{project}/{pattern}")
        yield from _list_forms(f"{project}/*/{pattern}")


def _list_broad_globs(pattern: str, access: LocalAccess) -> Iterator[str]:
    """What a deny may mean besides: the name anywhere, and a path inside the project, as Claude Code reads `/x`."""
    if pattern.startswith("/"):
        yield from _list_forms(f"{literal(access.project)}/{pattern.lstrip('/')}")
    elif not pattern.startswith("~"):
        yield from _list_forms(f"*/{pattern.removeprefix('./')}")


def _list_forms(glob: str) -> Iterator[str]:
    """A glob, and what else it means: `a/**/b` also `a/b`, `a/**` also `a` itself, and `a/` everything in it."""
    glob = f"{glob}**" if glob.endswith("/") else glob
    yield glob
    if "/**/" in glob:
        yield glob.replace("/**/", "/")
    if glob.endswith("/**"):
        yield glob.removesuffix("/**") or "/"
