"""Writes reference/settings.md from `SETTINGS`: `make docs`."""

import json
from pathlib import Path

from mooring.settings import RENAMED, SETTINGS, UNUSED, Setting

TARGET = Path(__file__).with_name("reference") / "settings.md"

HEAD = """\
# Settings

<!-- Made by `make docs` from src/mooring/settings.py; a test checks that it is up to date. -->

Settings are JSON, with comments and trailing commas if you like. If several files set a value, the first of these wins;
for `permissions`, the rules of [every level](../guides/permissions.md#levels) apply.

| whose | file |
| --- | --- |
| the machine's | `/etc/mooring/settings.json` |
| yours | `settings.json` in your configuration folder, `~/.config/mooring` |
| a project's | `.mooring/settings.json`; it may contain only what the last column allows |

`mooring settings` shows each setting with its value and the file that set it. `mooring settings KEY VALUE` sets one in
your settings, with `--project` in the project's; `--unset` removes it, and `--add VALUE` adds to a list. Comments and
everything else in the file stay. A program that Mooring started, such as an agent's command, can set nothing. For
permission rules there are [commands of their own](../guides/permissions.md#rules).

JSON schemas:
[settings.json](schema/settings.schema.json), and [mcp.json](schema/mcp.schema.json) for Mooring's own servers.
"""

TAIL = """\

{unused} are accepted, because people copy them from other tools, but nothing in them is used or run. {renamed}
`mooring mcp doctor` and `mooring settings` say so.
"""


def page() -> str:
    rows = [_describe(name, setting) for name, setting in SETTINGS.items()]
    lines = [("setting", "what it does", "value", "default", "in a project"), ("---",) * 5, *rows]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    renamed = " ".join(f"`{old}` of earlier versions is `{new}` now: {note}." for old, (new, note) in RENAMED.items())
    return f"{HEAD}\n{table}{TAIL.format(unused=' and '.join(f'`{key}`' for key in UNUSED), renamed=renamed)}"


def _describe(name: str, setting: Setting) -> tuple[str, ...]:
    default = "" if setting.default is None else f"`{json.dumps(setting.default)}`"
    return f"`{name}`", setting.help, setting.expects, default, "yes" if setting.project else "no"


if __name__ == "__main__":
    TARGET.write_text(page())
