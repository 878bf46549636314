"""What a model gets of a result: all of it, once, in the form it takes, within a budget."""

import json
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from mooring.core.conversation.outcome import Outcome
from mooring.core.protocol.content import Audio, Block, Embedded, Image, Other, ResourceContents, ResourceLink, Text
from mooring.core.protocol.result import Result
from mooring.display.lines import describe_outcome
from mooring.errors import BadArguments, Denied, RpcError, TimedOut
from mooring.tools.results.deliver import Delivery, ResultStore
from mooring.tools.results.outcome import count_bytes, cut_ends, describe_failure, find_budget

ABOUT = Outcome(server="s", tool="t", origin="somewhere")
PNG = b64encode(b"\x89PNG picture").decode()


@pytest.fixture
def delivery(tmp_path: Path) -> Delivery:
    return Delivery(ResultStore(str(tmp_path / "results")), {"image", "audio"})


def said(*blocks: Block, error: bool = False, structured: Any = None) -> Result:
    raw = Raw(b"") if structured is None else Raw(json.dumps(structured).encode())
    return Result(blocks, error, Raw(b""), raw, "s", "t")


async def test_texts_are_joined_and_the_outcome_says_whose_it_is(delivery: Delivery) -> None:
    outcome = await delivery.deliver(said(Text("one"), Text("two")), ABOUT)
    assert outcome.parts == (Text("one\ntwo"),)
    assert (outcome.server, outcome.tool, outcome.origin, outcome.is_error) == ("s", "t", "somewhere", False)


async def test_pictures_and_sounds_are_passed_on_in_their_place(delivery: Delivery) -> None:
    picture, sound = Image(data=PNG, mime_type="image/png"), Audio(data=PNG, mime_type="audio/wav")
    outcome = await delivery.deliver(said(Text("before"), picture, Text("between"), sound), ABOUT)
    assert outcome.parts == (Text("before"), picture, Text("between"), sound)


@pytest.mark.parametrize(
    ("block", "ending"),
    [
        (Image(data=PNG, mime_type="image/png"), ".png"),
        (Image(data=PNG, mime_type="../../etc/passwd"), ".bin"),
        (Audio(data=PNG, mime_type="audio/mpeg"), ".mp3"),
        (Embedded(resource=ResourceContents("x://y", "application/pdf", blob=PNG)), ".pdf"),
    ],
)
async def test_what_a_model_does_not_take_is_in_a_file(block: Block, ending: str, tmp_path: Path) -> None:
    delivery = Delivery(ResultStore(str(tmp_path / "results")), ())
    outcome = await delivery.deliver(said(block), ABOUT)
    [file] = (tmp_path / "results").iterdir()
    assert file.name.endswith(ending)
    assert str(file) in outcome.text
    assert file.read_bytes() == b64decode(PNG)
    assert file.stat().st_mode & 0o777 == 0o600


async def test_a_picture_that_is_too_large_or_one_too_many_is_in_a_file(delivery: Delivery) -> None:
    huge = Image(data=b64encode(bytes(6 * 1024 * 1024)).decode(), mime_type="image/png")
    assert "kept in" in (await delivery.deliver(said(huge), ABOUT)).text
    many = [Image(data=PNG, mime_type="image/png")] * 25
    outcome = await delivery.deliver(said(*many), ABOUT)
    assert sum(isinstance(part, Image) for part in outcome.parts) == 20
    assert outcome.text.count("kept in") == 5


async def test_what_is_not_base64_is_said_not_raised(delivery: Delivery) -> None:
    broken = Embedded(resource=ResourceContents("x://y", None, blob="***"))
    assert "Base64" in (await delivery.deliver(said(broken), ABOUT)).text


async def test_links_and_carried_resources_are_kept(delivery: Delivery) -> None:
    link = ResourceLink(uri="x://report", name="report", description="all of it", mime_type="text/plain")
    carried = Embedded(resource=ResourceContents("x://note", "text/plain", "the note"))
    text = (await delivery.deliver(said(link, carried), ABOUT)).text
    for part in ("report", "x://report", "all of it", "x://note", "the note"):
        assert part in text


async def test_a_carried_picture_is_passed_on(delivery: Delivery) -> None:
    carried = Embedded(resource=ResourceContents("x://pic", "image/png", blob=PNG))
    outcome = await delivery.deliver(said(carried), ABOUT)
    assert outcome.parts == (Text("[resource x://pic]"), Image(data=PNG, mime_type="image/png"))


async def test_a_block_of_an_unknown_kind_is_given_as_it_is(delivery: Delivery) -> None:
    assert "hologram" in (await delivery.deliver(said(Other(Raw(b'{"type":"hologram"}'))), ABOUT)).text


async def test_an_answer_with_nothing_in_it_is_not_nothing(delivery: Delivery) -> None:
    assert (await delivery.deliver(said(), ABOUT)).text
    assert (await delivery.deliver(said(Text(""), Text("")), ABOUT)).text.strip()


@pytest.mark.parametrize(
    ("text", "structured", "times"),
    [
        ('{"a": 1}', {"a": 1}, 1),
        ('{\n  "a": 1\n}', {"a": 1}, 1),
        ("fine weather", {"result": "fine weather"}, 1),
        ("[1, 2]", {"result": [1, 2]}, 1),
        ("fine weather", {"content": "fine weather"}, 1),
        ("fine weather", {"content": "fine weather", "wind": 5}, 2),
        ("fine weather", {"content": "fine weather", "again": "fine weather"}, 1),
        ("fine weather", {}, 1),
        ("summary", {"a": 1}, 1),
        (None, {"a": 1}, 1),
    ],
)
async def test_structured_content_is_given_once(
    text: str | None, structured: Any, times: int, delivery: Delivery
) -> None:
    outcome = await delivery.deliver(said(*([Text(text)] if text else []), structured=structured), ABOUT)
    assert outcome.text.count('"a"') + outcome.text.count("fine") + outcome.text.count("[1") == times
    assert (text or "") in outcome.text


