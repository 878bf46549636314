"""Texts of every shape and sort into plain data, or an error that gives the line and never the text."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date, datetime, timezone
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mooring.errors import ParseError, TooManyValues
from mooring.syntax.document import Document, Kind, Path
from mooring.syntax.parse import parse
from support import is_within

MIB = 1024 * 1024
CANARY = "cAnArY7q"


def read(text: str, kind: Kind = "json") -> Any:
    return parse(text.encode(), kind).data


def failure(data: bytes | str, kind: Kind = "json") -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse(data if isinstance(data, bytes) else data.encode(), kind)
    return caught.value


def chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if error.__cause__ is not None:
            yield from chain(error.__cause__)
        error = error.__context__


def shown(error: BaseException) -> str:
    """All that a log could show of an error and of those it came from."""
    return " ".join(f"{link} {link!r} {link.args!r}" for link in chain(error))


# --- JSON ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("{} // end", {}),
        ("// start\n{}", {}),
        ("/* start */ {} /* end */", {}),
        ("/**/{}/***/", {}),
        ('{"a": /* of\ntwo lines */ 1}', {"a": 1}),
        ('{"a": 1, // why\n "b": 2}', {"a": 1, "b": 2}),
        ('{"a": 1, /* last */ }', {"a": 1}),
        ("[1, // last\n]", [1]),
        ("[1 /* before the comma */ , ]", [1]),
        ("[1, 2,]", [1, 2]),
        ('{"a": [1,], "b": {"c": 2,},}', {"a": [1], "b": {"c": 2}}),
        ("[1,\r\n\t ]", [1]),
        ('{"u": "https://a.b//c"}', {"u": "https://a.b//c"}),
        ('{"u": "/* no comment */"} // "', {"u": "/* no comment */"}),
        ('{"a": ",]", "b": ", }", /* "c": 1, */}', {"a": ",]", "b": ", }"}),
        ('{"a": "\\"// no", "b": "\\\\"} // "', {"a": '"// no', "b": "\\"}),
        ('{"a//b": 1, /* " */ "c": "/*", "d": "*/",}', {"a//b": 1, "c": "/*", "d": "*/"}),
        ("/* // */ 1", 1),
        ("// /*\n1 // */", 1),
        ('"only a string, // truly"', "only a string, // truly"),
    ],
)
def test_json_may_have_comments_and_trailing_commas(text: str, data: object) -> None:
    assert read(text) == data
    assert read(text.replace("\r\n", "\n").replace("\n", "\r\n")) == data


@pytest.mark.parametrize(
    "text", ["[1,,]", "{,'a':1}", "[1 2]", "1/**/2", "{'a': 1}", "{a: 1}", "[1}", "{} {}", "[", "/"]
)
def test_what_is_not_json_even_with_comments_is_refused(text: str) -> None:
    assert failure(text).reason.startswith("is not valid JSON: ")


@pytest.mark.parametrize("items", range(496, 504))
def test_a_comma_too_many_is_found_wherever_a_long_text_is_divided(items: int) -> None:
    """A thousand strings and commas are searched at once: five hundred items, each with its comma."""
    row = '"x",' * items
    assert read(f"[{row}]") == ["x"] * items
    assert failure(f"[{row},]").reason.startswith("is not valid JSON: ")


@pytest.mark.parametrize("kind", ["json", "toml", "yaml"])
@pytest.mark.parametrize(
    "data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"\xff\xfe", b"\xfe\xff\x00\n"]
)
def test_a_blank_file_is_an_empty_object(data: bytes, kind: Kind) -> None:
    assert parse(data, kind).data == {}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read_with_and_without_a_byte_order_mark(encoding: str) -> None:
    assert parse('{"ключ": "😀"}'.encode(encoding), "json").data == {"ключ": "😀"}
    assert parse('k = "😀"'.encode(encoding), "toml").data == {"k": "😀"}


def test_utf_16_is_read_in_either_byte_order() -> None:
    assert parse(b"\xff\xfe" + "[1]".encode("utf-16-le"), "json").data == [1]
    assert parse(b"\xfe\xff" + "[1]".encode("utf-16-be"), "json").data == [1]


@pytest.mark.parametrize("kind", ["json", "toml", "yaml"])
@pytest.mark.parametrize(
    ("data", "line"), [(b"\xff", 1), (b'{\n"a":\r\n"\xc3("}', 3), (b"\n\n# \x80", 3), (b"a = 1\n\xed\xa0\x80", 2)]
)
def test_bytes_that_are_not_utf_8_are_refused_with_their_line(data: bytes, line: int, kind: Kind) -> None:
    error = failure(data, kind)
    assert (error.reason, error.line) == ("is not UTF-8 text", line)


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\xfe\xff\xd8\x00\x00{", b"\xff\xfe\x00\x00{\x00\x00\x00"])
def test_broken_utf_16_is_refused(data: bytes) -> None:
    assert failure(data).reason


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', '{"a": NaN, // why\n}'])
def test_what_is_not_a_number_is_refused(text: str) -> None:
    assert failure(text).reason == "holds a number that is too long or not a number"


def test_a_number_of_a_hundred_thousand_digits_is_refused() -> None:
    for text in ("1" * 100_000, f'{{"a": -{"9" * 100_000},}}'):
        assert failure(text).reason == "holds a number that is too long or not a number"


def test_long_fractions_are_numbers() -> None:
    assert read("[0." + "1" * 100_000 + ", 12e-3]") == [pytest.approx(1 / 9), 0.012]


def test_a_lone_surrogate_is_accepted() -> None:
    assert read('{"\\ud800": "\\udfff"}') == {"\ud800": "\udfff"}
    assert parse(b'{"\\ud800": 1,\n"b": 2}', "json").line(["b"]) == 2


@pytest.mark.parametrize(
    ("text", "duplicates"),
    [
        ('{"a": 1, "b": 2}', ()),
        ('{"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]}', ()),
        ('{"a": 1, "a": 2}', (("a",),)),
        ('{"a": 1, "a": 2, "a": 3}', (("a",),)),
        ('{"a": 1, "\\u0061": 2}', (("a",),)),
        ('{"s": {"x": 1, "x": 2}, "t": {"x": 1}}', (("s", "x"),)),
        ('{"l": [0, {"x": 1, "x": 2}, {"y": 1}]}', (("l", 1, "x"),)),
        ('[[{"x": 1, "x": 2}]]', ((0, 0, "x"),)),
        ('{"a": {"x": 1}, "a": {"x": 2}}', (("a",),)),
        ('{"a": {"x": 1, "x": 2}, "b": 1, "b": 1}', (("a", "x"), ("b",))),
        ('{"a": 1, // "a": 2\n /* "a": 3 */ "b": "\\"a\\": 4",}', ()),
        ('{"a": 1, // why\n "a": 2,}', (("a",),)),
    ],
)
def test_keys_written_twice_are_reported_where_they_stand(text: str, duplicates: tuple[Path, ...]) -> None:
    assert parse(text.encode(), "json").duplicates == duplicates


def test_the_last_of_two_equal_keys_counts_and_gives_the_line() -> None:
    document = parse(b'{\n"a": 1,\n"b": 2,\n"a": 3\n}', "json")
    assert document.data == {"a": 3, "b": 2}
    assert document.line(["a"]) == 4


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_json_may_be_nested_64_levels_deep_and_no_deeper(opening: str, closing: str) -> None:
    width = opening.count("[") + opening.count("{")
    half = 64 // width
    assert parse((opening * half + "1" + closing * half).encode(), "json").data
    assert failure("[" + opening * half + "1" + closing * half + "]").reason == "is nested more than 64 levels deep"


@pytest.mark.parametrize("depth", [65, 900, 5_000, 200_000])
def test_any_depth_beyond_is_refused(depth: int) -> None:
    for text in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        assert failure(text).reason
    assert failure("a = " + "[" * depth + "]" * depth, "toml").reason
    assert failure("a = " + "{a=" * depth + "1" + "}" * depth, "toml").reason


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{\n", 2),
        ('{\n"a": oops\n}', 2),
        ('{\n  // first\n  /* two\n     lines */\n  "a": 1,\n  "b": oops\n}', 6),
        ('{\r\n// first\r\n"a": 1\r\n"b": 2\r\n}', 4),
        ('/*\n\n\n*/ {"a" 1}', 4),
        ('{"a": "// no comment\n"}', 1),
        ('{\n"a": [1,\n2,,\n3]}', 3),
        ('\ufeff{\n"a": }', 2),
    ],
)
def test_an_error_names_the_line_of_the_file_also_below_comments(text: str, line: int) -> None:
    error = failure(text)
    assert error.line == line
    assert str(error).startswith(f"line {line}: is not valid JSON: ")


def test_the_line_of_a_path_is_that_of_its_deepest_key_that_exists() -> None:
    document = parse(b'{ // "s": 0\n"s": /* "a" */ {\n"a": {"x": [\n1]},\n"b": "a"}}', "json")
    assert document.line(["s"]) == 2
    assert document.line(["s", "a"]) == 3
    assert document.line(("s", "a", "x", 0)) == 3
    assert document.line(["s", "b", "missing", 7]) == 5
    assert document.line(["missing"]) is None
    assert document.line([]) is None


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5), max_leaves=30
)

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
NOISE = [
    "",
    "",
    " ",
    "\n",
    "\r\n",
    "\t",
    "/**/",
    '/* " , ] */',
    "// \" } ' /* \n",
    "/* // \n */",
    "//\r\n",
    "/*/ * /*/",
]


def disturbed(text: str, random: Random) -> str:
    """The same JSON with comments, blanks and trailing commas put in at random."""
    made, before = [], ""
    for token in TOKEN.findall(text):
        made.append(random.choice(NOISE))
        if token in "]}" and before not in ("[", "{") and random.random() < 0.5:
            made.append("," + random.choice(NOISE))
        made.append(token)
        before = token
    return "".join([*made, random.choice(NOISE)])


@settings(max_examples=70)
@given(values, st.booleans(), st.randoms(use_true_random=False))
def test_comments_and_trailing_commas_never_change_what_a_text_means(
    value: object, ascii: bool, random: Random
) -> None:
    text = disturbed(json.dumps(value, ensure_ascii=ascii), random)
    assert parse(text.encode(), "json").data == value


def lines(value: object, path: Path, line: int) -> Iterator[tuple[Path, int]]:
    """The line of every key and every object in a list, as `json.dumps` lays them out with an indent."""
    if not isinstance(value, dict | list):
        return
    items: list[tuple[str | int, object]] = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, inner in items:
        line += 1
        if isinstance(value, dict) or isinstance(inner, dict):
            yield (*path, key), line
        yield from lines(inner, (*path, key), line)
        line += json.dumps(inner, indent=1).count("\n")


@settings(max_examples=100)
@given(values, st.integers(0, 4), st.sampled_from(["\n", "\r\n"]))
def test_every_key_is_found_on_its_line(value: object, indent: int, newline: str) -> None:
    document = parse(json.dumps(value, indent=indent).replace("\n", newline).encode(), "json")
    expected = dict(lines(value, (), 1))
    assert {path: document.line(path) for path in expected} == expected


@settings(max_examples=60)
@given(st.dictionaries(st.text(), values, min_size=1, max_size=4), st.data())
def test_a_key_written_twice_anywhere_is_found(value: dict[str, object], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(list(value)))
    body = json.dumps(value)[:-1] + f", {json.dumps(key)}: 0}}"
    assert parse(f'{{"outer": [{body}]}}'.encode(), "json").duplicates == (("outer", 0, key),)
    assert parse(json.dumps({"outer": [value]}).encode(), "json").duplicates == ()


# --- TOML ---------------------------------------------------------------------------------------------------


def test_toml_values_are_plain_data() -> None:
    text = """
        s = 'a'
        i = 0x10
        f = 1.5
        b = true
        l = [1, [2], {x = 3},]
        d = 2024-02-29
        t = 2024-02-29T01:02:03Z
        [a.b]
        c."d e" = "é"
        [[x]]
        y = 1
        [[x]]
        y = 2
    """
    assert read(text, "toml") == {
        "s": "a",
        "i": 16,
        "f": 1.5,
        "b": True,
        "l": [1, [2], {"x": 3}],
        "d": date(2024, 2, 29),
        "t": datetime(2024, 2, 29, 1, 2, 3, tzinfo=timezone.utc),  # noqa: UP017 - what tomllib makes
        "a": {"b": {"c": {"d e": "é"}}},
        "x": [{"y": 1}, {"y": 2}],
    }


@pytest.mark.parametrize("text", ["d = 2024-02-30", "t = 2024-01-01T25:00:00Z", "i = " + "1" * 100_000])
def test_toml_dates_and_numbers_out_of_range_are_refused(text: str) -> None:
    assert failure(text, "toml").reason


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = \n", 2), ("a = 1\r\n# why\r\nb\r\n", 3), ("[a]\nx = 1\nx = 2\n", 3), ("[a\n", 1)]
)
def test_a_toml_error_names_its_line(text: str, line: int) -> None:
    error = failure(text, "toml")
    assert error.line == line
    assert error.reason.startswith("is not valid TOML: ")
    assert "line" not in error.reason


TOML = """\
# [mcp_servers.comment]
model = "x"

