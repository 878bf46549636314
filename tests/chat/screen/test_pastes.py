"""What is pasted: many lines stay one, whole or gone; paths of files become mentions, and everything else stays text."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from mooring.chat.screen.folded import FoldedPastes
from mooring.chat.screen.prompt import Prompt, Submitted
from mooring.core.conversation.mention import find_mentions, spell_mention

LINES = "\n".join(f"line {number}" for number in range(43))
SHOWN = "[pasted 43 lines]"


class PromptApp(App[None]):
    """An input and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def compose(self) -> ComposeResult:
        yield Prompt()

    def on_submitted(self, message: Submitted) -> None:
        self.said.append(message.text)


class Typist:
    """Somebody in front of it."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        assert isinstance(pilot.app, PromptApp)
        self.app = pilot.app
        self.prompt = pilot.app.query_one(Prompt)

    async def presses(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def pastes(self, text: str) -> None:
        self.prompt.post_message(events.Paste(text))
        # A key is taken after what came before it, even if that looks for a file in a thread.
        await self.pilot.press("f12")


@asynccontextmanager
async def open_prompt() -> AsyncIterator[Typist]:
    async with PromptApp().run_test(size=(80, 20)) as pilot:
        typist = Typist(pilot)
        typist.prompt.focus()
        yield typist


def test_backspace_takes_a_folded_paste_away_whole() -> None:
    async def scenario() -> None:
        async with open_prompt() as typist:
            await typist.presses("a", "space")
            await typist.pastes(LINES)
            assert typist.prompt.text == f"a {SHOWN}"
            await typist.presses("backspace")
            assert typist.prompt.text == "a "
            await typist.presses("b", "enter")
            assert typist.app.said == ["a b"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (["backspace"], "ab"),
        (["left", "backspace"], "ab"),
        (["left", "left", "left", "delete"], "ab"),
        (["ctrl+w"], "ab"),
        (["left", "x"], f"a{SHOWN}xb"),
        (["left", "left", "ctrl+j"], f"a{SHOWN}\nb"),
        (["shift+left", "shift+left", "x"], "axb"),
        (["home", "delete"], f"{SHOWN}b"),
        (["home", "right", "delete"], "ab"),
        (["shift+home", "backspace"], "b"),
        (["ctrl+u"], "b"),
        (["home", "right", "right", "ctrl+k"], "a"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_key_leaves_half_of_a_folded_paste(keys: list[str], left: str) -> None:
    async def scenario() -> None:
        async with open_prompt() as typist:
            await typist.presses("a", "b", "left")
            await typist.pastes(LINES)
            assert typist.prompt.text == f"a{SHOWN}b"
            await typist.presses(*keys)
            assert typist.prompt.text == left
            assert typist.prompt.whole_text == left.replace(SHOWN, LINES)

    asyncio.run(scenario())


def test_what_was_deleted_by_mistake_comes_back_whole() -> None:
    async def scenario() -> None:
        async with open_prompt() as typist:
            await typist.pastes(LINES)
            await typist.presses("backspace", "ctrl+z")
            assert typist.prompt.text == SHOWN
            await typist.presses("enter")
            assert typist.app.said == [LINES]

    asyncio.run(scenario())


def test_a_folded_paste_survives_a_look_into_the_history_and_a_search() -> None:
    async def scenario() -> None:
        async with open_prompt() as typist:
            typist.prompt.said = ["said before"]
            await typist.pastes(LINES)
            await typist.presses("up")
            assert typist.prompt.text == "said before"
            await typist.presses("down")
            assert typist.prompt.text == SHOWN
            await typist.presses("ctrl+r", "s", "a", "i")
            assert typist.prompt.text == "said before"
            typist.prompt.cancel_search()
            assert typist.prompt.text == SHOWN
            await typist.presses("enter")
            assert typist.app.said == [LINES]

    asyncio.run(scenario())


def test_what_was_said_comes_back_from_the_history_and_by_search_with_all_its_lines() -> None:
    async def scenario() -> None:
        async with open_prompt() as typist:
            await typist.pastes(LINES)
            await typist.presses("enter", "up")
            assert typist.prompt.text == LINES
            await typist.presses("enter")
            await typist.presses("ctrl+r", "4", "2", "enter")
            assert typist.app.said == [LINES, LINES, LINES]

    asyncio.run(scenario())


def test_a_queued_message_comes_back_with_all_its_lines() -> None:
    async def scenario() -> None:
        async with open_prompt() as typist:
            typist.prompt.take_queued = iter([LINES, None]).__next__
            await typist.presses("up")
            assert typist.prompt.text == LINES

    asyncio.run(scenario())


def test_two_pastes_of_as_many_lines_are_told_apart() -> None:
    async def scenario() -> None:
        async with open_prompt() as typist:
            await typist.pastes(LINES)
            await typist.pastes(LINES.upper())
            assert typist.prompt.text == f"{SHOWN}[pasted 43 lines #2]"
            await typist.presses("backspace", "enter")
            assert typist.app.said == [LINES]

    asyncio.run(scenario())


@given(st.data())
def test_an_edit_never_leaves_a_part_of_a_name(data: st.DataObject) -> None:
    pastes = FoldedPastes()
    names = [pastes.fold("x\n" * count) for count in (5, 43)]
    line = "".join(data.draw(st.lists(st.sampled_from([*names, "a", "[", " b"]), max_size=5)))
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    span = pastes.widen(line, start, end)
    if start != end:
        assert span.start <= start <= end <= span.end
    left = line[: span.start] + "\0" + line[span.end :]
    for name in names:
        left = left.replace(name, "")
    assert "pasted" not in left


# --- files that are dropped ----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a b.png", "plain.png", "it's.png", "50%.png", 'quo"te d.png'):
        (tmp_path / name).write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize(
    ("pasted", "shown"),
    [
        ("{0}/plain.png", "@{0}/plain.png "),
        ("{0}/plain.png ", "@{0}/plain.png "),
        ("'{0}/a b.png'", '@"{0}/a b.png" '),
        ('"{0}/a b.png"', '@"{0}/a b.png" '),
        ("{0}/a\\ b.png", '@"{0}/a b.png" '),
        ("{0}/a b.png", '@"{0}/a b.png" '),
        ("file://{0}/a%20b.png\r\n", '@"{0}/a b.png" '),
        ("file://localhost{0}/50%25.png", "@{0}/50%.png "),
        ("'{0}/it'\\''s.png' {0}/plain.png", "@{0}/it's.png @{0}/plain.png "),
        ("file://{0}/plain.png\nfile://{0}/a%20b.png", '@{0}/plain.png @"{0}/a b.png" '),
    ],
)
def test_the_paths_of_dropped_files_become_mentions(folder: Path, pasted: str, shown: str) -> None:
    assert asyncio.run(paste(pasted.format(folder))) == shown.format(folder)


@pytest.mark.parametrize(
    "pasted",
    [
        "{0}/missing.png",
        "{0}",
        "{0}/plain.png {0}/missing.png",
        "{0}/plain.png is broken",
        "look at {0}/plain.png",
        "file://elsewhere.example{0}/plain.png",
        "/help",
        "'quo\"te d.png'",
        "'{0}/quo\"te d.png'",
        "it's/ /",
        "/a'b",
        "file://[",
        "file:///%00",
    ],
)
def test_any_other_paste_stays_as_it_is(folder: Path, pasted: str) -> None:
    assert asyncio.run(paste(pasted.format(folder))) == pasted.format(folder)


def test_a_mention_is_set_off_from_the_words_around_it(folder: Path) -> None:
    async def scenario() -> None:
        async with open_prompt() as typist:
            await typist.presses("s", "e", "e")
            await typist.pastes(f"{folder}/plain.png")
            assert typist.prompt.text == f"see @{folder}/plain.png "

    asyncio.run(scenario())


@pytest.mark.parametrize("typed", ["/", "!"])
def test_commands_get_the_path_as_it_is(folder: Path, typed: str) -> None:
    async def scenario() -> None:
        async with open_prompt() as typist:
            typist.prompt.set_text(f"{typed}cat ")
            await typist.pastes(f"'{folder}/a b.png'")
            assert typist.prompt.text == f"{typed}cat '{folder}/a b.png'"

    asyncio.run(scenario())


@given(st.text(min_size=1).map(lambda name: f"/{name}"))
def test_a_path_that_can_be_named_is_found_again(path: str) -> None:
    spelled = spell_mention(path)
    if spelled is None:
        assert set(path) & set('"\n') or any(each.isspace() for each in path)
    else:
        assert find_mentions(f"see {spelled} there")[0].spellings[0] == path


async def paste(text: str) -> str:
    """What stands in an empty input after a paste."""
    async with open_prompt() as typist:
        await typist.pastes(text)
        return typist.prompt.text
