"""The literal tables of a Lua program. Nothing is run: what the program would compute is marked as such."""

import re
from typing import Any, NamedTuple

from msgspec import Struct

from mooring.errors import ParseError
from mooring.syntax.document import COMPUTED, DEPTH

VARIABLE = "${vim.env.%s}"
"""How an environment variable is written in what was read. In Lua, it is `vim.env.NAME` or `os.getenv("NAME")`."""

MOST_TOKENS = 200_000
"""A configuration of Neovim has a few thousand."""

# Each alternative that begins also matches, to the end of the text if it must: no text makes this quadratic.
_COMMENT = r"--(?:\[(?P<fence>=*+)\[(?:.*?\](?P=fence)\]|.*\Z)|[^\n]*+)"
_LONG_STRING = r"\[(?P<level>=*+)\[(?:.*?\](?P=level)\]|.*\Z)"
_STRING = r""""(?:[^"\\\n]++|\\z\s*+|\\\r\n|\\.)*+"?|'(?:[^'\\\n]++|\\z\s*+|\\\r\n|\\.)*+'?"""
_NUMBER = r"0[xX][0-9A-Fa-f.]++(?:[pP][+-]?\d++)?|(?:\d++(?:\.(?!\.)\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"
_TOKEN = (
    rf"(?s)\s++|(?P<comment>{_COMMENT})|(?P<long>{_LONG_STRING})|(?P<string>{_STRING})|(?P<number>{_NUMBER})"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*+)|(?P<symbol>\.\.\.?|.)"
)
_ESCAPE = (
    rb"(?s)\\(?:z\s*+|(?P<plain>[abfnrtv\\\"'\n])|\r\n|x(?P<hex>[0-9A-Fa-f]{2})|(?P<decimal>[0-9]{1,3})"
    rb"|u\{(?P<code>[0-9A-Fa-f]{1,6})\}|(?P<unknown>.?))"
)
_PLAIN_ESCAPES = dict(zip(b"abfnrtv\\\"'\n", b"\a\b\f\n\r\t\v\\\"'\n", strict=True))
_VARIABLE_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
# What is before the name of a variable, and what is behind it.
_VARIABLE_SPELLINGS: tuple[tuple[list[str], list[str]], ...] = (
    (["os", ".", "getenv", "("], [")"]),
    (["os", ".", "getenv"], []),
    (["vim", ".", "env", "["], ["]"]),
    (["vim", ".", "env", "."], []),
)

_WORDS = {"true": True, "false": False, "nil": None}
# `for` and `while` have a `do`, which is counted.
_OPENING = frozenset({"(", "[", "function", "if", "do", "repeat"})
_CLOSING = frozenset({")", "]", "end", "until"})
_SEPARATORS = frozenset({",", ";"})
_ENDS = _SEPARATORS | {"}"}
_BRACKET = frozenset({"]"})


class LuaToken(NamedTuple):
    """One word, string, number or sign of a program, and where it is."""

    kind: str
    text: str
    offset: int


class LuaTable(dict[str, Any]):
    """A literal table by its keys, which knows where they are. Elements without a key are named "1", "2" and so on."""

    def __init__(self) -> None:
        super().__init__()
        self.offsets: dict[str, int] = {}
        self.repeated: list[str] = []
        """The keys that are written more than once."""

    def put(self, key: str, value: Any, offset: int) -> None:
        if key in self:
            self.repeated.append(key)
        self[key] = value
        self.offsets[key] = offset


class LuaProgram(Struct):
    """The tokens of a program, and its tables by the index of the token that opens each."""

    tokens: list[LuaToken]
    tables: dict[int, LuaTable | list[Any]]


def read_program(text: str) -> LuaProgram:
    """Find the tables of a program, also those inside its functions.

    Raises:
        ParseError: the program is not valid Lua, is too long, or nests its tables too deep.
    """
    return _TableReader(text).read()


def read_string(token: LuaToken, text: str) -> str | None:
    """What a token stands for if it is a string; `text` is that of the program.

    Raises:
        ParseError: the string has an escape that Lua does not know.
    """
    match token.kind:
        case "string":
            return _unescape(token, text)
        case "long":
            return _read_long_string(token, text)
        case _:
            return None


