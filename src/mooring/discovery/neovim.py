"""What a Neovim configuration gives one of its plugins, as far as it is written out in the Lua of its files.

Read are the table in `require("plugin").setup({ … })`, also through a variable that holds the plugin, and the `opts` of
a lazy.nvim entry, `{ "owner/plugin.nvim", opts = { … } }`.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from mooring.discovery.values import EntryRefused
from mooring.syntax.document import COMPUTED, Document, Offsets, Path, count_values, first_duplicates
from mooring.syntax.lua import LuaProgram, LuaTable, LuaToken, read_program, read_string
from mooring.syntax.parse import decode_text

# A file has one, or two while somebody moves from one way to the other.
_MOST_SETUPS = 16


def read_plugin_option(data: bytes, plugin: str, option: str) -> Document | None:
    """A document with one option of a plugin, such as `mcpServers`; `None` if the file does not set it.

    It is `COMPUTED` if the file names it and does not write it out.

    Raises:
        ParseError: the file is not valid Lua.
    """
    text = decode_text(data)
    program = read_program(text)
    setups = list(islice(_find_setups(program, text, plugin), _MOST_SETUPS))
    found = [table for table in setups if isinstance(table, LuaTable) and option in table]
    options = LuaTable()
    for table in found:
        options.put(option, table[option], table.offsets[option])
    # The tables that are read say nothing about the option, so another one may.
    if not found and (not setups or COMPUTED in setups):
        # Comments and strings do not name it.
        named = [token for token in program.tokens if token.kind == "name" and token.text == option]
        for token in named[:1]:
            options.put(option, COMPUTED, token.offset)
    if not options:
        return None
    return Document(
        options,
        text,
        duplicates=first_duplicates((*path, key) for path, table in _walk(options) for key in table.repeated),
        values=count_values(options),
        find_offsets=lambda _: _find_offsets(options),
    )


def refuse_computed(raw: Mapping[str, Any]) -> None:
    """Refuse an entry in which something is computed, and name its key, such as `env.TOKEN`.

    Raises:
        EntryRefused
    """
    waiting: list[tuple[str, Any]] = list(raw.items())
    for key, value in waiting:
        if value is COMPUTED:
            message = f"`{key}` is computed when its file runs, and no file is run to read it"
            raise EntryRefused(message, "write the value itself, or os.getenv with the name of a variable", key)
        if isinstance(value, Mapping):
            waiting += [(f"{key}.{name}", inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(key, inner) for inner in value]


# --- where a plugin is set up -------------------------------------------------------------------------------


def _find_setups(program: LuaProgram, text: str, plugin: str) -> Iterator[Any]:
    """What the plugin is set up with: a table, or anything else that is not literal."""
    for table in program.tables.values():
        if isinstance(table, LuaTable) and _is_entry_of(table, plugin) and "opts" in table:
            yield table["opts"]
    for index in _find_calls(program, text, plugin):
        yield program.tables.get(index, COMPUTED)


def _is_entry_of(table: LuaTable, plugin: str) -> bool:
    """Whether a table is the entry of a plugin for lazy.nvim, which begins with the plugin's repository."""
    repository = table.get("1")
    return isinstance(repository, str) and repository.endswith((f"/{plugin}", f"/{plugin}.nvim"))


def _find_calls(program: LuaProgram, text: str, plugin: str) -> Iterator[int]:
    """For each call of the plugin's `setup`, the index of the token where its argument begins."""
    tokens = program.tokens
    variables: set[str] = set()
    for index, token in enumerate(tokens):
        if token.kind != "name":
            continue
        behind = index + 1
        if token.text == "require":
            behind = _skip_module(tokens, behind, text, plugin)
            variables |= _find_assigned(tokens, index) if behind else set()
        elif token.text not in variables:
            continue
        if behind and _texts(tokens, behind, 2) == [".", "setup"]:
            argument = behind + 2
            yield argument + (tokens[argument].text == "(")


def _skip_module(tokens: list[LuaToken], index: int, text: str, plugin: str) -> int:
    """The index behind the name of the plugin that `require` is given; 0 if it is given another.

    It is `require("plugin")`, `require "plugin"`, or `pcall(require, "plugin")`, where nothing may be missing.
    """
    bracket = tokens[index].text in ("(", ",")
    at = index + bracket
    if at >= len(tokens) or read_string(tokens[at], text) != plugin:
        return 0
    return at + 1 + (bracket and tokens[at + 1].text == ")")


def _find_assigned(tokens: list[LuaToken], index: int) -> set[str]:
    """The variable that a `require` is assigned to: `plugin = require`, or `ok, plugin = pcall(require`."""
    if _texts(tokens, max(index - 2, 0), 2) == ["pcall", "("]:
        index -= 2
    if index < 2:
        return set()
    name, sign = tokens[index - 2 : index]
    is_assigned = name.kind == "name" and sign.text == "="
    return {name.text} if is_assigned else set()


def _texts(tokens: list[LuaToken], index: int, count: int) -> list[str]:
    return [token.text for token in tokens[index : index + count]]


# --- lines --------------------------------------------------------------------------------------------------


def _find_offsets(table: LuaTable) -> Offsets:
    """Where each key begins, in the table and in those inside it."""
    return {(*path, key): offset for path, inner in _walk(table) for key, offset in inner.offsets.items()}


def _walk(table: LuaTable) -> Iterator[tuple[Path, LuaTable]]:
    """A table and those inside it, each with the keys that lead to it."""
    waiting: list[tuple[Path, LuaTable]] = [((), table)]
    for path, outer in waiting:
        yield path, outer
        waiting += [((*path, key), inner) for key, inner in outer.items() if isinstance(inner, LuaTable)]
