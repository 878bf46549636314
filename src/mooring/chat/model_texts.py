"""Commands that send a text to the model: those that files define, skills, and skills that servers offer."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mooring.agents.commands.command_file import WrittenCommand
from mooring.agents.commands.find import UsedCommand
from mooring.chat.command import CommandFace, refuse_without_model, say_texts_for_model
from mooring.chat.session import ChatSession
from mooring.core.protocol.skill import OfferedSkill
from mooring.display.lines import describe_taken_name
from mooring.display.text import problem_line, safe, short_path, shorten_description
from mooring.verbs.use.deadline import Deadline

if TYPE_CHECKING:
    from mooring.verbs.agent.used_texts import UsedSkill


async def use_file_command(chat: CommandFace, used: UsedCommand) -> None:
    """Fill in a command and send it. Raises: ConfigError if no model answers; as `make_command_turn`."""
    session, agent = chat.session, chat.session.responder.agent
    if agent is None:
        raise refuse_without_model(used.name)
    from mooring.verbs.agent.used_texts import find_taken_name, make_command_turn  # few chats use a command

    home = session.workspace.where.home
    # Said before anything runs: it is sent in the person's name, and a repository may have written it.
    chat.say(safe(f"/{used.name}: {used.command.scope}, {short_path(used.command.path, home)}"))
    taken = await find_taken_name(session.workspace, used)
    if taken is not None:
        chat.warn(describe_taken_name(taken))
    turn = await make_command_turn(session.host, agent.conversation, used, agent.takes, Deadline(None))
    for problem in turn.problems:
        chat.warn(problem_line(problem, home))
    await chat.send(turn.said)


async def say_file_commands(chat: CommandFace) -> None:
    """List them, and the files that are none."""
    await chat.session.files.look()
    found = chat.session.files.commands
    home = chat.session.workspace.where.home
    say_texts_for_model(chat, "files", list(found.commands), _describe_command)
    for problem in found.problems:
        chat.warn(problem_line(problem, home))


def _describe_command(named: tuple[str, WrittenCommand]) -> tuple[str, str]:
    name, command = named
    kind = "skill" if command.is_skill else "command"
    description = shorten_description(command.description)
    return safe(f"  /{name} {command.hint}".rstrip()), f"{description} ({command.scope} {kind})"


async def find_server_skill(chat: CommandFace, line: str) -> "UsedSkill | None":
    """The server's skill that a line begins with. Raises: as `find_used_skill`."""
    if ":" not in line.partition(" ")[0]:
        return None
    from mooring.verbs.agent.used_texts import find_used_skill  # few chats use one

    return await find_used_skill(chat.session.conversation, line)


async def use_server_skill(chat: CommandFace, used: "UsedSkill", line: str) -> None:
    """Read a skill and send it. Raises: ConfigError if no model answers; as `add_skill`."""
    name = used.offered.name
    if chat.session.responder.agent is None:
        raise refuse_without_model(name)
    from mooring.verbs.agent.used_texts import add_skill

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
