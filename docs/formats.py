"""Writes reference/formats.md from `FORMATS`: `make docs`."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mooring.core.definitions.config import Connection, Http, OAuth, Origin, Scope, ServerConfig, Stdio
from mooring.core.definitions.template import (
    CommandPart,
    FilePart,
    InputPart,
    KnownPart,
    SecretPart,
    Template,
    VariablePart,
    literal,
)
from mooring.discovery.dialect import Dialect
from mooring.discovery.edit import write_entry
from mooring.discovery.format import LOGIN_KEYS, Field, Format, Place
from mooring.discovery.formats import FORMATS
from mooring.discovery.template import parse_template
from mooring.errors import ConfigError

TARGET = Path(__file__).with_name("reference") / "formats.md"
PEERS = Path(__file__).parents[1] / "tests" / "peers"
READERS = {
    "opencode": "opencode-ai",
    "copilot-cli": "@github/copilot",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "claude-code": "@anthropic-ai/claude-code",
    "continue": "@continuedev/config-yaml",
    "mcporter": "mcporter",
    "vscode": "mcporter",
    "cursor": "mcporter",
    "windsurf": "mcporter",
}
"""Who reads what was written when the tests of peers run: the package of the tool's own program or library, if any."""

HEAD = """\
# Which files are read and written, and how

<!-- Made by `make docs` from src/mooring/discovery/formats; a test checks that it is up to date. -->

If several files define the same name, the scope decides first: command line, managed, project, user. Within a scope,
the order of this table decides. A project's files are searched for in each folder from the current one up to the
nearest folder with `.git`, if that is [yours](../guides/permissions.md#whose-project).

The variables that move a tool's files (`CODEX_HOME`, `CLAUDE_CONFIG_DIR`, `COPILOT_HOME`, `XDG_CONFIG_HOME` and so on)
work here too. Every JSON file can have comments and trailing commas. Entries that aren't servers (mocks, parts of the
tool itself, Mooring's own entry) are reported and skipped. For `npx mcp-remote URL`, Mooring connects to the URL
directly; `"mcpRemote": "keep"` in your settings starts the program instead.

`{app}` is `~/.config` on Linux, `~/Library/Application Support` on macOS and `%APPDATA%` on Windows; `{xdg}` is
`$XDG_CONFIG_HOME` or `~/.config`; `{data}` is `$XDG_DATA_HOME` or `~/.local/share`, on Windows `%LOCALAPPDATA%`;
`{local}` is `%LOCALAPPDATA%`, `{programdata}` `%PROGRAMDATA%`, `{mooring}` Mooring's own configuration folder and
`{each}` the folder of each installed plugin.
"""

RULES = """\

## Keys, units and placeholders

*Type* is what a URL without a type means. *Unset* is what happens to a placeholder whose variable is not set. In a
header or a URL, a placeholder that would be kept as written is left out instead, and reported.
"""

WRITING = """\

## What is written

Only keys that the tool itself has are written, in its own units and placeholders. *Cannot express* lists Mooring's
keys that it has no words for. A definition is not copied if it uses one of them for what the server is given: its
command, arguments, folder, variables, headers, login, or which of its tools may be used. The copy would lack
something, and come before the definition that has it. Left out and named are only keys about how it is used:
timeouts, `required`, `alwaysLoad`, `lifecycle`, `maxInFlight`, `maxMessageBytes` and `era`. Which tools another tool
may use unasked (`autoApprove`) is never copied. *Variables* stands for tools that fill in none: no secret takes the
place of a reference. *Timeouts* stands for tools that have none, or one for both start and calls. *Which transport*
means that HTTP is written where HTTP and SSE would be tried, or the other way round.

Placeholders that a tool lacks are translated where something means the same. `${userHome}` becomes `${HOME}`, or the
folder itself in a file of yours. `${workspaceFolder}` becomes the folder of the project, its name and the path
separator become plain text. In Mooring's own file, `${input:x}` and a secret of another tool's store become
`${keyring:SERVER.x}`: you are asked for the value, unless `mooring secret set SERVER.x` has stored it before.
Everything else is skipped, with the reason.

Every byte outside the entry stays as it is, and a file that cannot be read is never written. Removing an entry that was
added gives back the same file; if it was the only one, an empty container remains. Managed files, plugins and files in
a programming language are never written.

*Read by* is who reads the written file in a test and has to find the same server in it. Mooring's own reader does for
every tool. Where the tool's own program, or the library with which it reads its files, can be installed from npm, it
is asked too; for some editors, mcporter is, which imports from their files. In turn, Mooring reads and removes what the
programs of OpenCode, Copilot CLI, Codex, Gemini CLI and Claude Code add themselves.

What is written for oh-my-pi, Crush, Gemini CLI, Qwen Code, Codex and Goose was also checked by hand against the JSON
schemas that their makers publish (August to November 2026). Times are rounded up to whole seconds for Crush, Goose and
Zed, which accept nothing else.

`mooring mcp import --from FILE` tells the format of a file by its path, such as `.cursor/mcp.json`, and otherwise by
its content: it takes the format in which most entries can be used and the fewest placeholders are taken literally. A
file inside the project belongs to the project, whatever it is called, so its servers need an approval.
"""

