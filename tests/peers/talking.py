"""Run with the providers' own libraries: talks to a model through each, prints what the library made of the replies.

The requests come as JSON on stdin: the API, its address, and turns of a word and whether to stream. Every object that a
library returns is also checked against the library's own types: its clients alone would let a missing field pass.
"""

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

Json = dict[str, Any]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
SYSTEM = "Be kind."


def main() -> None:
    given = json.load(sys.stdin)
    talk = APIS[given["api"]](given["url"])
    json.dump([_try(talk, **turn) for turn in given["turns"]], sys.stdout)


class Talk:
    """One conversation at a time with one API; each library has its own names for the same things."""

    def ask(self, history: list[Any], stream: bool) -> tuple[Json, list[Any]]:
        """What the model replied, in our words, and the history with it."""
        raise NotImplementedError

    def begin(self, word: str) -> list[Any]:
        return [{"role": "user", "content": word}]

    def add_results(self, history: list[Any], calls: list[Json]) -> list[Any]:
        """Each call answered with a text and a picture."""
        raise NotImplementedError

    def list_models(self) -> list[str]:
        raise NotImplementedError

    def count(self, word: str) -> int:
        raise NotImplementedError


def _try(talk: Talk, word: str, stream: bool) -> Json:
    try:
        match word:
            case "list the models":
                return {"models": talk.list_models()}
            case "count the tokens":
                return {"tokens": talk.count(word)}
            case _:
                return _converse(talk, word, stream)
    except Exception as error:  # noqa: BLE001 - whatever it says is what we want to hear
        return _describe(error)


def _converse(talk: Talk, word: str, stream: bool) -> Json:
    reply, history = talk.ask(talk.begin(word), stream)
    if word == "use the results":
        reply, _ = talk.ask(talk.add_results(history, reply["calls"]), stream)
    return reply


def _describe(error: Exception) -> Json:
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    return {
        "error": type(error).__name__,
        "status": getattr(error, "status_code", None) or getattr(error, "code", None),
        "retry_after": headers.get("retry-after"),
        "said": str(error),
    }


def _check(value: Any) -> Any:
    """The same value, once all its fields are what the library's types say. Raises: pydantic.ValidationError."""
    type(value).model_validate(value.model_dump(by_alias=True, exclude_unset=True))
    return value


def _check_all(values: Iterable[Any]) -> list[Any]:
    return [_check(value) for value in values]


class Anthropic(Talk):
    def __init__(self, url: str) -> None:
        from anthropic import Anthropic

        self.client = Anthropic(base_url=url, api_key="sk-fake", max_retries=0)

    def ask(self, history: list[Any], stream: bool) -> tuple[Json, list[Any]]:
        tools: Any = [{"name": "add", "description": "Add.", "input_schema": SCHEMA}]
        wanted: Any = {"model": "claude-x", "max_tokens": 100, "system": SYSTEM, "messages": history, "tools": tools}
        message = self._stream(wanted) if stream else _check(self.client.messages.create(**wanted))
        return self._read(message), [*history, {"role": "assistant", "content": message.content}]

    def _stream(self, wanted: Json) -> Any:
        _check_all(self.client.messages.create(**wanted, stream=True))
        with self.client.messages.stream(**wanted) as events:
            return events.get_final_message()

    def _read(self, message: Any) -> Json:
        thoughts = [block for block in message.content if block.type == "thinking"]
        calls = [block for block in message.content if block.type == "tool_use"]
        usage = message.usage
        return {
            "text": "".join(block.text for block in message.content if block.type == "text"),
            "thinking": "".join(block.thinking for block in thoughts),
            "signatures": [block.signature for block in thoughts],
            "calls": [{"id": call.id, "name": call.name, "arguments": call.input} for call in calls],
            "stop": message.stop_reason,
            "usage": [
                usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens,
                usage.cache_creation_input_tokens,
            ],
        }  # fmt: skip

    def add_results(self, history: list[Any], calls: list[Json]) -> list[Any]:
        picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
        blocks = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": [{"type": "text", "text": "42"}, picture]}
            for call in calls
        ]
        return [*history, {"role": "user", "content": blocks}]

    def list_models(self) -> list[str]:
        return [_check(model).id for model in self.client.models.list()]

    def count(self, word: str) -> int:
        counted = self.client.messages.count_tokens(model="claude-x", messages=[{"role": "user", "content": word}])
        return int(_check(counted).input_tokens)


class OpenAIChat(Talk):
    def __init__(self, url: str) -> None:
        from openai import OpenAI

        self.client = OpenAI(base_url=url, api_key="sk-fake", max_retries=0)

    def begin(self, word: str) -> list[Any]:
        return [{"role": "system", "content": SYSTEM}, *super().begin(word)]

    def ask(self, history: list[Any], stream: bool) -> tuple[Json, list[Any]]:
        tools = [{"type": "function", "function": {"name": "add", "description": "Add.", "parameters": SCHEMA}}]
        wanted: Any = {"model": "gpt-x", "messages": history, "tools": tools}
        whole = self._stream(wanted) if stream else _check(self.client.chat.completions.create(**wanted))
        message = whole.choices[0].message
        return self._read(whole), [*history, message.model_dump(exclude_none=True, exclude={"parsed"})]

    def _stream(self, wanted: Json) -> Any:
        wanted = {**wanted, "stream_options": {"include_usage": True}}
        _check_all(self.client.chat.completions.create(**wanted, stream=True))
        # The library would parse the arguments of tools that it knows.
        with self.client.chat.completions.stream(**{**wanted, "tools": []}) as events:
            for _ in events:
                pass
            return events.current_completion_snapshot

    def _read(self, whole: Any) -> Json:
        [choice] = whole.choices
        usage = whole.usage
        return {
            "text": choice.message.content or "",
            "thinking": getattr(choice.message, "reasoning_content", ""),
            "signatures": [],
            "calls": [_read_call(call.id, call.function) for call in choice.message.tool_calls or []],
            "stop": choice.finish_reason,
            "usage": [
                usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens,
                usage.completion_tokens_details.reasoning_tokens,
            ],
        }  # fmt: skip

    def add_results(self, history: list[Any], calls: list[Json]) -> list[Any]:
        # Tools return text alone in this API; a picture follows as if the person had sent it.
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "42"} for call in calls]
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        return [*history, *results, {"role": "user", "content": [picture]}]

    def list_models(self) -> list[str]:
        return [_check(model).id for model in self.client.models.list()]


