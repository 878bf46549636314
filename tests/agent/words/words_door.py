"""`mooring chat -p` in some folder, and the request that the model got."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.models import Call, FakeModel, ModelRequest, Say

from backends.asking import MODELS, variables
from support import Cli, Result

CANARY = "canary-of-the-person"


class Asked:
    """Somebody's command line, with a model behind it that answers everything."""

    def __init__(self, cli: Cli, fake: FakeModel) -> None:
        self._cli = cli
        self.fake = fake

    def run(self, prompt: str, *words: str) -> Result:
        done = self._cli("chat", "-m", MODELS["anthropic"], "-p", prompt, *words)
        assert "Traceback" not in done.err
        return done

    def sent(self, prompt: str = "Go", *words: str) -> ModelRequest:
        """The request for a prompt that is accepted."""
        done = self.run(prompt, *words)
        assert done.code == 0, done.err
        return self.fake.requests[-1]

    def refused(self, prompt: str, code: int, *words: str) -> str:
        """What is said of a prompt that never reaches the model."""
        before = len(self.fake.requests)
        done = self.run(prompt, *words)
        assert done.code == code, done.err
        assert len(self.fake.requests) == before
        return done.err


@contextmanager
def asking(cli: Cli, patch: pytest.MonkeyPatch, script: Any = None) -> Iterator[Asked]:
    """A model that answers by a script, or says the same to everything."""
    patch.setattr(sys, "stdin", None)
    with FakeModel(script or (lambda request: Say("Fine."))) as fake:
        for name, value in variables(fake).items():
            patch.setenv(name, value)
        yield Asked(cli, fake)


def use_skill(name: str, args: str = "") -> Any:
    """A model that reads a skill and says what it got."""

    def script(request: ModelRequest) -> Say | Call:
        if request.results:
            return Say(request.results[-1].text)
        return Call("Skill", {"skill": name, "args": args})

    return script
