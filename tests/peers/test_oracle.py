"""The same questions to the same servers, asked by our client and by the official one: the answers are the same."""

import json
import subprocess
from pathlib import Path

import msgspec
import pytest
from fleet import EVERYTHING, NEWEST
from install import python

import mooring
from mooring.core.protocol.raw import read

ORACLE = Path(__file__).with_name("oracle.py")
TALE = "Es war einmal … ⚓ \U0001f6a2 " * 200

QUESTIONS = {
    "server-everything": [
        ("call", "echo", {"message": TALE}),
        ("call", "get-sum", {"a": 0.1, "b": 1e21}),
        ("call", "get-sum", {"a": "many"}),
        ("call", "get-lost", {}),
        ("call", "get-tiny-image", {}),
        ("call", "get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("call", "get-resource-links", {"count": 4}),
        ("call", "get-structured-content", {"location": "New York"}),
        ("read", "demo://resource/static/document/features.md", {}),
        ("read", "demo://nowhere", {}),
        ("prompt", "simple-prompt", {}),
        ("prompt", "args-prompt", {"city": "Kiel"}),
        ("prompt", "args-prompt", {}),
    ],
    "mcp-2.3": [
        ("call", "echo", {"text": TALE}),
        ("call", "add", {"a": 2**53, "b": -1}),
        ("call", "add", {"a": "many"}),
        ("call", "slow", {"steps": 1}),
        ("call", "fail", {}),
        ("call", "lost", {}),
        ("read", "tide://now", {}),
        ("read", "tide://Kiel", {}),
        ("read", "nowhere://here", {}),
        ("prompt", "explain", {"topic": "tides"}),
        ("prompt", "nothing", {}),
    ],
}
COMMANDS = {"server-everything": EVERYTHING, "mcp-2.3": NEWEST.command}


@pytest.mark.parametrize("name", COMMANDS)
async def test_our_client_and_the_official_one_are_told_the_same(name):
    theirs = oracle(COMMANDS[name], QUESTIONS[name])
    async with mooring.connect(COMMANDS[name]) as session:
        assert session.hello.protocol_version == theirs["revision"]
        assert plain(session.tools.items) == theirs["tools"]
        assert plain((await session.list_resources()).items) == theirs["resources"]
        assert plain((await session.list_templates()).items) == theirs["templates"]
        assert plain((await session.list_prompts()).items) == theirs["prompts"]
        for question, answer in zip(QUESTIONS[name], theirs["answers"], strict=True):
            assert (question, bare(await ask(session, *question))) == (question, bare(answer))


ENVELOPE = ("_meta", "resultType", "ttlMs", "cacheScope")


def bare(answer):
    """What an answer says, without what the newest revision writes on every one."""
    return {key: value for key, value in answer.items() if key not in ENVELOPE}


def oracle(command, questions):
    asked = json.dumps({"command": command, "questions": questions})
    done = subprocess.run([python("mcp-2.3"), str(ORACLE)], input=asked, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


async def ask(session, kind, name, arguments):
    try:
        match kind:
            case "call":
                return told(await session.call_tool(name, arguments))
            case "read":
                return {"contents": plain((await session.read_resource(name)).contents)}
            case "prompt":
                filled = plain(await session.get_prompt(name, arguments))
                del filled["raw"]
                return filled
    except mooring.RpcError as error:
        return {"error": {"code": error.code, "message": error.message}}


def told(result):
    """The answer as it came, once it is sure that the values made of it say the same."""
    whole = read(result.raw)
    assert plain(result.content) == whole["content"]
    assert result.structured == whole.get("structuredContent")
    assert result.is_error == whole.get("isError", False)
    return whole


def plain(value):
    """A value of ours as the protocol writes it, without what was not sent."""
    match value:
        case msgspec.UnsetType():
            return None
        case msgspec.Raw():
            return read(value)
        case msgspec.Struct():
            config = value.__struct_config__
            kind = {config.tag_field: config.tag} if config.tag else {}
            names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
            sent = {name: plain(getattr(value, field)) for name, field in names}
            return kind | {name: each for name, each in sent.items() if each is not None}
        case tuple():
            return [plain(each) for each in value]
        case _:
            return value
