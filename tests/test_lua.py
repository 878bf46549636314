"""The literal tables of Lua programs: read as Lua would read them, never run, and never at the price of much time."""

import subprocess
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.discovery.neovim import read_plugin_option
from mooring.errors import ParseError
from mooring.syntax.document import COMPUTED, Document
from mooring.syntax.lua import MOST_TOKENS, read_program
from support import Cli, Home, is_within

MIB = 1024 * 1024
CANARY = "cAnArY7q"
INIT = "home/.config/nvim/init.lua"


def read(text: str) -> Any:
    """The table that is the whole of a text."""
    return read_program(text).tables[0]


def option(text: str) -> Document:
    """What a program says about the servers of magenta.nvim."""
    document = read_plugin_option(text.encode(), "magenta", "mcpServers")
    assert document is not None
    return document


def refusal(text: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        read_program(text)
    return caught.value


# --- literals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("'a'", "a"),
        ('"a"', "a"),
        ("'it\\'s'", "it's"),
        ('"\\a\\b\\f\\n\\r\\t\\v\\\\\\""', '\a\b\f\n\r\t\v\\"'),
        ('"\\x41\\66\\0671"', "ABC1"),
        ('"\\xe2\\x82\\xac \\u{20AC} \\226\\130\\172"', "€ € €"),
        ('"a\\z \t\n  b"', "ab"),
        ('"a\\\nb"', "a\nb"),
        ('"a\\\r\nb"', "a\nb"),
        ("[[a]]", "a"),
        ("[[\na\nb]]", "a\nb"),
        ("[[\r\na\r\nb]]", "a\nb"),
        ("[=[a]]b]=]", "a]]b"),
        ("[==[ ]=] \\n ]==]", " ]=] \\n "),
        ("'-- no comment'", "-- no comment"),
        ("1", 1),
        ("-2", -2),
        ("- 3", -3),
        ("0x1F", 31),
        ("1.5", 1.5),
        (".5", 0.5),
        ("3.", 3.0),
        ("1e3", 1000.0),
        ("0xA.8p1", 21.0),
        ("true", True),
        ("false", False),
        ("{}", {}),
        ("{1, 'b', {true}}", [1, "b", [True]]),
        ("{1; 'b';}", [1, "b"]),
        ("{a = 1, ['b c'] = 2, [\"d\"] = 3; [ [[e]] ] = 4, [5] = 6}", {"a": 1, "b c": 2, "d": 3, "e": 4, "5": 6}),
        ("{'first', a = 1, 'second'}", {"1": "first", "a": 1, "2": "second"}),
        ("{a = nil, b = 1}", {"b": 1}),
        ("{a = 1, a = 2}", {"a": 2}),
        ("'a' .. \"b\" .. [[c]] .. 1", "abc1"),
        ("os.getenv('TOKEN')", "${vim.env.TOKEN}"),
        ("os.getenv 'TOKEN'", "${vim.env.TOKEN}"),
        ("os.getenv [[TOKEN]]", "${vim.env.TOKEN}"),
        ("vim.env.TOKEN", "${vim.env.TOKEN}"),
        ("vim.env['TOKEN']", "${vim.env.TOKEN}"),
        ("'Bearer ' .. vim.env.TOKEN .. '!'", "Bearer ${vim.env.TOKEN}!"),
    ],
)
def test_a_literal_is_what_it_is_in_lua_whatever_is_around_it(written: str, value: object) -> None:
    for before, after in (("", ""), ("--[[ } ]] ", " -- }\n"), ("\n", "--[==[ ]] } ]==]"), ("\t", "\r\n"), ("", ",")):
        assert read(f"{{ x = {before}{written}{after} }}") == {"x": value}
        assert read(f"{{ {written}{after}{before} }}") == [value]


