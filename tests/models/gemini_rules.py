"""What Gemini refuses in a conversation that it is sent: with its own words where it has any."""

import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Any

from tests.models.record import Json

MEDIA = frozenset({
    "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "audio/wav", "audio/mp3", "audio/mpeg",
    "audio/aiff", "audio/aac", "audio/ogg", "audio/flac", "application/pdf", "text/plain",
})  # fmt: skip
"""Of what programs attach; Google's pages list no GIF."""
KINDS = frozenset({
    "text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult",
    "toolCall", "toolResponse",
})  # fmt: skip
"""What a part can be; every other field says something about it."""


def find_breach(contents: Sequence[Json], model: str) -> str | None:
    """Why the API would refuse these contents, which have its fields in camel case; `None` if it takes them."""
    return next(_list_breaches(contents, model), None)


def _list_breaches(contents: Sequence[Json], model: str) -> Iterator[str]:
    if not contents:
        yield "contents are not specified"
        return
    if contents[-1]["role"] == "model":
        yield "Requests ending with a model turn are not supported."
    for place, content in enumerate(contents):
        before = contents[place - 1] if place else None
        after = contents[place + 1] if place + 1 < len(contents) else None
        yield from _check_content(content, before, after)
        if content["role"] == "model" and re.match(r"gemini-[3-9]", model):
            yield from _check_signatures(content)


def _check_content(content: Json, before: Json | None, after: Json | None) -> Iterator[str]:
    if content["role"] not in ("user", "model"):
        yield f"Role {content['role']!r} is not supported"
    if not content["parts"]:
        yield "contents.parts must not be empty."
    for part in content["parts"]:
        yield from _check_part(part)
    calls, results = _list_named(content, "functionCall"), _list_named(content, "functionResponse")
    if calls and (content["role"] != "model" or before is None or before["role"] != "user"):
        yield "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
    answered = _list_named(after, "functionResponse") if after else []
    if calls != answered and (calls or answered):
        yield (
            "Please ensure that the number of function response parts is equal to the number of function call parts "
            f"of the function call turn: {calls} and {answered}"
        )
    if results and (before is None or before["role"] != "model"):
        yield "Please ensure that function response turn comes immediately after a function call turn."
    if results and len(results) < len(content["parts"]):
        yield "what stands in one content with results is taken for the model's own words"


def _list_named(content: Json | None, kind: str) -> list[tuple[str, str | None]]:
    return [(part[kind]["name"], part[kind].get("id")) for part in (content or {})["parts"] if kind in part]


def _check_part(part: Json) -> Iterator[str]:
    kinds = part.keys() & KINDS
    if len(kinds) != 1:
        yield f"contents.parts.data: required oneof field 'data' must have one initialized field: {sorted(part)}"
    for data in (part, *part.get("functionResponse", {}).get("parts", [])):
        kind = data.get("inlineData", {}).get("mimeType")
        if kind is not None and kind not in MEDIA:
            yield f"Unsupported MIME type: {kind}"
    if not isinstance(part.get("functionCall", {}).get("args", {}), dict):
        yield "contents.parts.function_call.args is no object"
    try:
        b64decode(part.get("thoughtSignature", ""), altchars="-_" if _is_for_addresses(part) else None, validate=True)
    except ValueError:
        yield "Corrupted thought signature."


def _is_for_addresses(part: Json) -> bool:
    return not {"-", "_"}.isdisjoint(part.get("thoughtSignature", ""))


def _check_signatures(content: Json) -> Iterator[str]:
    calls: list[Any] = [part for part in content["parts"] if "functionCall" in part]
    if calls and not calls[0].get("thoughtSignature"):
        name = calls[0]["functionCall"]["name"]
        yield f"Function call is missing a thought_signature in functionCall parts: {name}"