def _tokenize(text: str) -> list[LuaToken]:
    tokens: list[LuaToken] = []
    for found in re.finditer(_TOKEN, text):
        kind = found.lastgroup
        if kind is None or kind == "comment":
            continue
        tokens.append(LuaToken(kind, found[0], found.start()))
        if len(tokens) > MOST_TOKENS:
            raise ParseError(f"is a program of more than {MOST_TOKENS:,} words")
    tokens.append(LuaToken("end", "", len(text)))
    return tokens


class _TableReader:
    """Goes through a program once, from its first token to its last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokenize(text)
        self._tables: dict[int, LuaTable | list[Any]] = {}
        self._at = 0
        self._depth = 0

    def read(self) -> LuaProgram:
        while self._token.kind != "end":
            if self._token.text == "{":
                self._read_table()
            else:
                self._at += 1
        return LuaProgram(self._tokens, self._tables)

    @property
    def _token(self) -> LuaToken:
        return self._tokens[self._at]

    def _texts_ahead(self, count: int) -> list[str]:
        return [token.text for token in self._tokens[self._at : self._at + count]]

    # --- a table --------------------------------------------------------------------------------------------

    def _read_table(self) -> LuaTable | list[Any]:
        opening = self._at
        self._depth += 1
        if self._depth > DEPTH:
            raise ParseError(f"is nested more than {DEPTH} levels deep")
        table, elements = LuaTable(), list[Any]()
        self._at += 1
        while self._token.text != "}":
            if self._token.kind == "end":
                raise _invalid("a table is not closed", self._text, self._tokens[opening].offset)
            if self._token.text in _SEPARATORS:
                self._at += 1
                continue
            self._read_field(table, elements)
        self._at += 1
        self._depth -= 1
        # An empty table is a list as much as a map; who reads it knows which one is meant.
        is_list = len(elements) == len(table) > 0
        value = elements if is_list else table
        self._tables[opening] = value
        return value

    def _read_field(self, table: LuaTable, elements: list[Any]) -> None:
        offset = self._token.offset
        key = self._read_key()
        value = self._read_value()
        if key is None:
            elements.append(value)
            key = str(len(elements))
        # In Lua, a key with nil is no key. As an element it still counts: the ones behind it keep their places.
        elif value is None:
            table.pop(key, None)
            return
        table.put(key, value, offset)

    def _read_key(self) -> str | None:
        """The key of a field and its `=`; `None` if the field is an element without a key."""
        if self._token.kind == "name" and self._texts_ahead(2)[-1] == "=" and self._texts_ahead(3)[-1] != "=":
            key = self._token.text
            self._at += 2
            return key
        if self._token.text == "[":
            return self._read_key_in_brackets()
        return None

    def _read_key_in_brackets(self) -> str:
        self._at += 1
        token = self._token
        literal = token.text if token.kind == "number" else read_string(token, self._text)
        if literal is not None and self._texts_ahead(3)[1:] == ["]", "="]:
            self._at += 3
            return literal
        self._skip_expression(_BRACKET)
        if self._texts_ahead(2) == ["]", "="]:
            self._at += 2
        return "[computed]"

    # --- a value --------------------------------------------------------------------------------------------

    def _read_value(self) -> Any:
        """The value of a field; `COMPUTED` if it is not literal, whatever it is then."""
        operands = [self._read_operand()]
        while operands[-1] is not COMPUTED and self._token.text == "..":
            self._at += 1
            operands.append(self._read_operand())
        if self._token.text in _ENDS:
            return _join(operands)
        self._skip_expression(_SEPARATORS)
        return COMPUTED

    def _read_operand(self) -> Any:
        token = self._token
        if token.text == "{":
            return self._read_table()
        if token.kind == "name":
            return self._read_word()
        if token.text == "-":
            self._at += 1
            return -self._read_number() if self._token.kind == "number" else COMPUTED
        if token.kind == "number":
            return self._read_number()
        text = read_string(token, self._text)
        if text is None:
            return COMPUTED
        self._at += 1
        return text

    def _read_number(self) -> int | float:
        token = self._token
        self._at += 1
        return _parse_number(token, self._text)

    def _read_word(self) -> Any:
        word = self._token.text
        if word in _WORDS:
            self._at += 1
            return _WORDS[word]
        name = self._read_variable_name()
        return COMPUTED if name is None else VARIABLE % name

    def _read_variable_name(self) -> str | None:
        """The environment variable that the next tokens name; `None`, and nothing is taken, if they do not."""
        for before, after in _VARIABLE_SPELLINGS:
            whole = self._tokens[self._at : self._at + len(before) + 1 + len(after)]
            texts = [token.text for token in whole]
            if texts[: len(before)] != before or texts[len(before) + 1 :] != after:
                continue
            name = self._read_name(whole[-1 - len(after)], is_word=before[-1] == ".")
            if name is not None:
                self._at += len(whole)
                return name
        return None

    def _read_name(self, token: LuaToken, is_word: bool) -> str | None:
        name = token.text if is_word else read_string(token, self._text)
        return name if name and re.fullmatch(_VARIABLE_NAME, name) else None

    def _skip_expression(self, ends: frozenset[str]) -> None:
        """Go to where an expression ends. The tables in it are read, since a function in it may set up a plugin."""
        depth = 0
        while self._token.kind != "end":
            text = self._token.text
            if text == "{":
                self._read_table()
                continue
            # Every brace that opens was read with its table, so this one closes the table that the expression is in.
            if text == "}" or (text in ends and depth <= 0):
                return
            depth += (text in _OPENING) - (text in _CLOSING)
            self._at += 1


def _join(operands: list[Any]) -> Any:
    """What the operands of `..` are together: texts and whole numbers become one text."""
    if len(operands) == 1:
        return operands[0]
    is_text = all(type(operand) in (str, int) for operand in operands)
    return "".join(map(str, operands)) if is_text else COMPUTED


def _parse_number(token: LuaToken, text: str) -> int | float:
    written = token.text.lower()
    try:
        if not written.startswith("0x"):
            return float(written) if {".", "e"} & set(written) else int(written)
        return float.fromhex(written) if {".", "p"} & set(written) else int(written, 16)
    except (ValueError, OverflowError):
        pass
    raise _invalid("a number is too long or not a number", text, token.offset)


def _read_long_string(token: LuaToken, text: str) -> str:
    width = token.text.index("[", 1) + 1
    opening, inside, closing = token.text[:width], token.text[width:-width], token.text[width:][-width:]
    if closing != opening.replace("[", "]"):
        raise _invalid("a string is not closed", text, token.offset)
    return inside.replace("\r\n", "\n").removeprefix("\n")


def _unescape(token: LuaToken, text: str) -> str:
    quote, inside = token.text[0], token.text[1:-1]
    if len(token.text) < 2 or token.text[-1] != quote:
        raise _invalid("a string is not closed", text, token.offset)
    if "\\" not in inside:
        return inside
    try:
        # Escapes stand for bytes: several of them may be one character.
        return re.sub(_ESCAPE, _replace_escape, inside.encode("utf-8", "replace")).decode("utf-8", "replace")
    except (ValueError, OverflowError):
        pass
    raise _invalid("a string has an unknown escape", text, token.offset)


def _replace_escape(found: re.Match[bytes]) -> bytes:
    match found.lastgroup:
        case "plain":
            return bytes([_PLAIN_ESCAPES[found["plain"][0]]])
        case "hex":
            return bytes.fromhex(found["hex"].decode())
        case "decimal":
            return bytes([int(found["decimal"])])
        case "code":
            return chr(int(found["code"], 16)).encode()
        case "unknown":
            raise ValueError
        case _:
            # `\z` takes the blanks behind it away; a line break of Windows is one of Lua's.
            return b"" if found[0].startswith(b"\\z") else b"\n"


def _invalid(reason: str, text: str, offset: int) -> ParseError:
    return ParseError(f"is not valid Lua: {reason}", text.count("\n", 0, offset) + 1)
