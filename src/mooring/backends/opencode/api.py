"""OpenCode's own server: started by the guard on a port of loopback, and asked in JSON; its events are one stream."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from mooring.backends.bridge.program import wait_until_listening
from mooring.backends.programs import PROGRAM_FACTS
from mooring.display.text import safe
from mooring.errors import ModelError
from mooring.process.child import Child
from mooring.process.programs import Guard
from mooring.process.surroundings import surround
from mooring.wire.http.events import EVENT_STREAM, Events

if TYPE_CHECKING:
    import aiohttp

NAME: Final = PROGRAM_FACTS["opencode"].label
END_GRACE: Final = 0.2
"""Seconds that it has after the end of its input, which it doesn't look at, before it is told to end."""

_LISTENING: Final = re.compile(rb"listening on (http://\S+)\s")


class RunningProgram(Struct, frozen=True):
    """OpenCode's server, as it is reached. The password is known to it and to us alone."""

    child: Child
    url: str
    password: str

    def __repr__(self) -> str:
        return f"<RunningProgram {self.child.pid} at {self.url}>"

    @property
    def is_running(self) -> bool:
        return not self.child.exited.done()

    async def close(self) -> None:
        await self.child.close(END_GRACE)


async def start_program(guard: Guard, path: str, env: Mapping[str, str], cwd: str) -> RunningProgram:
    """Start OpenCode's server and wait until it listens.

    Raises: SpawnError; ModelError if it ends at once or never listens.
    """
    password = token_urlsafe(32)
    # Without a port to begin with, it takes a free one and says which.
    argv = (path, "serve", "--hostname", "127.0.0.1", "--port", "0")
    child = await guard.start(argv, surround({**env, "OPENCODE_SERVER_PASSWORD": password}, cwd))
    try:
        url = await wait_until_listening(child, NAME, _LISTENING)
    except BaseException:
        child.end(0, 0)
        raise
    return RunningProgram(child, url, password)


USER: Final = "opencode"
REQUEST_TIMEOUT: Final = 60.0
"""Seconds for a request; its first one makes it read its configuration, which takes a while on a busy machine."""
LARGEST_EVENT: Final = 64 * 1024 * 1024
"""Bytes of one event. The result of a tool is in one, with its pictures."""
LONGEST_REASON: Final = 300
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class OpenCodeApi:
    """Requests to one running server, all about one folder."""

    def __init__(self, session: "aiohttp.ClientSession", url: str, folder: str) -> None:
        self._session = session
        self._url = url
        self._parameters = {"directory": folder}
        self.is_reachable = True
        """Whether no request found the connection cut: on loopback, that is the end of the server."""

    async def get(self, path: str) -> Any:
        """Raises: ModelError."""
        return await self._send("GET", path, None, REQUEST_TIMEOUT)

    async def post(
        self, path: str, body: Mapping[str, Any] | None = None, seconds: float | None = REQUEST_TIMEOUT
    ) -> Any:
        """Raises: ModelError."""
        return await self._send("POST", path, body or {}, seconds)

    async def _send(self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float | None) -> Any:
        import aiohttp

        limit = aiohttp.ClientTimeout(total=seconds)
        data = None if body is None else msgspec.json.encode(body)
        try:
            request = self._session.request(
                method, f"{self._url}{path}", params=self._parameters, data=data, timeout=limit
            )
            async with request as response:
                answer = await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            if not isinstance(error, TimeoutError):
                self.is_reachable = False
            # The words of aiohttp may repeat the request's headers, and with them the password.
            raise ModelError(NAME, f"did not answer {method} {path}: {type(error).__name__}.") from None
        if response.status >= 400:
            raise ModelError(NAME, f"refused {method} {path}: {_find_reason(answer, response.status)}")
        if response.status == 204 or not answer:
            return None
        # An address that it doesn't know is answered with its web page, as if all were well.
        if response.content_type != "application/json":
            raise ModelError(NAME, f"this version has no {method} {path}; version 1.18 has.")
        try:
            return msgspec.json.decode(answer)
        except _UNREADABLE:
            raise ModelError(NAME, f"answered {method} {path} with something that is not JSON.") from None

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[AsyncIterator[bytes]]:
        """The events from now on, each as JSON, until the server ends. Raises: ModelError."""
        import aiohttp

        forever = aiohttp.ClientTimeout(total=None, sock_connect=REQUEST_TIMEOUT)
        try:
            request = self._session.get(f"{self._url}/event", params=self._parameters, timeout=forever)
            async with request as response:
                if response.content_type != EVENT_STREAM:
                    raise ModelError(NAME, "this version has no events at /event; version 1.18 has.")
                yield _read_events(response)
        except aiohttp.ClientError as error:
            raise ModelError(NAME, f"its events ended: {type(error).__name__}.") from None


async def _read_events(response: "aiohttp.ClientResponse") -> AsyncIterator[bytes]:
    events = Events(LARGEST_EVENT)
    async for piece in response.content.iter_any():
        for event in events.feed(piece):
            if event.is_message:
                yield event.data


@asynccontextmanager
async def open_api(program: RunningProgram, folder: str) -> AsyncIterator[OpenCodeApi]:
    """The interface of a running server, for everything that happens in one folder."""
    # Loaded here: a third of a second, and only conversations with OpenCode need it.
    import aiohttp

    headers = {"Authorization": aiohttp.encode_basic_auth(USER, program.password), "Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=headers, trust_env=False) as session:
        yield OpenCodeApi(session, program.url, folder)


def _find_reason(answer: bytes, status: int) -> str:
    """What it says about its refusal."""
    try:
        said = msgspec.json.decode(answer)
    except _UNREADABLE:
        said = None
    data = said.get("data", said) if isinstance(said, dict) else {}
    message = data.get("message") if isinstance(data, dict) else None
    reason = message if isinstance(message, str) and message else f"HTTP {status}"
    return safe(reason[:LONGEST_REASON])
