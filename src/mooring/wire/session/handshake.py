"""The handshake era of the protocol: `initialize`, its answer, `notifications/initialized`."""

from collections.abc import Mapping
from typing import Any

from msgspec import DecodeError, Raw
from msgspec.json import Decoder

from mooring.core.protocol.era import EraName
from mooring.core.protocol.raw import read_as
from mooring.core.protocol.tool import Implementation, Listing, ServerInfo, Tool
from mooring.errors import HandshakeError, RpcError
from mooring.wire.rpc.peer import Ask, Peer

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions of this era, newest first; the first is the one we ask for."""

_hello_decoder = Decoder(ServerInfo)


class Handshake:
    """Opens a connection the way every server before 2026-07-28 expects."""

    name: EraName = "handshake"

    def __init__(self, program: Implementation, capabilities: Mapping[str, Any]) -> None:
        self._program = program
        self._capabilities = capabilities

    async def open(self, peer: Peer, until: float) -> ServerInfo:
        """Initialize the connection. Raises: HandshakeError, and what `Peer.request` raises."""
        program = {"name": self._program.name, "version": self._program.version}
        params = {"protocolVersion": VERSIONS[0], "capabilities": self._capabilities, "clientInfo": program}
        try:
            hello = await peer.request("initialize", params, _read_hello, until=until, stage="handshake")
        except RpcError as error:
            reason = f"it refused to initialize: {error.message} ({error.code})"
            raise HandshakeError(peer.server, reason) from error
        peer.notify("notifications/initialized")
        return hello

    def select_tools(self, tools: Listing[Tool]) -> Listing[Tool]:
        """Every tool can be called."""
        return tools

    def requester(self, peer: Peer) -> Ask:
        """Requests carry nothing extra in this era."""
        return peer.request


def _read_hello(server: str, about: str, answer: Raw) -> ServerInfo:
    try:
        hello = read_as(_hello_decoder, answer)
    except DecodeError as error:
        raise HandshakeError(server, f"its answer to initialize is invalid: {error}") from error
    # The server may answer with another revision than it was asked for; the client then decides.
    if hello.protocol_version not in VERSIONS:
        known = ", ".join(VERSIONS)
        raise HandshakeError(
            server, f"it speaks MCP {hello.protocol_version!r}, which is none of {known}; update one of the two"
        )
    return hello
