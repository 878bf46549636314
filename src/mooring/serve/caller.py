"""Whose request the current task works on, and what every client has in common."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar, copy_context
from typing import Any, Final, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from mooring.core.conversation.question import Answer, Ask, Question
from mooring.core.protocol.limits import Limits
from mooring.core.protocol.result import LogMessage, Progress
from mooring.core.protocol.tool import Implementation
from mooring.serve.asking import NOBODY
from mooring.serve.methods import Params, Report
from mooring.serve.upstream import ListRoots, OpenUpstream, Upstream, VisitTerms
from mooring.wire.session.dialect import LOG

VISIT_PATIENCE: Final = 45.0
"""Clients on the official SDK for TypeScript give up a request after 60 seconds; a login may take longer."""


class ServeOptions(Struct, frozen=True):
    """What is the same for every client."""

    open_upstream: OpenUpstream
    program: Implementation
    limits: Limits
    visit_patience: float = VISIT_PATIENCE
    """How many seconds a request of the handshake era waits for somebody who was sent to a page."""


Notify: TypeAlias = Callable[[str, Any], None]
"""Sends a notification, its method and its parameters, to a client without waiting."""


class Caller(Protocol):
    """Whoever made the request that is being worked on, and can be asked about it."""

    @property
    def asker(self) -> Ask:
        """See `ClientSide.find_asker`."""

    @property
    def list_roots(self) -> ListRoots | None: ...

    @property
    def visit_terms(self) -> VisitTerms | None:
        """See `ClientSide.find_visit_terms`."""

    async def put(self, question: Question) -> Answer: ...


current_caller: Final[ContextVar[Caller | None]] = ContextVar("current_caller", default=None)
"""The caller of the current task. A question about its request goes there and nowhere else."""


class CallerQuestions:
    """The half of `ClientSide` that asks, and the upstream that it is made for with the first request."""

    def __init__(self, options: ServeOptions) -> None:
        self._options = options
        self._upstream: Upstream | None = None

    async def ask(self, question: Question) -> Answer:
        caller = current_caller.get()
        return NOBODY if caller is None else await caller.put(question)

    def find_asker(self) -> Ask:
        caller = current_caller.get()
        return self.ask if caller is None else caller.asker

    def find_roots(self) -> ListRoots | None:
        caller = current_caller.get()
        return None if caller is None else caller.list_roots

    def find_visit_terms(self) -> VisitTerms | None:
        caller = current_caller.get()
        return None if caller is None else caller.visit_terms


def make_report(params: Params, notify: Notify) -> Report:
    """What passes progress on to the client, if it wants to hear of it."""
    token = params.progress_token
    if token is None:
        return lambda step: None
    # Progress comes from the reader of a server. It has to go the way of the request that it belongs to.
    context = copy_context()

    def report(step: Progress) -> None:
        context.run(notify, "notifications/progress", _describe_progress(token, step))

    return report


def make_log_listener(notify: Notify) -> Callable[[str, LogMessage], None]:
    """What passes log messages on to the client."""
    context = copy_context()

    def listen(server: str, message: LogMessage) -> None:
        params = {"level": message.level, "logger": message.logger or server, "data": message.data}
        context.run(notify, LOG, params)

    return listen


def _describe_progress(token: str | int | float, step: Progress) -> Mapping[str, Any]:
    known = {key: value for key, value in asdict(step).items() if value is not None}
    return {"progressToken": token, **known}
