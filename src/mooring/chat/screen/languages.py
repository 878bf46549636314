"""What the highlighter knows of each language: its words, and patterns for what stands on one line or goes on."""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct

from mooring.chat.screen.line import Role


class CodeSpan(NamedTuple):
    """What may go on over lines, such as a comment."""

    opener: str
    closer: str
    role: Role


class Language(Struct, frozen=True, kw_only=True):
    """Patterns in the order in which they are tried: spans, then those of one line, then words."""

    spans: tuple[CodeSpan, ...] = ()
    patterns: tuple[tuple[Role, str], ...] = ()
    word: str = r"[^\W\d]\w*"
    words: tuple[tuple[Role, str], ...] = ()
    ignores_case: bool = False
    names_types: bool = False
    """Whether a word that begins with a capital letter is a type."""


_NUMBER: tuple[Role, str] = (
    "code.number",
    r"\b(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)\w*",
)
_OPERATOR: tuple[Role, str] = ("code.operator", r"[-+*/%=<>!&|^~?:@]+")
_DOUBLE: tuple[Role, str] = ("code.string", r'"(?:[^"\\]|\\.)*"?')
_SINGLE: tuple[Role, str] = ("code.string", r"'(?:[^'\\]|\\.)*'?")
_SLASHES: tuple[Role, str] = ("code.comment", "//.*")
_HASH: tuple[Role, str] = ("code.comment", "#.*")
_SLASH_STAR = CodeSpan(r"/\*", r"\*/", "code.comment")
_BACKTICKS = CodeSpan("`", r"(?:[^`\\]|\\.)*`", "code.string")
_KEYWORD: Role = "code.keyword"
_TYPE: Role = "code.type"

_PYTHON = Language(
    spans=(
        CodeSpan(r'\b[rRbBfFuU]{0,2}"""|"""', r'"""', "code.string"),
        CodeSpan(r"\b[rRbBfFuU]{0,2}'''|'''", r"'''", "code.string"),
    ),
    patterns=(
        _HASH,
        ("code.string", r'\b[rRbBfFuU]{1,2}"(?:[^"\\]|\\.)*"?' + r"|\b[rRbBfFuU]{1,2}'(?:[^'\\]|\\.)*'?"),
        _DOUBLE,
        _SINGLE,
        ("code.name", r"(?<=\bdef )\w+|^\s*@[\w.]+"),
        ("code.type", r"(?<=\bclass )\w+"),
        _NUMBER,
        _OPERATOR,
    ),
    words=(
        (
            _KEYWORD,
            "and as assert async await break case class continue def del elif else except finally for from global if"
            " import in is lambda match nonlocal not or pass raise return try type while with yield",
        ),
        (_TYPE, "bool bytes dict float frozenset int list object set str tuple"),
        ("code.number", "True False None"),
    ),
    names_types=True,
)

_SCRIPT = Language(
    spans=(_SLASH_STAR, _BACKTICKS),
    patterns=(
        _SLASHES,
        _DOUBLE,
        _SINGLE,
        ("code.name", r"(?<=\bfunction )\w+|@\w+"),
        _NUMBER,
        _OPERATOR,
    ),
    word=r"[^\W\d][\w$]*",
    words=(
        (
            _KEYWORD,
            "abstract as async await break case catch class const continue debugger declare default delete do else enum"
            " export extends finally for from function get if implements import in instanceof interface keyof let"
            " namespace new of private protected public readonly return satisfies set static super switch this throw"
            " try type typeof var void while with yield",
        ),
        (_TYPE, "any bigint boolean never number object string symbol unknown"),
        ("code.number", "true false null undefined NaN Infinity"),
    ),
    names_types=True,
)

_SHELL = Language(
    spans=(
        CodeSpan(r'\$?"', r'(?:[^"\\]|\\.)*"', "code.string"),
        CodeSpan(r"'", r"'", "code.string"),
    ),
    patterns=(
        ("code.comment", r"(?:(?<=\s)|^)#.*"),
        ("code.type", r"\$\{[^}]*\}|\$[\w@*#?!$-]|\$\w+"),
        ("code.type", r"\b\w+(?==)"),
        ("code.name", r"(?:(?<=\s)|^)--?[\w-]+"),
        _NUMBER,
        ("code.operator", r"[|&;<>=!]+"),
    ),
    word=r"[^\W\d][\w.-]*",
    words=(
        (
            _KEYWORD,
            "alias break case continue declare do done elif else esac eval exec exit export fi for function if in local"
            " readonly return select set shift source then trap unset until while",
        ),
        (
            "code.name",
            "apt brew cargo cat cd chmod cp curl docker echo find git go grep kubectl ls make mkdir mv node npm npx pip"
            " printf python python3 rm sed ssh sudo tar test touch uv uvx wget yarn",
        ),
    ),
)

