"""OpenAI's client, made to send a conversation as it is given.

Before each request its library compares every part of every message with the types of all messages there are, to rename
keys and read files. Nothing in a conversation is renamed, and Pydantic AI hands over plain data. After ten turns this
took half of a turn's CPU, and more with each one.
"""

from collections.abc import Mapping
from typing import Any

from openai import AsyncOpenAI
from openai.resources.chat.completions import AsyncCompletions
from openai.resources.responses import AsyncResponses


class VerbatimCompletions(AsyncCompletions):
    """Chat completions whose messages and tools join the request after the library has looked through it."""

    async def create(  # type: ignore[override]  # the library has an overload for each way to stream
        self, *, messages: Any, tools: Any, extra_body: Mapping[str, Any] | None = None, **rest: Any
    ) -> Any:
        body = {**(extra_body or {}), "messages": messages, "tools": tools}
        return await super().create(messages=(), extra_body=body, **rest)


class VerbatimResponses(AsyncResponses):
    """The same for the Responses API."""

    async def create(  # type: ignore[override]  # as above
        self, *, input: Any, tools: Any, extra_body: Mapping[str, Any] | None = None, **rest: Any
    ) -> Any:
        body = {**(extra_body or {}), "input": input, "tools": tools}
        return await super().create(extra_body=body, **rest)


def send_verbatim(client: AsyncOpenAI) -> None:
    """Make a client send the messages and tools that it is given."""
    # Where the library keeps a resource once somebody has asked for it.
    client.chat.__dict__["completions"] = VerbatimCompletions(client)
    client.__dict__["responses"] = VerbatimResponses(client)