[mcp_servers.one]
command = "npx"
args = [
  "a = 1",
]
env.TOKEN = "t"  # note = 1

  [ mcp_servers . "two words" ]
  'command' = 'uvx'
  "a.b" = 1

[[profile]]
name = "n"
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("model",), 2),
        (("mcp_servers", "comment"), None),
        (("mcp_servers", "one"), 4),
        (("mcp_servers", "one", "command"), 5),
        (("mcp_servers", "one", "args", 0), 6),
        (("mcp_servers", "one", "env", "TOKEN"), 9),
        (("mcp_servers", "one", "missing"), 4),
        (("mcp_servers", "two words"), 11),
        (("mcp_servers", "two words", "command"), 12),
        (("mcp_servers", "two words", "a.b"), 13),
        (("profile",), 15),
    ],
)
def test_toml_keys_are_found_on_their_lines(path: Path, line: int | None, newline: str, mark: str) -> None:
    document = parse((mark + TOML.replace("\n", newline)).encode(), "toml")
    assert document.line(path) == line


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_what_looks_like_a_key_inside_a_long_string_is_none(quotes: str) -> None:
    text = f"[s.x]\nurl = 1\ntext = {quotes}\n[fake]\nurl = 2\ncommand = 3\n{quotes}\ncommand = 4\n"
    document = parse(text.encode(), "toml")
    assert document.line(["s", "x", "url"]) == 2
    assert document.line(["s", "x", "text"]) == 3
    assert document.line(["s", "x", "command"]) == 8
    assert document.line(["fake"]) is None


