"""A session's entries, in order, as a history that a model takes: every call with one result, and nothing said lost.

No I/O: the same entries give the same history, wherever they were cut off.
"""

from collections.abc import Iterable, Mapping

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    make_interrupted,
)
from mooring.agents.sessions.entry import (
    BlockArrived,
    CallEnded,
    CallStarted,
    EntryContent,
    HistoryReplaced,
    MessageAdded,
    ReplyCut,
    TextArrived,
)


class Replay:
    """What the entries so far come to."""

    def __init__(self, model: str) -> None:
        """`model` is the one that a reply without an end is from."""
        self.messages: list[Message] = []
        """What the model is sent. If the last one is a reply with calls, they have no results yet."""
        self._model = model
        self._blocks: list[ReplyBlock] = []
        self._pieces: list[str] = []
        self._started: set[str] = set()
        self._ended: dict[str, CallResult] = {}

    def take(self, contents: Iterable[EntryContent]) -> "Replay":
        """Take what happened next."""
        for content in contents:
            self._add(content)
        return self

    @property
    def arriving(self) -> ModelMessage | None:
        """Everything that arrived of a reply without an end; `None` if nothing did."""
        blocks = (*self._blocks, *_join_pieces(self._pieces))
        return ModelMessage(blocks, self._model) if blocks else None

    @property
    def ended(self) -> tuple[CallResult, ...]:
        """The results of those calls of the last reply that ended, or that may have run; in the order of the calls."""
        results = {call.id: self._find_result(call) for call in self._open_calls}
        return tuple(result for result in results.values() if result is not None)

    @property
    def waiting(self) -> tuple[CallBlock, ...]:
        """The calls of the last reply that certainly never ran."""
        return tuple(call for call in self._open_calls if self._find_result(call) is None)

    @property
    def _open_calls(self) -> tuple[CallBlock, ...]:
        last = self.messages[-1] if self.messages else None
        return last.calls if isinstance(last, ModelMessage) else ()

    def _add(self, content: EntryContent) -> None:
        match content:
            case MessageAdded(message):
                self._add_message(message)
            case ReplyCut(message):
                self._add_cut(message)
            case HistoryReplaced(messages):
                self._drop_arriving()
                self.messages = list(messages)
                if not self._open_calls:
                    self._drop_calls()
            case BlockArrived(block):
                self._add_block(block)
            case TextArrived(text):
                self._pieces.append(text)
            case CallStarted(id):
                self._started.add(id)
            case CallEnded(result):
                self._ended[result.id] = result

    def _add_message(self, message: Message) -> None:
        match message:
            case ModelMessage():
                # It stands for what arrived of it.
                self._drop_arriving()
                self._close_calls({})
                self.messages.append(message)
            case ResultsMessage(results):
                self.close_reply()
                self._close_calls({result.id: result for result in results})
            case PersonMessage() | SummaryMessage():
                self.close_reply()
                self._close_calls({})
                self.messages.append(message)

    def _add_block(self, block: ReplyBlock) -> None:
        # A call says nothing of the text before it; any other block is what was arriving.
        if isinstance(block, CallBlock):
            self._blocks.extend(_join_pieces(self._pieces))
        self._pieces = []
        self._blocks.append(block)

    def close_reply(self) -> None:
        """Keep what arrived of a reply as what was said: no more of it will come."""
        cut = self.arriving
        self._drop_arriving()
        if cut is not None:
            self._add_cut(cut)

    def _add_cut(self, cut: ModelMessage) -> None:
        self._drop_arriving()
        self._close_calls({})
        # Its calls were never made, and providers refuse thoughts that lead to nothing.
        if cut.text.strip():
            self.messages.append(ModelMessage((TextBlock(cut.text),), cut.model))

    def _drop_arriving(self) -> None:
        self._blocks, self._pieces = [], []

    def _close_calls(self, results: Mapping[str, CallResult]) -> None:
        """Give each call of the last reply its result: without one, no provider takes the history."""
        calls = self._open_calls
        if not calls:
            return
        kept = [results.get(call.id) or self._find_result(call) for call in calls]
        known = zip(calls, kept, strict=True)
        final = tuple(result or make_interrupted(call, may_have_run=False) for call, result in known)
        self.messages.append(ResultsMessage(final))
        self._drop_calls()

    def _drop_calls(self) -> None:
        # Some providers give the calls of each reply the same ids.
        self._started, self._ended = set(), {}

    def _find_result(self, call: CallBlock) -> CallResult | None:
        if call.id in self._ended:
            return self._ended[call.id]
        return make_interrupted(call, may_have_run=True) if call.id in self._started else None


def _join_pieces(pieces: Iterable[str]) -> tuple[TextBlock, ...]:
    text = "".join(pieces)
    return (TextBlock(text),) if text else ()
