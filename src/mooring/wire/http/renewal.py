"""A new session where the server has forgotten the old one: begun once, for all the calls that find out."""

import asyncio
from collections.abc import Callable
from math import inf

from mooring.core.protocol.limits import Limits
from mooring.errors import ProtocolError, ServerDied, ServerError
from mooring.wire.http.body import release
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.events import EVENT_STREAM, Events
from mooring.wire.http.post import read_revision
from mooring.wire.http.refusal import make_refusal
from mooring.wire.http.session import SESSION_ID, HttpSession
from mooring.wire.http.web import Web
from mooring.wire.rpc.message import encode


class Renewal:
    """Begins the session again. `on_renewed` is called when it has, `on_failed` with what went wrong."""

    def __init__(
        self,
        web: Web,
        session: HttpSession,
        *,
        server: str,
        limits: Limits,
        on_renewed: Callable[[], None],
        on_failed: Callable[[BaseException], None],
    ) -> None:
        self._web = web
        self._session = session
        self._server = server
        self._limits = limits
        self._on_renewed = on_renewed
        self._on_failed = on_failed
        self._task: asyncio.Task[None] | None = None

    async def renew(self, forgotten: str) -> None:
        """Begin another session, unless the `forgotten` one has been replaced meanwhile. Raises: ServerDied."""
        if self._session.id != forgotten:
            return
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._renew())
            # Retrieved here, so that asyncio does not complain where every call that waited was cancelled.
            self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        # Shielded: all calls wait for the same task, and one that is cancelled must not cancel it for the others.
        await asyncio.shield(self._task)

    def cancel(self) -> None:
        """Stop where it is; nothing is called any more."""
        if self._task is not None:
            self._task.cancel()

    async def _renew(self) -> None:
        try:
            async with asyncio.timeout(self._limits.connect):
                await self._initialize()
        except (ServerError, TimeoutError) as error:
            self._on_failed(error)
            raise ServerDied(self._server, "initialize", cause="it ended its session and began no other") from error
        self._on_renewed()

    async def _initialize(self) -> None:
        initialize = self._session.initialize
        assert initialize is not None, "a session begins with initialize"
        response = await self._web.request("POST", self._session.headers_of(initialize), initialize.body)
        if response.status >= 300:
            raise make_refusal(self._server, response, await self._web.read_beginning(response))
        session_id = response.headers.get(SESSION_ID, "")
        # The peer above goes on as before, so the new session must speak as the old one did.
        if await self._read_version(response) != self._session.version:
            raise ProtocolError(self._server, "it now speaks a different revision")
        self._session.begin(session_id)
        for message in self._session.messages_to_repeat():
            response = await self._web.request("POST", self._session.headers, encode(message))
            await self._web.read_beginning(response)

    async def _read_version(self, response: HttpAnswer) -> str:
        if response.content_type != EVENT_STREAM:
            return read_revision(await self._web.read_all(response))
        events = Events(self._limits.line)
        body = self._web.open_body(response, inf)
        try:
            while piece := await body.read():
                for event in events.feed(piece):
                    if version := read_revision(event.data):
                        return version
        finally:
            release(response)
        return ""
