"""Images in the transcript: drawn where they are in view, and named with size and path wherever they are."""

import asyncio
import io
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.models import Call, FakeModel, Say

from backends.asking import MODELS, variables
from chat.screen.events import Calls
from chat.screen.pictures import Pixel, frame_png, make_png
from chat.screen.screen_person import ENTER, ScreenPerson
from chat.screen.shown import Seen, open_transcript
from mooring.chat.screen.call_card import CallCard
from mooring.chat.screen.cards import Said
from mooring.chat.screen.line import Ink, Line
from mooring.chat.screen.painter import MOST_CELLS_KEPT, can_show, draw_file
from mooring.chat.screen.picture import MOST_CELLS, MOST_ROWS
from mooring.core.conversation.outcome import KeptMedia
from mooring.core.protocol.picture import PictureSize, read_picture_size
from support import DEMO, Home

RED, BLUE, CLEAR = (252, 0, 0, 255), (0, 0, 252, 255), (0, 0, 0, 0)
COLORS = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
needs_terminal = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal")


@pytest.fixture(autouse=True)
def colors(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that shows all colors."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in COLORS.items():
        monkeypatch.setenv(name, value)


def halves(x: int, y: int) -> Pixel:
    """Red above blue."""
    return RED if y % 2 == 0 else BLUE


def save(format: str, width: int, height: int, **options: object) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(file, format, **options)
    return file.getvalue()


SMALL = save("PNG", 60, 40)


def write(folder: Path, data: bytes, name: str = "image.png") -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


def make_card(*paths: str, kind: str = "image/png") -> CallCard:
    """A call that returned images."""
    calls = Calls()
    started, card = calls.start("picture")
    kept = tuple(KeptMedia(path, kind, f"[image {kind}, 9 bytes, kept in {path}]") for path in paths)
    card.finish(*calls.end(started, "\n".join(["Here:", *(each.words for each in kept)]), kept=kept))
    return card


def count_drawn(card: CallCard) -> int:
    """How many cells of a card are parts of an image."""
    return sum(len(piece.text) for line in card.layout(77) for piece in line.margin if piece.ink is not None)


async def wait_for(seen: Seen, text: str) -> list[str]:
    """The rows once this stands in one of them: images are drawn in a thread."""
    async with asyncio.timeout(20):
        while True:
            rows = await seen.rows()
            if any(text in row for row in rows):
                return rows
            await seen.pilot.pause(0.01)


# --- the size that a file names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        make_png(640, 480),
        save("PNG", 640, 480),
        save("GIF", 640, 480),
        save("JPEG", 640, 480),
        save("JPEG", 640, 480, progressive=True),
        save("JPEG", 640, 480, comment="x" * 60_000),
        save("WEBP", 640, 480),
        save("WEBP", 640, 480, lossless=True),
        save("WEBP", 640, 480, exif=b"Exif\0\0"),
    ],
    ids=["PNG", "PNG of Pillow", "GIF", "JPEG", "progressive", "behind a comment", "WebP", "lossless", "extended"],
)
def test_the_size_is_read_without_decoding(data: bytes) -> None:
    assert read_picture_size(data) == PictureSize(640, 480)


@given(st.sampled_from(["PNG", "GIF", "JPEG", "WEBP"]), st.integers(0, 60), st.binary(max_size=40))
def test_a_torn_or_made_up_header_is_no_error(format: str, end: int, rest: bytes) -> None:
    size = read_picture_size(save(format, 3, 2)[:end] + rest)
    assert size is None or min(size) > 0


# --- what is drawn ----------------------------------------------------------------------------------------------------


def list_cells(line: Line) -> list[tuple[str, Ink | None]]:
    return [(character, piece.ink) for piece in line.margin for character in piece.text]


def test_a_cell_has_the_colors_of_two_pixels(tmp_path: Path) -> None:
    drawing = draw_file(write(tmp_path, make_png(3, 2, halves)), 40, draws=True)
    [line] = drawing.rows
    assert list_cells(line) == [("▀", Ink(0xFC0000, 0x0000FC))] * 3
    assert len(line.margin) == 1
    assert line.text == ""


def test_what_is_clear_has_the_background_of_the_terminal(tmp_path: Path) -> None:
    def paint(x: int, y: int) -> Pixel:
        return [[RED, CLEAR, CLEAR], [CLEAR, BLUE, CLEAR]][y][x]

    [line] = draw_file(write(tmp_path, make_png(3, 2, paint)), 40, draws=True).rows
    assert list_cells(line) == [("▀", Ink(0xFC0000)), ("▄", Ink(0x0000FC)), (" ", None)]


