"""A conversation with the real Copilot."""

import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from tests.backends.program_talk import KEY, Talk, make_model, open_talk
from tests.models import Call, FakeModel, ModelRequest, Reply, Say

from mooring.backends.copilot.backend import open_copilot
from support import Home

CACHE = Path(__file__).parents[3] / ".cache" / "peers"
PROGRAM = CACHE / "programs" / "node_modules" / ".bin" / "copilot"
UNPACKED = CACHE / "copilot-unpacked"
"""What the program unpacks at its first start, 235 MB: once for all tests."""


def make_caller(*calls: tuple[str, dict[str, Any]]) -> FakeModel:
    """A model that makes these calls at once, and then says what came back."""

    def reply(request: ModelRequest) -> Reply:
        if request.results:
            return Say(" | ".join(result.text for result in request.results))
        return [Call(name, arguments) for name, arguments in calls]

    return make_model(reply)


def make_environment(home: Home, fake: FakeModel) -> dict[str, str]:
    """The environment of a person who uses a model of their own, with the program already unpacked."""
    unpacked = home.home / ".cache" / "copilot" / "pkg"
    UNPACKED.mkdir(parents=True, exist_ok=True)
    if not unpacked.is_symlink():
        unpacked.parent.mkdir(parents=True)
        unpacked.symlink_to(UNPACKED)
    return {
        "HOME": str(home.home),
        "PATH": os.environ["PATH"],
        "MOORING_TEST": os.environ["MOORING_TEST"],
        "COPILOT_CLI_PATH": str(PROGRAM),
        "COPILOT_MODEL": "scripted",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_PROVIDER_BASE_URL": fake.openai_url,
    }


def talk(
    home: Home, fake: FakeModel, *, env: dict[str, str] | None = None, **options: Any
) -> AbstractAsyncContextManager[Talk]:
    """A conversation with the servers that are configured in a home; `open_talk` has the other options."""
    return open_talk("copilot", open_copilot, home, make_environment(home, fake) | (env or {}), **options)


def find_pid(copilot: Talk) -> int:
    """The process of the program."""
    pid: int = copilot.backend._program.child.pid
    return pid
