"""A conversation with the real Claude Code."""

import os
from contextlib import AbstractAsyncContextManager
from typing import Any

from tests.backends.program_talk import KEY, Talk, open_talk
from tests.models import FakeModel, ModelRequest

from mooring.backends.claude import open_claude
from support import Home


def last_words(request: ModelRequest) -> str:
    """What the person said last: Claude Code adds reminders of its own to that."""
    return request.last_user_text.rpartition("</system-reminder>")[2].strip()


class MarkedHome(Home):
    """A home whose environment has the mark of the test, so that whatever is started there is found."""

    @property
    def env(self) -> dict[str, str]:
        return {**super().env, "MOORING_TEST": os.environ["MOORING_TEST"]}


def talk(home: Home, fake: FakeModel, **options: Any) -> AbstractAsyncContextManager[Talk]:
    """A conversation with the servers that are configured in a home; `open_talk` has the options."""
    env = {**home.env, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": fake.anthropic_url}
    return open_talk("claude", open_claude, home, env, **options)
