"""`/agents`: the agents that can be used here."""

from mooring.chat.command import CommandFace, say_rows
from mooring.display.lines import describe_taken_name
from mooring.display.text import problem_line, safe, shorten_description


async def show_agents(chat: CommandFace, _: str) -> None:
    """Say which agents there are, the one that answers marked."""
    from mooring.verbs.agent.agents import describe_agent_source, list_agent_notes  # few chats ask for them

    session = chat.session
    listing = await session.list_agents()
    home = session.workspace.where.home
    rows = []
    for agent in listing.agents:
        mark = "*" if agent.name == session.responder.agent_name else ""
        origin = describe_agent_source(agent.source, home)
        rows.append((f"{mark}{safe(agent.name)}", origin, shorten_description(agent.description)))
    say_rows(chat, rows, "There are no agents.")
    notes = [note for agent in listing.agents for note in list_agent_notes(agent, home)]
    chat.say(*notes, *(problem_line(problem, home) for problem in listing.problems))
    chat.say(*(describe_taken_name(each.taken, approved=each.approved) for each in listing.taken_names))
    chat.say("To talk to one of them: mooring chat --agent NAME")
