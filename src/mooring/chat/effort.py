"""`/effort`: how much the model thinks before it answers, from its next reply on."""

from collections.abc import Iterator, Mapping

from mooring.chat.command import CommandFace, ListedChoice
from mooring.chat.session import ChatSession
from mooring.core.conversation.effort import EFFORTS, Effort
from mooring.display.text import safe
from mooring.errors import ConfigError

_LEVELS: Mapping[str, Effort | None] = {**{effort: effort for effort in EFFORTS}, "default": None}


async def choose_effort(chat: CommandFace, name: str) -> None:
    """Change how much the model thinks; without a name, the person picks one.

    Raises: ConfigError if there is no such effort, or whoever answers has no such choice.
    """
    if not name:
        picked = await _pick_effort(chat)
        if picked is not None:
            await choose_effort(chat, picked)
        return
    if name not in _LEVELS:
        raise ConfigError(f"There is no effort {name!r}. The efforts are {', '.join(_LEVELS)}.")
    level = _LEVELS[name]
    model = chat.session.conversations.change_effort(level)
    much = "as much as it does by itself" if level is None else f"with {level} effort"
    chat.notice(f"{safe(model)} thinks {much} from its next reply on.")


async def _pick_effort(chat: CommandFace) -> str | None:
    now = chat.session.conversations.effort
    chat.say("How much the model thinks before it answers:")
    return await chat.pick([ListedChoice(name, (), level == now) for name, level in _LEVELS.items()])


def list_effort_completions(session: ChatSession) -> Iterator[str]:
    """The lines with `/effort` that Tab can complete to."""
    if session.responder.agent is not None:
        yield from (f"/effort {name}" for name in _LEVELS)
