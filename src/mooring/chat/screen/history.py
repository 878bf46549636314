"""A conversation that goes on, as blocks: what was said and done in it before."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    OpaqueBlock,
    PersonCommand,
    PersonMessage,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.chat.recent_calls import RecentCall, make_recent_call
from mooring.chat.screen.call_card import CallCard
from mooring.chat.screen.cards import LinesBlock, NoticeBlock, ReadsBlock, Said
from mooring.chat.screen.reply import ReplyBlock
from mooring.chat.screen.reply import ThinkingBlock as ThoughtBlock
from mooring.chat.screen.stack import Block
from mooring.core.conversation.event import ToolFinished
from mooring.core.conversation.outcome import KeptMedia, Outcome, Part
from mooring.core.protocol.content import Text
from mooring.display.calls import find_kind
from mooring.display.lines import Known
from mooring.display.text import Verbatim, safe_text
from mooring.verbs.agent.transcript import SessionTranscript, TranscriptMessage, walk_transcript

KeepPart: TypeAlias = Callable[[Part], Text | KeptMedia]
"""Puts an image into a file, as `keep_media` does."""


def list_blocks(transcript: SessionTranscript, known: Known, keep: KeepPart) -> Iterator[Block]:
    """All that was said, without what sub-agents said among themselves; `known` names the tools of servers.

    Blocks on the disk where there are images.
    """
    said = [
        step.message for step in walk_transcript(transcript) if isinstance(step, TranscriptMessage) and not step.depth
    ]
    # The results of a reply's calls are in the message after it.
    for message, after in pairwise([*said, None]):
        assert message is not None
        yield from _make_blocks(message, after, _Reading(known, keep))


class _Reading(Struct, frozen=True):
    """What is known where messages are read."""

    known: Known
    keep: KeepPart

    def keep_parts(self, parts: Sequence[Part]) -> tuple[str, tuple[KeptMedia, ...]]:
        """The text of some parts, and the images and sounds among them in files."""
        kept = list(map(self.keep, parts))
        text = "\n".join(part.words if isinstance(part, KeptMedia) else part.text for part in kept)
        return text, tuple(part for part in kept if isinstance(part, KeptMedia))


def _make_blocks(
    message: Message | PersonCommand, after: Message | PersonCommand | None, reading: _Reading
) -> Iterator[Block]:
    match message:
        case PersonMessage(synthetic=True) | ResultsMessage():
            pass  # news for the model; what calls returned stands on their cards
        case PersonMessage(parts):
            yield _make_said(parts, reading)
        case PersonCommand(command, output):
            yield Said(f"!{command}")
            if output or message.failure:
                yield LinesBlock(*map(Verbatim, safe_text(output).split("\n")), *filter(None, [message.failure]))
        case ModelMessage():
            results = after.results if isinstance(after, ResultsMessage) else ()
            yield from _make_reply(message, {result.id: result for result in results}, reading)
        case SummaryMessage():
            yield NoticeBlock("The conversation filled the model's window; its beginning is now a summary.")


def _make_said(parts: Sequence[Part], reading: _Reading) -> Said:
    text, kept = reading.keep_parts(parts)
    images = [each for each in kept if each.is_image]
    # Each of them has a line of its own.
    said = Said("\n".join(line for line in text.split("\n") if line not in {each.words for each in images}))
    said.show_pictures([each.path for each in images])
    return said


def _make_reply(message: ModelMessage, results: Mapping[str, CallResult], reading: _Reading) -> Iterator[Block]:
    reads: ReadsBlock | None = None
    for block in message.blocks:
        if isinstance(block, CallBlock):
            call = _make_call(block, results.get(block.id), reading)
            kind = find_kind(call.event)
            if kind == "plan" and call.event.success:
                yield from _show_plan(call)
                continue
            if kind in ("read", "search") and call.event.success and not call.images:
                if reads is None:
                    reads = ReadsBlock()
                    yield reads
                reads.add(call)
                continue
        reads = None
        match block:
            case CallBlock():
                yield _make_card(call, reading.known)
            case TextBlock(text) if text.strip():
                yield ReplyBlock(text)
            case ThinkingBlock(text) if text.strip():
                yield ThoughtBlock(text)
            case TextBlock() | ThinkingBlock() | OpaqueBlock():
                pass  # nothing to see


def _show_plan(call: RecentCall) -> Iterator[Block]:
    """The plan that the person was to look at. Steps are not shown: they changed since."""
    plan = call.event.arguments.get("plan") if call.event.name == "ExitPlanMode" else None
    if isinstance(plan, str):
        yield ReplyBlock(plan)


def _make_call(block: CallBlock, result: CallResult | None, reading: _Reading) -> RecentCall:
    server, tool = reading.known.get(block.name, (None, ""))
    text, kept = ("", ()) if result is None else reading.keep_parts(result.parts)
    is_error = result is not None and result.is_error
    event = ToolFinished(
        session="",
        turn=0,
        id=block.id,
        name=block.name,
        server=server,
        tool=tool,
        arguments=_read_arguments(block.arguments),
        success=not is_error,
        outcome=Outcome(parts=(Text(text),) if text else (), kept=kept, is_error=is_error, server=server, tool=tool),
    )
    return make_recent_call(0, event, None)


def _make_card(call: RecentCall, known: Known) -> CallCard:
    card = CallCard(call.event, known, lambda _: call)
    card.finish(call.event, call)
    return card


def _read_arguments(written: str) -> dict[str, Any]:
    """What a call was made with; nothing if the model wrote no JSON object."""
    try:
        return msgspec.json.decode(written, type=dict[str, Any])
    except msgspec.DecodeError:
        return {}
