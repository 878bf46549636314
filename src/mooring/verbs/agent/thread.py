"""The conversation of one agent, or of a sub-agent: its thread, its tools and its servers put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from typing import TYPE_CHECKING

from msgspec.structs import replace

from mooring.agents.instructions import Surroundings, build_system_prompt
from mooring.agents.model import Model
from mooring.agents.reporter import TurnReporter
from mooring.agents.streak import ask_once
from mooring.agents.thread import AgentThread
from mooring.conversation.conversation import Conversation
from mooring.conversation.scope import ToolScope
from mooring.conversation.tool import ModelTool
from mooring.core.conversation.question import Answer, No, Question, check_ask
from mooring.host.host import Host
from mooring.verbs.agent.options import AgentOptions, AgentPast
from mooring.verbs.agent.servers import BroughtServers
from mooring.verbs.agent.sub_agents import AgentPlace, OpenedThread, SubAgents, bring_servers, name_asker

if TYPE_CHECKING:
    from mooring.tools.schema.adapt import Provider


@asynccontextmanager
async def open_thread(
    host: Host,
    model: Model,
    options: AgentOptions,
    reporter: TurnReporter,
    place: AgentPlace,
) -> AsyncIterator[OpenedThread]:
    """The conversation of an agent, with its tools. What happens goes into the stream of `reporter`.

    Raises: ConfigError if an option is invalid, or its own servers can't be understood.
    """
    async with bring_servers(host, options, place) as brought:
        options = _add_servers(options, brought)
        thread = _make_thread(host, model, options, reporter, place)
        sub_agents = SubAgents(host, options, thread, place, open_thread)
        starting = (sub_agents.make_tool(),) if options.local or options.agents is not None else ()
        local = _make_local_tools(host, options, thread) if options.local else ()
        conversation = _make_conversation(host, options, thread, place, (*options.tools, *local, *starting))
        sub_agents.conversation = conversation
        async with conversation:
            thread.tools = conversation
            yield OpenedThread(thread, conversation, brought)


def _add_servers(options: AgentOptions, brought: BroughtServers) -> AgentOptions:
    """The options of an agent with the servers that it brought along, and what it is told of those it goes without."""
    if options.brings is None:
        return options
    within = replace(options.within or ToolScope(), brought=frozenset(brought.names))
    instructions = "\n".join(filter(None, (options.instructions, *brought.notes)))
    guests = (*options.guests, *brought.names)
    return replace(options, brings=None, within=within, guests=guests, instructions=instructions)


def _make_thread(
    host: Host, model: Model, options: AgentOptions, reporter: TurnReporter, place: AgentPlace
) -> AgentThread:
    past = options.past or AgentPast(reporter.session)
    return AgentThread(
        model,
        reporter,
        system=lambda: _begin_turn(host, options, place),
        journal=options.journal,
        messages=past.messages,
        ended=past.ended,
        agent=options.agent,
        find_taken_name=options.find_taken_name,
        limits=options.limits,
        ask=None if options.ask is None else reporter.stream.wrap_ask(check_ask(options.ask)),
    )


def _make_conversation(
    host: Host,
    options: AgentOptions,
    thread: AgentThread,
    place: AgentPlace,
    more: tuple[ModelTool, ...],
) -> Conversation:
    model = thread.model
    ask = ask_once(thread.reporter.stream.wrap_ask(options.ask or refuse_unasked))
    return host.conversation(
        ask=name_asker(ask, options.agent or "") if place.depth else ask,
        policy=options.policy,
        rules=options.rules,
        part_of=place.part_of,
        guests=options.guests,
        provider=_find_provider(model),
        allow=options.allow,
        deny=options.deny,
        within=options.within,
        loaded=options.past.loaded if options.past is not None else (),
        follow=True,
        takes=model.takes,
        more=more,
        stream=thread.reporter.stream,
    )


def _begin_turn(host: Host, options: AgentOptions, place: AgentPlace) -> str:
    """The system prompt of the turn that begins. Its sub-agents are those that are defined now."""
    if place.depth == 0:
        place.known.refresh()
    return _build_system(host, options)


def _build_system(host: Host, options: AgentOptions) -> str:
    workspace = host.workspace
    surroundings = Surroundings(workspace.cwd, workspace.where.platform, date.today().isoformat())
    words = options.words.sections if options.words is not None else ()
    role = options.role if isinstance(options.role, str) else options.role()
    sections = [options.instructions, *words, host.join_instructions(options.guests)]
    return build_system_prompt(surroundings, sections, role=role)


def _make_local_tools(host: Host, options: AgentOptions, thread: AgentThread) -> tuple[ModelTool, ...]:
    # Only for an agent that has them.
    from mooring.agents.local.ask_user import ASKER
    from mooring.agents.local.toolbox import local_tools

    workspace = host.workspace
    return local_tools(
        workspace.where,
        workspace.cwd,
        host.guard,
        ask=options.ask,
        asker=ASKER if thread.reporter.parent is None else f"The sub-agent {options.agent}",
        on_plan=thread.change_plan,
        settings=host.settings,
        skills=options.words.commands if options.words is not None else None,
        on_taken_name=thread.reporter.tell_taken_name,
    )


async def refuse_unasked(_: Question) -> Answer:
    """Answer every question with no, because nobody is there."""
    return No(nobody=True)


def _find_provider(model: Model) -> "Provider | None":
    provider: Provider | None = model.schemas  # type: ignore[assignment]  # the conversation checks it
    return provider
