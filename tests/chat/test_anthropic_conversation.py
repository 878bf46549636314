"""One long conversation with Claude: each request is one that Anthropic takes, and goes on where its cache ends.

The fake model refuses what Anthropic refuses, so that each request counts.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.models import Call, Fail, FakeModel, ModelRequest, Overflow, Say, Think

from backends.asking import MODELS, PIXEL, variables
from chat.terminal import Person
from chat.test_undo import READY, leave, says, undoes
from support import DEMO, Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

TURNS = 60
LOOKS_BACK = 20
"""In how many blocks before a mark the API looks for a beginning that it has in its cache."""
FOREIGN = "Invalid `signature` in `thinking` block: The block is bound to a different conversation."
CAMERA = f"""
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            result = {{"protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "x", "version": "1"}}}}
        case "tools/list":
            result = {{"tools": [{{"name": "shot", "inputSchema": {{"type": "object"}}}}]}}
        case "tools/call":
            image = {{"type": "image", "data": "{PIXEL}", "mimeType": "image/png"}}
            result = {{"content": [{{"type": "text", "text": "It failed:"}}, image], "isError": True}}
        case _:
            continue
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"""
"""Fails with an image, as the servers of browsers do."""
Block = tuple[str, str]
"""A block of a request as it decides about the cache: where it stands, and all of it but its mark."""


class Claude:
    """A model with a cache, whose thoughts are bound to what they came after."""

    def __init__(self) -> None:
        self.missed: list[int] = []
        """How many blocks were in the request before, and not in the cache, where there were any."""
        self.refused = 0
        self.room = 0
        """How many blocks fit into a request, if not any number."""
        self.requests = 0
        self._cached: set[tuple[Block, ...]] = set()
        self._last: tuple[Block, ...] = ()
        self._thoughts: dict[str, tuple[Block, ...]] = {}

    def __call__(self, request: ModelRequest) -> Any:
        self.requests += 1
        if request.api != "anthropic":
            return self._choose(request)
        blocks, marks = list_blocks(request.body)
        if "block_binding" not in str(request.body.get("thinking")) and not self._are_bound(request.body):
            self.refused += 1
            return Fail(400, message=FOREIGN)
        if self.room and len(blocks) > self.room and "about to be continued" not in request.last_user_text:
            return Overflow()
        self._look_up(blocks, marks)
        reply = self._choose(request)
        for part in reply:
            if isinstance(part, Think):
                self._thoughts[part.signature] = blocks
        return reply

    def _look_up(self, blocks: tuple[Block, ...], marks: list[int]) -> None:
        found = [
            end for mark in marks for end in range(mark, max(mark - LOOKS_BACK, 0), -1) if blocks[:end] in self._cached
        ]
        read = max(found, default=0)
        if read < len(self._last):
            self.missed.append(len(self._last) - read)
        self._cached |= {blocks[:mark] for mark in marks}
        self._last = blocks[: max(marks)]

    def _are_bound(self, body: Any) -> bool:
        blocks, _ = list_blocks(body)
        for place, (_, block) in enumerate(blocks):
            signature = json.loads(block).get("signature")
            before = self._thoughts.get(signature)
            if before is not None and (len(before) > place or blocks[: len(before)] != before):
                return False
        return True

    def _choose(self, request: ModelRequest) -> list[Any]:
        thoughts = [Think("Hm.", f"signature{self.requests}"), Think("", f"sealed{self.requests}", is_sealed=True)]
        said = request.last_user_text
        if "about to be continued" in said:
            return [Say("They added.")]
        if request.results:
            return [*thoughts, Say(f"It is done, {len(request.results)}.")]
        add = [Call("mcp__demo__add", {"a": number, "b": 2}) for number in range(12)]
        match said.rpartition(" ")[2]:
            case "add":
                return [*thoughts, Say("I add."), *add]
            case "see":
                return [*thoughts, Call("mcp__demo__picture", {})]
            case "write":
                return [*thoughts, Call("Write", {"file_path": f"{self.requests}.txt", "content": "x"})]
            case "refuse":
                return [Fail(400, message="Not that.")]
            case "fail":
                return [
                    *thoughts,
                    Call("Read", {"file_path": "nothing.txt"}),
                    Call("nothing", {}),
                    Call("mcp__camera__shot", {}),
                ]
        return [*thoughts, Say(f"You said: {said.splitlines()[-1]}")]


def list_blocks(body: Any) -> tuple[tuple[Block, ...], list[int]]:
    """The blocks of a request in the order of the cache, and behind which of them marks are."""
    every = [*_list_all(body)]
    marks = [place + 1 for place, (_, block) in enumerate(every) if "cache_control" in block]
    bare = [(where, {key: value for key, value in block.items() if key != "cache_control"}) for where, block in every]
    return tuple((where, json.dumps(block, sort_keys=True)) for where, block in bare), marks


def _list_all(body: Any) -> Iterator[tuple[str, Any]]:
    yield from (("tools", tool) for tool in body.get("tools", []))
    yield from (("system", block) for block in body.get("system", []))
    for message in body["messages"]:
        yield from ((message["role"], block) for block in message["content"])


def configure(home: Home) -> None:
    script = home.write("camera.py", CAMERA)
    home.configure(demo=DEMO, camera={"command": sys.executable, "args": [str(script)]})


def talk(person: Person, first: int, turns: int) -> None:
    kinds = ["say", "add", "see", "write", "fail"]
    for number in range(first, first + turns):
        kind = kinds[number % len(kinds)]
        reply = f"You said: {number} say" if kind == "say" else "It is done, "
        says(person, f"{number} {kind}", reply)


def test_each_request_of_a_long_conversation_is_taken_and_goes_on_where_the_cache_ends(home: Home) -> None:
    configure(home)
    claude = Claude()
    words = ("chat", "-m", MODELS["anthropic"], "--permission-mode", "bypass", "--effort", "high")
    with FakeModel(claude) as fake:
        with Person(home, *words, cells=100, **variables(fake)) as person:
            talk(person, 0, TURNS)
            assert (claude.missed, claude.refused) == ([], 0)
            says(person, "Now refuse", "Not that.")
            talk(person, TURNS, 2)
            leave(person)
        with Person(home, *words, "--continue", cells=100, **variables(fake)) as person:
            talk(person, TURNS + 2, 3)
            undoes(person)
            talk(person, TURNS + 5, 2)
            leave(person)
    # Only the turn that was refused and the one that was undone are no part of what came after them.
    assert len(claude.missed) == 2
    assert max(claude.missed) < 16
    assert claude.refused == 0
    shots = [result for result in fake.requests[-1].all_results if "It failed:" in result.text]
    assert len(shots) == TURNS // 5
    assert all(result.is_error for result in shots)
    assert str(fake.requests[-1].body).count(PIXEL) == len(shots)
    assert len(fake.requests) > TURNS * 9 // 5


def test_a_conversation_that_was_changed_goes_on_without_the_thoughts_that_belonged_to_it(home: Home) -> None:
    configure(home)
    claude = Claude()
    words = ("chat", "-m", MODELS["anthropic"], "--permission-mode", "bypass")
    with FakeModel(claude) as fake:
        with Person(home, *words, cells=100, **variables(fake)) as person:
            talk(person, 0, 5)
            person.answers((READY, "/compact"))
            person.sees("The conversation is summarized: about ")
            talk(person, 5, 5)
            assert claude.refused == 1
            claude.room = len(list_blocks(fake.requests[-1].body)[0])
            talk(person, 10, 10)
            claude.room = 0
            assert claude.refused == 1
            leave(person)
        assert "They added." in fake.requests[-1].messages[0].text
        for word in ("openai", "anthropic", "google", "anthropic"):
            more = ("chat", "--continue", "-m", MODELS[word], "-p", f"{word} add", "--permission-mode", "bypass")
            done = run_beside(home, *more, **variables(fake))
            assert (done.code, done.out) == (0, "It is done, 12.\n"), done
    bindings = [request.body.get("thinking", {}).get("block_binding") for request in fake.requests]
    assert {"prefix_mismatch_behavior": "drop_block"} in bindings
