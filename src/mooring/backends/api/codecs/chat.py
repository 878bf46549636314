"""OpenAI's Chat Completions and what imitates them: how a request is written, adjusted to what an endpoint refuses."""

import re
from typing import Any

from msgspec.json import encode

from mooring.agents.model import ModelRequest
from mooring.backends.api.codecs.chat_caching import mark_for_cache
from mooring.backends.api.codecs.chat_messages import DETAILS, MEDIA, REASONING_FIELDS, write_messages
from mooring.backends.api.codecs.chat_reply import ChatReader
from mooring.backends.api.codecs.codec import ApiRequest, Recipient
from mooring.backends.api.codecs.refusal import UNVERIFIED, ApiRefusal, refuses_media
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.effort import Effort
from mooring.tools.schema.adapt import adapt

PATH = "/chat/completions"
LONGEST_CACHE_KEY = 64
"""OpenAI refuses a `prompt_cache_key` with more characters."""

_OPENAI_HOSTS = ("api.openai.com", ".openai.azure.com", ".services.ai.azure.com")
_LENGTH_FIELDS = ("max_completion_tokens", "max_tokens")

_STREAM = "stream"
_DISPENSABLE = ("stream_options", "strict", "prompt_cache_key")
"""What a request does without, once an endpoint complains about it in any way."""
_REPLACEABLE = (*_LENGTH_FIELDS, DETAILS, *REASONING_FIELDS)
"""What a request does without, or says in another field, once an endpoint says that it doesn't know it."""
_UNKNOWN = re.compile(
    r"unsupported|not supported|does(?: not|n't) support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed"
    r"|no such|does(?: not|n't) exist|invalid (?:parameter|argument|field)|extra_forbidden",
    re.IGNORECASE,
)
_FIELD = re.compile(rf"(?<![a-z_])({'|'.join((*_DISPENSABLE, *_REPLACEABLE))})(?![a-z_])")
_FIELD_STATUSES = frozenset({400, 404, 422, 500, 501})
"""With which servers refuse a field that they don't know: llama.cpp's with 500."""


class ChatCodec:
    """Chat Completions, for one model."""

    def __init__(self, recipient: Recipient) -> None:
        self._recipient = recipient
        self._refused: set[str] = set()
        """The fields that the endpoint turned out not to take."""

    def write(self, request: ModelRequest, effort: Effort | None) -> ApiRequest:
        messages = write_messages(request, self._recipient, self._refused)
        tools = [self._write_tool(tool) for tool in request.tools]
        if self._recipient.word == "openrouter":
            mark_for_cache(messages, tools, self._recipient.model)
        is_streamed = _STREAM not in self._refused
        body: dict[str, Any] = {"model": self._recipient.model, "messages": messages, "stream": is_streamed}
        if is_streamed and "stream_options" not in self._refused:
            body["stream_options"] = {"include_usage": True}
        if tools:
            body |= {"tools": tools, "tool_choice": "auto"}
        body |= self._write_length(request) | self._write_output(request)
        body |= self._write_effort(effort) | self._write_extensions(request)
        return ApiRequest(PATH, encode(body))

    def reader(self) -> ChatReader:
        return ChatReader(self._recipient)

    def adjust(self, refusal: ApiRefusal) -> bool:
        field = _find_refused_field(refusal)
        if field is None:
            return False
        # It may be known already: another request was on its way with the field when it was refused the first time.
        self._refused.add(field)
        return True

    def _write_tool(self, tool: ToolDefinition) -> dict[str, Any]:
        function: dict[str, Any] = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
        if tool.strict and "strict" not in self._refused:
            function["strict"] = True
        return {"type": "function", "function": function}

    def _write_length(self, request: ModelRequest) -> dict[str, Any]:
        lengths = [length for length in (request.longest_reply, self._recipient.longest_reply) if length is not None]
        if request.longest_reply is None:
            return {}
        # OpenAI's reasoning models refuse the older name, and many that imitate OpenAI know only that.
        fields = _LENGTH_FIELDS if self._is_openai else reversed(_LENGTH_FIELDS)
        field = next((field for field in fields if field not in self._refused), None)
        return {} if field is None else {field: min(lengths)}

    def _write_output(self, request: ModelRequest) -> dict[str, Any]:
        if request.output_schema is None:
            return {}
        schema: dict[str, Any] = {"name": "reply", "schema": request.output_schema}
        if "strict" not in self._refused and _is_strict(request.output_schema):
            schema["strict"] = True
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def _write_effort(self, effort: Effort | None) -> dict[str, Any]:
        if effort is None:
            return {}
        if self._recipient.word == "openrouter":
            # Some models that can do without thinking only think when both are said.
            return {"reasoning": {"effort": effort, "enabled": True}}
        return {"reasoning_effort": effort} if self._recipient.thinking == "effort" else {}

    def _write_extensions(self, request: ModelRequest) -> dict[str, Any]:
        """What only one provider understands."""
        if self._recipient.word == "openrouter":
            return {"usage": {"include": True}}
        if self._is_openai and request.conversation and "prompt_cache_key" not in self._refused:
            return {"prompt_cache_key": request.conversation[:LONGEST_CACHE_KEY]}
        return {}

    @property
    def _is_openai(self) -> bool:
        """Whether it is OpenAI itself, or OpenAI's models at Azure."""
        return self._recipient.word == "openai-chat" or any(host in self._recipient.origin for host in _OPENAI_HOSTS)


def _find_refused_field(refusal: ApiRefusal) -> str | None:
    """The field that an endpoint doesn't take, or what stands for it, if that is what it says."""
    if refuses_media(refusal):
        return MEDIA
    if UNVERIFIED.search(refusal.message):
        return _STREAM
    if refusal.status not in _FIELD_STATUSES:
        return None
    # "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.": the first is meant.
    found = _FIELD.search(refusal.message)
    if found is None:
        return None
    field = found[1]
    if field in _DISPENSABLE or _UNKNOWN.search(refusal.message):
        return field
    # As in "'max_tokens' is too large: the context length is 4096", or "Missing `reasoning_content`".
    return None


def _is_strict(schema: Any) -> bool:
    """Whether OpenAI can hold a model to a schema as it is."""
    adapted = adapt(schema, "openai-strict")
    return adapted.strict and adapted.schema == schema
