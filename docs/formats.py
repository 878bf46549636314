"""Writes formats.md from `FORMATS`, so that it says what is read and nothing else: `make docs`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from mooring.core.config import Scope
from mooring.core.template import CommandPart, FilePart, InputPart, KnownPart, SecretPart, VariablePart
from mooring.discovery.dialect import Dialect
from mooring.discovery.format import Field, Format, Place
from mooring.discovery.formats import FORMATS
from mooring.discovery.template import parse_template

TARGET = Path(__file__).with_name("formats.md")

HEAD = """\
# What is read, and how

<!-- Made by `make docs` from src/mooring/discovery/formats; a test holds it to them. -->

The order is the order of precedence inside a scope; scopes come first: command line, managed, project, user. A
project's files are looked for in each folder from the one you stand in up to the nearest with `.git`.

`{app}` is `~/.config` on Linux, `~/Library/Application Support` on macOS and `%APPDATA%` on Windows; `{xdg}` is
`$XDG_CONFIG_HOME` or `~/.config`; `{data}` is `$XDG_DATA_HOME` or `~/.local/share`, on Windows `%LOCALAPPDATA%`;
`{local}` is `%LOCALAPPDATA%`, `{programdata}` `%PROGRAMDATA%`, `{mooring}` Mooring's own configuration folder and
`{each}` the folder of each installed plugin.
"""

RULES = """\

## By which rules

*Type* is what an address without a type means. *Unset* is what becomes of a placeholder whose variable is not set; in a
header or an address, what would stay as written is left out instead, and reported.
"""

NOTES = """\

## What is not read, or not as the tool does

**Not read.**

