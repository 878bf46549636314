"""What is copied from a page becomes servers: an entry, a file, a command of another tool, or a whole README."""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile
from textwrap import dedent
from typing import Any

from msgspec import Struct, json

from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.paths import Workspace
from mooring.discovery.edit import write_entry
from mooring.discovery.format import ScanContext
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.guess import NO_SERVERS, FoundServers, read_servers
from mooring.discovery.scan import RankedDefinition, make_context
from mooring.discovery.targets import WriteScope
from mooring.discovery.values import as_mapping
from mooring.errors import ConfigError, ParseError
from mooring.syntax.parse import parse
from mooring.verbs.config.clearance import SkippedServer, list_left_out
from mooring.verbs.config.describe import (
    ServerDescription,
    describe_entry,
    parse_description,
    split_words,
    suggest_name,
)
from mooring.verbs.config.references import NAMELESS
from mooring.verbs.config.stand_ins import spell_stand_ins

STDIN = "-"

# `claude mcp add`, and those of the tools that copied it: the words behind it are the quick form's.
_ADDER = r"[a-z][a-z-]* mcp add(?:-json)?"
_COMMAND = re.compile(rf"(?:{_ADDER}\s|\S+\s(?:.*\s)?--add-mcp[\s=])")
_ENDS_COMMAND = ("&&", "||", ";", "|")
_FENCE = re.compile(r"([ \t>]*)(`{3,}|~{3,})[ \t]*([\w+-]*)[^`]*")
_INDENTS = ("    ", "\t")
"""What the lines of a block begin with that has no fences."""
_BEGINS_SERVER = re.compile(rf"\s*(?:[{{\"]|[$>%]? ?{_COMMAND.pattern})")
_INLINE = re.compile(r"`([^`\n]+)`")
_SHELLS = ("sh", "bash", "zsh", "fish", "shell", "console", "terminal", "shell-session", "powershell", "cmd", "bat")
_DATA = ("json", "jsonc", "json5", "toml", "yaml", "yml")
_ANY = ("", "text", "txt", "plaintext")
_MOST_LINES = 50
"""Over how many lines a command may go on."""
_LONGEST_COMMAND = 32 * 1024
_BALANCED = re.compile(r"""(?s)(?>(?:[^'"\\]|\\.|'[^']*'|"(?>(?:[^"\\]|\\.)*)")*)""")
"""A text whose quotation marks are all closed."""
_MOST_PIECES = 500
"""How many blocks and commands a text may have; a page of documentation has ten."""
_ADDS = "a command that adds a server"
"""The language of such a piece."""


class PastedServers(Struct, frozen=True):
    """The servers that a text describes."""

    definitions: tuple[RankedDefinition, ...]
    left_out: tuple[SkippedServer, ...] = ()
    """What is described and not taken, such as a second description of a server."""
    scope: WriteScope | None = None
    """Where commands that describe all of them would write; `None` if one of them doesn't say."""
    is_named: bool = True
    """Whether the text names its only server; if not, the name is one that may do, or a stand-in."""

    def check_named(self, shown: str) -> None:
        """Refuse a server without a name. Raises: ConfigError."""
        if not self.is_named:
            hint = "To add it: mooring mcp add-json NAME JSON"
            raise ConfigError(f"{shown} describes one server, but does not name it.", hint)

    def find_entry(self) -> Mapping[str, Any] | None:
        """The only server as an entry of Mooring's own; `None` if there are more, or it cannot be written so."""
        if len(self.definitions) != 1 or self.left_out:
            return None
        config = self.definitions[0].config
        if not isinstance(config, ServerConfig) or not config.enabled:
            return None
        try:
            entry = write_entry(spell_stand_ins(config), OWN)
        except ConfigError:
            return None
        lost = [key for key in entry.lost if key != "transport" or config.transport != "auto"]
        return None if lost else entry.raw


def is_pasted(text: str) -> bool:
    """Whether a text describes servers as a whole, and is neither a name nor the line of a command."""
    text = text.strip().lstrip("$>% ")
    return "\n" in text or text.startswith(("{", '"', "```", "~~~")) or _COMMAND.match(text) is not None


