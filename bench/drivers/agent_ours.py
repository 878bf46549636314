"""Drives `mooring.agent`, on a host in a home in which nothing is known of any server."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory

from common import as_config
from turns import INSTRUCTIONS, MODEL, Place, Turn, serve_turns

import mooring
from mooring.core.definitions.paths import Workspace, here


@asynccontextmanager
async def converse(place: Place) -> AsyncIterator[Callable[[], Turn]]:
    with TemporaryDirectory() as home:
        env = {"HOME": home, "PATH": os.environ["PATH"], "OPENAI_BASE_URL": place.model_url, "OPENAI_API_KEY": "none"}
        request = Workspace(here(env), home)
        servers = as_config([place.server])
        async with (
            mooring.open(request=request, policy="allow", servers=servers) as host,
            mooring.agent(host, f"openai-chat:{MODEL}", instructions=INSTRUCTIONS) as agent,
        ):
            assert await host.ready() == {}

            def begin() -> Turn:
                agent.backend.thread.messages.clear()
                return turn

            async def turn(said: str) -> str:
                text = ""
                async for event in agent.turn(said):
                    if isinstance(event, mooring.TurnDone):
                        text = event.text
                return text

            yield begin


if __name__ == "__main__":
    serve_turns(converse)
