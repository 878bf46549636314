"""`/rewind`: goes on from before an earlier message, once the person has changed it. What followed stays on record."""

from typing import TYPE_CHECKING

from mooring.chat.command import CommandFace, ListedChoice
from mooring.chat.field import parse_position
from mooring.core.conversation.mention import TypedMention, find_mentions
from mooring.core.conversation.turn import TurnInput
from mooring.display.text import count_noun, safe
from mooring.display.times import format_local
from mooring.errors import ConfigError

if TYPE_CHECKING:
    from mooring.agents.sessions.branch import EarlierMessage
    from mooring.chat.session import ChatSession

MOST_LISTED = 20


async def rewind(chat: CommandFace, number: str) -> None:
    """Have an earlier message changed, and go on from before it. Raises: ConfigError, FileError; as `expand`."""
    messages = await chat.session.list_earlier_messages()
    message = await _choose_message(chat, messages, number)
    if message is None:
        return
    offered = write_for_input(message)
    text = await chat.edit(offered)
    if text is None or not text.strip():
        chat.notice("Nothing was changed.")
        return
    said = await _say_again(chat.session, message, offered, text)
    before = await chat.session.go_back(message)
    chat.notice(f"This goes on from before that message. What followed is kept: /resume {before}")
    chat.notice("Files stay as they are; in that conversation, /undo takes back what its last turn changed.")
    await chat.send(said)


async def _choose_message(
    chat: CommandFace, messages: "tuple[EarlierMessage, ...]", number: str
) -> "EarlierMessage | None":
    if not messages:
        raise ConfigError("Nothing was said in this conversation yet.")
    picked = number or await _pick_message(chat, messages)
    if picked is None:
        return None
    position = parse_position(picked, len(messages))
    if position is None:
        many = count_noun(len(messages), "message")
        raise ConfigError(f"You said {many} in this conversation. /rewind N is about one of them: 1 is the last.")
    return messages[position]


async def _pick_message(chat: CommandFace, messages: "tuple[EarlierMessage, ...]") -> str | None:
    chat.say("To go on from before one of these messages, the last first:")
    choices = [
        ListedChoice(str(number), (format_local(message.said), safe(message.text)))
        for number, message in enumerate(messages[:MOST_LISTED], 1)
    ]
    if len(messages) > MOST_LISTED:
        chat.say(f"Those before: /rewind N, up to {len(messages)}.")
    return await chat.pick(choices, cut=True)


def write_for_input(message: "EarlierMessage") -> str:
    """A message as it is put into an input line: what a server wrote of it must not steer that."""
    return "".join(each for each in message.text if each.isprintable() or each in "\n\t")


async def _say_again(session: "ChatSession", message: "EarlierMessage", offered: str, text: str) -> TurnInput:
    """The changed message. What was attached stays attached, and what is named now for the first time is added."""
    if text == offered:
        return TurnInput(message.text, message.attachments)
    known = find_mentions(message.text)
    named = [mention for mention in find_mentions(text) if mention not in known]
    added = await session.expand(" ".join(map(_write_mention, named)))
    return TurnInput(text, (*message.attachments, *added.attachments))


def _write_mention(mention: TypedMention) -> str:
    return f'@"{mention.spellings[0]}"' if mention.is_quoted else f"@{mention.spellings[0]}"
