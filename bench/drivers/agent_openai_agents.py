"""Drives the runner of the OpenAI Agents SDK with its own MCP client."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai import AsyncOpenAI
from turns import INSTRUCTIONS, MODEL, Place, Turn, serve_turns


@asynccontextmanager
async def converse(place: Place) -> AsyncIterator[Callable[[], Turn]]:
    set_tracing_disabled(True)  # or it would send what it does to OpenAI
    model = OpenAIChatCompletionsModel(MODEL, AsyncOpenAI(base_url=place.model_url, api_key="none"))
    command, *args = place.server
    # It would list the tools before every request; its pages advise to cache them where they don't change.
    async with MCPServerStdio({"command": command, "args": args}, cache_tools_list=True) as server:
        agent = Agent("bench", INSTRUCTIONS, model=model, mcp_servers=[server])

        def begin() -> Turn:
            history: list[Any] = []

            async def turn(said: str) -> str:
                nonlocal history
                run = Runner.run_streamed(agent, [*history, {"role": "user", "content": said}])
                async for _ in run.stream_events():
                    pass
                history = run.to_input_list()
                return str(run.final_output)

            return turn

        yield begin


if __name__ == "__main__":
    serve_turns(converse)
