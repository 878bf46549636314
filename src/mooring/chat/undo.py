"""`/undo`: takes back the last turn, once the person has seen what that changes."""

from collections.abc import Sequence

from mooring.chat.command import CommandFace
from mooring.core.conversation.question import Yes
from mooring.display.text import count_noun


async def undo_turn(chat: CommandFace, _: str) -> None:
    """Show what undoing the last turn changes, ask, and do it. Raises: ConfigError, FileError."""
    from mooring.verbs.agent.undo import plan_undo, undo  # few chats undo anything

    session = chat.session
    plan = await plan_undo(session.responder, session.workspace)
    answer = await chat.ask(plan.question)
    if not isinstance(answer, Yes):
        chat.say("Nothing was undone.")
        return
    done = await undo(session.responder, plan)
    chat.warn(*done.failed)
    files = ", ".join([*_count(done.restored, "restored"), *_count(done.removed, "removed")])
    chat.say(f"Undone{f': {files}' if files else ''}. The model no longer sees this turn.")
    chat.say("/undo again goes one turn further back.")


def _count(paths: Sequence[str], verb: str) -> list[str]:
    return [f"{count_noun(len(paths), 'file')} {verb}"] if paths else []
