"""A person with a home, a project and a model that answers."""

from collections.abc import Iterator

import pytest
from words_door import Asked, asking

from support import Cli, Home


@pytest.fixture
def asked(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    with asking(cli, monkeypatch) as asked:
        yield asked