async def test_a_list_that_is_repeated_item_by_item_is_given_once(delivery: Delivery) -> None:
    outcome = await delivery.deliver(said(Text("one"), Text("2"), structured={"result": ["one", 2]}), ABOUT)
    assert outcome.text == "one\n2"
    longer = await delivery.deliver(said(Text("one"), structured={"result": ["one", 2]}), ABOUT)
    assert longer.text == 'one\n{"result": ["one", 2]}'


async def test_a_tools_own_failure_begins_with_error_and_only_once(delivery: Delivery) -> None:
    for words in ("it broke", "Error: it broke"):
        outcome = await delivery.deliver(said(Text(words), error=True), ABOUT)
        assert (outcome.text, outcome.is_error) == ("Error: it broke", True)
    silent = await delivery.deliver(said(error=True), ABOUT)
    assert silent.text.startswith("Error: ")
    pictured = await delivery.deliver(
        said(Image(data=PNG, mime_type="image/png"), Text("see there"), error=True), ABOUT
    )
    assert pictured.text == "Error: see there"


def test_a_failure_of_the_server_is_an_mcp_error_and_what_was_never_sent_an_error() -> None:
    assert describe_failure(TimedOut("s", "tools/call", 1)).startswith("MCP error: s did not answer")
    assert describe_failure(Denied("no")) == "Error: no"
    assert describe_failure(BadArguments("s", "m", "r", words="w")) == "Error: w"


# --- budgets ------------------------------------------------------------------------------------------------------


async def test_what_is_too_long_is_cut_to_its_ends_and_whole_in_a_file(tmp_path: Path) -> None:
    delivery = Delivery(ResultStore(str(tmp_path / "results")), tokens=100)
    whole = "".join(f"line {number}\n" for number in range(1000))
    outcome = await delivery.deliver(said(Text(whole), Text("the end")), ABOUT)
    assert outcome.text.startswith("line 0\nline 1\n")
    assert outcome.text.endswith("line 999\n\nthe end")
    assert outcome.file is not None
    assert outcome.file in outcome.text
    assert len(outcome.text) < 400 + 400
    [file] = (tmp_path / "results").iterdir()
    assert file.read_text() == f"{whole}\nthe end"


async def test_what_has_too_many_lines_is_cut_too_and_a_person_reads_no_advice_for_a_model(tmp_path: Path) -> None:
    delivery = Delivery(ResultStore(str(tmp_path / "results")), lines=6)
    outcome = await delivery.deliver(said(Text("\n".join(map(str, range(100))))), ABOUT)
    assert outcome.excerpt is not None
    assert (outcome.excerpt.head, outcome.excerpt.tail) == ("0\n1\n2\n3", "98\n99")
    assert describe_outcome(outcome) == ["0", "1", "2", "3", "… 94 of 100 lines left out …", "98", "99"]
    assert outcome.excerpt.whole == f"Shown in part; the whole is in {outcome.file}"
    assert "ToolResult" in outcome.text


async def test_a_person_reads_other_words_about_a_refused_call_than_a_model(delivery: Delivery) -> None:
    outcome = await delivery.deliver_failure(Denied("Not called.", "It was not called; the answer was no."), ABOUT)
    assert outcome.text == "Error: It was not called; the answer was no."
    assert describe_outcome(outcome) == ["Not called."]


async def test_the_words_of_a_server_that_fails_are_cut_too(tmp_path: Path) -> None:
    delivery = Delivery(ResultStore(str(tmp_path / "results")), tokens=100)
    outcome = await delivery.deliver_failure(RpcError("s", -32000, "x" * 10_000), ABOUT)
    assert outcome.text.startswith("MCP error: s answered: xxx")
    assert outcome.is_error
    assert outcome.file is not None
    assert len(outcome.text) < 1000


async def test_pictures_stay_when_the_text_beside_them_is_cut(tmp_path: Path) -> None:
    delivery = Delivery(ResultStore(str(tmp_path / "results")), {"image"}, tokens=10)
    outcome = await delivery.deliver(said(Text("x" * 1000), Image(data=PNG, mime_type="image/png")), ABOUT)
    assert [type(part) for part in outcome.parts] == [Text, Image]


async def test_a_disk_that_takes_nothing_costs_the_file_and_not_the_result(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("in the way")
    delivery = Delivery(ResultStore(str(tmp_path / "results")), tokens=10)
    outcome = await delivery.deliver(said(Text("x" * 1000)), ABOUT)
    assert outcome.file is None
    assert "could not be kept" in outcome.text


@pytest.mark.parametrize(
    ("setting", "tokens"),
    [(7, 7), ({"s.t": 5, "s.*": 6}, 5), ({"other.*": 5, "s.*": 6}, 6), ({"other.*": 5}, 25_000), ({}, 25_000)],
)
def test_a_budget_is_for_all_or_for_those_that_a_glob_names(setting: Any, tokens: int) -> None:
    assert find_budget(setting, "s", "t") == tokens


@given(st.lists(st.text(), min_size=1, max_size=4), st.integers(1, 50))
def test_a_preview_is_the_two_ends_and_no_longer_than_its_budget(some: list[str], most: int) -> None:
    whole = "\n".join(some).encode(errors="replace").decode()
    assert count_bytes(some) == len(whole.encode())
    head, tail = cut_ends(some, most)
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(head.encode()) + len(tail.encode()) <= most
