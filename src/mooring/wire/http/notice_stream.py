"""The standing GET stream, on which a server of the handshake era says what it wasn't asked: kept open."""

import asyncio
from math import inf
from typing import Final

from mooring.core.protocol.limits import Limits
from mooring.errors import ServerError
from mooring.wire.http.body import release
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.events import EVENT_STREAM, Events
from mooring.wire.http.renewal import Renewal
from mooring.wire.http.session import HttpSession
from mooring.wire.http.web import Web
from mooring.wire.rpc.transport import Receiver

_STEADY: Final = 10.0
"""A stream that lived for so many seconds was no failure."""


class NoticeStream:
    """The stream of one session, opened again whenever it ends, for as long as that makes sense."""

    def __init__(
        self, web: Web, session: HttpSession, renewal: Renewal, receiver: Receiver, *, server: str, limits: Limits
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._session = session
        self._renewal = renewal
        self._receiver = receiver
        self._server = server
        self._limits = limits
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Open the stream, in place of the one of an older session. A server need not have one."""
        self.close()
        self._task = self._loop.create_task(self._hold_open())

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _hold_open(self) -> None:
        events = Events(self._limits.line)
        failures = 0
        while failures < self._limits.resumes:
            began = self._loop.time()
            try:
                if not await self._read_once(events):
                    return
            except ServerError:
                pass  # the stream may come back; calls say for themselves what is wrong
            was_steady = self._loop.time() - began > _STEADY
            failures = 0 if was_steady else failures + 1
            await asyncio.sleep(events.reconnect_pause)
            events.restart()
        self._receiver.remark(f"{self._server} kept closing its stream of notifications, so changes may go unnoticed.")

    async def _read_once(self, events: Events) -> bool:
        """Open the stream and read it until it ends; false if there is no use in opening it again."""
        session_id = self._session.id
        response = await self._web.request("GET", self._session.stream_headers(events))
        if response.status == 404 and session_id:
            response.close()
            # A renewal opens a stream of its own, and cancels this one.
            await self._renewal.renew(session_id)
            return False
        if response.status >= 300 or response.content_type != EVENT_STREAM:
            response.close()
            # 405 is what the protocol has a server say that offers no such stream.
            return response.status >= 500
        await self._read(response, events)
        return True

    async def _read(self, response: HttpAnswer, events: Events) -> None:
        body = self._web.open_body(response, inf)
        try:
            while piece := await body.read():
                for event in events.feed(piece):
                    # One that is too large is passed over: no call waits for what comes here.
                    if event.is_message:
                        self._receiver.receive([event.data])
        finally:
            release(response)
