"""A skill of a server that a person uses, as what they say in a turn."""

from msgspec import Struct

from mooring.agents.commands.find import split_line
from mooring.agents.local.skill import write_server_skill
from mooring.conversation.conversation import Conversation
from mooring.core.conversation.turn import TurnInput
from mooring.core.protocol.skill import OfferedSkill


class UsedSkill(Struct, frozen=True):
    """A server's skill as it was typed."""

    offered: OfferedSkill
    typed: str
    """What is behind its name."""


async def find_used_skill(conversation: Conversation, line: str) -> UsedSkill | None:
    """The skill that a line begins with, as `/server:skill`; `None` if it is just a line.

    Raises: ConfigError if the server has no such skill; Denied; ServerError.
    """
    word, typed = split_line(line)
    offered = await conversation.skills.find(word)
    return UsedSkill(offered, typed) if offered is not None else None


async def add_skill(conversation: Conversation, used: UsedSkill, said: TurnInput) -> TurnInput:
    """What a person said, with the skill behind it. Nothing in the skill is run, and nothing that it names is attached.

    Raises: ConfigError if an argument is missing; Denied; ServerError if the skill is not what the server listed.
    """
    body = await conversation.skills.read(used.offered)
    text = write_server_skill(used.offered, body, used.typed)
    return TurnInput(f"{said.text}\n\n{text}", said.attachments)