@pytest.mark.parametrize(
    "written",
    [
        "f()",
        "f{a = 1}",
        "f'x'",
        "name",
        "table.field",
        "('a')",
        "1 + 2",
        "'a' .. f()",
        "f() .. 'a'",
        "'a' .. true",
        "1.5 .. 'a'",
        "{} .. 'a'",
        "{1, 2}[1]",
        "('x'):rep(3)",
        "not true",
        "#{1}",
        "- x",
        "a == b",
        "a and b or c",
        "...",
        "os.getenv(name)",
        "os.getenv('NAME') or 'default'",
        "os.getenv('A B')",
        "vim.env[name]",
        "vim.env",
        "vim.fn.expand('~/x')",
        "function() return 1, 2 end",
        "function(a, b) if a then return {1, 2}; elseif b then c() else d() end; x, y = 1, 2 end",
        "function() for i = 1, 2 do f(i, {}) end; while a do b() end; repeat c() until d, e end",
    ],
)
def test_what_is_computed_is_marked_and_what_is_behind_it_is_read(written: str) -> None:
    assert read(f"{{ x = {written}, y = 1; z = {{{written}}} }}") == {"x": COMPUTED, "y": 1, "z": [COMPUTED]}
    assert read(f"{{ [{written}] = 1, y = 2 }}") == {"[computed]": 1, "y": 2}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("x = {\n a = {\n", 2, "a table is not closed"),
        ("x = {\n\n 'a\n}", 3, "a string is not closed"),
        ("x = { a = [[b\n\n}", 1, "a string is not closed"),
        ("x = { a = [==[b]=] }", 1, "a string is not closed"),
        ("x = {\n'\\q'}", 2, "a string has an unknown escape"),
        ("x = {'\\300'}", 1, "a string has an unknown escape"),
        ("x = {'\\u{110000}'}", 1, "a string has an unknown escape"),
        ("x = {'\\u{d800}'}", 1, "a string has an unknown escape"),
        (f"x = {{ {'1' * 10_000} }}", 1, "a number is too long or not a number"),
        ("x = { 0x1.2.3 }", 1, "a number is too long or not a number"),
    ],
)
def test_a_program_that_lua_would_refuse_is_refused_with_its_line(text: str, line: int, reason: str) -> None:
    error = refusal(text)
    assert (error.reason, error.line) == (f"is not valid Lua: {reason}", line)


def test_depth_and_length_have_bounds() -> None:
    assert read_program("x = " + "{" * 64 + "}" * 64)
    assert refusal("x = " + "{" * 65 + "}" * 65).reason == "is nested more than 64 levels deep"
    assert refusal("x = " + "{ function() return " * 65).reason == "is nested more than 64 levels deep"
    assert read_program("a " * MOST_TOKENS)
    assert refusal("a " * (MOST_TOKENS + 1)).reason == "is a program of more than 200,000 words"


# --- where a plugin is set up -------------------------------------------------------------------------------

TABLE = "{ a = { command = 'x', args = {} } }"


@pytest.mark.parametrize(
    "text",
    [
        "require('magenta').setup({ mcpServers = % })",
        'require("magenta").setup { mcpServers = % }',
        "require 'magenta'.setup{ sidebar = f(), mcpServers = %, picker = 'x' }",
        "local m = require('magenta')\nif m then m.setup({ mcpServers = % }) end",
        "local ok, m = pcall(require, 'magenta')\nif not ok then return end\nm.setup({ mcpServers = % })",
        "return { 'dlants/magenta.nvim', lazy = false, opts = { mcpServers = % } }",
        "return { { 'a/b', opts = {} }, { 'fork/magenta.nvim', opts = { mcpServers = % } } }",
        "require('lazy').setup({ spec = { { 'dlants/magenta.nvim', opts = { mcpServers = % } } } })",
        "return { 'dlants/magenta.nvim', config = function() require('magenta').setup({ mcpServers = % }) end }",
        "return { 'dlants/magenta.nvim', opts = { mcpServers = % }, config = function(_, o) require('magenta').setup(o) end }",
        "require('other').setup({ mcpServers = { b = 1 } })\nrequire('magenta').setup({ mcpServers = % })",
    ],
)
def test_every_usual_way_to_set_up_a_plugin_is_read(text: str) -> None:
    assert option(text.replace("%", TABLE)).data == {"mcpServers": {"a": {"command": "x", "args": {}}}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("require('magenta').setup({\n mcpServers = servers })", 2),
        ("local o = {\n\n mcpServers = {} }\nrequire('magenta').setup(o)", 3),
        ("require('magenta').setup(vim.tbl_extend('force',\n { mcpServers = {} }, o))", 2),
        ("return { 'dlants/magenta.nvim', opts = function()\n return { mcpServers = {} } end }", 2),
        ("local magenta = load()\nmagenta.setup({ mcpServers = {} })", 2),
    ],
)
def test_an_option_that_is_computed_is_marked_with_its_line(text: str, line: int) -> None:
    document = option(text)
    assert document.data == {"mcpServers": COMPUTED}
    assert document.line(("mcpServers",)) == line


