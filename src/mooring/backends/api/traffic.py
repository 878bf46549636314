"""The responses that a reply is read from, so that all of them are closed with it.

Google's library leaves the response of a reply that nobody reads any more to the garbage collector, and the model goes
on writing, at the person's expense. The others close theirs.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from contextvars import ContextVar

import httpx2
from pydantic_ai.models import StreamedResponse

_opened: ContextVar[list[httpx2.Response] | None] = ContextVar("_opened", default=None)
"""Where the reply that is being asked for collects its responses."""


async def note_response(response: httpx2.Response) -> None:
    """To be told of every response of a client, as one of its hooks."""
    responses = _opened.get()
    if responses is not None:
        responses.append(response)


@asynccontextmanager
async def close_with(request: AbstractAsyncContextManager[StreamedResponse]) -> AsyncIterator[StreamedResponse]:
    """Send a request, and close every response to it in the end."""
    responses: list[httpx2.Response] = []
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_close, responses)
        token = _opened.set(responses)
        try:
            stream = await stack.enter_async_context(request)
        finally:
            _opened.reset(token)
        yield stream


async def _close(responses: list[httpx2.Response]) -> None:
    for response in responses:
        await response.aclose()
