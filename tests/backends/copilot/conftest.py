"""Tests with the real Copilot: after each of them, none of its processes is left."""

from tests.backends.program_talk import nonce

__all__ = ["nonce"]
