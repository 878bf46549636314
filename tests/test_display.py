"""Everything that happens and everything that is asked can be shown, and nothing shown can steer a terminal."""

import re
import sys
import unicodedata
from base64 import b64encode
from typing import Any, get_args

import pytest

from mooring.core.conversation.event import ToolProgress, WatchChanged
from mooring.core.conversation.host_event import (
    HostEvent,
    ListChanged,
    Logged,
    Reloaded,
    StatusChanged,
    ToolsChanged,
    Troubled,
    Updated,
)
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.question import (
    ApplyRules,
    Approval,
    CarryOutPlan,
    ChangedIssuer,
    ChangedTool,
    ChangedTools,
    ChangeFile,
    ChooseAnswerer,
    ContinueTurn,
    Form,
    KeepAnswerer,
    KeepServer,
    Login,
    MissingValue,
    Permission,
    Question,
    RemoveServer,
    RepeatedCall,
    RestoredFile,
    Sampling,
    ServerDetail,
    UndoTurn,
    Visit,
    WriteServer,
)
from mooring.core.conversation.status import Failed as Down
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.content import Audio, Image, Text
from mooring.core.protocol.result import Progress
from mooring.core.protocol.tool import Hints
from mooring.display import lines as display
from mooring.display.lines import (
    DEFAULT,
    MCP,
    SPECIAL,
    find_renderer,
    name_tool,
    split_foreign_name,
)
from mooring.display.text import (
    describe_base64_size,
    exact_text,
    fit_columns,
    safe,
    safe_text,
    shorten_description,
    width,
)

EVIL = "x\x1b[2J\u202ey\x07"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
KNOWN = {"mcp__files__read": ("files", "read"), "mcp__odd___0123456789abcdef": ("odd server", "a__b")}
OUTCOME = Outcome((Text(EVIL), Image(data="AAAA", mime_type=EVIL), Audio(data="AAAA", mime_type=EVIL)), server=EVIL)

ODD = ("Cc", "Cf", "Mn", "Mc", "Me", "Zs", "Zl", "Zp")
"""The categories of controls, marks and blanks."""


STAMP: Any = {"session": "s", "turn": 1}


EVENTS: list[HostEvent] = [
    StatusChanged(EVIL, Down(EVIL)),
    ToolsChanged(EVIL, (EVIL,), (EVIL,), (EVIL,)),
    ListChanged(EVIL, "prompts"),
    Updated("1", EVIL, EVIL, None, EVIL, True),
    Logged(EVIL, EVIL, EVIL),
    Reloaded((EVIL,), (EVIL,), (EVIL,), (Problem(None, EVIL),)),
    Troubled(Problem(EVIL, EVIL, EVIL, EVIL)),
]
QUESTIONS: list[Question] = [
    Sampling(EVIL, {EVIL: EVIL}),
    Form(EVIL, EVIL, {"properties": {EVIL: {"description": EVIL}}}),
    Visit(EVIL, EVIL, f"https://{EVIL}", "1"),
    MissingValue(EVIL, EVIL, EVIL, options=(EVIL,)),
    Permission(EVIL, EVIL, {EVIL: EVIL}, EVIL, EVIL, EVIL, Hints(read_only_hint=True)),
    Approval(EVIL, (("runs", "sh"),), ""),
    ApplyRules(EVIL, (EVIL, EVIL)),
    ChangedTools(EVIL, (ChangedTool(EVIL, "new", f"+{EVIL}"),)),
    KeepServer(EVIL, EVIL, failed=True),
    ServerDetail(EVIL, EVIL, (EVIL,), EVIL, (EVIL,)),
    WriteServer(EVIL, EVIL, EVIL, (EVIL,)),
    Login(EVIL, EVIL, f"https://{EVIL}", EVIL, EVIL, (EVIL,)),
    ChangedIssuer(EVIL, EVIL, EVIL),
    ContinueTurn(100, 100),
    CarryOutPlan(EVIL),
    ChooseAnswerer(((EVIL, EVIL),)),
    KeepAnswerer(EVIL, EVIL),
    RepeatedCall(EVIL, EVIL, {EVIL: EVIL}, 5, EVIL),
    RemoveServer(EVIL, EVIL),
    UndoTurn(EVIL, (RestoredFile(EVIL, EVIL),), (EVIL,)),
    ChangeFile(EVIL, (EVIL,), f"+{EVIL}", (EVIL,)),
]


