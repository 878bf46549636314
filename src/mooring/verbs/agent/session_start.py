"""Which session a conversation is kept in. Apart from the store, which only a conversation with a model needs."""

from msgspec import Struct


class SessionStart(Struct, frozen=True):
    """Which session a conversation is kept in: a new one, the last of its folder, or one that is named."""

    resume: str | None = None
    """The id of a session, or the beginning of one."""
    newest: bool = False
    """Continue the session of this folder that was used last."""
    handed_over: str | None = None
    """The id of a session with somebody else: a new one is begun, with the transcript of that."""