- Bundles (`.mcpb`, `.dxt`) in plugins of Claude Code: it unpacks them for itself. A note says so, as it does for what
  is written in a programming language (Crush's `crushrc`, the Lua of magenta.nvim) and for the profiles of Codex, which
  it reads only when it is asked for one.
- What is not in a file: the Windows registry (Copilot CLI, Claude Code), the preferences that a device manager hands to
  Claude Code or Codex on macOS, what an organisation's server hands to OpenCode, Codex or claude.ai, and the databases
  in which Cursor, VS Code, Zed and Warp keep what is switched on or trusted.
- Plugins that a project's own files install (`.omp/plugins` in a repository): they would name folders outside it.
  Extension packages that oh-my-pi's settings name, `mcp.json` inside skills of Amp, and answers with a default that a
  plugin's question gives.
- Where a tool's plugins lie was taken from its own package. For the tools that are not listed with plugins above, no
  such place could be established.

**Read otherwise.**

- A file's fault costs what is at fault and nothing beside it, though Roo Code drops the file and Atomic stops.
- An address without a type is tried in the files of Claude Code and Copilot CLI, which skip it; `enabled`, `disabled`
  and `cwd` count in every format that has no other use for the word.
- Where a file is silent about times, Mooring's own hold, not the tool's. The tools' own variables for them
  (`MCP_TIMEOUT` and the like) do not count.
- A project's files count up to the nearest folder with `.git`; Claude Code looks further up, Amp stops at the first.
  Continue takes the servers of every project in a file of Claude Code's; here, this project's alone.
- What a project's file says of servers concerns the project's own: it switches none of the person's off, and allows
  none. Trust that another tool has recorded is shown and grants nothing, but for what Claude Code records about single
  servers in the person's own files.
- Claude Code fills in variables before it compares a server with its policies; here both are compared as written.
- Which of the person's variables a program inherits goes by Mooring's rules, whichever tool configured it.
- OpenCode fills placeholders into the text of a file before it reads it; here they count inside its strings.
- `imports` in a file of Atomic's starts nothing: the files that it names are read by the rules of their own tools.
  `deferTools`, `filterMapping` and `disableToolCache` of Copilot CLI say how it shows tools and results to its model;
  here Mooring's settings do. What a plugin's manifest says of being off at first does not count, only what the person
  switched.
- The agent profiles of Zed and `useLegacyMcpJson` of Amazon Q belong to an agent of theirs, not to a server.

**Secrets by name.** `env_keys` of Goose stand for a variable of that name or, where none is set, for what Goose keeps
(in the system's keyring, or in `secrets.yaml` beside its configuration); `${user_config.X}` in a plugin of Claude Code
for what the person answered, which its settings hold unless it is secret. A listing looks neither up.

**Not established.** Windsurf, Kiro, Junie, LM Studio and Cursor are closed, and of Rovo Dev, Kimi Code and Grok Build
only the places are known: their entries are read in the common shape, with nothing filled in. What becomes of an unset
variable in Windsurf and Cursor (here: empty) and whether Junie fills anything in (here: no) is a guess.
"""

VARIABLES = ("$VAR", "${VAR}", "${VAR:-default}", "$env:VAR", "${env:VAR}", "{env:VAR}", "${PLUGIN_ROOT}")
SAMPLES = {
    **dict.fromkeys(VARIABLES, VariablePart),
    "{file:path}": FilePart,
    "${file:path}": FilePart,
    "${input:id}": InputPart,
    "${workspaceFolder}": KnownPart,
    "${userHome}": KnownPart,
    "${{ secrets.X }}": SecretPart,
    "${user_config.X}": SecretPart,
    "%VAR%": VariablePart,
    "$(command)": CommandPart,
    "!command": CommandPart,
}
UNITS = {0.001: "ms", 1.0: "s", 60.0: "min"}
UNSET = {"literal": "as written", "empty": "empty", "omit": "left out", "error": "stops the start"}
SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


def page() -> str:
    places = _table(("tool", "id", "the person's own", "a project's", "managed"), map(_places, FORMATS))
    rules = _table(("tool", "key", "type", "times", "switched off by", "placeholders", "unset"), map(_rules, FORMATS))
    return f"{HEAD}\n{places}{RULES}\n{rules}{NOTES}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _places(format: Format) -> tuple[str, ...]:
    own, project, managed = (_paths(format, scope) for scope in ("user", "project", "managed"))
    return format.title, f"`{format.tool}`", own, project, managed


def _paths(format: Format, scope: Scope) -> str:
    shown = dict.fromkeys(_path(place) for place in format.places if place.scope == scope)
    return ", ".join(shown)


def _path(place: Place) -> str:
    path = f"`{'$' if place.inline else ''}{place.path.removeprefix('{system}')}`"
    return f"{path} ({SYSTEMS[place.platform]})" if place.platform else path


def _rules(format: Format) -> tuple[str, ...]:
    keys = (
        ", ".join(f"`{'.'.join(key).replace('<project>', '…')}`" for key in (format.key, *format.other_keys) if key)
        or "the file itself"
    )
    untyped = "required" if format.type_required or format.untyped_url is None else format.untyped_url
    forms = [form for form in SAMPLES if _counts(form, format.dialect)]
    return (
        format.title,
        keys,
        untyped if "url" in {field.slot for field in format.fields.values()} else "",
        ", ".join(_times(format.fields.items())),
        ", ".join(dict.fromkeys(_switches(format))),
        ", ".join(f"`{form}`" for form in forms),
        ", ".join(dict.fromkeys(_unset(forms, format.dialect))),
    )


def _times(fields: Iterable[tuple[str, Field]]) -> Iterator[str]:
    for key, field in fields:
        if field.slot.endswith("timeout"):
            bounds = f", {field.bounds[0]:g} to {field.bounds[1]:g}" if field.bounds else ""
            yield f"`{key}` ({UNITS[field.unit]}{bounds})"


def _switches(format: Format) -> Iterator[str]:
    yield from (f"`{key}`" for key, field in format.fields.items() if field.slot in ("enabled", "disabled"))
    around = (
        switch for place in format.places for switch in (*place.off, *(place.folders.off if place.folders else ()))
    )
    for switch in (*format.off, *format.policies, *around):
        name = ".".join(switch.key) or switch.place.path.rpartition("/")[2]
        yield f"`{name.replace('<project>', '…')}`"


def _counts(form: str, dialect: Dialect) -> bool:
    if form == "${PLUGIN_ROOT}" and _counts("${VAR}", dialect):
        return False
    dialect = (dialect.on_windows if form == "%VAR%" else None) or dialect
    made = (parse_template(form, dialect, field).parts for field in ("args", "env", "headers"))
    return any(len(parts) == 1 and isinstance(parts[0], SAMPLES[form]) for parts in made)


def _unset(forms: Iterable[str], dialect: Dialect) -> Iterator[str]:
    for field in ("args", "env", "headers"):
        for form in forms:
            yield from (
                UNSET[found.unset] for found in parse_template(form, dialect, field).variables if not found.default
            )


if __name__ == "__main__":
    TARGET.write_text(page())
