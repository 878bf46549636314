"""What the fake model of the benchmark says: a call of `echo` to a person, an answer to the result of a call."""

from tests.models import Call, ModelRequest, Say
from tests.models.script import Part

TEXT = "x" * 100
ANSWER = "The tool sent back what it was given, a hundred letters and nothing else."


def reply(request: ModelRequest) -> list[Part]:
    if request.results:
        return [Say(ANSWER)]
    return [Call(request.find_tool("echo"), {"text": TEXT})]
