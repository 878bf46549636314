"""Names that changed still work for one release, with a warning that says what to write."""

import pytest

import mooring
from support import Home


def test_a_registry_is_a_conversation_now() -> None:
    with pytest.warns(DeprecationWarning, match=r"mooring\.Registry is now mooring\.Conversation"):
        assert mooring.Registry is mooring.Conversation


def test_a_name_that_never_was_is_still_unknown() -> None:
    with pytest.raises(AttributeError, match="Registrar"):
        mooring.Registrar  # noqa: B018 - looking it up is the test


async def test_a_host_still_makes_a_registry(home: Home) -> None:
    async with mooring.open(request=home.request()) as host:
        with pytest.warns(DeprecationWarning, match=r"host\.registry\(\) is now host\.conversation\(\)"):
            conversation = host.registry(own=False)
        async with conversation:
            assert conversation.definitions == ()
