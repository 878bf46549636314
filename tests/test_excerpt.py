"""The text of one entry, cut out for a person to edit, and put back with every other byte kept."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.errors import ParseError
from mooring.syntax.document import Kind
from mooring.syntax.edit import cut_excerpt, put_excerpt, put_value, remove_value
from mooring.syntax.parse import parse
from test_edit import EXAMPLES, KINDS, TEXTS, is_kept, read_with_another_parser


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_an_excerpt_that_is_put_back_as_it_was_means_the_same(kind: Kind, data: st.DataObject) -> None:
    text = data.draw(TEXTS[kind]())
    before = read_with_another_parser(text, kind)
    path = ("servers", data.draw(st.sampled_from(sorted(before["servers"]))))
    excerpt = cut_excerpt(text, kind, path)
    assert "\r" not in excerpt
    after = put_excerpt(text, kind, path, excerpt)
    assert read_with_another_parser(after, kind) == before
    assert cut_excerpt(after, kind, path) == excerpt
    assert ("\r\n" in after) == ("\r\n" in text)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_an_excerpt_that_was_edited_changes_its_entry_and_no_byte_of_another(kind: Kind, data: st.DataObject) -> None:
    text = data.draw(TEXTS[kind]())
    before = read_with_another_parser(text, kind)
    name = data.draw(st.sampled_from(sorted(before["servers"])))
    path = ("servers", name)
    edited = cut_excerpt(put_value(text, kind, (*path, "disabled"), True), kind, path)
    after = put_excerpt(text, kind, path, edited)
    entry = {**before["servers"][name], "disabled": True}
    assert read_with_another_parser(after, kind) == {**before, "servers": {**before["servers"], name: entry}}
    others = remove_value(text, kind, path).replace(",", "") if len(before["servers"]) > 1 else ""
    # A comment or an empty line between two lines of the entry moves along with them.
    for between in re.findall(r"(?m)^#.*\n", cut_excerpt(text, kind, path)):
        others = others.replace(between, "", 1)
    others = re.sub(r"(\r?\n)(?:\r?\n)+", r"\1", others)
    assert is_kept(others, within=after)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data(), excerpt=st.text(st.sampled_from(' \n\t{}[]",:=#/*-.a1ü&|>'), max_size=30))
def test_an_excerpt_of_any_shape_changes_its_entry_alone_or_is_refused(
    kind: Kind, data: st.DataObject, excerpt: str
) -> None:
    text = data.draw(TEXTS[kind]())
    before = parse(text.encode(), kind).data
    name = data.draw(st.sampled_from(sorted(before["servers"])))
    try:
        after = put_excerpt(text, kind, ("servers", name), excerpt)
    except ParseError:
        return
    left = parse(after.encode(), kind).data
    for content in (before, left):
        del content["servers"][name]
    assert left == before


def test_an_excerpt_is_shown_at_the_left_margin_with_its_comments() -> None:
    text = '{\r\n\t"servers": {\r\n\t\t"a": { // mine\r\n\t\t\t"x": 1\r\n\t\t}\r\n\t}\r\n}\r\n'
    assert cut_excerpt(text, "json", ("servers", "a")) == '{ // mine\n\t"x": 1\n}\n'
    edited = put_excerpt(text, "json", ("servers", "a"), '{ // mine\n\t"x": 2\n}\n')
    assert edited == text.replace('"x": 1', '"x": 2')


def test_an_element_of_a_list_is_an_excerpt_of_its_own() -> None:
    text = "s:\n  - name: a\n    x: 1\n  - name: b\n    y: 2\n"
    assert cut_excerpt(text, "yaml", ("s", 1)) == "name: b\ny: 2\n"
    assert put_excerpt(text, "yaml", ("s", 1), "name: b\ny: 3\n") == text.replace("y: 2", "y: 3")


def test_the_tables_of_one_entry_are_one_excerpt_even_if_others_are_between_them() -> None:
    text = '[s.a]\nx = 1\n# about it\n[s.a.env]\nK = "v"\n\n[s.b]\ny = 2\n[s.a.more]\nz = 3\n'
    excerpt = '[s.a]\nx = 1\n# about it\n[s.a.env]\nK = "v"\n[s.a.more]\nz = 3\n'
    assert cut_excerpt(text, "toml", ("s", "a")) == excerpt
    after = put_excerpt(text, "toml", ("s", "a"), excerpt.replace("z = 3", "z = 4"))
    assert after == '[s.a]\nx = 1\n# about it\n[s.a.env]\nK = "v"\n[s.a.more]\nz = 4\n\n[s.b]\ny = 2\n'


@pytest.mark.parametrize(
    ("kind", "text", "excerpt", "line"),
    [
        ("json", '{\n"s": {\n"a": {}}}', '{\n"x": ;\n}', 2),
        ("toml", "[o]\n\n[s.a]\nx = 1\n", "[s.a]\nx = \n", 2),
        ("yaml", "o: 1\ns:\n  a:\n    x: 1\n", "x: 1\ny: ]\n", 2),
    ],
)
def test_a_mistake_in_an_excerpt_is_reported_by_its_line_in_it(kind: Kind, text: str, excerpt: str, line: int) -> None:
    with pytest.raises(ParseError) as refused:
        put_excerpt(text, kind, ("s", "a"), excerpt)
    assert refused.value.line == line


@pytest.mark.parametrize("excerpt", ['{}, "b": {"x": 1}', '{}}, "other": {"x": {', "{}, // b", '{}, "a": {"x": 1}', ""])
def test_an_excerpt_that_reaches_beyond_its_entry_is_refused(excerpt: str) -> None:
    with pytest.raises(ParseError):
        put_excerpt('{"s": {"a": {}, "b": {}}, "other": {}}', "json", ("s", "a"), excerpt)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_there_cannot_be_cut_out(kind: Kind) -> None:
    with pytest.raises(ParseError):
        cut_excerpt({"json": "{}", "toml": "", "yaml": "s:\n"}[kind], kind, ("s", "a"))