def dotted(parts: int, part: str = "a", dot: str = ".") -> str:
    return dot.join([part] * parts)


KEYS = [("a", "."), ("a", " . "), ("a", "\t."), ('"a"', "."), ("'a'", "."), ('"\\""', "."), ('"a.b"', ".")]


@pytest.mark.parametrize(("part", "dot"), KEYS)
@pytest.mark.parametrize("shape", ["{} = 1", "[{}]", "[[{}]]", "x = {{ {} = 1 }}", "x = [\n1, {{ {} = 1 }} ]"])
def test_a_toml_key_may_have_32_parts_and_no_more(shape: str, part: str, dot: str) -> None:
    assert parse(shape.format(dotted(32, part, dot)).encode(), "toml").data
    error = failure("\n" + shape.format(dotted(33, part, dot)), "toml")
    assert error.reason == "has a key of more than 32 parts"
    assert error.line == 2 + shape.count("\n")


@pytest.mark.parametrize(
    "shape",
    [
        'x = "{}"',
        "x = '{}'",
        'x = """\n{} = 1\n"""',
        "x = '''\n[{}]\n'''",
        "# {} = 1",
        "x = 1 # {}",
        'x = "\\"{}"',
        'x = """ \\""" {} """',
        'x = """ " {} "" """"',
        "x = ''' ' {} '' '''''",
        '"{}" = 1',
        'x = "#" # "{}',
    ],
)
def test_dots_that_are_not_in_keys_are_nobodys_business(shape: str) -> None:
    assert isinstance(parse(shape.format(dotted(2000)).encode(), "toml"), Document)


