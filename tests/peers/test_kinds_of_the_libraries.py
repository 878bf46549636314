"""What the providers' libraries can say: their kinds of events, items, parts and ends are those that ours knows."""

from typing import Any, get_args

from google.genai import types
from openai.types.chat.chat_completion_chunk import Choice
from openai.types.responses import ResponseError, ResponseOutputItem, ResponseStreamEvent
from openai.types.responses.response import IncompleteDetails
from pydantic.alias_generators import to_camel

from backends.api.test_chat_codec import FINISH_REASONS as CHAT_REASONS
from backends.api.test_gemini_codec import BLOCKED_REASONS, FINISH_REASONS
from backends.api.test_responses_codec import ERROR_CODES, EVENT_KINDS, INCOMPLETE_REASONS, ITEM_KINDS
from mooring.backends.api.choice import CLAUDE_MODELS
from mooring.backends.api.codecs.gemini_reply import REMARKS, UNSENT


def list_kinds(union: Any) -> set[str]:
    return {get_args(kind.model_fields["type"].annotation)[0] for kind in get_args(get_args(union)[0])}


def test_openai_has_no_other_events_and_items() -> None:
    assert list_kinds(ResponseStreamEvent) == EVENT_KINDS
    assert list_kinds(ResponseOutputItem) == ITEM_KINDS


def test_openai_has_no_other_reasons() -> None:
    assert list_words(ResponseError.model_fields["code"].annotation) == ERROR_CODES.keys()
    assert list_words(IncompleteDetails.model_fields["reason"].annotation) == INCOMPLETE_REASONS
    assert list_words(Choice.model_fields["finish_reason"].annotation) == CHAT_REASONS.keys()


def list_words(kind: Any) -> set[str]:
    """The texts that a literal can be, or an optional one."""
    inner = [word for part in get_args(kind) for word in (get_args(part) or [part])]
    return {word for word in inner if isinstance(word, str)}


def test_google_has_no_other_reasons() -> None:
    assert {reason.value for reason in types.FinishReason} == FINISH_REASONS
    assert {reason.value for reason in types.BlockedReason} == BLOCKED_REASONS


def test_every_kind_of_part_of_googles_library_is_known_or_kept() -> None:
    """Those that are added to the library later are kept, and this test says which they are."""
    known = {"text", "functionCall"}
    kept = {to_camel(name) for name in types.Part.model_fields} - known - REMARKS - UNSENT
    assert kept == {"executableCode", "codeExecutionResult", "fileData", "inlineData", "toolCall", "toolResponse"}


def test_the_models_of_each_kind_are_known_to_anthropics_library() -> None:
    from anthropic.types import ModelParam  # takes a second to load

    known = {name for part in get_args(ModelParam) for name in get_args(part)}
    assert set(CLAUDE_MODELS.values()) <= known
