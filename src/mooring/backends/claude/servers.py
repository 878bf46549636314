"""The servers of a conversation as Claude Code's configuration, and what it says of them as statuses."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from mooring.backends.bridge.bridge import AgentBridge, AgentEndpoint
from mooring.backends.bridge.native import (
    LeftOut,
    NativeAddress,
    NativeProgram,
    NativeServer,
    describe_left_out,
    write_milliseconds,
)
from mooring.core.conversation.turn import ServerStatus, ServerStatusWord
from mooring.display.text import safe

_NO_REGISTRATION: Final = "Dynamic Client Registration"
_VARIABLE: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_WORDS: Final[dict[str, ServerStatusWord]] = {
    "connected": "connected",
    "pending": "pending",
    "failed": "failed",
    "needs-auth": "needs-auth",
    "disabled": "disabled",
}


def write_endpoint(endpoint: AgentEndpoint) -> dict[str, Any]:
    """A server that is reached through Mooring."""
    return {"type": "http", "url": endpoint.url, "headers": dict(endpoint.headers)}


def find_hindrance(server: NativeServer) -> str:
    """Why Claude Code can't be given a server; empty if it can."""
    match server.connection:
        case NativeAddress(url) if not url.startswith(("http://", "https://")):
            return "Claude Code reaches servers by HTTP alone."
        case _:
            return ""


def write_native(server: NativeServer, cwd: str, inherited: Collection[str]) -> dict[str, Any]:
    """A server that Claude Code starts or reaches itself.

    `cwd` is the folder that it works in, and `inherited` are the variables that whatever it starts would get.
    """
    match server.connection:
        case NativeProgram() as program:
            entry = _write_program(program, cwd, inherited)
        case NativeAddress(url, headers, transport):
            entry = {"type": transport, "url": url, "headers": dict(headers)}
    if server.timeout is not None:
        entry["timeout"] = write_milliseconds(server.timeout)
    return entry


def _write_program(program: NativeProgram, cwd: str, inherited: Collection[str]) -> dict[str, Any]:
    command, args = program.command, list(program.args)
    # Claude Code passes its whole environment on, the keys of its provider too, and ignores a folder without a word.
    kept_from_it = sorted(name for name in inherited if name not in program.env and _VARIABLE.fullmatch(name))
    if kept_from_it or program.cwd != cwd:
        script = f'unset CLAUDECODE {" ".join(kept_from_it)}; cd "$0" && exec "$@"'
        command, args = "/bin/sh", ["-c", script, program.cwd, command, *args]
    # Without `args`, even if empty, it fails with an error of JavaScript.
    return {"type": "stdio", "command": command, "args": args, "env": dict(program.env)}


def merge_statuses(
    bridge: AgentBridge,
    configured: Iterable[ServerStatus],
    said: Sequence[Mapping[str, Any]],
    left_out: Iterable[LeftOut],
    switched_off: Collection[str] = (),
) -> Sequence[ServerStatus]:
    """Every configured server: as Claude Code sees it if it was given it, else why it was not."""
    statuses = {status.name: status for status in configured}
    for each in left_out:
        statuses[each.server] = describe_left_out(each)
    for entry in said:
        server = bridge.find_server(str(entry.get("name")))
        if server is not None:
            statuses[server] = _read_status(server, entry)
    for name in switched_off:
        statuses[name] = ServerStatus(name, "disabled")
    return tuple(statuses.values())


def _read_status(server: str, entry: Mapping[str, Any]) -> ServerStatus:
    # Its `config` repeats all headers in plain text, so nothing else of the entry is looked at.
    word = _WORDS.get(str(entry.get("status")), "unknown")
    error = " ".join(str(entry.get("error") or "").split())
    if word == "failed" and error.startswith(_NO_REGISTRATION):
        # It tried to log in by itself, and the server wants to be told beforehand who logs in.
        word = "needs-auth"
    return ServerStatus(server, word, safe(error))
