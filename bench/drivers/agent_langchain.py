"""Drives LangChain's `create_agent` with langchain-mcp-adapters, on a kept session: a session per call is slower."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from common import as_config
from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient
from turns import INSTRUCTIONS, MODEL, Place, Turn, serve_turns


@asynccontextmanager
async def converse(place: Place) -> AsyncIterator[Callable[[], Turn]]:
    servers = {name: {**entry, "transport": "stdio"} for name, entry in as_config([place.server]).items()}
    # By default it keeps connections for all event loops of a process; each job has a loop of its own.
    async with (
        DefaultAsyncHttpxClient() as http,
        MultiServerMCPClient(servers).session("server0") as session,
    ):
        model = ChatOpenAI(
            model=MODEL,
            base_url=place.model_url,
            api_key="none",
            use_responses_api=False,
            stream_usage=True,
            http_async_client=http,
        )
        agent = create_agent(model, await load_mcp_tools(session), system_prompt=INSTRUCTIONS)

        def begin() -> Turn:
            history: list[Any] = []

            async def turn(said: str) -> str:
                nonlocal history
                said_so_far = {"messages": [*history, {"role": "user", "content": said}]}
                async for mode, piece in agent.astream(said_so_far, stream_mode=["messages", "values"]):
                    if mode == "values":
                        history = piece["messages"]
                return str(history[-1].content)

            return turn

        yield begin


if __name__ == "__main__":
    serve_turns(converse)