@pytest.mark.parametrize(
    ("size", "cells", "drawn"),
    [((8, 6), 40, (8, 3)), ((64, 64), 40, (40, 20)), ((640, 480), 20, (20, 8)), ((2_000, 1), 50, (50, 1)), ((1, 400), 50, (1, 20))],
)  # fmt: skip
def test_an_image_keeps_its_shape_and_is_never_larger_than_it_is(
    tmp_path: Path, size: tuple[int, int], cells: int, drawn: tuple[int, int]
) -> None:
    drawing = draw_file(write(tmp_path, save("PNG", *size)), cells, draws=True)
    assert (drawing.width, len(drawing.rows)) == drawn
    assert drawing.width <= MOST_CELLS
    assert len(drawing.rows) <= MOST_ROWS


@pytest.mark.parametrize("format", ["PNG", "GIF", "JPEG", "WEBP"])
def test_each_kind_of_image_is_drawn(tmp_path: Path, format: str) -> None:
    drawing = draw_file(write(tmp_path, save(format, 20, 20)), 40, draws=True)
    assert len(drawing.rows) == 10
    assert "20×20" in drawing.facts


def test_a_photo_is_drawn_as_the_camera_was_held(tmp_path: Path) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    drawing = draw_file(write(tmp_path, save("JPEG", 40, 20, exif=turned)), 60, draws=True)
    assert (drawing.width, len(drawing.rows)) == (20, 20)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (frame_png(10_000, 10_000, zlib.compress(bytes(100))), "10,000×10,000, 69 bytes, too large to draw"),
        (frame_png(2**31 - 1, 2**31 - 1, b""), "too large to draw"),
        (frame_png(4_000, 3_999, zlib.compress(b"")), "can't be drawn"),
        (make_png(30, 30)[:60], "30×30, 60 bytes, can't be drawn"),
        (b"\x89PNG\r\n\x1a\n", "8 bytes"),
        (b"<svg/>", "6 bytes"),
        (b"", "0 bytes"),
    ],
    ids=["10,000 pixels wide", "a bomb", "without its pixels", "torn", "only a signature", "SVG", "empty"],
)
def test_what_cannot_be_drawn_is_named_and_costs_nothing(tmp_path: Path, data: bytes, words: str) -> None:
    drawing = draw_file(write(tmp_path, data), 40, draws=True)
    assert drawing.rows == ()
    assert drawing.facts.endswith(words)


def test_a_png_that_unpacks_into_more_than_it_says_is_no_bomb(tmp_path: Path) -> None:
    packed = zlib.compress(bytes(50_000_000), 9)
    drawing = draw_file(write(tmp_path, frame_png(10, 10, packed)), 40, draws=True)
    assert drawing.facts.startswith("10×10, ")


def test_a_file_that_is_gone_or_no_file_is_said_to_be(tmp_path: Path) -> None:
    assert draw_file(f"{tmp_path}/missing.png", 40, draws=True).facts == "no longer there"
    assert "is a folder" in draw_file(str(tmp_path), 40, draws=True).facts


@pytest.mark.parametrize(
    ("system", "env", "shows"),
    [
        ("truecolor", {}, True),
        ("256", {"NO_COLOR": ""}, True),
        ("standard", {}, False),
        (None, {}, False),
        ("truecolor", {"NO_COLOR": "1"}, False),
    ],
)
def test_few_colors_are_too_few_for_an_image(system: str | None, env: dict[str, str], shows: bool) -> None:
    assert can_show(system, env) is shows


# --- in the transcript ------------------------------------------------------------------------------------------------


def test_an_image_in_a_result_stands_in_its_card_with_size_and_path(tmp_path: Path) -> None:
    path = write(tmp_path, make_png(8, 6, halves))

    async def scenario() -> None:
        async with open_transcript(make_card(path), size=(160, 12)) as seen:
            rows = await wait_for(seen, "▀")
            assert rows[1:] == [
                "  │ Here:",
                f"  │ image, 8×6, {len(make_png(8, 6, halves))} bytes: {path}",
                "  │ ▀▀▀▀▀▀▀▀",
                "  │ ▀▀▀▀▀▀▀▀",
                "  │ ▀▀▀▀▀▀▀▀",
                *[""] * 6,
            ]  # fmt: skip

    asyncio.run(scenario())