BEFORE = [
    'x = """ " """',
    'x = """a"""" #""""',
    "x = '''a'''' #''''",
    'x = """\\""" """',
    'x = """\\\\"""',
    'x = """"""',
    "x = ''''''",
    "x = '\\'",
    "x = '\"'",
    'x = "\'\'\'" # """',
    "# \"\"\" '''",
    "x = '#'",
]


@pytest.mark.parametrize("before", BEFORE)
def test_no_string_or_comment_hides_a_long_key_after_it(before: str) -> None:
    error = failure(f"{before}\n{dotted(1000)} = 1\n", "toml")
    assert (error.reason, error.line) == ("has a key of more than 32 parts", 2)


@pytest.mark.parametrize("shape", ["{} = 1", "[{}]", "{}"])
def test_a_key_of_a_hundred_kilobytes_is_refused_at_once(shape: str) -> None:
    start = time.process_time()
    assert failure(shape.format(dotted(50_000)), "toml").reason == "has a key of more than 32 parts"
    assert time.process_time() - start < 0.5


# --- secrets ------------------------------------------------------------------------------------------------

planted = st.sampled_from([CANARY, f"{CANARY} ", f'"{CANARY}', f"{CANARY}\n", f"é{CANARY}\\", f"a.{CANARY}.b"])
secrets = st.recursive(
    planted | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(planted, inner, min_size=1, max_size=4),
    max_leaves=12,
)
breaks = st.sampled_from(
    [b"", b'"', b"\xff", b"{", b"}", b",", b"\\", b"\n", b"//", b"/*", b"\x00", b"NaN", b"=", b"["]
)