_JSON = Language(
    spans=(_SLASH_STAR,),
    patterns=(
        ("code.name", r'"(?:[^"\\]|\\.)*"(?=\s*:)'),
        _DOUBLE,
        _SLASHES,
        ("code.number", r"-?\b\d[\d.eE+-]*"),
    ),
    words=(("code.keyword", "true false null"),),
)

_YAML = Language(
    patterns=(
        ("code.comment", r"(?:(?<=\s)|^)#.*"),
        ("code.name", r"(?:^\s*(?:- +)*|(?<=[{,])\s*)(?:\"[^\"]*\"|'[^']*'|[\w./$-][\w ./$-]*)(?=\s*:(?:\s|$))"),
        ("code.type", r"(?:(?<=\s)|^)[&*!][\w!-]+"),
        _DOUBLE,
        ("code.string", r"'(?:[^']|'')*'?"),
        ("code.keyword", r"^---.*|^\.\.\.$|[|>][+-]?$"),
        ("code.number", r"(?:(?<=[\s\[,])|^)-?\d[\d_.]*(?=[\s,\]]|$)"),
    ),
    word=r"[^\W\d][\w-]*",
    words=(("code.number", "true false null yes no on off True False Null"),),
)

_TOML = Language(
    spans=(CodeSpan(r'"""', r'"""', "code.string"), CodeSpan("'''", "'''", "code.string")),
    patterns=(
        _HASH,
        ("code.type", r"^\s*\[\[?[^\]]*\]\]?"),
        ("code.name", r"(?:^\s*|(?<=[{,])\s*)[\w.\"'-]+(?=\s*=)"),
        _DOUBLE,
        ("code.string", r"'[^']*'?"),
        ("code.number", r"(?<![\w.])[+-]?\d[\w.:+-]*"),
    ),
    words=(("code.number", "true false inf nan"),),
)

_GO = Language(
    spans=(_SLASH_STAR, CodeSpan("`", "`", "code.string")),
    patterns=(_SLASHES, _DOUBLE, _SINGLE, ("code.name", r"(?<=\bfunc )\w+"), _NUMBER, _OPERATOR),
    words=(
        (
            _KEYWORD,
            "break case chan const continue default defer else fallthrough for func go goto if import interface map"
            " package range return select struct switch type var",
        ),
        (
            _TYPE,
            "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string"
            " uint uint8 uint16 uint32 uint64 uintptr",
        ),
        ("code.number", "true false nil iota"),
    ),
)

_RUST = Language(
    spans=(
        _SLASH_STAR,
        CodeSpan(r'\bb?r#+"', r'"#+', "code.string"),
        CodeSpan(r'b?"', r'(?:[^"\\]|\\.)*"', "code.string"),
    ),
    patterns=(
        _SLASHES,
        ("code.string", r"b?'(?:[^'\\]|\\(?:.|x..|u\{\w+\}))'"),
        ("code.type", r"'\w+"),
        ("code.name", r"(?<=\bfn )\w+|\b\w+!(?=[(\[{\s])|#!?\[[^\]]*\]?"),
        _NUMBER,
        _OPERATOR,
    ),
    words=(
        (
            _KEYWORD,
            "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move"
            " mut pub ref return self static struct super trait type union unsafe use where while",
        ),
        (_TYPE, "Self bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize"),
        ("code.number", "true false"),
    ),
    names_types=True,
)

_C = Language(
    spans=(_SLASH_STAR, CodeSpan(r'"""', r'"""', "code.string")),
    patterns=(
        _SLASHES,
        ("code.keyword", r"^\s*#\s*\w+"),
        ("code.string", r'(?<=#include )<[^>]*>|[@$]{1,2}"(?:[^"\\]|\\.)*"?'),
        _DOUBLE,
        _SINGLE,
        ("code.name", r"@\w+"),
        _NUMBER,
        _OPERATOR,
    ),
    words=(
        (
            _KEYWORD,
            "abstract alignas as assert async await base break case catch class concept const constexpr continue"
            " default delegate delete do else enum event explicit export extends extern final finally for foreach"
            " friend get goto if implements import in inline instanceof interface internal is lock module mutable"
            " namespace new noexcept operator out override package params partial permits private protected public"
            " readonly record ref register requires return sealed set sizeof static static_cast struct super switch"
            " synchronized template this throw throws transient try typedef typename union unsafe using var virtual"
            " volatile when where while yield",
        ),
        (
            _TYPE,
            "auto bool boolean byte char decimal double dynamic float int int8_t int16_t int32_t int64_t long object"
            " sbyte short signed size_t string uint uint8_t uint16_t uint32_t uint64_t ulong unsigned ushort void"
            " wchar_t",
        ),
        ("code.number", "true false null nullptr NULL"),
    ),
    names_types=True,
)

