"""Waits on this machine for the browser to come back from a login: one address, one answer, then nothing listens."""

import asyncio
import re
from contextlib import suppress
from urllib.parse import urlsplit

from mooring.auth.oauth.authorization import LONGEST_QUERY
from mooring.errors import LoginFailed

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