def broken(data: bytes, place: float, gone: int, put: bytes) -> bytes:
    at = int(place * len(data))
    return data[:at] + put + data[at + gone :]


def leaks(data: bytes, kind: Kind) -> bool:
    try:
        return CANARY in repr(parse(data, kind))
    except ParseError as error:
        return CANARY in shown(error)


@settings(max_examples=200)
@given(secrets, st.booleans(), st.floats(0, 1), st.integers(0, 8), breaks)
@example({CANARY: CANARY}, True, 1.0, 0, b"\xff")
@example({CANARY: CANARY}, True, 0.0, 1, b"")
def test_no_json_error_ever_shows_any_of_the_text(
    value: object, ascii: bool, place: float, gone: int, put: bytes
) -> None:
    data = json.dumps({CANARY: value}, ensure_ascii=ascii, indent=1).encode()
    assert not leaks(broken(data, place, gone, put), "json")


toml_lines = st.sampled_from(
    [
        f"[{CANARY}]",
        f"[[{CANARY}]]",
        f"[{CANARY}.{CANARY}]",
        f'{CANARY} = "{CANARY}"',
        f"{CANARY}.{CANARY} = 1",
        f"'{CANARY}' = '''{CANARY}",
        f"x = {{{CANARY} = 1, {CANARY} = 2}}",
        f"{CANARY} = {{}}",
        f"{CANARY} = [{CANARY}]",
        f'y = ["{CANARY}",',
        f"# {CANARY}",
        f"z = 2024-13-01{CANARY}",
        "'''",
        "]",
    ]
)


