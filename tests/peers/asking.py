"""Run with the providers' own libraries: reads schemas for each, makes requests of them, prints what was refused.

The requests go through the libraries' public clients to a transport that answers nothing useful: what is tried is all
that a library does before it sends, and that what it sends is the schema that it was given.
"""

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

Sent = list[dict[str, Any]]
Attempt = Callable[[dict[str, Any]], Any]


def main() -> None:
    """From the schemas on stdin to the refusals on stdout."""
    given = json.load(sys.stdin)
    refused = {provider: _tried(TRIES[provider](), schemas) for provider, schemas in given.items()}
    json.dump(refused, sys.stdout)


def _tried(attempt: Attempt, schemas: list[dict[str, Any]]) -> list[str]:
    refused = []
    for schema in schemas:
        try:
            sent = attempt(json.loads(json.dumps(schema)))
        except Exception as error:  # noqa: BLE001 - whatever it says is what we want to hear
            refused.append(f"{type(error).__name__}: {str(error)[:300]}: {json.dumps(schema)[:600]}")
        else:
            if sent != schema:
                refused.append(f"sent as {json.dumps(sent)[:600]}: {json.dumps(schema)[:600]}")
    return refused


def _web(library: Any, sent: Sent, answer: dict[str, Any]) -> Any:
    """A client of httpx, or of httpx2, whose every request is kept and given the same answer."""

    def handle(request: Any) -> Any:
        sent.append(json.loads(request.content))
        return library.Response(200, json=answer)

    return library.Client(transport=library.MockTransport(handle))


def _anthropic() -> Attempt:
    import anthropic
    import httpx2
    from anthropic.types import ToolParam
    from anthropic.types.tool_param import InputSchemaTyped
    from pydantic import TypeAdapter

    sent: Sent = []
    answer = {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": "end_turn",
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    client = anthropic.Anthropic(api_key="none", http_client=_web(httpx2, sent, answer))
    root, kind = TypeAdapter(InputSchemaTyped), TypeAdapter(ToolParam)

    def attempt(schema: dict[str, Any]) -> Any:
        root.validate_python(schema)
        tool = kind.validate_python({"name": "tool", "description": "d", "input_schema": schema})
        client.messages.create(model="m", max_tokens=1, tools=[tool], messages=[{"role": "user", "content": "x"}])
        return sent.pop()["tools"][0]["input_schema"]

    return attempt


def _openai(*, strict: bool = False) -> Attempt:
    import httpx
    import openai
    from openai.types.chat import ChatCompletionFunctionToolParam
    from openai.types.responses import FunctionTool
    from pydantic import TypeAdapter

    sent: Sent = []
    answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
    client = openai.OpenAI(api_key="none", http_client=_web(httpx, sent, answer))
    kind = TypeAdapter(ChatCompletionFunctionToolParam)

    def attempt(schema: dict[str, Any]) -> Any:
        FunctionTool.model_validate({"type": "function", "name": "tool", "parameters": schema, "strict": strict})
        function = {"name": "tool", "description": "d", "parameters": schema, "strict": strict}
        tool = kind.validate_python({"type": "function", "function": function})
        client.chat.completions.create(model="m", tools=[tool], messages=[{"role": "user", "content": "x"}])
        return sent.pop()["tools"][0]["function"]["parameters"]

    return attempt


def _strict() -> Attempt:
    """The library itself makes schemas strict: to one that is, it has nothing to add."""
    from openai.lib._pydantic import _ensure_strict_json_schema

    send = _openai(strict=True)

    def attempt(schema: dict[str, Any]) -> Any:
        own = json.loads(json.dumps(schema))
        made = _ensure_strict_json_schema(own, path=(), root=own)
        return made if made != schema else send(schema)

    return attempt


def _gemini() -> Attempt:
    import httpx
    from google import genai
    from google.genai import types

    sent: Sent = []
    options = types.HttpOptions(httpx_client=_web(httpx, sent, {"candidates": []}))
    client = genai.Client(api_key="none", http_options=options)

    def attempt(schema: dict[str, Any]) -> Any:
        parameters = types.Schema.model_validate(schema)
        declared = types.FunctionDeclaration(name="tool", description="d", parameters=parameters)
        config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declared])])
        client.models.generate_content(model="m", contents="x", config=config)
        return _as_given(sent.pop()["tools"][0]["functionDeclarations"][0]["parameters"], schema)

    return attempt


def _as_given(sent: Any, schema: Any) -> Any:
    """What was sent, as it was given: the library writes types in capitals and keywords with underscores."""
    if isinstance(sent, dict):
        known = schema if isinstance(schema, dict) else {}
        named = {key if key in known else _camel(key): value for key, value in sent.items()}
        return {key: _as_given(value, known.get(key)) for key, value in named.items()}
    if isinstance(sent, list):
        known = schema if isinstance(schema, list) and len(schema) == len(sent) else [None] * len(sent)
        return [_as_given(value, other) for value, other in zip(sent, known, strict=True)]
    alike = isinstance(sent, str) and isinstance(schema, str) and sent.lower() == schema.lower()
    return schema if alike else sent


def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(map(str.capitalize, rest))


def _ollama() -> Attempt:
    from ollama._types import ChatRequest, Tool

    def attempt(schema: dict[str, Any]) -> Any:
        tool = Tool.model_validate({"type": "function", "function": {"name": "tool", "parameters": schema}})
        sent = ChatRequest(model="m", messages=[], tools=[tool]).model_dump()["tools"][0]["function"]["parameters"]
        kept = set(sent["properties"]) == set(schema["properties"]) and sent["type"] == "object"
        return schema if kept else sent

    return attempt


TRIES: dict[str, Callable[[], Attempt]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai-strict": _strict,
    "gemini": _gemini,
    "ollama": _ollama,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
