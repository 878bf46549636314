"""`Agent`: hands a task to a sub-agent, which works on it in a conversation of its own and answers once."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct

from mooring.agents.definition import AgentDefinition
from mooring.agents.files.find import FoundAgents
from mooring.agents.loop import run_turn
from mooring.agents.thread import AgentThread
from mooring.conversation.function import make_schema
from mooring.conversation.local_tool import LocalCall, LocalTool, text_result
from mooring.core.conversation.turn import TurnInput
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.protocol.content import Text
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Tool
from mooring.display.text import count_noun
from mooring.errors import ConfigError

FindAgents: TypeAlias = Callable[[], FoundAgents]
"""Finds the agents that are defined now."""


class KnownAgents:
    """The agents that can be started. Files are looked at once a turn, not whenever somebody looks."""

    def __init__(self, find: FindAgents) -> None:
        self._find = find
        self._found: FoundAgents | None = None

    @property
    def found(self) -> FoundAgents:
        """All of them: the same value until `refresh`."""
        if self._found is None:
            self._found = self._find()
        return self._found

    def refresh(self) -> None:
        """Find out which agents there are now."""
        self._found = None


def select_agents(definitions: Iterable[AgentDefinition]) -> FoundAgents:
    """These agents, and no others."""
    every = tuple(definitions)
    return FoundAgents({definition.name: definition for definition in every}, every)


DEFAULT_AGENT = "general-purpose"
MOST_DEPTH = 2
"""A sub-agent may start others; those may not."""
MOST_AT_ONCE = 8
"""How many sub-agents of one conversation work at the same time; further ones wait until one has ended."""
MOST_LISTED = 50
LONGEST_DESCRIPTION = 250

_PURPOSE = (
    "Hand a task to a sub-agent. It works on it in a conversation of its own, with the tools of its kind, and returns "
    "its answer. It knows nothing of this conversation: say in the prompt all that it needs, and what to report. "
    "For independent tasks, start several at once."
)
_TOO_DEEP = "Agent was not called: a sub-agent of a sub-agent can't start another one. Do the task yourself."


class AgentArguments(Struct, kw_only=True, forbid_unknown_fields=True):
    description: Annotated[str, Meta(description="The task in three to five words")] = ""
    prompt: Annotated[str, Meta(description="The whole task", min_length=1)]
    subagent_type: Annotated[str, Meta(description="The name of the agent to start")] = DEFAULT_AGENT
    model: Annotated[str | None, Meta(description="Another model of the same provider; usually left out")] = None


class SubAgentTask(Struct, frozen=True):
    call: str
    """The id of the call that it works for."""
    definition: AgentDefinition
    prompt: str
    model: str | None = None
    """The model that whoever started it asks for."""


class SubAgent(Struct, frozen=True):
    """A sub-agent that is ready to work."""

    thread: AgentThread
    notes: tuple[str, ...] = ()
    """What it has to do without, a sentence each."""


OpenSubAgent: TypeAlias = Callable[[SubAgentTask], AbstractAsyncContextManager[SubAgent]]
"""Opens the conversation of a sub-agent, and closes it with everything that was opened for it."""


class AgentTool(LocalTool):
    label = "Agent"
    aliases = ("Task",)
    other_names = ("Task",)
    description = _PURPOSE
    parameters = AgentArguments
    # It changes nothing by itself, and what the sub-agent does is checked call by call. So several run at once.
    only_reads = True
    raises_answers = True

    def __init__(
        self, known: KnownAgents, open_sub_agent: OpenSubAgent, *, depth: int, startable: frozenset[str] | None = None
    ) -> None:
        """`depth` is how many agents are above the one that has this tool, `startable` the only ones that it may
        start."""
        self._known = known
        self._startable = startable
        self._open = open_sub_agent
        self.is_offered = depth < MOST_DEPTH
        # A sub-agent that waits for its own does nothing meanwhile: they take its place, one at a time. So it is never
        # more than the most that are at work, and none waits for a place that only its own end would free.
        self._places = asyncio.Semaphore(MOST_AT_ONCE if depth == 0 else 1)
        self._defined: tuple[FoundAgents, Tool] | None = None

    @property
    def definition(self) -> Tool:
        """Its description names the agents that can be started now."""
        found = self._known.found
        if self._defined is None or self._defined[0] is not found:
            self._defined = found, self._define(self._select(found).by_name)
        return self._defined[1]

    def _select(self, found: FoundAgents) -> FoundAgents:
        """Those that may be started."""
        if self._startable is None:
            return found
        return select_agents(each for name, each in found.by_name.items() if name in self._startable)

    def _define(self, by_name: Mapping[str, AgentDefinition]) -> Tool:
        schema = make_schema(self.parameters, self.name)
        # Here too, and without the descriptions: OpenAI takes only the beginning of a tool's description.
        names = ", ".join(list(by_name)[:MOST_LISTED])
        schema["properties"]["subagent_type"]["description"] = f"The agent to start: {names}"
        return Tool(
            name=self.name,
            input_schema=Raw(msgspec.json.encode(schema)),
            description=describe_agents(by_name),
            annotations=self.hints,
        )

    def assess(self, arguments: AgentArguments) -> LocalAccess:
        if not self.is_offered:
            raise ConfigError(_TOO_DEEP)
        definition = self._find(arguments)
        return LocalAccess(
            kind="text", subject=definition.name, is_free=True, why="each call of a sub-agent is checked by itself"
        )

    def _find(self, arguments: AgentArguments) -> AgentDefinition:
        return self._select(self._known.found).find(arguments.subagent_type)

    async def run(self, call: LocalCall) -> Result:
        arguments: AgentArguments = call.arguments
        definition = self._find(arguments)
        task = SubAgentTask(call.id, definition, arguments.prompt, arguments.model)
        async with self._places, self._open(task) as sub_agent:
            result = await run_sub_agent(sub_agent.thread, task.prompt)
            return msgspec.structs.replace(result, content=(*result.content, *map(Text, sub_agent.notes)))


def describe_agents(by_name: Mapping[str, AgentDefinition]) -> str:
    """What the tool is for, and the agents that it can start; not more of them than anybody reads."""
    listed = list(by_name.values())[:MOST_LISTED]
    lines = [f"- {agent.name}: {_shorten(agent.description)}" for agent in listed]
    if len(by_name) > MOST_LISTED:
        lines.append(f"and {len(by_name) - MOST_LISTED} more")
    return "\n".join([_PURPOSE, "Agents:", *lines])


def _shorten(description: str) -> str:
    line = " ".join(description.split())
    return line if len(line) <= LONGEST_DESCRIPTION else f"{line[:LONGEST_DESCRIPTION]}…"


SAID_NOTHING = "(The sub-agent ended without an answer.)"


async def run_sub_agent(thread: AgentThread, prompt: str) -> Result:
    """Have a task done. What was said before it failed, or was stopped, is part of the result."""
    await run_turn(thread, TurnInput(prompt))
    done = thread.reporter.done
    assert done is not None  # a turn that isn't cancelled has an end
    match done.reason:
        case "finished":
            return text_result(done.text if done.text.strip() else SAID_NOTHING)
        case "max-turns":
            asked = count_noun(done.replies, "time")
            return _report_end(f"The sub-agent's model was asked {asked} and had not finished.", done.text)
        case "max-cost" | "token-budget":
            return _report_end("The sub-agent was stopped: what this turn may take is spent.", done.text)
        case "repeated":
            return _report_end("The sub-agent was stopped: it made the same call again and again.", done.text)
        case "length":
            return _report_end("The sub-agent's reply was cut off, because it was too long.", done.text)
        case "failed" | "interrupted":
            return _report_end(f"The sub-agent failed: {thread.reporter.error}", done.text)


def _report_end(why: str, text: str) -> Result:
    words = f"{why} The last that it said:\n\n{text}" if text.strip() else why
    return text_result(words, failed=True)
