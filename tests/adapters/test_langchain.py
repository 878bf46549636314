"""The adapter for LangChain, through its agents, a checkpointer and a chat model that follows a script."""

import json
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

from behaviors import ADD, ECHO, Behaviors, Reply, Run, Turn
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import mooring
from mooring.adapters.langchain import MooringMiddleware, interrupt


class ScriptedModel(BaseChatModel):
    run: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self.bind(tools=tools, **kwargs)

    def _generate(self, messages: list[BaseMessage], *_: Any, tools: Sequence[Any] = (), **__: Any) -> ChatResult:
        functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
        self.run.offered.append({function["name"]: function["parameters"] for function in functions})
        return ChatResult(generations=[ChatGeneration(message=self._answer())])

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate(*args, **kwargs)

    def _answer(self) -> AIMessage:
        turn = self.run.next_turn()
        if isinstance(turn, str):
            return AIMessage(turn)
        number = len(self.run.offered)
        calls = [
            {"name": name, "args": given, "id": f"call_{number}_{place}"} for place, (name, given) in enumerate(turn)
        ]
        return AIMessage("", tool_calls=calls)


@tool
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


class LangChainRun(Run):
    def __init__(self, tools: mooring.Conversation, turns: Sequence[Turn]) -> None:
        super().__init__(tools, turns)
        self._agent = create_agent(
            ScriptedModel(run=self), [shout], middleware=[MooringMiddleware(tools)], checkpointer=InMemorySaver()
        )
        self.messages: list[BaseMessage] = []
        self._interrupts: list[Any] = []

    async def start(self) -> None:
        await self._go({"messages": [("user", "Begin.")]})

    async def resume(self, approved: bool) -> None:
        decision = {"type": "approve"} if approved else {"type": "reject", "message": "rather not"}
        await self._go(Command(resume={"decisions": [decision]}))

    async def _go(self, begin: Any) -> None:
        state = await self._agent.ainvoke(begin, {"configurable": {"thread_id": "1"}})
        self.messages = state["messages"]
        self.waiting = [_find_name(one.value) for one in state.get("__interrupt__", ())]
        if not self.waiting:
            self.answer = state["messages"][-1].text

    @property
    def replies(self) -> list[Reply]:
        return [_read(message) for message in self.messages if isinstance(message, ToolMessage)]


def _find_name(request: Any) -> str:
    [action] = request["action_requests"]
    json.dumps(request)  # as a service sends it
    server, _, tool = action["name"].partition(".")
    return f"mcp__{server}__{tool}"


def _read(message: ToolMessage) -> Reply:
    blocks = message.content_blocks
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    images = [b64decode(block["base64"]) for block in blocks if block["type"] == "image"]
    return Reply("\n".join(texts), images, message.status == "error")


class TestLangChain(Behaviors):
    run = LangChainRun
    ask = staticmethod(interrupt)

    async def test_structured_content_is_kept_beside_the_text(self) -> None:
        async with self.host(policy="allow") as host:
            run = await self.finish(host, [[ADD], "it is 42"])
        assert isinstance(run, LangChainRun)
        [message] = [message for message in run.messages if isinstance(message, ToolMessage)]
        assert message.artifact == {"structured_content": {"sum": 42}}

    async def test_the_agents_own_tools_are_called_beside_those_of_servers(self) -> None:
        async with self.host(policy="allow") as host:
            run = await self.finish(host, [[("shout", {"text": "ahoy"}), ECHO], "done"])
        assert [reply.text for reply in run.replies] == ["AHOY", "ahoy"]
