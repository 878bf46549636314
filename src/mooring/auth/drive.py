"""Drives a login: does what each of its steps asks for, waits for the browser to come back, and hands answers on."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from mooring.auth.fetch import Fetcher
from mooring.auth.oauth.authorization import LONGEST_QUERY, Authorization, read_pasted
from mooring.auth.oauth.client import OAuthClient
from mooring.auth.oauth.exchange import LoginRequest
from mooring.auth.oauth.flow import (
    Browse,
    Confirm,
    FindClient,
    Flow,
    Listen,
    LoginPlan,
    LoginStep,
    Note,
    Pause,
    ShowCode,
)
from mooring.auth.oauth.metadata import is_loopback
from mooring.auth.oauth.options import LoginOptions
from mooring.core.conversation.question import Answer, Ask, ChangedIssuer, Login, Yes
from mooring.errors import Denied, LoginFailed, LoginTimedOut

PATH = "/callback"
HOST = "127.0.0.1"
_HEAD_SECONDS = 10.0
_LONGEST_HEAD = LONGEST_QUERY + 16 * 1024
_MOST_CONNECTIONS = 32
_LINE = re.compile(rb"GET ([\x21-\x7e]+) HTTP/1\.[01]\r?\n")
_HOST_LINE = re.compile(rb"(?im)^host:[ \t]*([\x21-\x7e]+)[ \t]*\r?$")
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Mooring</title>
<body style="font: 1.1em/1.5 system-ui, sans-serif; max-width: 32em; margin: 15vh auto; padding: 0 1em">
<p>{words}</p></body></html>
"""
_RECEIVED = "Mooring has received the answer. You can close this window and go back to your terminal."
_REFUSED = "This is not the answer to a login, so nothing was done."


class Callback:
    """Listens for one redirect. Use it as a context manager."""

    def __init__(self, redirect_uri: str = "", port: int = 0) -> None:
        """`redirect_uri` is the address in full if it cannot be chosen; else it is made from the port."""
        parts = urlsplit(redirect_uri)
        self._path = parts.path or PATH
        self._port = (parts.port or 80) if redirect_uri else port
        self._fixed = redirect_uri
        self._server: asyncio.Server | None = None
        self._query: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._connections = 0

    async def __aenter__(self) -> "Callback":
        """Raises: LoginFailed if the port is taken."""
        try:
            self._server = await asyncio.start_server(self._serve, HOST, self._port, limit=_LONGEST_HEAD)
        except OSError as error:
            reason = error.strerror or str(error)
            raise LoginFailed(
                f"port {self._port}, where the browser is to come back to, cannot be used: {reason}"
            ) from None
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        self._query.cancel()

    @property
    def redirect_uri(self) -> str:
        """Where the browser is to be sent."""
        return self._fixed or f"http://{HOST}:{self._port}{self._path}"

    async def wait(self) -> str:
        """The query that the browser came back with. After that, nothing listens any more."""
        query = await asyncio.shield(self._query)
        if self._server is not None:
            self._server.close()
        return query

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections <= _MOST_CONNECTIONS:
                async with asyncio.timeout(_HEAD_SECONDS):
                    await self._answer(reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever it was, it was no browser that came back from a login
        finally:
            self._connections -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\n\r\n")
        query = self._find_query(head)
        is_taken = query is not None and not self._query.done()
        if query is not None and is_taken:
            self._query.set_result(query)
        status, words = ("200 OK", _RECEIVED) if is_taken else ("400 Bad Request", _REFUSED)
        page = _PAGE.format(words=words).encode()
        headers = (
            f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(page)}\r\n"
            # The address has the code in it: it must not go on to anybody, nor stay.
            "Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\nContent-Security-Policy: default-src 'none'; "
            "style-src 'unsafe-inline'\r\nConnection: close\r\n\r\n"
        )
        writer.write(headers.encode() + page)
        await writer.drain()

    def _find_query(self, head: bytes) -> str | None:
        """The query of a request that is a browser's answer; `None` for everything else."""
        line = _LINE.match(head)
        host = _HOST_LINE.search(head)
        if line is None or host is None or not self._is_own_host(host[1].decode()):
            return None
        path, _, query = line[1].decode().partition("?")
        if path != self._path:
            return None
        # A browser also asks for icons, and a scanner for anything: only an answer has one of these.
        names = {field.partition("=")[0] for field in query.split("&")}
        return query if names & {"code", "error"} else None

    def _is_own_host(self, host: str) -> bool:
        """Whether the browser meant this listener. A page elsewhere that has its own name lead here did not."""
        named = urlsplit(self.redirect_uri).netloc
        return host.lower() in (named.lower(), f"{HOST}:{self._port}", f"localhost:{self._port}")


R = TypeVar("R")

LOGIN_SECONDS = 300.0
"""How long a person may take."""


ClientFinder: TypeAlias = Callable[[str], Awaitable[OAuthClient | None]]
"""Finds the client that an earlier login registered at an issuer."""
Drive: TypeAlias = Callable[[LoginStep], Awaitable[Any]]
"""Does one step of a login."""


async def drive_unattended(flow: Flow[R], fetcher: Fetcher) -> R:
    """Drive a flow that needs no person. Raises: LoginFailed, also if it turns out to need one."""
    return await _drive(flow, _Unattended(fetcher).do)


