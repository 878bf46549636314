"""The way to a model's endpoint: a request goes there with its key, and the events of the reply come back."""

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, Mapping
from math import inf
from typing import Final

import aiohttp
from yarl import URL

from mooring.backends.api.codecs.codec import ApiRequest, BrokenReply, NoReply
from mooring.backends.api.codecs.refusal import ApiRefusal, read_refusal
from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.failures import Unreachable
from mooring.backends.api.providers import join_address
from mooring.core.protocol.limits import Limits
from mooring.errors import ProtocolError, ServerDied, TooLarge
from mooring.wire.http.address import Address
from mooring.wire.http.aiohttp_internals import HttpProcessingError
from mooring.wire.http.body import ENCODINGS, Body, release
from mooring.wire.http.connections import Connections, HttpAnswer
from mooring.wire.http.events import EVENT_STREAM, TOO_LARGE, Event, Events
from mooring.wire.http.post import JSON
from mooring.wire.http.refusal import describe_error

PROGRAM = "mooring"
CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 600.0
"""How long a provider may say nothing: a model that thinks can be silent for minutes."""
LONGEST_REFUSAL = 256 * 1024
_LIMITS = Limits(connect=CONNECT_SECONDS)
_BARE_OBJECT: Final = re.compile(rb"[\r\n]\{")
_JSON_KINDS: Final = frozenset({JSON, "text/json", "application/problem+json"})


class ModelConnection:
    """Sends requests to one endpoint. Made inside a running loop."""

    def __init__(
        self, endpoint: ModelEndpoint, headers: Mapping[str, str], connections: Connections, proxy: str | None
    ) -> None:
        self._endpoint = endpoint
        self._headers = headers
        self._connections = connections
        self._proxy = proxy

    async def send(self, request: ApiRequest) -> AsyncGenerator[Event, None]:
        """Send a request. Its events come one by one; closing the iterator closes the connection.

        Raises:
            ApiRefusal: the provider answers with an error.
            Unreachable: there is no way there.
            BrokenReply: the connection is lost.
            NoReply: what answers there is no model.
        """
        answer = await self._open(request)
        try:
            body = Body(answer, self._endpoint.address.name, _LIMITS, inf)
            if answer.status >= 300:
                raise await self._read_refusal(answer, body)
            # Not aiohttp's `content_type`, which loads what reads mail.
            kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            if kind in _JSON_KINDS:
                # An error, or a reply that was not streamed.
                yield Event(await self._read_whole(body), JSON)
                return
            if kind != EVENT_STREAM:
                raise NoReply
            events = Events(_LIMITS.line)
            is_line_start = True
            while piece := await self._read(body):
                start = _find_bare_object(piece, is_line_start)
                for event in events.feed(piece[:start]):
                    if event.kind == TOO_LARGE:
                        raise NoReply
                    yield event
                if start is not None:
                    yield Event(piece[start:] + await self._read_whole(body), JSON)
                    return
                is_line_start = piece.endswith((b"\n", b"\r"))
        finally:
            release(answer)

    async def close(self) -> None:
        await self._connections.close()

    async def _open(self, request: ApiRequest) -> HttpAnswer:
        url = URL(join_address(self._endpoint.url, request.path), encoded=True)
        headers = {**self._headers, **request.headers}
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                return await self._connections.send("POST", url, headers, request.body)
        except HttpProcessingError:
            raise NoReply from None
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError) as error:
            raise Unreachable(error, proxy=self._find_proxy(error)) from error
        except TimeoutError:
            raise BrokenReply("nothing came for ten minutes") from None
        except (aiohttp.ClientError, OSError) as error:
            raise Unreachable(error, is_connected=True) from error

    def _find_proxy(self, error: Exception) -> str:
        """The proxy that could not be reached, or did not let us through; empty if it was the endpoint itself."""
        if self._proxy is None:
            return ""
        is_beyond = isinstance(error, aiohttp.ClientConnectorError) and error.host != URL(self._proxy).host
        return "" if is_beyond else Address(self._proxy).name

    async def _read_refusal(self, answer: HttpAnswer, body: Body) -> ApiRefusal:
        pieces: list[bytes] = []
        size = 0
        while size < LONGEST_REFUSAL and (piece := await self._read(body)):
            pieces.append(piece)
            size += len(piece)
        return read_refusal(answer.status, answer.headers, b"".join(pieces), answer.reason)

    async def _read_whole(self, body: Body) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while piece := await self._read(body):
            pieces.append(piece)
            size += len(piece)
            if size > _LIMITS.line:
                raise NoReply
        return b"".join(pieces)

    async def _read(self, body: Body) -> bytes:
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                return await body.read()
        except TimeoutError:
            raise BrokenReply("nothing came for ten minutes") from None
        except ServerDied as error:
            cause = error.__cause__
            # What HTTP lacks at the end of a body tells nobody more than that.
            words = describe_error(cause) if isinstance(cause, OSError) else "the connection was closed"
            raise BrokenReply(words) from error
        except (ProtocolError, TooLarge):
            raise NoReply from None


def _find_bare_object(piece: bytes, is_line_start: bool) -> int | None:
    """Where an object stands in a stream without being an event: Google ends one so when an error comes up."""
    if is_line_start and piece.startswith(b"{"):
        return 0
    found = _BARE_OBJECT.search(piece)
    return found.end() - 1 if found else None


def connect(endpoint: ModelEndpoint, headers: Mapping[str, str], tls: ssl.SSLContext | None) -> ModelConnection:
    """A connection to an endpoint; `headers` are those of every request, with the key. Raises: ConfigError."""
    proxy = endpoint.network.proxy(endpoint.address, endpoint.options)
    defaults = {"User-Agent": PROGRAM, "Accept-Encoding": ENCODINGS}
    connections = Connections(endpoint.address, defaults, limits=_LIMITS, tls=tls, proxy=proxy, program=PROGRAM)
    return ModelConnection(endpoint, headers, connections, proxy)