def test_an_image_is_drawn_again_at_another_width(tmp_path: Path) -> None:
    card = make_card(write(tmp_path, save("PNG", 300, 100)))

    async def scenario() -> None:
        async with open_transcript(card, size=(80, 30)) as seen:
            await wait_for(seen, f"  │ {'▀' * 72}")
            await seen.pilot.resize_terminal(50, 30)
            rows = await wait_for(seen, f"  │ {'▀' * 43}")
            assert not any("▀" * 44 in row for row in rows)

    asyncio.run(scenario())


def test_only_the_path_of_an_image_is_copied_and_leads_to_it(tmp_path: Path) -> None:
    path = write(tmp_path, make_png(8, 6, halves), "a b.png")
    card = make_card(path)

    async def scenario() -> None:
        async with open_transcript(card, size=(60, 12)) as seen:
            await wait_for(seen, "▀")
            start, end = await seen.find("image, "), await seen.find("▀▀▀")
            await seen.drag((start[0], start[1]), (end[0] + 3, end[1] + 2))
            assert seen.transcript.selected_text == f"image, 8×6, {len(make_png(8, 6, halves))} bytes: {path}\n"
            links = {piece.link for line in card.layout(57) for piece in line.pieces if piece.link}
            assert links == {Path(path).as_uri()}

    asyncio.run(scenario())


def test_what_the_person_attached_is_drawn_below_what_they_said(tmp_path: Path) -> None:
    path = write(tmp_path, make_png(8, 6, halves))
    said = Said(f"What is @{path}?")

    async def scenario() -> None:
        async with open_transcript(said, size=(160, 12)) as seen:
            said.show_pictures([path])
            seen.transcript.note_change(said)
            rows = await wait_for(seen, "▀")
            assert rows[0] == f"❯ What is @{path}?"
            assert rows[2:5] == ["  ▀▀▀▀▀▀▀▀"] * 3

    asyncio.run(scenario())


def test_of_a_hundred_images_only_those_in_view_are_drawn(tmp_path: Path) -> None:
    cards = [make_card(write(tmp_path, SMALL, f"{number}.png")) for number in range(100)]

    async def scenario() -> None:
        async with open_transcript(*cards, size=(80, 30)) as seen:
            await wait_for(seen, "▀")
            async with asyncio.timeout(20):
                while any(each.picture.wanted_cells for each in seen.transcript._list_wanted()):
                    await seen.pilot.pause(0.01)
            drawn = [card for card in cards if count_drawn(card)]
            assert cards[-1] in drawn
            assert len(drawn) <= 10
            assert not set(drawn) & set(cards[:90])

    asyncio.run(scenario())


def test_drawings_out_of_view_are_given_up_before_they_take_much_memory(tmp_path: Path) -> None:
    data = save("PNG", 72, 40)
    cards = [make_card(write(tmp_path, data, f"{number}.png")) for number in range(60)]

    async def scenario() -> None:
        async with open_transcript(*cards, size=(80, 24)) as seen:
            for number in range(60):
                seen.transcript._go_to_block(number)
                await seen.settle()
                async with asyncio.timeout(20):
                    while cards[number].list_pictures()[0].wanted_cells:
                        await seen.pilot.pause(0.01)
            assert 0 < sum(map(count_drawn, cards)) <= MOST_CELLS_KEPT
            seen.transcript.go_to_start()
            await wait_for(seen, "▀")

    asyncio.run(scenario())


def test_a_card_with_many_images_shows_five_and_twenty_once_it_is_opened(tmp_path: Path) -> None:
    card = make_card(*(write(tmp_path, make_png(2, 2), f"{number}.png") for number in range(30)))
    assert len(card.list_pictures()) == 5
    card.toggle()
    assert len(card.list_pictures()) == 20
    text = "\n".join(line.text for line in card.layout(300))
    assert all(f"{number}.png" in text for number in range(30))


@pytest.fixture
def no_pillow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the extra weren't installed."""
    monkeypatch.delitem(sys.modules, "mooring.chat.screen.half_blocks", raising=False)
    monkeypatch.setitem(sys.modules, "PIL", None)
    yield
    sys.modules.pop("mooring.chat.screen.half_blocks", None)


@pytest.mark.usefixtures("no_pillow")
def test_without_the_extra_each_image_is_a_line_and_the_extra_is_named_once(tmp_path: Path) -> None:
    cards = [make_card(write(tmp_path, SMALL, f"{number}.png")) for number in range(3)]

    async def scenario() -> None:
        async with open_transcript(*cards, size=(200, 30)) as seen:
            for number in range(3):
                await wait_for(seen, f"image, 60×40, {len(SMALL)} bytes: {tmp_path}/{number}.png")
            rows = await seen.rows()
            assert sum("install the extra `images`" in row for row in rows) == 1
            assert not any("▀" in row for row in rows)

    asyncio.run(scenario())


