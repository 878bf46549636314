"""The adapter for the OpenAI Agents SDK, through its runner and a model of our own."""

import json
from base64 import b64decode
from collections.abc import AsyncIterator, Sequence
from typing import Any

from agents import Agent, FunctionTool, Model, ModelResponse, RunConfig, Runner, RunResult, RunState, Tool, Usage
from behaviors import Behaviors, Reply, Run, Turn
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import mooring
from mooring.adapters.openai_agents import make_tools


class ScriptedModel(Model):
    def __init__(self, run: "AgentsRun") -> None:
        self._run = run
        self._calls = 0

    async def get_response(  # type: ignore[override]
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: list[Tool],
        *rest: Any,
        **more: Any,
    ) -> ModelResponse:
        self._run.offered.append(
            {tool.name: tool.params_json_schema for tool in tools if isinstance(tool, FunctionTool)}
        )
        turn = self._run.next_turn()
        output = [_say(turn)] if isinstance(turn, str) else [self._call(name, given) for name, given in turn]
        return ModelResponse(output=list(output), usage=Usage(), response_id=None)

    def _call(self, name: str, arguments: dict[str, Any]) -> ResponseFunctionToolCall:
        self._calls += 1
        return ResponseFunctionToolCall(
            type="function_call", call_id=f"call_{self._calls}", name=name, arguments=json.dumps(arguments)
        )

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def _say(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[content])


class AgentsRun(Run):
    interrupt = False

    def __init__(self, tools: mooring.Conversation, turns: Sequence[Turn]) -> None:
        super().__init__(tools, turns)
        self._agent = Agent(name="a", model=ScriptedModel(self), tools=make_tools(tools, interrupt=self.interrupt))
        self._result: RunResult | None = None

    async def start(self) -> None:
        await self._go("Begin.")

    async def resume(self, approved: bool) -> None:
        assert self._result is not None
        # Through JSON, as a service keeps it until the person has answered.
        stored = self._result.to_state().to_string()
        state = await RunState.from_string(self._agent, stored)
        for item in state.get_interruptions():
            if approved:
                state.approve(item)
            else:
                state.reject(item)
        await self._go(state)

    async def _go(self, begin: Any) -> None:
        result = await Runner.run(self._agent, begin, run_config=RunConfig(tracing_disabled=True))
        self._result = result
        self.waiting = [item.name or "" for item in result.interruptions]
        if not result.interruptions:
            self.answer = result.final_output

    @property
    def replies(self) -> list[Reply]:
        assert self._result is not None
        outputs = [item for item in self._result.to_input_list() if item.get("type") == "function_call_output"]
        return [_read(item["output"]) for item in outputs]  # type: ignore[typeddict-item]


def _read(output: Any) -> Reply:
    if isinstance(output, str):
        return Reply(output)
    text = "\n".join(part["text"] for part in output if part["type"] == "input_text")
    urls = [part["image_url"] for part in output if part["type"] == "input_image"]
    return Reply(text, [b64decode(url.removeprefix("data:image/png;base64,")) for url in urls])


class InterruptibleRun(AgentsRun):
    interrupt = True


class TestOpenAIAgents(Behaviors):
    run = AgentsRun
    interruptible = InterruptibleRun
    flags_errors = False