class OpenAIResponses(OpenAIChat):
    def begin(self, word: str) -> list[Any]:
        return [{"role": "user", "content": word}]

    def ask(self, history: list[Any], stream: bool) -> tuple[Json, list[Any]]:
        tools = [{"type": "function", "name": "add", "description": "Add.", "parameters": SCHEMA, "strict": False}]
        wanted: Any = {"model": "gpt-x", "instructions": SYSTEM, "input": history, "tools": tools}
        response = self._stream(wanted) if stream else _check(self.client.responses.create(**wanted))
        output = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
        return self._read(response), [*history, *output]

    def _stream(self, wanted: Json) -> Any:
        ended = _check_all(self.client.responses.create(**wanted, stream=True))[-1]
        if ended.type == "response.failed":
            raise RuntimeError(f"{ended.response.error.code}: {ended.response.error.message}")
        with self.client.responses.stream(**{**wanted, "tools": []}) as events:
            last = [event for event in events if event.type in ("response.completed", "response.incomplete")][-1]
            return last.response

    def _read(self, whole: Any) -> Json:
        thoughts = [item for item in whole.output if item.type == "reasoning"]
        calls = [item for item in whole.output if item.type == "function_call"]
        usage = whole.usage
        return {
            "text": whole.output_text,
            "thinking": "".join(part.text for item in thoughts for part in item.summary),
            "signatures": [item.encrypted_content for item in thoughts],
            "calls": [_read_call(call.call_id, call) for call in calls],
            "stop": whole.incomplete_details.reason if whole.incomplete_details else whole.status,
            "usage": [
                usage.input_tokens, usage.output_tokens, usage.input_tokens_details.cached_tokens,
                usage.output_tokens_details.reasoning_tokens,
            ],
        }  # fmt: skip

    def add_results(self, history: list[Any], calls: list[Json]) -> list[Any]:
        picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"}
        output = [{"type": "input_text", "text": "42"}, picture]
        results = [{"type": "function_call_output", "call_id": call["id"], "output": output} for call in calls]
        return [*history, *results]

    def count(self, word: str) -> int:
        return int(_check(self.client.responses.input_tokens.count(model="gpt-x", input=word)).input_tokens)


class Gemini(Talk):
    def __init__(self, url: str) -> None:
        from google import genai

        self.client = genai.Client(api_key="sk-fake", http_options={"base_url": url})

    def begin(self, word: str) -> list[Any]:
        from google.genai import types

        return [types.UserContent(word)]

    def ask(self, history: list[Any], stream: bool) -> tuple[Json, list[Any]]:
        declaration = {"name": "add", "description": "Add.", "parameters_json_schema": SCHEMA}
        config: Any = {"system_instruction": SYSTEM, "tools": [{"function_declarations": [declaration]}]}
        wanted: Any = {"model": "gemini-x", "contents": history, "config": config}
        models = self.client.models
        chunks = list(models.generate_content_stream(**wanted)) if stream else [models.generate_content(**wanted)]
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
        return self._read(chunks[-1], parts), [*history, {"role": "model", "parts": parts}]

    def _read(self, last: Any, parts: list[Any]) -> Json:
        from base64 import b64encode

        calls = [part.function_call for part in parts if part.function_call]
        signatures = [part.thought_signature for part in parts if part.thought_signature]
        usage = last.usage_metadata
        return {
            "text": "".join(part.text or "" for part in parts if not part.thought),
            "thinking": "".join(part.text for part in parts if part.thought),
            "signatures": [b64encode(signature).decode() for signature in signatures],
            "calls": [{"id": call.id, "name": call.name, "arguments": call.args} for call in calls],
            "stop": last.candidates[0].finish_reason.value,
            "usage": [
                usage.prompt_token_count, usage.candidates_token_count, usage.cached_content_token_count,
                usage.thoughts_token_count,
            ],
        }  # fmt: skip

    def add_results(self, history: list[Any], calls: list[Json]) -> list[Any]:
        picture = {"inline_data": {"mime_type": "image/png", "data": PIXEL}}
        results = [
            {"id": call["id"], "name": call["name"], "response": {"result": "42"}, "parts": [picture]} for call in calls
        ]
        return [*history, {"role": "user", "parts": [{"function_response": result} for result in results]}]

    def list_models(self) -> list[str]:
        return [str(model.name) for model in self.client.models.list()]

    def count(self, word: str) -> int:
        return int(self.client.models.count_tokens(model="gemini-x", contents=word).total_tokens or 0)


def _read_call(id: str, function: Any) -> Json:
    try:
        arguments = json.loads(function.arguments)
    except ValueError:
        arguments = function.arguments
    return {"id": id, "name": function.name, "arguments": arguments}


APIS: dict[str, Callable[[str], Talk]] = {
    "anthropic": Anthropic,
    "openai-chat": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "gemini": Gemini,
}

if __name__ == "__main__":
    main()
