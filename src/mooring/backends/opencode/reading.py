"""What OpenCode says: one turn, read from its events and told as ours; and the models that it can ask."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from mooring.backends.bridge.bridge import McpTool, OwnTool
from mooring.backends.bridge.reporter import AgentReporter
from mooring.backends.opencode.agents import split_model
from mooring.backends.opencode.api import OpenCodeApi
from mooring.backends.opencode.shell import PermittedShell
from mooring.core.conversation.event import Todo, TokenUsage
from mooring.core.conversation.outcome import Part as ResultPart
from mooring.core.protocol.content import Image, Text
from mooring.discovery.values import as_mapping, as_mappings
from mooring.display.text import safe
from mooring.errors import NoModel

ModelWindows: TypeAlias = Mapping[str, int | None]
"""The models as OpenCode writes them, each with how many tokens it takes at once, if that is known."""


async def read_models(api: OpenCodeApi) -> ModelWindows:
    """Raises: ModelError."""
    said = as_mapping(await api.get("/config/providers"))
    models: dict[str, int | None] = {}
    for provider in as_mappings(said.get("providers")):
        for name, model in as_mapping(provider.get("models")).items():
            models[f"{provider.get('id')}/{name}"] = _find_window(as_mapping(model))
    return models


def _find_window(model: Mapping[str, Any]) -> int | None:
    context = as_mapping(model.get("limit")).get("context")
    # It says 0 where it doesn't know.
    return int(context) if isinstance(context, int | float) and context > 0 else None


def check_model(model: str, known: ModelWindows) -> None:
    """Raises: NoModel if OpenCode can't ask the model; it would only say that something went wrong."""
    written = "/".join(split_model(model) or (model,))
    if written not in known:
        raise NoModel(f"OpenCode can't ask {safe(written)}.", "`opencode models` lists those that it can ask.")


# --- messages and their parts -----------------------------------------------------------------------------------------


class OpenCodeMessage(Struct, frozen=True):
    """A message of a session, without its parts."""

    id: str
    role: str
    session: str = field(name="sessionID", default="")
    provider: str = field(name="providerID", default="")
    model: str = field(name="modelID", default="")


class CacheTokens(Struct, frozen=True):
    read: float = 0
    write: float = 0


class Tokens(Struct, frozen=True):
    """What one reply took. Unlike ours, its input is without what the cache had."""

    input: float = 0
    output: float = 0
    reasoning: float = 0
    cache: CacheTokens = CacheTokens()


class ToolState(Struct, frozen=True):
    """How far a call has come: `pending`, `running`, `completed` or `error`."""

    status: str
    input: Any = None
    output: str = ""
    error: str = ""
    metadata: Mapping[str, Any] = {}
    attachments: Sequence[Mapping[str, Any]] | None = None


class Part(Struct, frozen=True):
    """A part of a message: text, reasoning, a call, or the end of a reply."""

    id: str
    type: str
    message: str = field(name="messageID")
    session: str = field(name="sessionID")
    text: str = ""
    synthetic: bool = False
    tool: str = ""
    call: str = field(name="callID", default="")
    state: ToolState | None = None
    tokens: Tokens | None = None
    cost: float = 0
    reason: str = ""
    """Why the reply ended, where this is its end: `tool-calls`, `length`, `stop`."""


# --- events -----------------------------------------------------------------------------------------------------------


class MessageChanged(Struct, frozen=True):
    info: OpenCodeMessage


class PartChanged(Struct, frozen=True):
    part: Part


class PartGrew(Struct, frozen=True):
    """Some more of a part, as it comes from the model."""

    session: str = field(name="sessionID")
    part: str = field(name="partID")
    field_name: str = field(name="field")
    delta: str


class CallName(Struct, frozen=True):
    """Which call something is about."""

    message: str = field(name="messageID")
    call: str = field(name="callID")


class PermissionWanted(Struct, frozen=True):
    id: str
    session: str = field(name="sessionID")
    permission: str
    patterns: Sequence[str] = ()
    metadata: Mapping[str, Any] = {}
    tool: CallName | None = None


