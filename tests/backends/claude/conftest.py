"""Tests with the real Claude Code: after each of them, none of its processes is left."""

from pathlib import Path

import pytest
from claude_talk import MarkedHome
from tests.backends.program_talk import nonce

from support import Home

__all__ = ["home", "nonce"]


@pytest.fixture
def home(tmp_path: Path, nonce: str) -> Home:
    """An empty home and an empty project."""
    return MarkedHome(tmp_path / "machine")