@settings(max_examples=200)
@given(st.lists(toml_lines, min_size=1, max_size=5), st.floats(0, 1), st.integers(0, 4), breaks)
def test_no_toml_error_ever_shows_any_of_the_text(text: list[str], place: float, gone: int, put: bytes) -> None:
    assert not leaks(broken("\n".join(text).encode(), place, gone, put), "toml")


@pytest.mark.parametrize(
    "text",
    [
        f"[{CANARY}]\n[{CANARY}]",
        f"{CANARY} = 1\n[{CANARY}]",
        f"{CANARY} = 1\n{CANARY} = 2",
        f"{CANARY} = 1\n{CANARY}.x = 2",
        f"{CANARY} = {{}}\n{CANARY}.x = 2",
        f"{CANARY} = {{}}\n[{CANARY}.x]",
        f"x = {{ {CANARY} = 1, {CANARY} = 2 }}",
        f"x = {{ {CANARY} = {{}}, {CANARY}.y = 2 }}",
        f"[{CANARY}.x]\n[y]\n[[{CANARY}.x]]",
        f"{CANARY}.x = 1\n[{CANARY}]",
        f'x = "{CANARY}',
        f'x = "\\{CANARY}"',
    ],
)
def test_a_toml_error_about_a_key_does_not_name_it(text: str) -> None:
    error = failure(text, "toml")
    assert CANARY not in shown(error)


@pytest.mark.parametrize(
    "data", [b'{"%s": "\xff"}', b'{"%s": ', b'{"a": %s}', b"%s = \xff", b"\xff\xfe%s", b'"%s" NaN']
)
def test_the_errors_behind_an_error_do_not_hold_the_text(data: bytes) -> None:
    assert CANARY not in shown(failure(data.replace(b"%s", CANARY.encode())))


def test_a_document_does_not_show_its_text() -> None:
    json_document = parse(f'{{"{CANARY}": 1, "{CANARY}": "{CANARY}"}}'.encode(), "json")
    assert json_document.line([CANARY]) == 1
    assert CANARY not in f"{json_document} {json_document!r} {[json_document]}"


# --- anything -----------------------------------------------------------------------------------------------

pieces = st.sampled_from(
    [*"{}[]:,\"'\\/*#=.\n\r\t 1-e", "//", "/*", "*/", '"""', "'''", '\\"', "null", "a", "\\u", "é"]
)
soup = st.lists(pieces, max_size=40).map("".join).map(str.encode)


@settings(max_examples=300)
@given(st.binary(max_size=60) | soup, st.sampled_from(["json", "toml"]))
def test_any_bytes_are_a_document_or_an_error(data: bytes, kind: Kind) -> None:
    document, line = outcome(data, kind)
    assert line is None or 1 <= line <= data.count(b"\n") + 1
    if document is not None:
        assert document.line(["a", 0]) is None or document.data


def outcome(data: bytes, kind: Kind) -> tuple[Document | None, int | None]:
    try:
        return parse(data, kind), None
    except ParseError as error:
        return None, error.line


