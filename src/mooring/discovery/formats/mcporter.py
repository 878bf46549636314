"""mcporter: two spellings of every key, a command as a line, a list or a word; an unset variable stops the start."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import STRICT
from mooring.discovery.format import Format, Slot, fields, project, user, without
from mooring.discovery.values import EntryRefused


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if {"allowedTools", "allowed_tools"} & raw.keys() and {"blockedTools", "blocked_tools"} & raw.keys():
        raise EntryRefused("names both allowed and blocked tools", "keep one of the two lists", "blockedTools")
    lifecycle = raw.get("lifecycle")
    entry = {**raw, "auth": None, "lifecycle": lifecycle if lifecycle == "keep-alive" else None}
    match entry.get("command"):
        case [str(program), *rest]:
            return entry | {"command": program, "args": [*rest, *(entry.get("args") or [])]}
        case str(line) if "args" not in entry and len(line.split()) > 1:
            return entry | _words(line)
        case _:
            return entry


def _words(line: str) -> dict[str, Any]:
    from shlex import split  # only where a command is a whole line

    try:
        program, *rest = split(line)
    except ValueError:
        raise EntryRefused("`command` has a quote that does not end", "close it", "command") from None
    return {"command": program, "args": rest}


_NAMES: dict[str, Slot] = {
    "baseUrl": "url", "url": "url", "serverUrl": "url", "executable": "command", "bearerToken": "bearer",
    "bearerTokenEnv": "bearer_env", "allowedTools": "tools_allow", "blockedTools": "tools_deny",
    "oauthClientId": "oauth_client_id", "oauthClientSecret": "oauth_client_secret", "oauthScope": "oauth_scopes",
}  # fmt: skip
_SNAKE = {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): slot for name, slot in _NAMES.items()}
_FIELDS = {**without("timeout"), **fields({**_NAMES, **_SNAKE})}

FORMAT = Format(
    tool="mcporter",
    title="mcporter",
    places=(
        user("${MCPORTER_CONFIG}"),
        project("config/mcporter.json"),
        *(
            user(f"{home}/mcporter.{kind}", unless=("MCPORTER_CONFIG",))
            for home in ("~/.mcporter", "{xdg}/mcporter")
            for kind in ("json", "jsonc")
        ),
    ),
    fields=_FIELDS,
    untyped="http",
    dialect=STRICT,
    prepare=_prepare,
    relative=True,
)
