"""Requests whose work waits for something that their client has to be asked: held until it comes back with it."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from contextvars import copy_context
from itertools import count
from typing import Any, Final, Literal, TypeAlias

from msgspec import DecodeError, Raw, Struct
from msgspec.structs import replace

from mooring.core.conversation.question import Answer, Ask, Permission, Question, Visit
from mooring.core.protocol.raw import read
from mooring.core.protocol.result import Progress, TaskState
from mooring.errors import RpcError
from mooring.serve.asking import NOBODY, ClientCapabilities, make_client_request, read_answer
from mooring.serve.caller import current_caller
from mooring.serve.methods import CLIENT, Report
from mooring.serve.upstream import ListRoots, VisitTerms
from mooring.wire.rpc.message import INVALID_PARAMS
from mooring.wire.session.client import asked_as
from mooring.wire.session.dialect import MISSING_CAPABILITY

HOLD: Final = 600.0
"""How many seconds a client may take to come back with what it was asked for."""
MOST_HELD: Final = 1000
"""How many requests are held at a time; the one that waits longest is dropped for one more."""
_TURNS: Final = 3
"""In how many turns of the loop questions that were asked together have all arrived."""


HeldState: TypeAlias = Literal["ended", "asking", "task"]
"""What became of a request: an answer, something that its client has to be asked, or a task."""


class _Asked(Struct, frozen=True):
    """Something that the client is asked for."""

    method: str
    params: Any
    answer: "asyncio.Future[Raw]"


class HeldRequest:
    """A request of the stateless era, from its first round to its last: its caller, and the work on it."""

    def __init__(self, subject: object, capabilities: ClientCapabilities) -> None:
        """`subject` is what the request is about: each round has to be about the same."""
        self.subject = subject
        self.report: Report = ignore_progress
        self.work: asyncio.Task[Any]
        self.task: TaskState | None = None
        """What the server said of the task that it made of the request, if it did."""
        self.on_change: Callable[[], object] = lambda: None
        """Called when something is asked or answered, and with what the server says of its task."""
        self._capabilities = capabilities
        self._asked: dict[str, _Asked] = {}
        self._numbers = count(1)
        self._has_news = asyncio.Event()

    def begin(self, work: Coroutine[Any, Any, Any]) -> None:
        """Begin to work on the request. Whatever is asked meanwhile is asked of this."""
        context = copy_context()
        context.run(current_caller.set, self)
        self.work = asyncio.get_running_loop().create_task(work, context=context)
        # Asking for the exception marks it as retrieved, also where the client never comes back for it.
        self.work.add_done_callback(lambda done: done.cancelled() or done.exception())

    def update_task(self, state: TaskState) -> None:
        """The server made a task of the request, or said what became of it."""
        self.task = state
        self._has_news.set()
        self.on_change()

    def pass_progress(self, step: Progress) -> None:
        """Report progress the way of the round that is under way."""
        self.report(step)

    def give(self, responses: Mapping[str, Raw]) -> None:
        """Take what the client was asked for; what it leaves out, it will be asked for again."""
        for key, response in responses.items():
            asked = self._asked.pop(key, None)
            if asked is not None and not asked.answer.done():
                asked.answer.set_result(response)
        self.on_change()

    async def wait(self) -> HeldState:
        """Wait for the end of the work, for what the client has to be asked first, or for a task that is made of it."""
        while not self.work.done() and self.task is None:
            if self._asked:
                await self._let_others_ask()
                break
            await self._wait_for_news()
        if self.work.done():
            return "ended"
        return "asking" if self.task is None else "task"

    async def wait_for_task(self) -> HeldState:
        """The same for a request that is a task already: wait for its end, or for what the client has to be asked."""
        while not self.work.done() and not self._asked:
            await self._wait_for_news()
        return "ended" if self.work.done() else "asking"

    async def _wait_for_news(self) -> None:
        self._has_news.clear()
        news = asyncio.ensure_future(self._has_news.wait())
        try:
            await asyncio.wait({self.work, news}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()

    @property
    def asked(self) -> dict[str, Any]:
        """What the client has to be asked now, by the key of each question."""
        return {key: {"method": asked.method, "params": asked.params} for key, asked in self._asked.items()}

    async def wait_settled(self, key: str) -> None:
        """Wait until a question is answered, or nobody needs the answer any more."""
        asked = self._asked.get(key)
        if asked is not None:
            # A server that asked does not always take its question back when the call is cancelled.
            waited: set[asyncio.Future[Any]] = {asked.answer, self.work}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)

    def result(self) -> Any:
        """What came of the work. Raises: what it raised."""
        return self.work.result()

    def drop(self) -> None:
        """Give up the work: nobody waits for it any more."""
        self.work.cancel()

    async def _let_others_ask(self) -> None:
        # A server asks for several things together. Each is put by a task of its own, a few turns of the loop apart.
        known = 0
        while known != len(self._asked) and not self.work.done():
            known = len(self._asked)
            for _ in range(_TURNS):
                await asyncio.sleep(0)

    # --- questions (Caller) ---------------------------------------------------------------------------------------

    @property
    def asker(self) -> Ask:
        return self.put

    @property
    def list_roots(self) -> ListRoots | None:
        return self._list_roots if self._capabilities.roots else None

    @property
    def visit_terms(self) -> VisitTerms | None:
        # A client of this era waits in a round of its own for what it was asked.
        return VisitTerms() if self._capabilities.visits else None

    async def put(self, question: Question) -> Answer:
        """Put a question. Raises: RpcError if a server asks for what the client cannot do."""
        if isinstance(question, Permission):
            # There are no sessions in this era for which an answer could hold.
            question = replace(question, scopes=tuple(scope for scope in question.scopes if scope != "session"))
        if isinstance(question, Visit):
            # Nor is a client told that a visit is complete.
            question = replace(question, id="")
        request = make_client_request(question, self._capabilities)
        if request is not None and request.can_be_put:
            return read_answer(question, await self._require(request.method, request.params, request.key))
        if request is None or isinstance(question, Permission):
            return NOBODY
        data = {"requiredCapabilities": request.needs}
        raise RpcError(CLIENT, MISSING_CAPABILITY, f"{request.method} needs a capability of the client", data)

    async def _list_roots(self) -> list[Any]:
        try:
            found = read(await self._require("roots/list", {}, asked_as.get()))
        except DecodeError:
            found = None
        roots = found.get("roots") if isinstance(found, dict) else None
        return roots if isinstance(roots, list) else []

    async def _require(self, method: str, params: Any, key: str) -> Raw:
        """Ask the client for something, under the key that the server gave it, if it did."""
        # A task must not use a key twice, whatever its server does.
        if not key or key in self._asked or self.task is not None:
            key = f"{method}-{next(self._numbers)}"
        answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self._asked[key] = _Asked(method, params, answer)
        self._has_news.set()
        self.on_change()
        try:
            return await answer
        finally:
            self._asked.pop(key, None)


class HeldRequests:
    """Requests that wait for their clients. A client has nothing but a state to come back with, which tells nothing."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[HeldRequest, asyncio.TimerHandle]] = OrderedDict()

    def keep(self, held: HeldRequest) -> str:
        """Hold a request; returns the state that its next round has to bring."""
        from secrets import token_urlsafe  # lazy: few requests are held

        if len(self._held) >= MOST_HELD:
            self._drop(next(iter(self._held)))
        state = token_urlsafe(24)
        timer = asyncio.get_running_loop().call_later(HOLD, self._drop, state)
        self._held[state] = (held, timer)
        return state

    def take(self, state: str, subject: object) -> HeldRequest:
        """The request that is held under a state. Raises: RpcError if there is none, or it is about something else."""
        found = self._held.get(state)
        if found is None or found[0].subject != subject:
            raise RpcError(CLIENT, INVALID_PARAMS, "Invalid params: the requestState is unknown or has expired")
        held, timer = self._held.pop(state)
        timer.cancel()
        return held

    def close(self) -> None:
        for state in tuple(self._held):
            self._drop(state)

    def _drop(self, state: str) -> None:
        held, timer = self._held.pop(state)
        timer.cancel()
        held.drop()


def ignore_progress(step: Progress) -> None:
    return
