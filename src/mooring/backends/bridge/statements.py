"""SQL for the tables of an agent's own plan: which statements can touch nothing else.

SQLite can do more than its tables: `ATTACH` and `VACUUM INTO` make files, `load_extension` runs code, and some names of
tables are views into files. So only what is known to be harmless counts as such.
"""

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"""'(?:[^']|'')*'|"[A-Za-z_]\w*"|[A-Za-z_]\w*|\d+(?:\.\d+)?|[(),.*+%<>=!|;]|-(?!-)|/(?!\*)|\s+""", re.ASCII
)
"""Without comments: what is behind one may be read in another way elsewhere."""
_HEADS: Final = tuple(
    head.split()
    for head in (
        "select", "insert into", "insert or replace into", "insert or ignore into", "update", "delete from",
        "create table",
    )
)  # fmt: skip
_BEFORE_COLUMNS: Final = frozenset({"into", "table", "exists", "references"})
"""Words behind which a name with a parenthesis is a table and its columns, not a function."""
_BEFORE_PARENTHESIS: Final = frozenset(
    {
        "abs", "and", "as", "avg", "by", "case", "char", "check", "coalesce", "conflict", "count", "date",
        "datetime", "decimal", "distinct", "else", "exists", "format", "from", "group_concat", "having",
        "ifnull", "iif", "in", "instr", "join", "julianday", "key", "length", "like", "limit", "lower", "ltrim",
        "max", "min", "not", "nullif", "numeric", "on", "or", "over", "printf", "random", "replace", "round",
        "rtrim", "select", "set", "strftime", "substr", "substring", "sum", "then", "time", "total", "trim",
        "union", "unique", "unixepoch", "upper", "using", "values", "varchar", "when", "where",
    }
)  # fmt: skip
"""Functions that only compute, and words of the language."""
_TEXT: Final = "'"
"""What stands for any text, so that none can be mistaken for a word."""
_VIEWS: Final = ("sqlite_", "pragma_", "dbstat", "fsdir", "load_extension")
"""How names begin that stand for something else than a table."""


def is_plain_sql(text: str) -> bool:
    """Whether all statements only read and change tables."""
    tokens = _read_tokens(text)
    return tokens is not None and all(map(_is_plain, _split(tokens)))


def _read_tokens(text: str) -> list[str] | None:
    """The words and marks of some SQL, in lower case and without quotes; `None` if something else is among them."""
    tokens: list[str] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            return None
        place = match.end()
        token = match[0]
        if not token.isspace():
            tokens.append(_TEXT if token.startswith("'") else token.strip('"').lower())
    return tokens


def _split(tokens: list[str]) -> list[list[str]]:
    statements: list[list[str]] = [[]]
    for token in tokens:
        if token == ";":
            statements.append([])
        else:
            statements[-1].append(token)
    return [statement for statement in statements if statement]


def _is_plain(statement: list[str]) -> bool:
    is_known = any(statement[: len(head)] == head for head in _HEADS)
    return is_known and all(_is_harmless(statement, place) for place in range(len(statement)))


def _is_harmless(statement: list[str], place: int) -> bool:
    """Whether a word or mark is no view into something else, and no call of a function that could do anything."""
    token = statement[place]
    if token != "(" or place == 0:
        return not token.startswith(_VIEWS)
    called = statement[place - 1]
    if called == _TEXT:
        return False  # SQLite takes a text for a name where a name has to be
    is_table = place > 1 and statement[place - 2] in _BEFORE_COLUMNS
    return is_table or not called.isidentifier() or called in _BEFORE_PARENTHESIS
