"""Drives a login: does what each of its steps asks for, and hands the answer back."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeAlias, TypeVar

from mooring.auth.callback import Callback
from mooring.auth.fetch import Fetcher
from mooring.auth.oauth.authorization import Authorization, read_pasted
from mooring.auth.oauth.client import OAuthClient
from mooring.auth.oauth.exchange import LoginRequest
from mooring.auth.oauth.metadata import is_loopback
from mooring.auth.oauth.options import LoginOptions
from mooring.auth.oauth.plan import LoginPlan
from mooring.auth.oauth.steps import Browse, Confirm, FindClient, Flow, Listen, LoginStep, Note, Pause, ShowCode
from mooring.core.conversation.question import Answer, Ask, ChangedIssuer, Login, Yes
from mooring.errors import Denied, LoginFailed, LoginTimedOut

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
        driver = _Attended(plan, fetcher, find_client, ask, notes, stack)
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


class _Unattended:
    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def do(self, step: LoginStep) -> Any:
        match step:
            case LoginRequest():
                return await self._fetcher.send(step)
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
    def __init__(
        self,
        plan: LoginPlan,
        fetcher: Fetcher,
        find_client: ClientFinder,
        ask: Ask,
        notes: list[str],
        stack: AsyncExitStack,
    ) -> None:
        super().__init__(fetcher)
        self._plan = plan
        self._find_client = find_client
        self._ask = ask
        self._notes = notes
        self._stack = stack
        self._callback: Callback | None = None
        self._asking: asyncio.Future[Answer] | None = None

    async def do(self, step: LoginStep) -> Any:
        match step:
            case FindClient(issuer):
                return await self._find_client(issuer)
            case Listen(preferred):
                return await self._listen(preferred)
            case Browse(url, authorization):
                return await self._browse(url, authorization)
            case ShowCode():
                return await self._show_code(step)
            case Pause(seconds):
                return await self._pause(seconds)
            case Confirm(issuer, former):
                await self._require_yes(ChangedIssuer(self._plan.server, issuer, former))
                return None
            case Note(text):
                self._notes.append(text)
                return None
            case LoginRequest():
                return await super().do(step)

    async def _listen(self, preferred: str) -> str:
        """Listen where the definition says, else where the last login did, else anywhere."""
        options = self._plan.options
        if options.redirect_uri and not is_loopback(options.redirect_uri):
            # A page elsewhere: the person pastes what it is given.
            return options.redirect_uri
        self._callback = await self._open_callback(options, preferred)
        return self._callback.redirect_uri

    async def _open_callback(self, options: LoginOptions, preferred: str) -> Callback:
        if options.redirect_uri or options.callback_port:
            chosen = Callback(options.redirect_uri, options.callback_port or 0)
            return await self._stack.enter_async_context(chosen)
        if preferred:
            try:
                return await self._stack.enter_async_context(Callback(preferred))
            except LoginFailed:
                pass  # taken by somebody else now: another port, and another registration
        return await self._stack.enter_async_context(Callback())

    async def _browse(self, url: str, authorization: Authorization) -> str:
        """Send the person to the page; what came back, by itself or pasted, whichever is first."""
        redirect_uri = authorization.redirect_uri
        question = Login(
            self._plan.server,
            authorization.issuer,
            url,
            redirect_uri=redirect_uri,
            scopes=authorization.scopes,
            browser=not self._plan.without_browser,
        )
        asking = asyncio.ensure_future(self._ask(question))
        coming = asyncio.ensure_future(self._wait_for_browser())
        try:
            await asyncio.wait({asking, coming}, return_when=asyncio.FIRST_COMPLETED)
            if coming.done():
                return coming.result()
            answer = _require_yes(asking.result(), self._plan.server)
            if isinstance(answer.content, str) and answer.content.strip():
                return read_pasted(answer.content, redirect_uri)
            return await coming
        finally:
            # Waited for: what the person was shown has to be gone before anything else is shown.
            await _cancel(asking)
            await _cancel(coming)

    async def _wait_for_browser(self) -> str:
        if self._callback is None:
            never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            return await never
        return await self._callback.wait()

    async def _show_code(self, step: ShowCode) -> None:
        """Show a code while its page is waited for. Nobody has to answer, but a no ends the login."""
        page = step.code.verification_uri_complete or step.code.verification_uri
        question = Login(self._plan.server, step.issuer, page, code=step.code.user_code)
        self._asking = asyncio.ensure_future(self._ask(question))
        self._stack.push_async_callback(_cancel, self._asking)

    async def _pause(self, seconds: float) -> None:
        if self._asking is None or self._asking.done():
            await asyncio.sleep(seconds)
            return
        await asyncio.wait({self._asking}, timeout=seconds)
        if self._asking.done():
            _require_yes(self._asking.result(), self._plan.server)

    async def _require_yes(self, question: ChangedIssuer) -> None:
        _require_yes(await self._ask(question), self._plan.server)


def _require_yes(answer: Answer, server: str) -> Yes:
    if isinstance(answer, Yes):
        return answer
    raise Denied(f"The login to {server} was canceled.")


async def _cancel(waiting: "asyncio.Future[Any]") -> None:
    waiting.cancel()
    await asyncio.wait({waiting})
    if not waiting.cancelled():
        waiting.exception()  # looked at, so that asyncio does not complain
