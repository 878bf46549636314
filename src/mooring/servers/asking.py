"""What a server may ask of us, and what we want to hear from it: questions go to the person, or are refused."""

from collections.abc import Callable, Mapping
from typing import Any

from mooring.core.question import Allow, Ask, Form, No, Question, Sampling, Visit, Yes
from mooring.core.result import LogMessage
from mooring.errors import RpcError
from mooring.wire.session.client import Client, ListName, Respond, Root

REFUSED = -1
"""The code by which the protocol says that a person refused."""


def client(
    server: str,
    folder: str,
    ask: Ask | None,
    *,
    on_change: Callable[[ListName], None],
    on_update: Callable[[str], None],
    on_log: Callable[[LogMessage], None],
) -> Client:
    """This side of a connection. Without anyone to ask, a server is not told that it may."""
    return Client(
        roots=lambda: [Root.of(folder)],
        sample=_sampling(server, ask) if ask is not None else None,
        elicit=_eliciting(server, ask) if ask is not None else None,
        elicit_by_url=ask is not None,
        on_change=on_change,
        on_update=on_update,
        on_log=on_log,
    )


def _sampling(server: str, ask: Ask) -> Respond:
    async def sample(params: dict[str, Any]) -> Mapping[str, Any]:
        match await ask(Sampling(server, params)):
            case Yes(content) if isinstance(content, Mapping):
                return content
            case Yes() | Allow():
                raise RpcError(server, REFUSED, "There is no model to ask here.")
            case No(reason):
                raise RpcError(server, REFUSED, reason or "The person refused the request.")

    return sample


def _eliciting(server: str, ask: Ask) -> Respond:
    async def elicit(params: dict[str, Any]) -> Mapping[str, Any]:
        match await ask(_question(server, params)):
            case Yes(content):
                return {"action": "accept", "content": content} if content is not None else {"action": "accept"}
            case Allow():
                return {"action": "accept"}
            case No(how=how):
                return {"action": how}

    return elicit


def _question(server: str, params: Mapping[str, Any]) -> Question:
    message = str(params.get("message", ""))
    if params.get("mode") == "url":
        return Visit(server, message, str(params.get("url", "")), str(params.get("elicitationId", "")))
    schema = params.get("requestedSchema")
    return Form(server, message, schema if isinstance(schema, Mapping) else {})