@pytest.mark.parametrize(
    "text",
    [
        "-- require('magenta').setup({ mcpServers = {} })",
        "--[[ mcpServers\n]] require('magenta').setup(o)",
        "print('magenta mcpServers')",
        "require('magenta').setup({})\nrequire('other').setup({ mcpServers = {} })",
        "return { { 'dlants/magenta.nvim', opts = {} }, { 'other/plugin', opts = { mcpServers = {} } } }",
    ],
)
def test_what_a_comment_a_string_or_another_plugin_says_is_not_taken(text: str) -> None:
    assert read_plugin_option(text.encode(), "magenta", "mcpServers") is None


def test_a_key_is_found_on_its_line_and_one_written_twice_is_reported() -> None:
    document = option(
        "require('magenta').setup({\nmcpServers = {\na = {\nenv = {\nK = f(),\n}, command = 'x' },\na = 1 } })"
    )
    assert document.data == {"mcpServers": {"a": 1}}
    assert document.duplicates == (("mcpServers", "a"),)
    assert document.line(("mcpServers", "a")) == 7
    document = option("require('magenta').setup({\nmcpServers = {\na = {\nenv = {\nK = f(),\n} } } })")
    assert document.line(("mcpServers", "a", "env", "K")) == 5


# --- anything -----------------------------------------------------------------------------------------------

PIECES = [
    *"{}[]()=,;:.\"'\\-\n\r\t #~1axé\0", "[[", "]]", "[=[", "]=]", "--", "--[[", "..", "...", "0x", "1e", "\\z", "\\u{", "\\x",
    "function", "end", "if", "do", "until", "nil", "true", "require", "'magenta'", ".setup", "mcpServers", "opts", "= {",
    "'a/magenta.nvim'", "os.getenv(", "vim.env.", "pcall(", CANARY,
]  # fmt: skip
SOUP = st.lists(st.sampled_from(PIECES), max_size=60).map("".join).map(lambda text: text.encode("utf-8", "replace"))


def outcome(data: bytes) -> Document | ParseError | None:
    try:
        return read_plugin_option(data, "magenta", "mcpServers")
    except ParseError as error:
        return error


def check_any(data: bytes) -> None:
    """Read it: whatever it is, an error shows none of it, and every line is one of its own."""
    found = outcome(data)
    line = found.line(("mcpServers", "a")) if isinstance(found, Document) else found and found.line
    assert line is None or 1 <= line <= data.count(b"\n") + 1
    assert CANARY not in f"{found!r} {getattr(found, '__context__', None)!r}"


@settings(max_examples=500)
@given(st.binary(max_size=80) | SOUP)
def test_any_bytes_are_a_program_or_an_error_that_shows_none_of_them(data: bytes) -> None:
    check_any(data)


def test_a_configuration_with_some_bytes_changed_is_a_program_or_an_error() -> None:
    random = Random(7)
    sound = (
        f"return {{ 'dlants/magenta.nvim', opts = {{ mcpServers = {{ a = {{ command = '{CANARY}' }} }} }} }}".encode()
    )
    for _ in range(3000):
        data = bytearray(sound)
        for _ in range(random.randrange(1, 5)):
            data[random.randrange(len(data))] = random.randrange(256)
        check_any(bytes(data))


HOSTILE = {
    "braces": ("", "{", ""),
    "tables": ("x = {", "{},", "}"),
    "keys": ("require'magenta'.setup{mcpServers={", "a=1,", "}}"),
    "open long strings": ("", "[[", ""),
    "fences": ("", "[=", ""),
    "open comments": ("", "--[[", ""),
    "comments": ("", "--\n", ""),
    "quotes": ("", '"', ""),
    "escaped quotes": ('x = {"', '\\"', '"}'),
    "blanks that are taken away": ('x = {"', "\\z ", '"}'),
    "one long text in parts": ("x = {", "'0123456789'..", "'b'}"),
    "names": ("x = {", "a ", "}"),
    "dots": ("", ".", ""),
    "setups": ("", "require'magenta'.setup{mcpServers={}} ", ""),
    "variables": ("", "m=require'magenta' ", ""),
    "entries": ("x = {", "{'a/magenta.nvim',opts={mcpServers={}}},", "}"),
    "functions": ("x = {", "function() end,", "}"),
    "functions in functions": ("", "{function()", ""),
    "digits": ("x = {", "1", "}"),
    "brackets": ("x = {", "[1", "}"),
    "zeros": ("", "\0", ""),
}

