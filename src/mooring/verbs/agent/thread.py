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
from mooring.conversation.events import tell_questions
from mooring.conversation.scope import ToolScope
from mooring.conversation.tool import ModelTool
from mooring.core.conversation.question import Answer, No, Question, check_ask
from mooring.host.host import Host
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.agent.servers import BroughtServers
from mooring.verbs.agent.sub_agents import (
    AgentPast,
    AgentPlace,
    AgentRole,
    OpenedThread,
    SubAgents,
    bring_servers,
    name_asker,
)

if TYPE_CHECKING:
    from mooring.tools.schema.adapt import Provider


@asynccontextmanager
async def open_thread(
    host: Host,
    model: Model,
    options: ConversationOptions,
    role: AgentRole,
    reporter: TurnReporter,
    place: AgentPlace,
) -> AsyncIterator[OpenedThread]:
    """The conversation of an agent, with its tools. What happens goes into the stream of `reporter`.

    Raises: ConfigError if an option is invalid, or its own servers can't be understood.
    """
    async with bring_servers(host, role, place) as brought:
        role = _add_servers(role, brought)
        thread = _make_thread(host, model, options, role, reporter, place)
        sub_agents = SubAgents(host, options, role, thread, place, open_thread)
        starting = (sub_agents.make_tool(),) if options.local or options.agents is not None else ()
        local = _make_local_tools(host, options, role, thread) if options.local else ()
        conversation = _make_conversation(host, options, role, thread, place, (*options.tools, *local, *starting))
        sub_agents.conversation = conversation
        async with conversation:
            thread.tools = conversation
            yield OpenedThread(thread, conversation, brought)


def _add_servers(role: AgentRole, brought: BroughtServers) -> AgentRole:
    """An agent with the servers that it brought along, and what it is told of those it goes without."""
    if role.brings is None:
        return role
    within = replace(role.within or ToolScope(), brought=frozenset(brought.names))
    return replace(
        role, brings=None, within=within, guests=(*role.guests, *brought.names), lacks=(*role.lacks, *brought.notes)
    )


def _make_thread(
    host: Host,
    model: Model,
    options: ConversationOptions,
    role: AgentRole,
    reporter: TurnReporter,
    place: AgentPlace,
) -> AgentThread:
    past = role.past or AgentPast(reporter.session)
    return AgentThread(
        model,
        reporter,
        system=lambda: _begin_turn(host, options, role, place),
        journal=role.journal,
        messages=past.messages,
        ended=past.ended,
        agent=role.name,
        find_taken_name=role.find_taken_name,
        limits=options.limits,
        ask=None if options.ask is None else tell_questions(reporter.stream, check_ask(options.ask)),
    )


def _make_conversation(
    host: Host,
    options: ConversationOptions,
    role: AgentRole,
    thread: AgentThread,
    place: AgentPlace,
    more: tuple[ModelTool, ...],
) -> Conversation:
    model = thread.model
    ask = ask_once(tell_questions(thread.reporter.stream, options.ask or refuse_unasked))
    return host.conversation(
        ask=name_asker(ask, role.name or "") if place.depth else ask,
        policy=options.policy,
        rules=options.rules,
        part_of=place.part_of,
        guests=role.guests,
        provider=_find_provider(model),
        allow=options.allow,
        deny=options.deny,
        within=role.within,
        loaded=role.past.loaded if role.past is not None else (),
        follow=True,
        takes=model.takes,
        more=more,
        stream=thread.reporter.stream,
    )


def _begin_turn(host: Host, options: ConversationOptions, role: AgentRole, place: AgentPlace) -> str:
    """The system prompt of the turn that begins. Its sub-agents are those that are defined now."""
    if place.depth == 0:
        place.known.refresh()
    return _build_system(host, options, role)


def _build_system(host: Host, options: ConversationOptions, role: AgentRole) -> str:
    workspace = host.workspace
    surroundings = Surroundings(workspace.cwd, workspace.where.platform, date.today().isoformat())
    words = options.words.sections if options.words is not None else ()
    prompt = role.prompt if isinstance(role.prompt, str) else role.prompt()
    instructions = "\n".join(filter(None, (options.instructions, *role.lacks)))
    sections = [instructions, *words, host.join_instructions(role.guests)]
    return build_system_prompt(surroundings, sections, role=prompt)


def _make_local_tools(
    host: Host, options: ConversationOptions, role: AgentRole, thread: AgentThread
) -> tuple[ModelTool, ...]:
    # Only for an agent that has them.
    from mooring.agents.local.ask_user import ASKER
    from mooring.agents.local.toolbox import local_tools

    workspace = host.workspace
    return local_tools(
        workspace.where,
        workspace.cwd,
        host.guard,
        ask=options.ask,
        asker=ASKER if thread.reporter.parent is None else f"The sub-agent {role.name}",
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