@pytest.mark.parametrize(("union", "samples"), [(HostEvent, EVENTS), (Question, QUESTIONS)])
def test_there_is_a_sample_of_each_thing_to_show(union: Any, samples: list[Any]) -> None:
    assert {type(sample) for sample in samples} == set(get_args(union))


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_is_a_line_that_steers_nothing(event: HostEvent) -> None:
    assert_harmless([display.describe_event(event)])


@pytest.mark.parametrize("progress", [None, Progress(1, 2, EVIL)])
def test_a_call_under_way_is_a_line_that_steers_nothing(progress: Progress | None) -> None:
    event = ToolProgress(**STAMP, id="1", name="x", server=EVIL, tool=EVIL, progress=progress, background=True)
    assert_harmless([display.describe_tool_progress(event, {EVIL: EVIL}, KNOWN)])


def test_what_is_watched_is_a_line_that_steers_nothing() -> None:
    event = WatchChanged(**STAMP, watch="1", server=EVIL, target=EVIL, outcome=OUTCOME, ended=True)
    assert_harmless([display.describe_watch(event)])


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_every_question_is_shown_and_steers_nothing(question: Question) -> None:
    if isinstance(question, ContinueTurn):
        # It holds nobody's words, only numbers.
        assert display.describe_question(question) == (
            "The model was asked 100 times in this turn and has not finished.",
        )
        return
    assert_harmless(display.describe_question(question))


def test_a_form_with_a_field_that_says_nothing_is_shown() -> None:
    assert display.describe_question(Form("s", "m", {"properties": {"x": True}})) == ("s asks:", "s │ m", "s │   x: ")
    choices = Form("s", "m", {"properties": {"x": {"type": "string", "enum": ["a", "b"]}}})
    assert display.describe_question(choices)[-1] == "s │   x: one of a, b"


def assert_harmless(lines: Any) -> None:
    assert lines
    assert any("\\x1b" in line for line in lines), "what was written is shown"
    assert [line for line in lines if STEERS.search(line) or "\n" in line] == []


# --- calls -------------------------------------------------------------------------------------------------------


def test_a_call_is_shown_by_the_pair_behind_its_name() -> None:
    assert name_tool("mcp__files__read", KNOWN) == "files / read"
    assert name_tool("mcp__odd___0123456789abcdef", KNOWN) == "odd server / a__b"


def test_a_name_nobody_knows_is_split_for_showing() -> None:
    assert split_foreign_name("mcp__old__do__it") == ("old", "do__it")
    assert name_tool("mcp__old__do__it", {}) == "old / do__it"
    assert split_foreign_name("Bash") is None
    assert name_tool("Bash", {}) == "Bash"


def test_a_special_way_comes_before_that_of_servers_and_that_before_the_default() -> None:
    assert find_renderer("ToolSearch", KNOWN) is SPECIAL["ToolSearch"]
    assert find_renderer("mcp__files__read", KNOWN) is MCP
    assert find_renderer("mcp__gone__x", {}) is MCP
    assert find_renderer("Bash", KNOWN) is DEFAULT


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        ({"path": "a.txt", "b": "c"}, "a.txt"),
        ({"path": "x" * 59}, "x" * 59),
        ({"path": "x" * 60}, "MCP tool call"),
        ({"n": 1, "path": "a.txt"}, "MCP tool call"),
        ({}, "MCP tool call"),
        ({"path": "a\nb"}, "a\\x0ab"),
    ],
)
def test_a_title_is_the_first_argument_if_it_is_a_short_text(arguments: dict[str, Any], title: str) -> None:
    assert MCP.icon == "🔌"
    assert MCP.title(arguments) == title


def test_a_call_is_opened_to_its_input_and_its_output() -> None:
    panel = MCP.render({"a": [1]}, "one\ntwo")
    assert panel.title == "MCP Tool Result"
    assert panel.lines == ("Input:", "{", '  "a": [', "    1", "  ]", "}", "", "Output:", "one", "two")
    assert MCP.render({}).lines == ("Input:", "{}")
    assert MCP.render({}, {"b": 2}).lines[-3:] == ("{", '  "b": 2', "}")
    assert "[image image/png, 3 bytes]" in MCP.render({}, Outcome((Image(data="AAAA", mime_type="image/png"),))).lines


