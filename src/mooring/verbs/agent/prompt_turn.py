"""A filled prompt of a server as what a person says in a turn."""

from collections.abc import Collection, Sequence

from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.turn import TurnInput
from mooring.core.protocol.content import Block, Text
from mooring.core.protocol.result import FilledPrompt, Message, Result
from mooring.errors import ConfigError
from mooring.host.host import Host
from mooring.tools.results.outcome import Media
from mooring.verbs.agent.mentions import make_delivery


async def make_prompt_turn(
    host: Host, server: str, name: str, filled: FilledPrompt, takes: Collection[Media]
) -> TurnInput:
    """What the messages of a prompt say, in order; those that the assistant is to have said are marked.

    Raises: ConfigError if there are none.
    """
    if not filled.messages:
        raise ConfigError(f"{server}'s prompt {name} came back without any messages, so nothing was sent.")
    blocks = _list_blocks(filled.messages)
    delivery = make_delivery(host, takes)
    outcome = await delivery.deliver(Result(tuple(blocks), server=server, tool=name), Outcome(server=server, tool=name))
    first, *others = outcome.parts
    if isinstance(first, Text):
        return TurnInput(first.text, tuple(others))
    return TurnInput("", outcome.parts)


def _list_blocks(messages: Sequence[Message]) -> list[Block]:
    blocks: list[Block] = []
    role = "user"
    for message in messages:
        # Every provider has its own idea of whether a model's words may be put into its mouth: none refuses these.
        if message.role != role:
            blocks.append(Text("[assistant:]" if message.role == "assistant" else "[user:]"))
        role = message.role
        blocks.append(message.content)
    return blocks
