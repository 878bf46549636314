"""The connection of one client, which may be of either era: each request says by itself of which."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from msgspec import Raw

from mooring.serve import handshake, stateless
from mooring.serve.caller import ServeOptions
from mooring.serve.handshake import HandshakeClient
from mooring.serve.methods import METHODS
from mooring.serve.params import CLIENT, read_params
from mooring.serve.stateless import StatelessClients
from mooring.wire.rpc.inbound import Responder
from mooring.wire.rpc.peer import Peer
from mooring.wire.rpc.transport import Transport
from mooring.wire.session.dialect import McpDialect

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
            answers=self._list_answers(),
            dialect=McpDialect({handshake.INITIALIZED: self._handshake.on_initialized}),
        )
        self._handshake.attach(self._peer)

    async def wait_ended(self) -> None:
        """Wait until the client is gone, then close everything that was there for it alone."""
        await self._peer.wait_ended()
        await self.close()

    async def close(self) -> None:
        await self._peer.close()
        await self._handshake.close()
        await self._stateless.close()

    def _list_answers(self) -> Mapping[str, Responder]:
        return {method: partial(self._answer, method) for method in _METHODS}

    async def _answer(self, method: str, raw: Raw) -> Any:
        params = read_params(raw)
        if params.stateless_version is not None or method in stateless.OWN_METHODS:
            return await self._stateless.answer(method, params, self._peer.notify)
        return await self._handshake.answer(method, params)
