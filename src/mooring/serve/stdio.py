"""One client over this program's own stdin and stdout."""

import os
import stat
import threading

from mooring.serve.caller import ServeOptions
from mooring.serve.connection import Connection
from mooring.serve.params import CLIENT
from mooring.wire.stdio.pipes import StdioTransport

_READ = 64 * 1024


async def serve_stdio(options: ServeOptions, stdin: int = 0, stdout: int = 1) -> None:
    """Serve the client at the other end of stdin and stdout until it closes one of them.

    Nothing but messages is written to stdout from here on: what any code prints goes to stderr.
    """
    source = _make_pollable(stdin)
    target = os.dup(stdout)
    os.dup2(2, stdout)
    if _is_pipe(target):
        os.set_blocking(target, False)
    transport = StdioTransport(source, target, server=CLIENT, limits=options.limits)
    connection = Connection(transport, options)
    try:
        await connection.wait_ended()
    finally:
        await connection.close()


def _make_pollable(stdin: int) -> int:
    """A descriptor that the event loop can wait for: a pipe or a socket as it is, anything else through a pipe."""
    if _is_pipe(stdin):
        os.set_blocking(stdin, False)
        return os.dup(stdin)
    # A file cannot be waited for, and a terminal must not be made non-blocking: the shell uses it as well.
    source, target = os.pipe()
    os.set_blocking(source, False)
    threading.Thread(target=_copy, args=(stdin, target), daemon=True).start()
    return source


def _is_pipe(descriptor: int) -> bool:
    kind = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)


def _copy(source: int, target: int) -> None:
    try:
        while piece := os.read(source, _READ):
            os.write(target, piece)
    except OSError:
        pass  # one of the two ends is gone, and so is the client
    finally:
        os.close(target)
