"""How the whole screen looks: pictures of it at three sizes in two themes, and every part of it at any size.

    make test PYTEST="tests/chat/screen/test_looks.py --accept"

writes the pictures anew, into `looks/`. Look at each that changed.
"""

import re
from itertools import zip_longest
from pathlib import Path

import pytest
from tests.chat.screen.everything import SCENES, Scene, show_everything

from mooring.chat.screen.styles import ThemeName
from mooring.chat.screen.transcript import Transcript
from mooring.display.text import width

FOLDER = Path(__file__).with_name("looks")
SIZES = [(40, 12), (60, 16), (80, 24), (120, 40), (250, 80)]
PICTURES: list[tuple[str, tuple[int, int]]] = [
    ("everything", (120, 84)),
    ("working", (80, 24)),
    ("working", (40, 12)),
    ("asking", (80, 24)),
    ("searching", (80, 24)),
    ("completing", (80, 24)),
]


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize(("scene", "size"), PICTURES, ids=[f"{scene}-{cells}" for scene, (cells, _) in PICTURES])
async def test_the_screen_looks_as_it_did(
    scene: str, size: tuple[int, int], theme: ThemeName, request: pytest.FixtureRequest
) -> None:
    async with show_everything(size, theme) as shown:
        await SCENES[scene](shown)
        picture = await shown.draw()
    path = FOLDER / f"{scene}-{size[0]}-{theme}.svg"
    if request.config.getoption("--accept"):
        path.write_text(picture)
    assert list_changes(path.read_text(), picture) == [], "look at it; then accept it, as this file says"


def list_changes(before: str, now: str) -> list[str]:
    """The lines that differ: each is a row of the screen, or the background of some cells."""
    pairs = zip_longest(before.splitlines(), now.splitlines(), fillvalue="")
    return [f"- {old}\n+ {new}" for old, new in pairs if old != new]


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
async def test_every_part_of_the_screen_fits_at_any_size(scene: Scene) -> None:
    async with show_everything(SIZES[0]) as shown:
        await scene(shown)
        for cells, height in SIZES:
            await shown.pilot.resize_terminal(cells, height)
            rows = await shown.rows()
            assert len(rows) == height
            assert all(width(row) == cells for row in rows)
            assert re.match(r"  (claude-sonnet-5-5|\d+ %) · ", rows[-1]), "the status line is one line, and the last"
            assert any(row.startswith("  ❯") for row in rows[-1 - height // 2 :]), "what is typed is in view"
            assert shown.screen.query_one(Transcript).size.height > 0, "and so is some of the conversation"
            assert shown.screen.failure is None


@pytest.mark.parametrize("size", [(39, 12), (40, 11), (10, 3), (1, 1)])
async def test_a_smaller_window_says_so_and_nothing_else_and_comes_back(size: tuple[int, int]) -> None:
    async with show_everything((80, 24)) as shown:
        await SCENES["working"](shown)
        before = await shown.rows()
        await shown.pilot.resize_terminal(*size)
        words = " ".join(await shown.rows()).split()
        assert words
        assert "Mooring needs 40 columns and 12 lines; this window is smaller.".startswith(" ".join(words))
        await shown.pilot.resize_terminal(80, 24)
        assert await shown.rows() == before
        assert shown.screen.failure is None
