"""The client that a server sees: its questions go to the person, or are refused."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Raw

from mooring.core.conversation.question import Allow, Ask, Form, No, Question, Sampling, Visit, Yes
from mooring.core.protocol.result import LogMessage
from mooring.errors import RpcError
from mooring.wire.rpc.inbound import Responder
from mooring.wire.session.client import Client, ListName, Respond, Root, asked_as

ListRoots: TypeAlias = Callable[[], Awaitable[Sequence[Any]]]
"""The folders that a program works in, as the protocol has them."""

REFUSED = -1
"""The error code that the protocol has for a person who refused."""


def make_client(
    server: str,
    roots: Sequence[str],
    ask: Ask,
    *,
    on_change: Callable[[ListName], None] | None = None,
    on_update: Callable[[str], None] | None = None,
    on_log: Callable[[LogMessage], None] | None = None,
) -> Client:
    """This side of a connection.

    Every client declares the same capabilities, whether or not there is anyone to ask. Servers offer other tools to
    clients with other capabilities: what the command line had pinned, the chat would refuse.
    """
    return Client(
        roots=lambda: [Root.of(folder) for folder in roots],
        sample=_make_sampler(server, ask),
        elicit=_make_elicitor(server, ask),
        elicit_by_url=True,
        on_change=on_change,
        on_update=on_update,
        on_log=on_log,
    )


def make_answers(server: str, ask: Ask, list_roots: ListRoots | None = None) -> dict[str, Responder]:
    """What answers a server in the name of one person; the folders are theirs only with `list_roots`."""
    answers = Client(sample=_make_sampler(server, ask), elicit=_make_elicitor(server, ask)).answers()
    if list_roots is not None:
        answers["roots/list"] = _make_root_lister(list_roots)
    return answers


def _make_root_lister(list_roots: ListRoots) -> Responder:
    async def answer(_: Raw) -> Mapping[str, Any]:
        return {"roots": await list_roots()}

    return answer


def find_roots(folder: str, home: str) -> list[str]:
    """The folders that a server is told to work in: the project's, unless that holds all that the person has.

    server-filesystem replaces the folders it was configured with by these. Somebody who calls it from the home folder,
    or from `/`, does not mean to open all of it.
    """
    holds_everything = os.path.join(home, "").startswith(os.path.join(folder, ""))
    return [] if holds_everything else [folder]


def _make_sampler(server: str, ask: Ask) -> Respond:
    async def sample(params: dict[str, Any]) -> Mapping[str, Any]:
        match await ask(Sampling(server, params, asked_as.get())):
            case Yes(content) if isinstance(content, Mapping):
                return content
            case Yes() | Allow():
                raise RpcError(server, REFUSED, "There is no model to ask here.")
            case No(reason):
                raise RpcError(server, REFUSED, reason or "The person refused the request.")

    return sample


def _make_elicitor(server: str, ask: Ask) -> Respond:
    async def elicit(params: dict[str, Any]) -> Mapping[str, Any]:
        match await ask(_make_question(server, params)):
            case Yes(None) | Allow():
                return {"action": "accept"}
            case Yes(content):
                return {"action": "accept", "content": content}
            case No(how=how):
                return {"action": how}

    return elicit


def _make_question(server: str, params: Mapping[str, Any]) -> Question:
    message, key = str(params.get("message", "")), asked_as.get()
    if params.get("mode") == "url":
        return Visit(server, message, str(params.get("url", "")), str(params.get("elicitationId", "")), key)
    schema = params.get("requestedSchema")
    return Form(server, message, schema if isinstance(schema, Mapping) else {}, key)
