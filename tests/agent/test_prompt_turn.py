"""What a prompt's messages become when they are said to a model."""

import pytest

import mooring
from backends.asking import PIXEL
from mooring.core.protocol.content import Image, Text
from mooring.core.protocol.result import FilledPrompt, Message
from mooring.errors import ConfigError
from mooring.verbs.agent.used_texts import make_prompt_turn
from support import Home


async def test_words_of_the_assistant_are_marked_and_pictures_stay_pictures(home: Home) -> None:
    picture = Image(data=PIXEL, mime_type="image/png")
    messages = (
        Message("user", Text("Look.")),
        Message("assistant", Text("At what?")),
        Message("user", picture),
    )
    async with mooring.open(request=home.request(), servers={}) as host:
        said = await make_prompt_turn(host, "demo", "look", FilledPrompt(messages), {"image"})
        with pytest.raises(ConfigError, match="came back without any messages"):
            await make_prompt_turn(host, "demo", "look", FilledPrompt(()), {"image"})
    assert said.text.split() == ["Look.", "[assistant:]", "At", "what?", "[user:]"]
    assert said.attachments == (picture,)
