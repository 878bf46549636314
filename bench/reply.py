"""What the fake model says to be measured: sixty words and a call."""

from tests.models import Call, ModelRequest, Say
from tests.models.script import Part

from bench.prompts import REPLY


def reply(request: ModelRequest) -> list[Part]:
    return [Say(REPLY), Call("echo", {"text": "Is the line made fast?"})]