FAR, TOO_FAR = 60, 900
HOSTILE: dict[str, tuple[Kind, str, str, str]] = {
    "comments that open": ("json", "", "/*", ""),
    "comments": ("json", "", "/**/", ""),
    "a comment of stars": ("json", "/*", "*", ""),
    "quotes": ("json", "", '"', ""),
    "escaped quotes": ("json", "", '\\"', ""),
    "an open string of escaped quotes": ("json", '"', '\\"', ""),
    "commas and blanks": ("json", "[", ", \t\n", ""),
    "commas and a page of blanks": ("json", "[", "," + " " * 4000, ""),
    "brackets": ("json", "", "[", ""),
    "braces": ("json", "", '{"a":', ""),
    "blanks": ("json", "", " ", "x"),
    "a key again and again": ("json", "{", '"a":1,', '"a":1}'),
    "empty objects again and again": ("json", '{"a":' * FAR + "{", '"a":{},', '"a":1}' + "}" * FAR),
    "line comments": ("json", "{", "//\n", "}"),
    "elements and comments": ("json", "[", "1,/**/", "1]"),
    "a key again and again far down": ("json", '{"a":' * FAR + "{", '"a": 1,                ', '"a":1}' + "}" * FAR),
    "a key again and again too far down": ("json", '{"a":' * TOO_FAR + "{", '"a":1,', '"a":1}' + "}" * TOO_FAR),
    "TOML quotes": ("toml", "", '"', ""),
    "TOML escaped quotes": ("toml", "", '\\"', ""),
    "TOML open string of escaped quotes": ("toml", 'x = "', '\\"', ""),
    "TOML long string of escaped quotes": ("toml", 'x = """', '\\"', '"""'),
    "TOML long quotes": ("toml", "", "'''", ""),
    "TOML long double quotes": ("toml", "", '"""', ""),
    "TOML odd quotes": ("toml", "x = ", "'''''\"", ""),
    "TOML brackets": ("toml", "x = ", "[", ""),
    "TOML braces": ("toml", "x = ", "{a=", ""),
    "TOML dots": ("toml", "", "a . ", ""),
    "TOML hashes": ("toml", "", "#", ""),
    "TOML blanks": ("toml", "a", " ", "x"),
    "YAML brackets": ("yaml", "", "[", ""),
    "YAML dashes": ("yaml", "", "- ", ""),
    "YAML questions": ("yaml", "", "? ", ""),
    "YAML quotes": ("yaml", "", "'", ""),
    "YAML lines": ("yaml", "", "a: b\n", ""),
    "YAML flow": ("yaml", "{", "a,", "}"),
    "YAML block": ("yaml", "a: |\n", " a long enough line of text in a block\n", ""),
    "YAML anchors": ("yaml", "", "&a ", ""),
    "YAML comments": ("yaml", "", "#", ""),
}