def test_without_colors_an_image_is_a_line_and_nothing_has_to_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    card = make_card(write(tmp_path, SMALL))

    async def scenario() -> None:
        async with open_transcript(card, size=(200, 30)) as seen:
            rows = await wait_for(seen, f"image, 60×40, {len(SMALL)} bytes: ")
            assert not any("▀" in row or "extra" in row for row in rows)

    asyncio.run(scenario())


# --- at a terminal ----------------------------------------------------------------------------------------------------


@needs_terminal
@pytest.mark.processes
def test_a_servers_picture_is_drawn_and_stays_on_the_normal_screen(home: Home) -> None:
    home.configure(demo=DEMO)
    with FakeModel([[Call("mcp__demo__picture", {})], Say("Nice.")]) as fake:
        env = {**variables(fake), **COLORS}
        with ScreenPerson(home, "chat", "--screen", "-m", MODELS["anthropic"], cells=120, rows=40, **env) as person:
            person.looks_for("mcp 1/1")
            person.presses(f"Draw{ENTER}")
            person.looks_for("Call it?")
            person.presses(f"y{ENTER}")
            person.looks_for("▀" * 40)
            screen = person.looks_for("Nice.")
            assert "image, 64×64, " in screen
            person.presses(f"/quit{ENTER}")
            assert person.ended() == 0
            assert person.left_behind.count("▀") > 200


@needs_terminal
@pytest.mark.processes
def test_a_picture_that_no_model_takes_is_drawn_all_the_same(home: Home) -> None:
    home.configure(demo=DEMO)
    with ScreenPerson(home, "chat", "--screen", cells=120, rows=40, **COLORS) as person:
        person.looks_for("mcp 1/1")
        person.presses(f"/call demo.picture{ENTER}")
        person.looks_for("Call it?")
        person.presses(f"y{ENTER}")
        person.looks_for("▀" * 40)
        assert "A square that runs from blue to orange." in person.screen
        assert person.screen.count("image, ") == 1


@needs_terminal
@pytest.mark.processes
def test_an_attached_image_is_drawn_below_the_message(home: Home) -> None:
    (home.cwd / "a b.png").write_bytes(make_png(20, 20, halves))
    with FakeModel([Say("Stripes.")]) as fake:
        env = {**variables(fake), **COLORS}
        with ScreenPerson(home, "chat", "--screen", "-m", MODELS["anthropic"], cells=120, rows=40, **env) as person:
            person.looks_for("answers")
            person.presses(f'What is on @"a b.png"?{ENTER}')
            person.looks_for("Stripes.")
            screen = person.looks_for("  " + "▀" * 20)
            assert "image, 20×20, " in screen
            row = next(number for number, line in enumerate(screen.split("\n")) if "▀▀" in line)
            cell = person.drawn.buffer[row][screen.split("\n")[row].index("▀")]
            assert (cell.fg, cell.bg) == ("fc0000", "0000fc")


@needs_terminal
@pytest.mark.processes
def test_the_images_of_a_conversation_that_goes_on_are_drawn_and_kept_once(home: Home) -> None:
    home.configure(demo=DEMO)
    (home.cwd / "it.png").write_bytes(make_png(20, 20, halves))
    with FakeModel([[Call("mcp__demo__picture", {})], Say("Nice.")]) as fake:
        env = {**variables(fake), **COLORS}
        with ScreenPerson(home, "chat", "--screen", "-m", MODELS["anthropic"], cells=120, rows=50, **env) as person:
            person.looks_for("mcp 1/1")
            person.presses(f"Draw it like @it.png{ENTER}")
            person.looks_for("Call it?")
            person.presses(f"y{ENTER}")
            person.looks_for("Nice.")
            person.presses(f"/quit{ENTER}")
            assert person.ended() == 0
        kept = [count_files(home)]
        for _ in range(2):
            with ScreenPerson(home, "chat", "--screen", "--continue", cells=120, rows=60, **env) as person:
                person.looks_for("▀" * 40)
                person.looks_for("image, 64×64, ")
                screen = person.looks_for("image, 20×20, ")
                assert "[image" not in screen
                person.presses(f"/quit{ENTER}")
                assert person.ended() == 0
            kept.append(count_files(home))
        assert kept == [1, 3, 3]


def count_files(home: Home) -> int:
    """How many images are kept in files of Mooring."""
    return len(list(home.folder.rglob("results/*.png")))