_HTML = Language(
    spans=(CodeSpan("<!--", "-->", "code.comment"),),
    patterns=(
        ("code.keyword", r"</?[\w:.-]+|/?>|<![^>]*>?|<\?[\w-]+|\?>"),
        ("code.string", r"(?<==)(?:\"[^\"]*\"?|'[^']*'?)"),
        ("code.name", r"[\w:@.-]+(?==[\"'{])"),
        ("code.number", r"&#?\w+;"),
    ),
    word="",
)

_CSS = Language(
    spans=(_SLASH_STAR,),
    patterns=(
        _DOUBLE,
        _SINGLE,
        ("code.keyword", r"@[\w-]+|!important"),
        ("code.number", r"#[\da-fA-F]{3,8}\b|-?(?:\d+\.?\d*|\.\d+)(?:%|[a-zA-Z]+)?"),
        ("code.name", r"(?:^\s*|(?<=[{;])\s*)--?[\w-]+(?=\s*:)|(?:^\s+|(?<=[{;])\s*)[\w-]+(?=\s*:)|--[\w-]+"),
        ("code.type", r"[.#][\w-]+|::?[\w-]+(?=[^;]*\{)"),
    ),
    word=r"[^\W\d][\w-]*",
)

_SQL = Language(
    spans=(_SLASH_STAR, CodeSpan("'", "'", "code.string")),
    patterns=(
        ("code.comment", "--.*"),
        ("code.name", r'"[^"]*"?|`[^`]*`?'),
        _NUMBER,
        ("code.operator", r"[-+*/%=<>!|:]+"),
    ),
    words=(
        (
            _KEYWORD,
            "add all alter analyze and any as asc begin between by cascade case check column commit constraint create"
            " cross database default delete desc distinct do drop else end except exists explain false fetch filter for"
            " foreign from full function grant group having if ilike in index inner insert intersect into is join key"
            " lateral left like limit materialized natural not null nulls offset on or order outer over partition"
            " primary procedure recursive references replace returning revoke right rollback row rows schema select set"
            " table temporary then to transaction trigger true truncate union unique update using vacuum values view"
            " when where window with",
        ),
        (
            _TYPE,
            "array bigint bigserial blob boolean bytea char date datetime decimal double float int integer interval"
            " json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar",
        ),
    ),
    ignores_case=True,
)

_DIFF = Language(
    patterns=(
        (
            "code.keyword",
            r"^(?:diff|index|new file|deleted file|similarity|rename|old mode|new mode)\b.*|^(?:\+\+\+|---)(?: .*|$)",
        ),
        ("code.type", r"^@@.*"),
        ("added", r"^\+.*"),
        ("removed", r"^-.*"),
        ("code.comment", r"^\\ .*"),
    ),
    word="",
)

LANGUAGES: Mapping[str, Language] = {
    "python": _PYTHON,
    "javascript": _SCRIPT,
    "shell": _SHELL,
    "json": _JSON,
    "yaml": _YAML,
    "toml": _TOML,
    "go": _GO,
    "rust": _RUST,
    "c": _C,
    "html": _HTML,
    "css": _CSS,
    "sql": _SQL,
    "diff": _DIFF,
}

_NAMES = {
    "python": "python py py3 python3 pyi pycon starlark bzl",
    "javascript": "javascript js jsx mjs cjs typescript ts tsx mts node",
    "shell": "shell sh bash zsh fish ksh console shell-session shellsession terminal dockerfile makefile make",
    "json": "json json5 jsonc jsonl ndjson",
    "yaml": "yaml yml",
    "toml": "toml ini cfg conf properties env dotenv",
    "go": "go golang",
    "rust": "rust rs",
    "c": "c h cpp c++ cc cxx hpp hxx java cs csharp c# kotlin kt kts scala swift objective-c objc dart php",
    "html": "html htm xhtml xml svg vue svelte",
    "css": "css scss sass less",
    "sql": "sql postgres postgresql mysql sqlite plsql",
    "diff": "diff patch udiff",
}

ALIASES: Mapping[str, str] = {alias: name for name, aliases in _NAMES.items() for alias in aliases.split()}
"""What a language is called behind a fence."""