NOTES = """\

## What is not read, or read differently

**Not read.**

- Bundles (`.mcpb`, `.dxt`) in plugins of Claude Code, which only Claude Code unpacks. A note reports them. Notes also
  report Crush's `crushrc`, which is a shell script, and the profiles of Codex, which Codex reads only if you name one.
- What the Lua of a Neovim configuration computes. Mooring reads the table in `require("magenta").setup({ … })` and the
  `opts` of a lazy.nvim entry if they are written out: strings, numbers, tables, strings joined with `..`, and
  `os.getenv("VAR")` or `vim.env.VAR` for a variable. Anything else, such as a call, is reported with its key and line,
  and nothing is ever run.
- What is not in a file: the Windows registry (Copilot CLI, Claude Code), the preferences that a device manager gives to
  Claude Code or Codex on macOS, what an organization's server gives to OpenCode, Codex or claude.ai, and the databases
  in which Cursor, VS Code, Zed and Warp keep what is turned on or trusted.
- Plugins that a project's own files install (`.omp/plugins` in a repository), because they would name folders outside
  of it. Extension packages in oh-my-pi's settings, `mcp.json` inside Amp skills, and default answers to the questions
  of a plugin.
- Plugin folders were taken from each tool's own package. For tools without plugins in the table above, no such folder
  is known.

**Read differently.**

- An error in a file affects only the entry it is in, although Roo Code drops the whole file and Atomic stops.
- A URL without a type is tried in the files of Claude Code and Copilot CLI, which skip it. `enabled`, `disabled` and
  `cwd` work in every format that doesn't use the word for something else.
- If a file sets no timeouts, Mooring's apply, not the tool's. The tools' own variables for timeouts (`MCP_TIMEOUT` and
  the like) are ignored.
- A project's files are read up to the nearest folder with `.git`; Claude Code looks further up, Amp stops at the first
  file. Continue takes the servers of every project in Claude Code's file; Mooring takes only those of this project.
- What a project's file says about servers applies only to the project's own servers: it can't turn your servers off or
  allow them. Trust that another tool has recorded is shown but grants nothing, except what Claude Code records about
  single servers in your own files.
- Claude Code fills in variables before it compares a server with its policies; Mooring compares both as written.
- Mooring's rules decide which of your variables a program inherits, whichever tool configured it.
- OpenCode fills placeholders into the text of a file before it parses it; Mooring fills them into its strings.
- `imports` in an Atomic file starts nothing: the files it names are read by the rules of their own tools. `deferTools`,
  `filterMapping` and `disableToolCache` of Copilot CLI control how it shows tools and results to its model; in Mooring
  the settings do. A plugin's manifest can't turn the plugin off at first; only your own switches do.
- The agent profiles of Zed and `useLegacyMcpJson` of Amazon Q belong to their agents, not to a server.

**Secrets by name.** `env_keys` of Goose stand for a variable of that name or, if it isn't set, for a secret that Goose
keeps (in the system's keyring, or in `secrets.yaml` beside its configuration). `${user_config.X}` in a plugin of Claude
Code stands for your answer, which its settings hold unless it is secret. A listing looks up neither.

**Not known.** Windsurf, Kiro, Junie, LM Studio and Cursor are closed source, and of Rovo Dev, Kimi Code and Grok Build
only the places of the files are known. Their entries are read in the common shape, with nothing filled in. Two things
are guesses: an unset variable in Windsurf and Cursor is empty, and Junie fills nothing in.
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
    "${keyring:X}": SecretPart,
    "%VAR%": VariablePart,
    "$(command)": CommandPart,
    "!command": CommandPart,
}
_VARIABLE = Template("${VAR}", (VariablePart("VAR"),))
_LOGIN = OAuth(
    client_id="i",
    client_secret=literal("s"),
    callback_port=1,
    redirect_uri="http://a",
    scopes=("s",),
    metadata_url="https://m",
    resource="https://r",
    grant="g",
    credential_id="c",
)
_ORIGIN = Origin("mooring", "user", None)


def _sample(name: str, connection: Connection, **changes: Any) -> ServerConfig:
    return ServerConfig(name=name, origin=_ORIGIN, connection=connection, **changes)


_URL = literal("https://a.example")
SAMPLE_CONFIGS = (
    _sample("addresses", Http(_URL)),
    _sample("sse", Http(_URL, transport="sse")),
    _sample("variables", Stdio(literal("x"), env={"OTHER": _VARIABLE})),
    _sample("program", Stdio(literal("x"), cwd=literal("/"), env_file=literal("/e")), disabled_by="x", required=True,
            start_timeout=5.0, call_timeout=60.0, idle_timeout=60.0, max_in_flight=1, max_message_bytes=1,
            era="handshake", always_load=True, lifecycle="keep-alive"),
    _sample("allowed", Stdio(literal("x")), tools_allow=("t",)),
    _sample("blocked", Stdio(literal("x")), tools_deny=("t",)),
    _sample("address", Http(_URL, headers_helper=literal("h"), transport="http"), oauth=_LOGIN),
)  # fmt: skip
GROUPS = {
    "timeouts": {"startTimeout", "callTimeout"},
    "tool lists": {"allowedTools", "blockedTools"},
    "logins": {f"oauth.{key}" for key in LOGIN_KEYS.values()},
}
LOST_NAMES = {
    **{name: name for name in ("addresses", *GROUPS)},
    "sse": "SSE",
    "env.OTHER": "variables",
    "transport": "which transport",
}
WRITERS = tuple(format for format in FORMATS if format.writes)
UNITS = {0.001: "ms", 1.0: "s", 60.0: "min"}
UNSET = {"literal": "kept as written", "empty": "empty", "omit": "left out", "error": "the server doesn't start"}
SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


def page() -> str:
    places = _table(("tool", "id", "your files", "a project's files", "managed files"), map(_places, FORMATS))
    rules = _table(("tool", "key", "type", "timeouts", "turned off by", "placeholders", "unset"), map(_rules, FORMATS))
    written = _table(("tool", "your file", "a project's file", "cannot express", "read by"), map(_written, WRITERS))
    return f"{HEAD}\n{places}{RULES}\n{rules}{WRITING}\n{written}{NOTES}"


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
    forms = [form for form in SAMPLES if _is_known(form, format.dialect)]
    return (
        format.title,
        keys,
        untyped if "url" in {field.slot for field in format.fields.values()} else "",
        ", ".join(_times(format.fields.items())),
        ", ".join(dict.fromkeys(_switches(format))),
        ", ".join(f"`{form}`" for form in forms),
        ", ".join(dict.fromkeys(_unset(forms, format.dialect))),
    )


def _written(format: Format) -> tuple[str, ...]:
    assert format.writes
    lost = _group(dict.fromkeys(key for sample in SAMPLE_CONFIGS for key in _lost(sample, format)))
    own, project = (", ".join(map(_path, places)) for places in map(format.list_written_places, ("user", "project")))
    cannot = ", ".join(LOST_NAMES.get(key, f"`{key}`") for key in lost)
    return format.title, own, project, cannot, _reader(format.tool)


def _reader(tool: str) -> str:
    package = READERS.get(tool)
    return f"`{package}` {_versions()[package]}, Mooring" if package else "Mooring"


def _versions() -> dict[str, str]:
    """The versions of the tools that the tests install."""
    lists = [PEERS / folder / "package.json" for folder in ("tools", "readers")]
    return {name: version for path in lists for name, version in json.loads(path.read_text())["dependencies"].items()}


def _group(lost: dict[str, None]) -> dict[str, None]:
    """Fewer words where everything of one kind is lost."""
    for name, keys in GROUPS.items():
        if keys <= lost.keys():
            lost = {key: None for key in (*lost, name) if key not in keys}
    return {key: None for key in lost if key not in ("maxInFlight", "maxMessageBytes", "era", "address")}


def _lost(config: ServerConfig, format: Format) -> tuple[str, ...]:
    try:
        return write_entry(config, format).lost
    except ConfigError:
        return (config.name,)


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


def _is_known(form: str, dialect: Dialect) -> bool:
    if form == "${PLUGIN_ROOT}" and _is_known("${VAR}", dialect):
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
