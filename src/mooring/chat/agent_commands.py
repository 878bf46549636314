"""Agents as commands of a chat: one that answers from now on, and a task for one of them."""

from collections.abc import Iterator

from mooring.agents.commands.find import BUILT_IN, FoundCommands
from mooring.agents.definition import AgentDefinition
from mooring.agents.files.find import FoundAgents
from mooring.chat.command import CommandFace, ListedChoice, say_usages, show_handover
from mooring.chat.session import ChatSession
from mooring.display.lines import describe_taken_name
from mooring.display.tables import wrap_columns
from mooring.display.text import Verbatim, count_noun, problem_line, safe, shorten_description
from mooring.errors import ConfigError

_PREFIX = "agent:"
"""In front of the name of an agent that a command hides."""
_NOBODY = "none"
_MOST_LISTED = 50
_NARROWEST = 70
"""Cells that the agents need beside their descriptions."""


# --- who answers ------------------------------------------------------------------------------------------------------


async def choose_agent(chat: CommandFace, name: str) -> None:
    """`/agent NAME`: have an agent answer from now on. Raises: ConfigError if there is none, or it can't answer."""
    if not name:
        picked = await _pick_agent(chat)
        if picked is not None:
            await choose_agent(chat, picked)
        return
    session = chat.session
    await session.files.look()
    definition = None if name == _NOBODY else session.files.agents.find(name)
    before = session.responder.model
    continues = await session.hand_over_to_agent(definition)
    await show_handover(chat, before, continues)


async def _pick_agent(chat: CommandFace) -> str | None:
    """The agent that the person picks, or the word for none; `None` if they leave it as it is."""
    await chat.session.files.look()
    now = chat.session.responder.agent_name
    found = chat.session.files.agents.by_name.values()
    choices = [ListedChoice(each.name, (shorten_description(each.description),), each.name == now) for each in found]
    nobody = ListedChoice(_NOBODY, ("no agent",), now is None)
    return await chat.pick([*choices, nobody])


async def show_agents(chat: CommandFace, _: str) -> None:
    """`/agents`: which there are, and which one answers."""
    from mooring.verbs.agent.agents import describe_agent_source, list_agent_notes  # few chats ask for them

    session = chat.session
    listing = await session.files.list_agents()
    home = session.workspace.where.home
    rows = []
    for agent in listing.agents:
        # The one that answers is marked.
        mark = "*" if agent.name == session.responder.agent_name else ""
        origin = describe_agent_source(agent.source, home)
        rows.append((f"{mark}{safe(agent.name)}", origin, shorten_description(agent.description)))
    if not rows:
        chat.say("There are no agents.")
    for lines in wrap_columns(rows, chat.width):
        chat.say(*map(Verbatim, lines))
    notes = [note for agent in listing.agents for note in list_agent_notes(agent, home)]
    chat.say(*notes, *(problem_line(problem, home) for problem in listing.problems))
    chat.say(*(describe_taken_name(each.taken, approved=each.approved) for each in listing.taken_names))
    chat.say(f"/agent NAME has one of them answer from now on, and /agent {_NOBODY} none. /NAME TASK gives it a task.")


# --- a task for an agent ----------------------------------------------------------------------------------------------


def find_agent_command(chat: CommandFace, word: str) -> AgentDefinition | None:
    """The agent that a command gives its task to; `None` if it is none."""
    return chat.session.files.agents.get(word.removeprefix(_PREFIX))


async def give_task(chat: CommandFace, agent: AgentDefinition, task: str) -> None:
    """Have an agent do a task, and show its answer. Raises: ConfigError if there is no task, or no model."""
    name = agent.name
    if not task:
        raise ConfigError(f"Write the task behind it: /{name} TASK. To have {name} answer from now on: /agent {name}")
    if chat.session.responder.model is None:
        raise ConfigError(f"{name} needs a model, and none answers here. /model PROVIDER:MODEL chooses one.")
    await chat.give_task(name, task)


def say_agents(chat: CommandFace) -> None:
    """List the agents with what is typed to give them a task, those that commands hide under another name."""
    session = chat.session
    named = list(name_agents(session.files.agents, session.files.commands))
    if session.responder.model is None or not named:
        return
    chat.say("", "Agents, which do the task that follows:")
    say_usages(chat, [_describe(typed, agent) for typed, agent in named[:_MOST_LISTED]], _NARROWEST)
    if len(named) > _MOST_LISTED:
        chat.say(f"  … and {count_noun(len(named) - _MOST_LISTED, 'more')}; Tab completes them.")


def _describe(typed: str, agent: AgentDefinition) -> tuple[str, str]:
    hidden = f" (/{agent.name} is a command)" if typed.startswith(_PREFIX) else ""
    return safe(f"  /{typed} TASK"), f"{shorten_description(agent.description)}{safe(hidden)}"


def name_agents(found: FoundAgents, commands: FoundCommands) -> Iterator[tuple[str, AgentDefinition]]:
    """Each agent with the word of its command: what a chat understands by itself and files' commands come first."""
    for name, agent in found.by_name.items():
        is_hidden = name in BUILT_IN or name in commands.by_name
        yield (f"{_PREFIX}{name}" if is_hidden else name), agent


def list_agent_completions(session: ChatSession) -> Iterator[str]:
    """The lines with an agent that Tab can complete to."""
    for typed, agent in name_agents(session.files.agents, session.files.commands):
        # Tab writes them to the terminal as they are.
        if agent.name.isprintable() and " " not in agent.name:
            yield from (f"/{typed}", f"/agent {agent.name}")
    yield f"/agent {_NOBODY}"