class PermissionReplied(Struct, frozen=True):
    session: str = field(name="sessionID")
    request: str = field(name="requestID")
    reply: str


class OpenCodeChoice(Struct, frozen=True):
    label: str
    description: str = ""


class AgentQuestion(Struct, frozen=True):
    question: str
    header: str = ""
    options: Sequence[OpenCodeChoice] = ()
    multiple: bool = False


class QuestionsWanted(Struct, frozen=True):
    id: str
    session: str = field(name="sessionID")
    questions: Sequence[AgentQuestion]


class Step(Struct, frozen=True):
    content: str
    status: str


class StepsChanged(Struct, frozen=True):
    session: str = field(name="sessionID")
    todos: Sequence[Step]


class SessionState(Struct, frozen=True):
    """`idle`, `busy` or `retry`; then `next` is when, in milliseconds since 1970."""

    type: str
    message: str = ""
    next: float = 0


class StateChanged(Struct, frozen=True):
    session: str = field(name="sessionID")
    status: SessionState


class OpenCodeFailure(Struct, frozen=True):
    name: str = ""
    data: Mapping[str, Any] = {}


class OpenCodeSessionFailed(Struct, frozen=True):
    session: str = field(name="sessionID", default="")
    error: OpenCodeFailure | UnsetType = UNSET


AgentEvent: TypeAlias = (
    MessageChanged
    | PartChanged
    | PartGrew
    | PermissionWanted
    | PermissionReplied
    | QuestionsWanted
    | StepsChanged
    | StateChanged
    | OpenCodeSessionFailed
)

_KINDS: Final[Mapping[str, type[AgentEvent]]] = {
    "message.updated": MessageChanged,
    "message.part.updated": PartChanged,
    "message.part.delta": PartGrew,
    "permission.asked": PermissionWanted,
    "permission.replied": PermissionReplied,
    "question.asked": QuestionsWanted,
    "todo.updated": StepsChanged,
    "session.status": StateChanged,
    "session.error": OpenCodeSessionFailed,
}


class _Envelope(Struct, frozen=True):
    type: str
    properties: msgspec.Raw = msgspec.Raw(b"{}")


