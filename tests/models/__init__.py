"""A fake model: in goes a script, out come the APIs of Anthropic, OpenAI and Gemini on loopback, and what was asked."""

from tests.models.record import AskedCall, AskedMessage, AskedResult, ModelRequest, OfferedTool, Picture
from tests.models.script import (
    Call,
    Drop,
    Fail,
    Hold,
    Malformed,
    Overflow,
    Reply,
    Say,
    Script,
    ScriptError,
    Stall,
    Stop,
    Think,
    Usage,
)
from tests.models.server import FakeModel

__all__ = [
    "AskedCall", "AskedMessage", "AskedResult", "Call", "Drop", "Fail", "FakeModel", "Hold", "Malformed",
    "ModelRequest", "OfferedTool", "Overflow", "Picture", "Reply", "Say", "Script", "ScriptError", "Stall", "Stop",
    "Think", "Usage",
]  # fmt: skip
