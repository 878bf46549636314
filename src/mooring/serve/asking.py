"""Questions on their way to a client: each becomes a request of the protocol, and what comes back is its answer."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import DecodeError, Raw, Struct

from mooring.core.conversation.question import Allow, Answer, Form, No, Permission, Question, Sampling, Visit, Yes
from mooring.core.protocol.raw import read
from mooring.display.text import quote_server, safe

NOBODY: Final = No("The client cannot ask anybody.", how="cancel", nobody=True)

_LONGEST: Final = 4000
"""How many characters of a call's arguments a question shows."""
_CHOICES: Final = {
    "once": "Allow it once",
    "session": "Allow it until this client disconnects",
    "reads": "Trust its server: always allow what that says only reads",
    "always": "Always allow it",
}


class ClientCapabilities(Struct, frozen=True):
    """What a client can be asked for."""

    forms: bool = False
    visits: bool = False
    sampling: bool = False
    sampling_tools: bool = False
    roots: bool = False


def read_capabilities(declared: Mapping[str, Any]) -> ClientCapabilities:
    """What a client declares, as either era writes it."""
    elicitation, sampling = declared.get("elicitation"), declared.get("sampling")
    can_elicit, can_sample = isinstance(elicitation, dict), isinstance(sampling, dict)
    modes = elicitation if isinstance(elicitation, dict) else {}
    return ClientCapabilities(
        # Before 2025-11-25 there were only forms, and nothing inside the capability.
        forms=can_elicit and ("form" in modes or "url" not in modes),
        visits=can_elicit and "url" in modes,
        sampling=can_sample,
        sampling_tools=isinstance(sampling, dict) and "tools" in sampling,
        roots=isinstance(declared.get("roots"), dict),
    )


class ClientRequest(Struct, frozen=True):
    """A question as a request of the protocol, and the capability that a client needs for it."""

    method: str
    params: Mapping[str, Any]
    needs: Mapping[str, Any]
    can_be_put: bool
    key: str = ""
    """What the server calls its question, if it says."""


def make_client_request(question: Question, capabilities: ClientCapabilities) -> ClientRequest | None:
    """The request that puts a question to a client; `None` if the protocol has no words for it."""
    match question:
        case Form(server, message, schema, key):
            return _make_form(quote_server(server, message), mark_form(server, schema), capabilities, key)
        case Visit(key=key):
            params = describe_visit(question)
            return ClientRequest("elicitation/create", params, {"elicitation": {"url": {}}}, capabilities.visits, key)
        case Sampling(_, request, key):
            return _make_sampling(request, capabilities, key)
        case Permission():
            return _make_form(_describe_call(question), _make_choice(question), capabilities)
        case _:
            return None


def mark_form(server: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a server's form with each text that a client may show marked as the server's.

    What is answered stays the same: names of fields, values and defaults are as they were.
    """
    return {key: _mark_member(server, key, value, _DEEPEST) for key, value in schema.items()}


def describe_visit(visit: Visit) -> dict[str, Any]:
    """What sends a person to a page. Only the handshake era has ids for it."""
    message = visit.message if visit.ours else quote_server(visit.server, visit.message)
    params = {"mode": "url", "message": message, "url": visit.url}
    return {**params, "elicitationId": visit.id} if visit.id else params


def read_answer(question: Question, raw: Raw) -> Answer:
    """What a client answered. Whatever is not clearly a yes is a no."""
    try:
        result = read(raw)
    except DecodeError:
        result = None
    if not isinstance(result, dict):
        return No("The client's answer cannot be read.", how="cancel")
    if isinstance(question, Sampling):
        return Yes(result)
    if result.get("action") != "accept":
        return No(how="decline" if result.get("action") == "decline" else "cancel")
    content = result.get("content")
    return _read_choice(content) if isinstance(question, Permission) else Yes(content)


def _make_form(
    message: str, schema: Mapping[str, Any], capabilities: ClientCapabilities, key: str = ""
) -> ClientRequest:
    params = {"message": message, "requestedSchema": schema}
    return ClientRequest("elicitation/create", params, {"elicitation": {"form": {}}}, capabilities.forms, key)


_DEEPEST: Final = 16
"""How deep a form's schema may be. The protocol has forms of plain fields, so nothing is lost of those."""
_BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Members of a schema whose keys are names."""
_VALUES: Final = ("default", "const", "enum", "examples", "required")
"""Members that are, or name, what is answered."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def _mark_member(server: str, key: str, value: Any, depth: int) -> Any:
    match value:
        case str() if key in ("title", "description"):
            return quote_server(server, value)
        case list() if key == "enumNames":
            return [quote_server(server, each) if isinstance(each, str) else each for each in value]
        case dict() if key in _BY_NAME:
            return {name: _mark_field(server, name, field, depth) for name, field in value.items()}
        case _ if key in _VALUES:
            return value
        case _:
            return _mark_schema(server, value, depth)


def _mark_field(server: str, name: str, field: Any, depth: int) -> Any:
    marked = _mark_schema(server, field, depth)
    # A client shows the name of a field without a title, and a name can be a whole sentence.
    if isinstance(marked, dict) and not _PLAIN_NAME.fullmatch(name):
        marked.setdefault("title", quote_server(server, name))
    return marked


def _mark_schema(server: str, schema: Any, depth: int) -> Any:
    match schema:
        case list() | dict() if depth == 0:
            return {}
        case list():
            return [_mark_schema(server, each, depth - 1) for each in schema]
        case dict():
            return {key: _mark_member(server, key, value, depth - 1) for key, value in schema.items()}
        case _:
            return schema


def _make_sampling(request: Mapping[str, Any], capabilities: ClientCapabilities, key: str) -> ClientRequest:
    uses_tools = "tools" in request
    needs: dict[str, Any] = {"sampling": {"tools": {}} if uses_tools else {}}
    can_sample = capabilities.sampling and (capabilities.sampling_tools or not uses_tools)
    return ClientRequest("sampling/createMessage", request, needs, can_sample, key)


def _describe_call(question: Permission) -> str:
    """A call in words. The names are the server's, and the arguments the model's: both are made safe."""
    name = f"{question.server}.{question.tool}" if question.server else question.tool
    arguments = json.dumps(dict(question.arguments))
    if len(arguments) > _LONGEST:
        arguments = f"{arguments[:_LONGEST]}… ({len(arguments) - _LONGEST} more characters)"
    origin = f" ({question.origin})" if question.origin else ""
    return safe(f"Mooring asks: may {name}{origin} be called? {question.why}. Its arguments: {arguments}")


def _make_choice(question: Permission) -> dict[str, Any]:
    choices = {scope: _CHOICES[scope] for scope in question.scopes}
    answer = {
        "type": "string",
        "title": "May it be called?",
        "enum": list(choices),
        "enumNames": list(choices.values()),
        "default": "once",
    }
    return {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}


def _read_choice(content: object) -> Answer:
    chosen = content.get("answer") if isinstance(content, dict) else None
    match chosen:
        case "once" | "session" | "reads" | "always":
            return Allow(chosen)
        case _:
            return No("The client's answer cannot be read.", how="cancel")
