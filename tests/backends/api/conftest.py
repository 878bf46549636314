"""What tests of models share: the libraries, loaded before the clock of a test starts."""

import pytest

from mooring.backends.api.model import load_kind
from mooring.backends.api.providers import ModelKind

KINDS: tuple[ModelKind, ...] = ("anthropic", "google", "openai", "openai-chat")


@pytest.fixture(scope="session", autouse=True)
def libraries() -> None:
    for kind in KINDS:
        load_kind(kind)