def read_event(data: bytes) -> AgentEvent | None:
    """What an event says; `None` for one that is of no use here, or that no version we know writes like this."""
    try:
        envelope = msgspec.json.decode(data, type=_Envelope)
        kind = _KINDS.get(envelope.type)
        return None if kind is None else msgspec.json.decode(envelope.properties, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


LONGEST_ERROR: Final = 2000


class AgentCatalog(Protocol):
    """What a turn has to look up."""

    @property
    def models(self) -> ModelWindows: ...

    @property
    def shell(self) -> PermittedShell | None: ...

    def find_tool(self, written: str) -> McpTool | OwnTool: ...


class ReadCall(Struct, frozen=True):
    """A call that OpenCode is about to make."""

    id: str
    session: str
    name: str
    tool: McpTool | OwnTool
    arguments: Mapping[str, Any]


class _TextPart(Struct):
    """A part that grows: which kind it is, and how much of it was told."""

    part: Part
    told: int = 0


class TurnParser:
    """Reads the events of one turn, and of the sub-agents in it.

    Each event names a session. Those of other conversations, which share OpenCode's database, are none of ours.
    """

    def __init__(self, session: str, reporter: AgentReporter, catalog: AgentCatalog, prompts: set[str]) -> None:
        """`prompts` are the ids of what the person said before; this turn adds its own."""
        self._reporter = reporter
        self._catalog = catalog
        self._prompts = prompts
        self._parents: dict[str, str | None] = {session: None}
        """Our session and those of sub-agents, each with the call that it works for."""
        self._session = session
        self._replies: dict[str, OpenCodeMessage] = {}
        self._texts: dict[str, _TextPart] = {}
        self._calls: dict[CallName, asyncio.Future[ReadCall]] = {}
        self._last_reply = ""
        self._said: list[str] = []
        self.has_begun = False
        """Whether what the person said has come back. Until then, events are still those of the turn before."""
        self.failure = ""
        """Why the turn failed; empty if it didn't."""
        self.is_cut_off = False
        """Whether the last reply was cut off at the longest that the model may write."""
        self.ended = asyncio.Event()
        """Set when OpenCode has nothing more to do."""

    @property
    def text(self) -> str:
        """What the agent that the person talks to said last."""
        return "".join(self._said)

    def belongs(self, session: str) -> bool:
        """Whether a session is this conversation's, or a sub-agent's in it."""
        return session in self._parents

    async def wait_for_call(self, name: CallName) -> ReadCall:
        """The call of that name. A permission may be wanted before it is said what for."""
        return await asyncio.shield(self._find_call(name))

    def take(self, event: AgentEvent) -> None:
        """Tell what an event says."""
        if isinstance(event, MessageChanged):
            self._record_prompt(event.info)
        if self.has_begun:
            self._tell(event)

    def _record_prompt(self, message: OpenCodeMessage) -> None:
        if message.role == "user" and message.session == self._session and message.id not in self._prompts:
            self._prompts.add(message.id)
            self.has_begun = True

    def _tell(self, event: AgentEvent) -> None:
        match event:
            case MessageChanged(info):
                self._read_message(info)
            case PartChanged(part):
                if self.belongs(part.session):
                    self._read_part(part)
            case PartGrew():
                self._read_piece(event)
            case StepsChanged(session, todos):
                if self.belongs(session):
                    steps = [_read_step(step.content, step.status) for step in todos if step.status != "cancelled"]
                    self._reporter.change_plan(tuple(steps), parent=self._parents[session])
            case StateChanged():
                self._read_state(event)
            case OpenCodeSessionFailed(session, error):
                if session == self._session and isinstance(error, OpenCodeFailure):
                    self.failure = describe_failure(error)
            case PermissionWanted() | PermissionReplied() | QuestionsWanted():
                pass  # whoever answers them takes them

    def read_reply(self, answer: Any) -> None:
        """Take the message that answers the prompt: it says whether the turn failed."""
        info = as_mapping(as_mapping(answer).get("info"))
        error = as_mapping(info.get("error"))
        found = OpenCodeFailure(str(error.get("name", "")), as_mapping(error.get("data")))
        self.failure = describe_failure(found) if error else ""

    # --- texts --------------------------------------------------------------------------------------------------------

    def _read_message(self, message: OpenCodeMessage) -> None:
        if message.role != "assistant" or not self.belongs(message.session):
            return
        self._replies[message.id] = message
        if message.session == self._session and message.id != self._last_reply:
            self._last_reply = message.id
            self._said.clear()

    def _read_part(self, part: Part) -> None:
        # What the person said comes back as a message of its own.
        reply = self._replies.get(part.message)
        if reply is None:
            return
        match part.type:
            case "text" | "reasoning":
                self._read_text(part)
            case "tool":
                self._read_call(part)
            case "step-finish":
                self._read_usage(part, reply)
            case _:
                pass  # snapshots, patches and the like

    def _read_text(self, part: Part) -> None:
        if part.synthetic:
            return
        known = self._texts.setdefault(part.id, _TextPart(part))
        # Whole at its end: what came in pieces was told already.
        self._tell_text(known, part.text[known.told :])

    def _read_piece(self, event: PartGrew) -> None:
        known = self._texts.get(event.part)
        if known is not None and event.field_name == "text":
            self._tell_text(known, event.delta)

    def _tell_text(self, known: _TextPart, text: str) -> None:
        if not text:
            return
        known.told += len(text)
        parent = self._parents[known.part.session]
        if known.part.type == "reasoning":
            self._reporter.think(text, parent=parent)
            return
        self._reporter.say(text, parent=parent)
        if parent is None:
            self._said.append(text)

    def _read_usage(self, part: Part, reply: OpenCodeMessage) -> None:
        if part.tokens is None:
            return
        model = f"{reply.provider}/{reply.model}"
        # It says 0 for a model whose price it doesn't know.
        cost = part.cost or None
        window = self._catalog.models.get(model)
        parent = self._parents[part.session]
        if parent is None:
            self.is_cut_off = part.reason == "length"
        goes_on = part.reason == "tool-calls"
        self._reporter.use(model, count_tokens(part.tokens), cost, window, parent=parent, goes_on=goes_on)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _read_call(self, part: Part) -> None:
        state = part.state
        if state is None or state.status == "pending":
            return
        self._start_call(part, state.input)
        child = state.metadata.get("sessionId")
        if part.tool == "task" and isinstance(child, str) and child not in self._parents:
            self._parents[child] = part.id
            named = as_mapping(state.input).get("subagent_type")
            self._reporter.begin_agent(part.id, agent=named if isinstance(named, str) else None)
        if state.status == "completed":
            self._finish(part, state.output, state.attachments or ())
        elif state.status == "error":
            is_canceled = state.metadata.get("interrupted") is True
            self._reporter.finish_tool(part.id, success=False, error=state.error, canceled=is_canceled)

    def _start_call(self, part: Part, arguments: Any) -> None:
        known = self._find_call(CallName(part.message, part.call))
        if known.done():
            return
        tool = self._catalog.find_tool(part.tool)
        given = arguments if isinstance(arguments, dict) else {}
        known.set_result(ReadCall(part.id, part.session, part.tool, tool, given))
        parent = self._parents[part.session]
        self._reporter.start_tool(part.id, part.tool, tool.server, tool.tool, given, parent=parent)

    def _finish(self, part: Part, output: str, attachments: Any) -> None:
        shell = self._catalog.shell
        if part.tool == "bash" and shell is not None and shell.is_refused(part.id, output):
            self._reporter.finish_tool(part.id, success=False, error=output.strip(), denied=True)
            return
        images = [_read_image(each) for each in attachments]
        found = [image for image in images if image is not None]
        parts: tuple[ResultPart, ...] = (Text(output), *found) if found else ()
        self._reporter.finish_tool(part.id, success=True, text=output, parts=parts)

    def _find_call(self, name: CallName) -> asyncio.Future[ReadCall]:
        if name not in self._calls:
            self._calls[name] = asyncio.get_running_loop().create_future()
        return self._calls[name]

    # --- the end ------------------------------------------------------------------------------------------------------

    def _read_state(self, event: StateChanged) -> None:
        if not self.belongs(event.session):
            return
        state = event.status
        if state.type == "retry":
            seconds = max(0.0, state.next / 1000 - time.time())
            self._reporter.fail(state.message, seconds, parent=self._parents[event.session])
        if state.type == "idle" and event.session == self._session:
            self.ended.set()


def count_tokens(tokens: Tokens) -> TokenUsage:
    """What a reply took, counted as we do: with the cache among the input and the reasoning among the output."""
    read, written = round(tokens.cache.read), round(tokens.cache.write)
    return TokenUsage(
        round(tokens.input) + read + written, round(tokens.output) + round(tokens.reasoning), read, written
    )


def describe_failure(failure: OpenCodeFailure) -> str:
    """Why a reply failed, in OpenCode's words."""
    message = failure.data.get("message")
    words = message if isinstance(message, str) and message else failure.name or "the reply failed"
    return words[:LONGEST_ERROR].strip()


def _read_step(content: str, status: str) -> Todo:
    match status:
        case "in_progress" | "completed":
            return Todo(content, status)
        case _:
            return Todo(content)


def _read_image(attachment: Mapping[str, Any]) -> Image | None:
    mime, url = str(attachment.get("mime", "")), str(attachment.get("url", ""))
    head, comma, data = url.partition(",")
    if not mime.startswith("image/") or not comma or not head.endswith(";base64"):
        return None
    return Image(data=data, mime_type=mime)