def read_pasted(text: str, shown: str, workspace: Workspace) -> PastedServers:
    """The servers in a text; `shown` is what the person calls it.

    Raises:
        ConfigError: there is none in it, or it is wrong.
    """
    context = make_context(workspace.where, workspace.cwd)
    described: list[_Described] = []
    refusals: list[_Refusal] = []
    pieces = list(islice(_list_pieces(text), _MOST_PIECES + 1))
    if len(pieces) > _MOST_PIECES:
        raise ConfigError(f"{shown} has more than {_MOST_PIECES} blocks and commands; pass a part of it.")
    for piece in pieces:
        try:
            described.append(_read_piece(piece, shown, context))
        except ConfigError as error:
            refusals.append(_Refusal(piece.line, error))
    # On a page that shows a whole file, `{"params": {"url": …}}` is an example of something else.
    for rank in range(3):
        best = [each for each in described if each.rank == rank]
        if best:
            return _merge(best, refusals)
    raise _choose_refusal(refusals, shown)


class _Piece(Struct, frozen=True):
    """A part of a text that may describe servers, and the line that it begins at."""

    line: int
    text: str
    language: str = ""


class _Described(Struct, frozen=True):
    """What one piece describes."""

    line: int
    found: FoundServers
    scope: WriteScope | None = None
    is_named: bool = True

    @property
    def rank(self) -> int:
        """How surely it is meant as a server: under a key that says so, as a bare map, or without a name."""
        return 2 if not self.is_named else int(self.found.is_bare)


class _Refusal(Struct, frozen=True):
    """Why a piece describes nothing."""

    line: int
    error: ConfigError


def _merge(described: Sequence[_Described], refusals: Sequence[_Refusal]) -> PastedServers:
    """One definition of each name: the first, and what became of the others."""
    taken: dict[str, tuple[int, RankedDefinition]] = {}
    left_out: list[SkippedServer] = []
    scopes: dict[WriteScope | None, str] = {}
    for each in described:
        left_out += list_left_out(each.found)
        for definition in each.found.definitions:
            line, first = taken.setdefault(definition.name, (each.line, definition))
            if first is definition:
                scopes.setdefault(each.scope, definition.name)
            if not _is_same(first, definition):
                why = f"described again at line {each.line}; the description at line {line} is used"
                left_out.append(SkippedServer(definition.name, why, "same"))
    left_out += [_skip(refusal) for refusal in refusals if _is_telling(refusal.error)]
    if {"user", "project"} <= scopes.keys():
        named = " and ".join(f"{name} for the {scope} scope" for scope, name in scopes.items() if scope)
        raise ConfigError(f"The commands add {named}.", "Add them one at a time.")
    definitions = tuple(definition for _, definition in taken.values())
    is_named = all(each.is_named for each in described)
    scope = next(iter(scopes)) if len(scopes) == 1 else None
    return PastedServers(definitions, tuple(left_out), scope, is_named)


def _is_same(one: RankedDefinition, other: RankedDefinition) -> bool:
    if isinstance(one.config, ServerConfig) and isinstance(other.config, ServerConfig):
        return one.config.connection == other.config.connection
    return one.config == other.config


def _skip(refusal: _Refusal) -> SkippedServer:
    return SkippedServer(f"line {refusal.line}", str(refusal.error).removesuffix("."), "refused")


def _choose_refusal(refusals: Sequence[_Refusal], shown: str) -> ConfigError:
    telling = [refusal.error for refusal in refusals if _is_telling(refusal.error)]
    others = sorted((refusal.error for refusal in refusals), key=lambda error: NO_SERVERS in str(error))
    return next(iter((*telling, *others)), ConfigError(f"{shown} {NO_SERVERS}"))


def _is_telling(error: ConfigError) -> bool:
    """Whether a piece was meant as a server; most blocks of a page have nothing to do with one."""
    return isinstance(error, _WrongCommand)