def test_an_opened_call_steers_nothing() -> None:
    assert_harmless(MCP.render({EVIL: EVIL}, OUTCOME).lines)
    assert_harmless(MCP.render({EVIL: EVIL}, EVIL).lines)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("⚠\ufe0f 1\ufe0f\u20e3 👩\u200d👧 ❤\ufe0f\u200d🔥", None),
        ("a\ufe0fb", "a\\ufe0fb"),
        ("नमस्ते สวัสดี עִבְרִית", None),
        ("e\u0301 a\u0336 x\u20dd", "e\\u0301 a\\u0336 x\\u20dd"),
        ("a\u0e35", "a\\u0e35"),
        ("\u0e01" + "\u0e35" * 6, "\u0e01" + "\u0e35" * 4 + "\\u0e35" * 2),
        ("a\u3164b\u2800c\uffa0d\u115f", "a\\u3164b\\u2800c\\uffa0d\\u115f"),
        ("oui\u00a0: 日\u3000本", "oui : 日  本"),
        ("⚠\ufe0f\ufe0f", "⚠\ufe0f\\ufe0f"),
        ("a\u200db", "a\\u200db"),
        ("👩\u200dx", "👩\\u200dx"),
        ("x\u200d👩", "x\\u200d👩"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\\x0db"),
    ],
)
def test_what_makes_a_picture_stays_and_what_hides_is_shown(text: str, shown: str | None) -> None:
    assert safe_text(text) == (text if shown is None else shown)


def test_what_a_server_says_of_itself_is_cut_where_a_word_ends() -> None:
    assert shorten_description("One line.\nAnother.") == "One line."
    assert shorten_description("many words " * 50, 30) == "many words many words many …"
    assert shorten_description("x" * 50, 30) == f"{'x' * 30} …"
    assert shorten_description("\x1b[2J") == "\\x1b[2J"


def test_the_last_column_is_cut_to_the_terminal_and_the_others_never() -> None:
    rows = [("demo.echo", "Gives the text back, unchanged."), ("long://" + "x" * 30, "日本語" * 20)]
    first, second = fit_columns(rows, 60)
    assert first == "demo.echo" + " " * 30 + "Gives the text back,…"
    assert second.startswith("long://" + "x" * 30 + "  日本語")
    assert width(second) <= 60
    assert "x" * 30 in fit_columns(rows, 10)[1]


def test_changed_tools_are_counted_in_words() -> None:
    one = display.describe_event(ToolsChanged("demo", ("a",), (), ()))
    more = display.describe_event(ToolsChanged("demo", ("a", "b"), ("c",), ("d", "e")))
    assert (one, more) == ("demo: 1 new tool", "demo: 2 new tools, 1 tool removed, 2 tools changed")


@pytest.mark.parametrize("data", [b"", b"1", b"12", b"123", b"1234", bytes(374)])
def test_the_size_of_a_picture_is_that_of_its_file(data: bytes) -> None:
    assert describe_base64_size(b64encode(data).decode()) == f"{len(data)} bytes"


def test_no_blank_and_no_mark_of_any_kind_is_drawn_as_it_is() -> None:
    odd = [each for each in map(chr, range(0x7F, sys.maxunicode)) if unicodedata.category(each) in ODD]
    drawn = safe("".join(f"a{each}" for each in odd))
    # The pictures that Python's tables do not know yet are not among them.
    assert not set(odd) & set(drawn)
    assert safe("a\u00a0b") == exact_text("a\u00a0b") == "a\\xa0b"


def test_every_line_that_a_server_writes_into_a_question_is_marked_as_its_own() -> None:
    imitation = "Your name?\nmooring / Bash\nasked because you decide\n\x1b[2KCall it? [y]es"
    schema = {"properties": {"x\ny": {"description": "a\nb"}}}
    for question in (
        Form("evil", imitation, schema),
        Visit("evil", imitation, "https://example.com", "1"),
        Sampling("evil", {"messages": [imitation]}),
    ):
        first, *rest = display.describe_question(question)
        theirs = [line for line in rest if line != "https://example.com"]
        assert first.startswith("evil ")
        assert all(line.startswith("evil │ ") for line in theirs)
