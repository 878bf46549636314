"""What a server's status and transport are called wherever a person reads them: one word and one mark for each."""

from collections.abc import Mapping
from typing import Literal

from mooring.core.conversation.status_word import StatusWord
from mooring.core.definitions.config import Transport

STATUS_WORDS: Mapping[StatusWord, str] = {
    "connected": "connected",
    "idle": "idle",
    "pending": "connecting",
    "unapproved": "unapproved",
    "rejected": "rejected",
    "failed": "failed",
    "disabled": "disabled",
    "needs-auth": "needs login",
    "needs-input": "needs input",
    "unknown": "unknown",
}
"""Data for programs has the keys, which never change."""

STATUS_MARKS: Mapping[StatusWord, str] = {
    "connected": "●",
    "idle": "●",
    "pending": "◌",
    "unapproved": "?",
    "rejected": "○",
    "failed": "✗",
    "disabled": "○",
    "needs-auth": "?",
    "needs-input": "?",
    "unknown": "○",
}
NOTHING = "—"
"""Stands where an entry says nothing."""


def name_transport(transport: Transport | Literal["memory"] | None) -> str:
    """How a server is reached, in a word; an address without a type is tried as HTTP first."""
    if transport is None:
        return NOTHING
    return "http" if transport == "auto" else transport
