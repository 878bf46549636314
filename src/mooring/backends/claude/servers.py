"""The servers of a conversation as Claude Code's configuration, and what it says of them as statuses."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from mooring.backends.bridge.bridge import AgentBridge, AgentEndpoint
from mooring.backends.bridge.native import LeftOut, NativeAddress, NativeProgram, NativeServer
from mooring.core.turn import ServerStatus, ServerStatusWord
from mooring.display.text import safe

LONGEST_TIMEOUT: Final = 2**31 - 1
"""In milliseconds: a timer of JavaScript that is set for longer goes off at once."""

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


def write_native(server: NativeServer, cwd: str) -> dict[str, Any]:
    """A server that Claude Code starts or reaches itself; `cwd` is the folder that it works in."""
    match server.connection:
        case NativeProgram() as program:
            entry = _write_program(program, cwd)
        case NativeAddress(url, headers, transport):
            entry = {"type": transport, "url": url, "headers": dict(headers)}
    if server.timeout is not None:
        entry["timeout"] = _write_milliseconds(server.timeout)
    return entry


def _write_program(program: NativeProgram, cwd: str) -> dict[str, Any]:
    command, args = program.command, list(program.args)
    if program.cwd and program.cwd != cwd:
        # Claude Code has no folder for a server, and ignores one without a word.
        command, args = "/bin/sh", ["-c", 'cd "$0" && exec "$@"', program.cwd, command, *args]
    # Without `args`, even if empty, it fails with an error of JavaScript.
    return {"type": "stdio", "command": command, "args": args, "env": dict(program.env)}


def _write_milliseconds(seconds: float) -> int:
    return LONGEST_TIMEOUT if math.isinf(seconds) else min(math.ceil(seconds * 1000), LONGEST_TIMEOUT)


def merge_statuses(
    bridge: AgentBridge,
    configured: Iterable[ServerStatus],
    said: Sequence[Mapping[str, Any]],
    left_out: Iterable[LeftOut],
) -> Sequence[ServerStatus]:
    """Every configured server: as Claude Code sees it if it was given it, else why it was not."""
    statuses = {status.name: status for status in configured}
    for each in left_out:
        statuses[each.server] = ServerStatus(each.server, "failed", each.reason)
    for entry in said:
        server = bridge.find_server(str(entry.get("name")))
        if server is not None:
            statuses[server] = _read_status(server, entry)
    return tuple(statuses.values())


def _read_status(server: str, entry: Mapping[str, Any]) -> ServerStatus:
    # Its `config` repeats all headers in plain text, so nothing else of the entry is looked at.
    word = _WORDS.get(str(entry.get("status")), "unknown")
    error = entry.get("error")
    return ServerStatus(server, word, safe(str(error)) if error else "")