async def drive_login(
    flow: Flow[R],
    plan: LoginPlan,
    fetcher: Fetcher,
    find_client: ClientFinder,
    ask: Ask,
    notes: list[str],
    seconds: float,
) -> R:
    """Drive a login that a person takes part in, within so many seconds.

    Raises: LoginFailed; LoginTimedOut; Denied if the person says no.
    """
    async with AsyncExitStack() as stack:
        driver = _Attended(fetcher, plan, find_client, ask, notes, stack)
        try:
            async with asyncio.timeout(seconds):
                return await _drive(flow, driver.do)
        except TimeoutError:
            raise LoginTimedOut from None


async def _drive(flow: Flow[R], drive: Drive) -> R:
    answer: Any = None
    try:
        while True:
            step = flow.send(answer)
            answer = await drive(step)
    except StopIteration as end:
        result: R = end.value
        return result
    finally:
        flow.close()


class _Unattended(Struct):
    fetcher: Fetcher

    async def do(self, step: LoginStep) -> Any:
        match step:
            case LoginRequest():
                return await self.fetcher.send(step)
            case Note():
                return None
            case Pause(seconds):
                await asyncio.sleep(seconds)
                return None
            case Confirm(issuer, former):
                raise LoginFailed(f"its tokens come from {issuer} now, not from {former} any more; log in again")
            case FindClient() | Listen() | Browse() | ShowCode():
                raise LoginFailed("it needs a person who logs in")


class _Attended(_Unattended):
    plan: LoginPlan
    find_client: ClientFinder
    ask: Ask
    notes: list[str]
    stack: AsyncExitStack
    callback: Callback | None = None
    asking: asyncio.Future[Answer] | None = None

    async def do(self, step: LoginStep) -> Any:
        match step:
            case FindClient(issuer):
                return await self.find_client(issuer)
            case Listen(preferred):
                return await self._listen(preferred)
            case Browse(url, authorization):
                return await self._browse(url, authorization)
            case ShowCode():
                return await self._show_code(step)
            case Pause(seconds):
                return await self._pause(seconds)
            case Confirm(issuer, former):
                answer = await self.ask(ChangedIssuer(self.plan.server, issuer, former))
                _require_yes(answer, self.plan.server)
                return None
            case Note(text):
                self.notes.append(text)
                return None
            case LoginRequest():
                return await super().do(step)

    async def _listen(self, preferred: str) -> str:
        """Listen where the definition says, else where the last login did, else anywhere."""
        options = self.plan.options
        if options.redirect_uri and not is_loopback(options.redirect_uri):
            # A page elsewhere: the person pastes what it is given.
            return options.redirect_uri
        self.callback = await self._open_callback(options, preferred)
        return self.callback.redirect_uri

    async def _open_callback(self, options: LoginOptions, preferred: str) -> Callback:
        if options.redirect_uri or options.callback_port:
            chosen = Callback(options.redirect_uri, options.callback_port or 0)
            return await self.stack.enter_async_context(chosen)
        if preferred:
            try:
                return await self.stack.enter_async_context(Callback(preferred))
            except LoginFailed:
                pass  # taken by somebody else now: another port, and another registration
        return await self.stack.enter_async_context(Callback())

    async def _browse(self, url: str, authorization: Authorization) -> str:
        """Send the person to the page; what came back, by itself or pasted, whichever is first."""
        redirect_uri = authorization.redirect_uri
        question = Login(
            self.plan.server,
            authorization.issuer,
            url,
            redirect_uri=redirect_uri,
            scopes=authorization.scopes,
            browser=not self.plan.without_browser,
        )
        asking = asyncio.ensure_future(self.ask(question))
        coming = asyncio.ensure_future(self._wait_for_browser())
        try:
            await asyncio.wait({asking, coming}, return_when=asyncio.FIRST_COMPLETED)
            if coming.done():
                return coming.result()
            answer = _require_yes(asking.result(), self.plan.server)
            if isinstance(answer.content, str) and answer.content.strip():
                return read_pasted(answer.content, redirect_uri)
            return await coming
        finally:
            # Waited for: what the person was shown has to be gone before anything else is shown.
            await _cancel(asking)
            await _cancel(coming)

    async def _wait_for_browser(self) -> str:
        if self.callback is None:
            never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            return await never
        return await self.callback.wait()

    async def _show_code(self, step: ShowCode) -> None:
        """Show a code while its page is waited for. Nobody has to answer, but a no ends the login."""
        page = step.code.verification_uri_complete or step.code.verification_uri
        question = Login(self.plan.server, step.issuer, page, code=step.code.user_code)
        self.asking = asyncio.ensure_future(self.ask(question))
        self.stack.push_async_callback(_cancel, self.asking)

    async def _pause(self, seconds: float) -> None:
        if self.asking is None or self.asking.done():
            await asyncio.sleep(seconds)
            return
        await asyncio.wait({self.asking}, timeout=seconds)
        if self.asking.done():
            _require_yes(self.asking.result(), self.plan.server)


def _require_yes(answer: Answer, server: str) -> Yes:
    if isinstance(answer, Yes):
        return answer
    raise Denied(f"The login to {server} was canceled.")


async def _cancel(waiting: "asyncio.Future[Any]") -> None:
    waiting.cancel()
    await asyncio.wait({waiting})
    if not waiting.cancelled():
        waiting.exception()  # looked at, so that asyncio does not complain
