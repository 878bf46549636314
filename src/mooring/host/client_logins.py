"""Logins that one client is asked for: its person is sent to the issuer's page, and what they complete serves all.

A login is no part of the request that needs it: it goes on when that request is given up, because a person who is
about to type a password does not see what became of it.
"""

import asyncio
from contextvars import copy_context
from functools import partial
from typing import Any, Final

from msgspec import Raw, json

from mooring.auth.browser import is_page
from mooring.core.conversation.question import Answer, Ask, ChangedIssuer, Form, Login, No, Question, Visit
from mooring.core.protocol.content import Text
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Hints, Tool
from mooring.display.text import safe
from mooring.errors import NeedsLogin, RpcError
from mooring.host.runtime import HostRuntime
from mooring.serve.asking import describe_visit
from mooring.serve.upstream import ClientSide
from mooring.servers.server import Server

MOST_LOGINS: Final = 16
"""How many logins one client can have under way. Each listens on a port of its own."""
VISIT_REQUIRED: Final = -32042
"""The error of the handshake era for a request that has to be made again once somebody has been to a page."""
LOG_IN: Final = "log_in"
_NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}


class ClientLogins:
    """The logins that one client was asked for. Their pages are shown to nobody else."""

    def __init__(self, runtime: HostRuntime, client: ClientSide, *, browser: bool) -> None:
        """Without a `browser` that can come back to this machine, a code for another device is preferred."""
        self._runtime = runtime
        self._client = client
        self._browser = browser
        self._pending: dict[tuple[Server, Ask], _PendingLogin] = {}
        runtime.login_listeners.add(self._on_login)

    async def log_in(self, server: Server, error: NeedsLogin) -> None:
        """Have the person behind the current request log in. Whoever asks again meanwhile waits for the same login.

        Raises: the error itself if a login would not help, or the client can send nobody to a page; LoginFailed;
            Denied if the person says no; RpcError if the request cannot wait any longer: the login goes on.
        """
        terms = self._client.find_visit_terms()
        if terms is None or not error.hint:
            raise error
        key = (server, self._client.find_asker())
        pending = self._pending.get(key)
        if pending is None:
            if len(self._pending) >= MOST_LOGINS:
                raise error
            pending = self._begin(key, error)
        await asyncio.wait({pending.outcome}, timeout=terms.patience)
        if not pending.outcome.done():
            raise _make_required(pending, error)
        pending.outcome.result()

    async def close(self) -> None:
        self._runtime.login_listeners.discard(self._on_login)
        working = [pending.work for pending in self._pending.values()]
        for work in working:
            work.cancel()
        if working:
            await asyncio.wait(working)

    def _begin(self, key: tuple[Server, Ask], error: NeedsLogin) -> "_PendingLogin":
        pending = _PendingLogin(self._client)
        self._pending[key] = pending
        # In the context of the request: what is asked goes to whoever made it.
        pending.work = asyncio.get_running_loop().create_task(self._run(key[0], error, pending.ask))
        pending.work.add_done_callback(partial(self._finish, key))
        return pending

    async def _run(self, server: Server, error: NeedsLogin, ask: Ask) -> None:
        # Lazy: few clients are asked to log in.
        from mooring.auth.drive import LOGIN_SECONDS
        from mooring.host.logins import log_in

        await log_in(
            server,
            self._runtime.shared,
            ask=ask,
            # Of a server that refused one call, the rights for it; of one that wants a login, what it says there.
            scopes=error.scope.split() if error.status == 403 else (),
            client_metadata_url=self._runtime.settings["clientMetadataUrl"] or "",
            browser=self._browser,
            seconds=LOGIN_SECONDS,
        )

    def _finish(self, key: tuple[Server, Ask], work: "asyncio.Task[None]") -> None:
        pending = self._pending.pop(key, None)
        failure = None if work.cancelled() else work.exception()
        if pending is None:
            return  # somebody else was faster
        if work.cancelled():
            pending.outcome.cancel()
        elif failure is not None:
            if not pending.outcome.done():
                pending.outcome.set_exception(failure)
        else:
            pending.complete()
            for listener in tuple(self._runtime.login_listeners):
                listener(key[0])

    def _on_login(self, server: Server) -> None:
        """Somebody logged in to a server: whoever is about to need not."""
        for key in [key for key in self._pending if key[0] is server]:
            pending = self._pending.pop(key)
            pending.work.cancel()
            pending.complete()


class _PendingLogin:
    """One login under way."""

    def __init__(self, client: ClientSide) -> None:
        self.outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Asking for the exception marks it as retrieved, also where nobody waits any more.
        self.outcome.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.visit: Visit | None = None
        """Where the person is sent, once that is known."""
        self.work: asyncio.Task[None]
        self._client = client
        # What is reported goes the way of the request that began it, whoever completed the login.
        self._context = copy_context()

    async def ask(self, question: Question) -> Answer:
        match question:
            case Login() if is_page(question.url):
                self.visit = _make_visit(question)
                return await self._client.ask(self.visit)
            case ChangedIssuer():
                return await self._client.ask(_make_form(question))
            case _:
                return No("nobody can be asked", how="cancel", nobody=True)

    def complete(self) -> None:
        if not self.outcome.done():
            self.outcome.set_result(None)
        if self.visit is not None:
            self._context.run(self._client.on_visited, self.visit.id)


def _make_visit(login: Login) -> Visit:
    """A login as a page to visit. What names the issuer is the server's word, and is made safe."""
    from secrets import token_urlsafe  # lazy: few clients are asked to log in

    code = f" Enter the code {login.code} there." if login.code else ""
    scopes = f" It is asked for: {', '.join(login.scopes)}." if login.scopes else ""
    message = f"Mooring needs you to log in to the server {login.server}, at {login.issuer}.{code}{scopes}"
    return Visit(login.server, safe(message), login.url, token_urlsafe(16), ours=True)


def _make_form(change: ChangedIssuer) -> Form:
    words = (
        f"You logged in to the server {change.server} at {change.former} before. "
        f"Now it names {change.issuer} instead. Log in there?"
    )
    return Form(change.server, safe(words), _NOTHING)


def _make_required(pending: _PendingLogin, error: NeedsLogin) -> Exception:
    """The answer to a request that cannot wait: what has to be visited before it is made again."""
    if pending.visit is None:
        return error
    words = f"{error.server} requires a login. Once you have logged in, make the request again."
    return RpcError("mooring", VISIT_REQUIRED, words, {"elicitations": [describe_visit(pending.visit)]})


# --- the tool that stands for a server whose tools are unknown until somebody has logged in to it ---------------------


def find_login_error(server: Server) -> NeedsLogin | None:
    """Why nothing is known of a server's tools, if a login would change that."""
    error = server.error
    is_unknown = server.offer is None and not server.is_connected
    return error if is_unknown and isinstance(error, NeedsLogin) and error.hint else None


def make_login_tool(name: str, server: Server) -> Tool:
    words = f"Log in to the server {safe(server.name)}. Its tools are available after that."
    return Tool(
        name=name, description=words, input_schema=Raw(json.encode(_NOTHING)), annotations=Hints(open_world_hint=True)
    )


def make_login_result(server: Server) -> Result:
    """What a client is told once somebody has logged in."""
    state = "Its tools follow when it is connected." if server.offer is None else "Its tools are listed now."
    return Result((Text(f"Logged in to {server.name}. {state}"),))
