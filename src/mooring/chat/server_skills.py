"""Skills that servers offer, as commands of a chat: listed, read and sent."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mooring.chat.command import CommandFace, refuse_without_model, say_texts_for_model
from mooring.chat.session import ChatSession
from mooring.core.protocol.skill import OfferedSkill
from mooring.display.text import problem_line, safe, shorten_description

if TYPE_CHECKING:
    from mooring.verbs.agent.server_skill import UsedSkill


async def find_server_skill(chat: CommandFace, line: str) -> "UsedSkill | None":
    """The server's skill that a line begins with. Raises: as `find_used_skill`."""
    if ":" not in line.partition(" ")[0]:
        return None
    from mooring.verbs.agent.server_skill import find_used_skill  # few chats use one

    return await find_used_skill(chat.session.conversation, line)


async def use_server_skill(chat: CommandFace, used: "UsedSkill", line: str) -> None:
    """Read a skill and send it. Raises: ConfigError if no model answers; as `add_skill`."""
    name = used.offered.name
    if chat.session.responder.agent is None:
        raise refuse_without_model(name)
    from mooring.verbs.agent.server_skill import add_skill

    chat.say(safe(f"/{name}: a skill of the server {used.offered.server}"))
    said = await chat.session.expand(line)
    await chat.send(await add_skill(chat.session.conversation, used, said))


async def say_server_skills(chat: CommandFace) -> None:
    """List them, and what kept others from being listed."""
    found = await chat.session.conversation.skills.list()
    say_texts_for_model(chat, "servers", list(found.by_name.values()), _describe_skill)
    for problem in found.problems:
        chat.warn(problem_line(problem))


def _describe_skill(offered: OfferedSkill) -> tuple[str, str]:
    description = shorten_description(offered.skill.description)
    return safe(f"  /{offered.name}"), f"{description} (skill of {safe(offered.server)})"


def list_skill_completions(session: ChatSession) -> Iterator[str]:
    """The lines with a server's skill that Tab can complete to."""
    names = (f"/{name}" for name in session.conversation.skills.known.by_name)
    # Tab writes them to the terminal as they are.
    return filter(str.isprintable, names)