# In a process of its own, which the system ends: nothing else stops a regular expression.
TIMED = """
import resource, sys, time
from mooring.discovery.neovim import read_plugin_option
from mooring.errors import ParseError
data = sys.stdin.buffer.read()
resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
start = time.process_time()
try:
    document = read_plugin_option(data, "magenta", "mcpServers")
    document and document.line(("mcpServers", "a"))
except ParseError:
    pass
print(time.process_time() - start)
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_mebibyte_of_lua_takes_no_longer_than_two_seconds(name: str) -> None:
    start, unit, end = HOSTILE[name]
    text = start + unit * ((MIB - len(start + end)) // len(unit)) + end
    done = subprocess.run([sys.executable, "-c", TIMED], input=text.encode(), capture_output=True)
    assert done.returncode == 0, f"it took more than five seconds: {done.stderr.decode()}"
    assert is_within(float(done.stdout), 2)


# --- as people meet it --------------------------------------------------------------------------------------

SETUP = """\
require("magenta").setup({
  mcpServers = {
    fetch = { command = "uvx", args = { "mcp-server-fetch" }, env = { TOKEN = os.getenv("FETCH_TOKEN") } },
    run = { command = vim.fn.exepath("run"), args = {} },
  },
})
"""


def test_a_server_in_lua_is_listed_and_one_that_is_computed_is_reported_with_key_and_line(home: Home, cli: Cli) -> None:
    path = home.write(INIT, SETUP)
    done = cli("mcp", "list", "--json")
    rows = {row["name"]: row for row in done.data["servers"]}
    assert (rows["fetch"]["command"], rows["fetch"]["args"]) == ("uvx", ["mcp-server-fetch"])
    assert rows["fetch"]["source"] == {"tool": "magenta", "scope": "user", "path": str(path)}
    assert rows["run"]["status"] == "failed"
    [problem] = done.data["problems"]
    assert (problem["server"], problem["line"]) == ("run", 4)
    assert problem["message"].startswith("`command` is computed when its file runs")
    assert cli("mcp", "get", "fetch", "--json").data["env"] == {"TOKEN": "${FETCH_TOKEN}"}


def test_a_lua_file_is_never_written_and_what_is_added_goes_to_json(home: Home, cli: Cli) -> None:
    path = home.write(INIT, SETUP)
    done = cli("mcp", "remove", "fetch", "--from", "magenta")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"mooring: fetch is in {home.shorten(path)}, which is never written; remove it there.\n"
    assert cli("mcp", "add", "--to", "magenta", "--no-test", "new", "npx").code == 0
    assert (home.home / ".magenta/options.json").exists()
    assert path.read_text() == SETUP


def test_the_files_of_a_neovim_configuration_with_another_name_are_read(
    home: Home, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write("home/.config/mine/lua/plugins/ai.lua", SETUP)
    assert cli("mcp", "list", "--json").data["servers"] == []
    monkeypatch.setenv("NVIM_APPNAME", "mine")
    assert {row["name"] for row in cli("mcp", "list", "--json").data["servers"]} == {"fetch", "run"}


LOADED = """
import contextlib, io, sys
from mooring.cli.app import run
with contextlib.redirect_stdout(io.StringIO()):
    run(["mcp", "list"])
print("mooring.syntax.lua" in sys.modules)
"""


@pytest.mark.parametrize(("text", "loaded"), [("vim.o.number = true -- magenta\n", "False"), (SETUP, "True")])
def test_the_reader_of_lua_is_loaded_only_where_a_file_is_about_servers(home: Home, text: str, loaded: str) -> None:
    home.write(INIT, text)
    done = subprocess.run([sys.executable, "-c", LOADED], cwd=home.cwd, env=home.env, capture_output=True, text=True)
    assert done.stdout.strip() == loaded
