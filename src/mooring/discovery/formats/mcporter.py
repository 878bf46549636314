"""mcporter: two spellings of every key, a command as a line, a list or a word; an unset variable stops the start."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import MCPORTER
from mooring.discovery.format import BASIC, Format, Slot, Writes, common_without, fields, project_file, user_file
from mooring.discovery.values import EntryRefused

_ALLOWED = {"allowedTools", "allowed_tools"}
_BLOCKED = {"blockedTools", "blocked_tools"}


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if _ALLOWED & raw.keys() and _BLOCKED & raw.keys():
        raise EntryRefused("names both allowed and blocked tools", "keep one of the two lists", "blockedTools")
    entry = {**raw, **_split_command(raw)}
    # `auth` only names a kind of login. The other lifecycle, "ephemeral", is what servers have here anyway.
    entry["auth"] = None
    if entry.get("lifecycle") != "keep-alive":
        entry["lifecycle"] = None
    return entry


def _split_command(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The program and its arguments, out of a list or a whole line; nothing if `command` is only a program."""
    match raw.get("command"):
        case [str(program), *rest]:
            return {"command": program, "args": [*rest, *(raw.get("args") or [])]}
        case str(line) if "args" not in raw and len(line.split()) > 1:
            return _split_line(line)
        case _:
            return {}


def _split_line(line: str) -> Mapping[str, Any]:
    from shlex import split  # only if a command is a whole line

    try:
        program, *rest = split(line)
    except ValueError:
        raise EntryRefused("`command` has an unclosed quote", "close it", "command") from None
    return {"command": program, "args": rest}


_CAMEL: dict[str, Slot] = {
    "baseUrl": "url", "url": "url", "serverUrl": "url", "executable": "command", "bearerToken": "bearer",
    "bearerTokenEnv": "bearer_env", "allowedTools": "tools_allow", "blockedTools": "tools_deny",
    "oauthClientId": "oauth_client_id", "oauthClientSecret": "oauth_client_secret", "oauthScope": "oauth_scopes",
}  # fmt: skip


def _to_snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


_SNAKE = {_to_snake(name): slot for name, slot in _CAMEL.items()}
_FIELDS = {**common_without("timeout"), **fields({**_CAMEL, **_SNAKE})}

_USER = (
    user_file("${MCPORTER_CONFIG}"),
    *(
        user_file(f"{home}/mcporter.{kind}", unless_set=("MCPORTER_CONFIG",))
        for home in ("~/.mcporter", "{xdg}/mcporter")
        for kind in ("json", "jsonc")
    ),
)

FORMAT = Format(
    tool="mcporter",
    title="mcporter",
    places=(
        _USER[0],
        project_file("config/mcporter.json"),
        *_USER[1:],
    ),
    fields=_FIELDS,
    untyped_url="http",
    dialect=MCPORTER,
    prepare=_prepare,
    relative_paths=True,
    writes=Writes(
        user=_USER,
        project=(project_file("config/mcporter.json"),),
        slots=(
            *BASIC,
            "cwd",
            "lifecycle",
            "tools_allow",
            "tools_deny",
            "oauth_client_id",
            "oauth_client_secret",
            "oauth_scopes",
        ),
        keys={"url": "baseUrl", "command": "command"},
        types={},
        joined_scopes=True,
    ),
)