class _WrongCommand(ConfigError):
    """A command that adds a server cannot be understood."""


# --- the pieces of a text -----------------------------------------------------------------------------------


def _list_pieces(text: str) -> Iterator[_Piece]:
    """The pieces of a text that may describe servers; each command is a piece of its own."""
    for block in _split_blocks(text):
        if block.language not in (*_SHELLS, *_DATA, *_ANY):
            continue
        commands = [] if block.language in _DATA else list(_find_commands(block))
        yield from commands
        if not commands and block.language not in _SHELLS and (block.text.strip() or block.line == 1):
            yield block


def _split_blocks(text: str) -> Iterator[_Piece]:
    """The blocks of a page and what is marked as code between them; a text without blocks is one."""
    lines = text.splitlines()
    if not any(map(_FENCE.fullmatch, lines)):
        yield _Piece(1, "\n".join(lines))
        return
    left = deque(enumerate(lines, 1))
    while left:
        number, line = left.popleft()
        opening = _FENCE.fullmatch(line)
        if opening is None:
            outside = [line, *_take_indented(line, left)]
            for at, each in enumerate(outside):
                yield from (_Piece(number + at, code, "sh") for code in _INLINE.findall(each))
            # Where there are fences, most of what is indented is the text of a list.
            if line.startswith(_INDENTS) and any(map(_BEGINS_SERVER.match, outside)):
                yield _Piece(number, dedent("\n".join(outside)))
            continue
        before, fence, language = opening.groups()
        body: list[str] = []
        while left and not _closes(left[0][1], fence):
            body.append(_unindent(left.popleft()[1], before))
        if left:
            left.popleft()
        yield _Piece(number + 1, "\n".join(body), language.lower())


def _take_indented(line: str, left: deque[tuple[int, str]]) -> Iterator[str]:
    """The lines behind this one that are indented as it is, without a fence; they are taken from what is left."""
    if line.startswith(_INDENTS):
        while left and left[0][1].startswith(_INDENTS) and not _FENCE.fullmatch(left[0][1]):
            yield left.popleft()[1]


def _closes(line: str, fence: str) -> bool:
    bare = line.strip(" \t>")
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


def _unindent(line: str, before: str) -> str:
    """A line of a block without what stands before the block's fence, such as the `>` of a quotation."""
    width = len(before)
    return line[width:] if not line[:width].strip(" \t>") else line


# --- what a piece describes ---------------------------------------------------------------------------------


def _read_piece(piece: _Piece, shown: str, context: ScanContext) -> _Described:
    """What a piece describes. Raises: ConfigError."""
    return _read_command(piece, shown, context) if piece.language == _ADDS else _read_data(piece, shown, context)


def _read_data(piece: _Piece, shown: str, context: ScanContext) -> _Described:
    text = piece.text.strip()
    # Pages often show the member of a file alone: "github": {"command": …}
    whole = f"{{{text.rstrip(',')}}}" if text.startswith('"') else text
    single = _find_single(whole) if whole.startswith("{") else None
    if single is not None:
        name = single.get("name")
        named = name if isinstance(name, str) else suggest_name(single)
        found = _read_entry(named or NAMELESS, single, shown, context)
        return _Described(piece.line, found, is_named=isinstance(name, str))
    # So that a line of the piece is told as one of the whole text.
    above = "\n" * (piece.line - 1)
    return _Described(piece.line, _read(f"{above}{whole}", shown, context))


def _read(text: str, shown: str, context: ScanContext) -> FoundServers:
    return read_servers(text.encode(errors="surrogateescape"), "", shown, context, foreign=False)


def _read_entry(name: str, raw: Mapping[str, Any], shown: str, context: ScanContext) -> FoundServers:
    entry = {key: value for key, value in raw.items() if key != "name"}
    return _read(json.encode({"mcpServers": {name: entry}}).decode(), shown, context)


def _find_single(text: str) -> Mapping[str, Any] | None:
    """The entry that a text is, without a name around it."""
    try:
        data = as_mapping(parse(text.encode(errors="surrogateescape"), "json").data)
    except ParseError:
        return None
    return data if any(isinstance(data.get(key), str) for key in ("command", "url")) else None


