"""Names that changed still work for one release, with a warning that says what to write."""

from typing import Any, cast

import pytest

import mooring
from support import Home


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Definition", "ToolDefinition"),
        ("Event", "HostEvent"),
        ("Hello", "ServerInfo"),
        ("Invocation", "ToolCall"),
        ("Registry", "Conversation"),
        ("TurnEvent", "ConversationEvent"),
        ("Viewpoint", "Workspace"),
        ("Where", "Paths"),
    ],
)
def test_an_old_name_is_the_new_one(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"mooring\.{old} is now mooring\.{new}"):
        assert getattr(mooring, old) is getattr(mooring, new)


def test_a_name_that_never_was_is_still_unknown() -> None:
    with pytest.raises(AttributeError, match="Registrar"):
        mooring.Registrar  # noqa: B018 - looking it up is the test


async def test_a_host_still_makes_a_registry(home: Home) -> None:
    async with mooring.open(request=home.request()) as host:
        with pytest.warns(DeprecationWarning, match=r"host\.registry\(\) is now host\.conversation\(\)"):
            conversation = host.registry(own=False)
        async with conversation:
            assert conversation.definitions == ()


async def test_a_host_still_has_a_viewpoint(home: Home) -> None:
    async with mooring.open(request=home.request()) as host:
        with pytest.warns(DeprecationWarning, match=r"host\.viewpoint is now host\.workspace"):
            assert host.viewpoint == host.workspace


async def test_an_agent_still_has_a_registry() -> None:
    conversation: Any = object()
    agent = mooring.Agent(cast("Any", None), conversation)
    with pytest.warns(DeprecationWarning, match=r"agent\.registry is now agent\.conversation"):
        assert agent.registry is conversation