# Reads the bytes in a process of its own, which the system ends: nothing else stops a regular expression.
TIMED = """
import resource, sys, time, tomllib
from mooring.errors import ParseError, TooManyValues
from mooring.syntax.parse import parse
data = sys.stdin.buffer.read()
resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
start = time.process_time()
try:
    parse(data, sys.argv[1]).line(["a", "b"])
except ParseError:
    pass
print(time.process_time() - start)
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_mebibyte_takes_no_longer_than_two_seconds(name: str) -> None:
    kind, start, unit, end = HOSTILE[name]
    text = start + unit * ((MIB - len(start + end)) // len(unit)) + end
    done = subprocess.run([sys.executable, "-c", TIMED, kind], input=text.encode(), capture_output=True)
    assert done.returncode == 0, f"it took more than five seconds: {done.stderr.decode()}"
    assert is_within(float(done.stdout), 2)


COUNTED: list[tuple[Kind, str, int]] = [
    ("json", "{}", 0),
    ("json", "7", 0),
    ("json", '{"a": [1, 2, {"b": []}], "c": {}}', 6),
    ("json", '{"a": 1, "a": 2, /* b */ "a": 3,}', 3),
    ("toml", "a.b = [1, 2]\n[c]\n", 5),
    ("yaml", "a: &x [1, 2]\nb: *x\n", 9),
]


@pytest.mark.parametrize(("kind", "text", "values"), COUNTED)
def test_a_document_knows_how_many_values_were_written(kind: Kind, text: str, values: int) -> None:
    assert parse(text.encode(), kind).values == values


@pytest.mark.parametrize(("kind", "text", "values"), [row for row in COUNTED if row[2]])
def test_a_text_may_hold_as_many_values_as_it_may_and_no_more(kind: Kind, text: str, values: int) -> None:
    assert parse(text.encode(), kind, values).values == values
    with pytest.raises(TooManyValues, match=f"holds more than {values - 1} values"):
        parse(text.encode(), kind, values - 1)


# --- YAML ---------------------------------------------------------------------------------------------------


def test_yaml_values_are_plain_data_by_the_rules_of_version_1_2() -> None:
    text = """
        # a comment
        text: plain words
        yes: no
        "quoted": "1"
        numbers: [1, -2, 0x10, 0o17, 1.5, .5, 1e3, 1.2.3]
        nothing: [~, null, ]
        truth: [true, False]
        folded: >
          a
          b
        nested: {a: [b, {c: d}]}
        empty:
    """
    assert read(text, "yaml") == {
        "text": "plain words",
        "yes": "no",
        "quoted": "1",
        "numbers": [1, -2, 16, 15, 1.5, 0.5, 1000.0, "1.2.3"],
        "nothing": [None, None],
        "truth": [True, False],
        "folded": "a b\n",
        "nested": {"a": ["b", {"c": "d"}]},
        "empty": None,
    }


def test_a_yaml_alias_repeats_what_it_names_and_nothing_is_merged_or_made() -> None:
    assert read("a: &x [1]\nb: *x\nc: {<<: {d: 1}}\n", "yaml") == {"a": [1], "b": [1], "c": {"<<": {"d": 1}}}
    assert read("a: !!python/object/apply:os.system [touch marker]\n", "yaml") == {"a": ["touch marker"]}
    assert read("a: !!int '3'\n", "yaml") == {"a": "3"}


def test_a_yaml_key_is_found_on_its_line_and_one_written_twice_is_reported() -> None:
    document = parse(b"a: 1\nservers:\n  - name: x\n    env: {k: v}\n  - y\nb: &q\n  c: 2\na: 3\n", "yaml")
    assert document.data["a"] == 3
    assert document.duplicates == (("a",),)
    lines = [document.line(path) for path in (["servers", 0, "env", "k"], ["servers", 1], ["b", "c"], ["a"], ["z"])]
    assert lines == [4, 5, 7, 8, None]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: b: c", 1, "is not valid YAML"),
        ("a: 1\n b: 2\n", 2, "is not valid YAML"),
        ("a: 'open\n", 2, "is not valid YAML"),
        ("a: *none", 1, "refers to an anchor that does not exist"),
        ("a: &a [*a]", 1, "refers to an anchor that does not exist"),
        ("? [a]\n: b", 1, "has a key that is not text"),
        ("a: 1\n---\nb: 2\n", 2, "more than one document"),
        ("[" * 100, 1, "nested more than 64 levels"),
    ],
)
def test_yaml_that_cannot_be_used_is_refused_with_its_line(text: str, line: int, reason: str) -> None:
    error = failure(text, "yaml")
    assert reason in error.reason
    assert error.line == line


def test_yaml_that_multiplies_itself_is_refused_at_once() -> None:
    layers = "".join(f"{a}: &{a} [{', '.join([f'*{b}'] * 10)}]\n" for b, a in pairwise("abcdefgh"))
    started = time.process_time()
    assert "more than 20000 values" in failure(f"a: &a [x]\n{layers}", "yaml").reason
    assert "more than 20000 values" in failure("- x\n" * 30_000, "yaml").reason
    assert (
        "nested more than"
        in failure("a: &a0 [x]\n" + "".join(f"b{n}: &a{n + 1} [*a{n}]\n" for n in range(99)), "yaml").reason
    )
    assert time.process_time() - started < 5


yaml_soup = st.lists(
    st.sampled_from(
        [*"{}[]:,\"'&*!|>%@`#-?\n\t ~1a", ": ", "- ", "\n  ", "&a", "*a", "---", "...", "!!str", "<<", CANARY]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=400)
@given(
    st.binary(max_size=60)
    | yaml_soup.map(str.encode)
    | st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_are_yaml_or_an_error_that_shows_none_of_them(data: bytes) -> None:
    document, line = outcome(data, "yaml")
    assert line is None or 1 <= line <= data.count(b"\n") + 1
    assert not leaks(data, "yaml")
    if document is not None:
        assert document.line(["a", 0]) is None or document.data


@settings(max_examples=100)
@given(values)
def test_json_that_yaml_can_hold_is_the_same_in_both(value: object) -> None:
    text = json.dumps(value)
    try:
        made = parse(text.encode(), "yaml").data
    except ParseError:
        return
    assert made == value or not text.isascii() or "e" in text or "\\" in text