# --- a command of another tool ------------------------------------------------------------------------------


def _find_commands(piece: _Piece) -> Iterator[_Piece]:
    """The commands that add servers, each as a piece; one may go on over several lines."""
    lines = [line.strip().lstrip("$>% ") for line in piece.text.split("\n")]
    end = 0
    for at, line in enumerate(lines):
        if at >= end and _COMMAND.match(line):
            command, count = _read_lines(lines[at : at + _MOST_LINES])
            end = at + count
            yield _Piece(piece.line + at, command, _ADDS)


def _read_lines(lines: Sequence[str]) -> tuple[str, int]:
    """The command that the first of these lines begins, and how many of them it takes."""
    # The apostrophe of a comment closes nothing.
    alone = re.sub(r"\s#.*", "", lines[0])
    if not alone.endswith("\\") and _BALANCED.fullmatch(alone):
        return alone, 1
    command = ""
    for count, line in enumerate(lines, 1):
        is_continued = command.endswith("\\")
        command = f"{command[:-1].rstrip()} {line}" if is_continued else f"{command}\n{line}".lstrip()
        if len(command) > _LONGEST_COMMAND:
            break
        if not command.endswith("\\") and _BALANCED.fullmatch(command):
            return command, count
    return alone, 1


def _read_command(piece: _Piece, shown: str, context: ScanContext) -> _Described:
    try:
        words = list(takewhile(lambda word: word not in _ENDS_COMMAND and word[:1] != "#", split_words(piece.text)))
        if words[1:2] != ["mcp"]:
            return _read_add_mcp(piece.line, words, shown, context)
        described = parse_description(_translate_options(words[3:]))
        is_json = words[2] == "add-json"
        raw = _load(" ".join(described.words)) if is_json else describe_entry(described)
        found = _read_entry(described.name, raw, shown, context)
        return _Described(piece.line, found, _find_scope(words, described))
    except ConfigError as error:
        raise _WrongCommand(str(error)) from None


def _read_add_mcp(line: int, words: Sequence[str], shown: str, context: ScanContext) -> _Described:
    """`code --add-mcp '{"name": …}'`, as VS Code has it."""
    at = next(at for at, word in enumerate(words) if word.startswith("--add-mcp"))
    raw = _load(words[at].partition("=")[2] or " ".join(words[at + 1 : at + 2]))
    name = raw.get("name")
    if not isinstance(name, str):
        raise ConfigError("Invalid server config: the JSON behind --add-mcp has no name.")
    return _Described(line, _read_entry(name, raw, shown, context))


def _load(text: str) -> Mapping[str, Any]:
    try:
        data = parse(text.encode(errors="surrogateescape"), "json").data
    except ParseError:
        raise ConfigError("Invalid server config: it is not valid JSON.") from None
    if not isinstance(data, Mapping):
        raise ConfigError("Invalid server config: it should be a JSON object.")
    return data


def _translate_options(words: Sequence[str]) -> list[str]:
    """The words of other tools' `mcp add` in ours."""
    ours = list(words)
    end = ours.index("--") if "--" in ours else len(ours)
    for at in range(end - 1):
        # Claude Code's word for "only you, only here", which it assumes when nothing is said.
        if ours[at] in ("-s", "--scope") and ours[at + 1] == "local":
            ours[at + 1] = "user"
        elif ours[at] == "--bearer-token-env-var":
            ours[at : at + 2] = ["--token", f"${{{ours[at + 1]}}}"]
    return ["--scope=user" if word == "--scope=local" else word for word in ours]


def _find_scope(words: Sequence[str], described: ServerDescription) -> WriteScope | None:
    """The scope that a command names; to say nothing is to leave it open."""
    options = list(takewhile(lambda word: word != "--", words))
    is_said = any(word in ("-s", "--scope") or word.startswith("--scope=") for word in options)
    return described.scope if is_said else None
