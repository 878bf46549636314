"""The connection of one client, which may be of either era; and the one over this program's own stdin and stdout."""

import os
import stat
import threading
from functools import partial
from typing import Any, Final

from msgspec import Raw

from mooring.serve import handshake, stateless
from mooring.serve.caller import ServeOptions
from mooring.serve.handshake import HandshakeClient
from mooring.serve.methods import CLIENT, METHODS, read_params
from mooring.serve.stateless import StatelessClients
from mooring.wire.rpc.peer import Peer
from mooring.wire.rpc.transport import Transport
from mooring.wire.session.dialect import McpDialect
from mooring.wire.stdio.pipes import StdioTransport

_METHODS: Final = (*METHODS, *handshake.OWN_METHODS, *stateless.OWN_METHODS)


class Connection:
    """One client over one transport, which it owns from here on."""

    def __init__(self, transport: Transport, options: ServeOptions) -> None:
        self._handshake = HandshakeClient(options)
        self._stateless = StatelessClients(options)
        self._peer = Peer(
            transport,
            server=CLIENT,
            limits=options.limits,
            answers={method: partial(self._answer, method) for method in _METHODS},
            dialect=McpDialect({handshake.INITIALIZED: self._handshake.on_initialized}),
        )
        self._handshake.attach(self._peer)

    async def wait_ended(self) -> None:
        """Wait until the client is gone."""
        await self._peer.wait_ended()

    async def close(self) -> None:
        await self._peer.close()
        await self._handshake.close()
        await self._stateless.close()

    async def _answer(self, method: str, raw: Raw) -> Any:
        params = read_params(raw)
        if params.stateless_version is not None or method in stateless.OWN_METHODS:
            return await self._stateless.answer(method, params, self._peer.notify)
        return await self._handshake.answer(method, params)


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
