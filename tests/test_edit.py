"""One value put into a configuration's text or taken out of it, with every other byte kept."""

import io
import json
from typing import Any

import pytest
import tomlkit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from mooring.errors import ParseError
from mooring.syntax.document import Kind
from mooring.syntax.edit import add_members, edit_bytes, insert_element, put_value, remove_value, replace_members
from mooring.syntax.parse import parse

KINDS: tuple[Kind, ...] = ("json", "toml", "yaml")
ENTRY = {
    "command": "npx",
    "args": ["-y", "näme", 'q"uote\\'],
    "env": {"A.B": "${TOKEN}", "EMPTY": ""},
    "n": 3,
    "on": False,
}


def read_with_another_parser(text: str, kind: Kind) -> Any:
    """What the text means to a parser that is not ours."""
    match kind:
        case "toml":
            return tomlkit.parse(text).unwrap()
        case "yaml":
            yaml = YAML(typ="safe", pure=True)
            yaml.allow_duplicate_keys = True
            return yaml.load(io.StringIO(text)) or {}
        case _:
            return parse(text.encode(), "json").data


def is_kept(text: str, within: str) -> bool:
    """Whether every character of a text is in another one, in this order."""
    rest = iter(within)
    return all(character in rest for character in text)


# --- texts of every kind ------------------------------------------------------------------------------------

NAMES = ["a", "b-c", "d_e", "x.y", "ü", 'q"', "# no comment", "// none"]
LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        ["", "npx", "a, b", "{", "]", "// not a comment", "# nor this", 'say "hi"', "${VAR}", "Ünï ☃ 😀", "no"]
    ),
    st.integers(-9, 99),
    st.booleans(),
)
ENTRIES = st.dictionaries(
    st.sampled_from(["command", "args", "env", "enabled", "x-y"]),
    st.one_of(LEAVES, st.lists(LEAVES, max_size=3), st.dictionaries(st.sampled_from(NAMES), LEAVES, max_size=2)),
    min_size=1,
    max_size=3,
)
SERVERS = st.dictionaries(st.sampled_from(NAMES), ENTRIES, min_size=1, max_size=3)


def draw_breaks(draw: st.DrawFn, text: str) -> str:
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@st.composite
def json_texts(draw: st.DrawFn, servers: st.SearchStrategy[Any] = SERVERS) -> str:
    unit = draw(st.sampled_from(["  ", "\t", "   ", "", None]))

    def gap(level: int) -> str:
        comment = draw(
            st.sampled_from(["", "", "", " /* , } */", " // ] , {\n"] if unit is not None else ["", "/* { */"])
        )
        return comment + (" " * draw(st.integers(0, 1)) if unit is None else f"\n{unit * level}")

    def write(value: Any, level: int) -> str:
        if not isinstance(value, dict | list) or (level > 2 and draw(st.booleans())):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        is_map = isinstance(value, dict)
        pairs = value.items() if is_map else [(None, inner) for inner in value]
        parts = [(f"{json.dumps(key)}: " if is_map else "") + write(inner, level + 1) for key, inner in pairs]
        begin, end = "{}" if is_map else "[]"
        if not parts:
            return begin + end
        inside = ",".join(f"{gap(level + 1)}{part}" for part in parts)
        last = draw(st.sampled_from(["", "", " // c", ","]))
        if unit is None and last == " // c":
            last = ""
        return f"{begin}{inside}{last}{gap(level)}{end}"

    servers_text = write(draw(servers), 2)
    others = [
        f'"{key}":{draw(st.sampled_from(["", " "]))}{write(draw(ENTRIES), 2)}' for key in ("before", "twice", "twice")
    ]
    members = draw(st.permutations([*others, f'"servers": {servers_text}']))
    text = "{" + ",".join(f"{gap(1)}{member}" for member in members) + gap(0) + "}"
    return draw_breaks(draw, text + draw(st.sampled_from(["", "\n", "\n\n"])))


@st.composite
def toml_texts(draw: st.DrawFn, servers: st.SearchStrategy[Any] = SERVERS) -> str:
    from mooring.syntax.edit_toml import render_inline_toml, render_toml_key, render_toml_table

    def comment() -> str:
        return draw(st.sampled_from(["", "", "# [servers.a]\n", "\n", "  # x = '''\n", "\n\n"]))

    def decorate(line: str) -> str:
        indent = draw(st.sampled_from(["", "", "  ", "\t"])) if line else ""
        return indent + line + draw(st.sampled_from(["", "", " # = [", "  "])) + "\n"

    made = draw(servers)
    style = draw(st.sampled_from(["headers", "inline", "dotted", "one"]))
    root, tables = ['title = "servers"', 'long = """\n[servers.q]\nx = 1\n"""', "many = [\n  1, # one\n  2,\n]"], []
    if style == "one":
        root.append(f"servers = {render_inline_toml(made)}")
    elif style == "dotted":
        root += [
            f"servers.{render_toml_key(name)}.{render_toml_key(key)} = {render_inline_toml(value)}"
            for name, entry in made.items()
            for key, value in entry.items()
        ]
    elif style == "inline":
        tables.append(["[servers]", *(f"{render_toml_key(n)} = {render_inline_toml(e)}" for n, e in made.items())])
    else:
        tables += [list(render_toml_table(("servers", name), entry)) for name, entry in made.items()]
    tables += [["[other]", "servers = 1"], ["[[list]]", "a = 1"], ["[[list]]", "[ list . sub ]", "'b' = 2"]]
    lines = [comment() + decorate(line) for line in draw(st.permutations(root))]
    for table in tables if style == "headers" else draw(st.permutations(tables[:2])) + tables[2:]:
        lines += [comment() + decorate(line) for line in table]
    text = "".join(lines)
    return draw_breaks(draw, text if draw(st.booleans()) else text.rstrip("\n"))


@st.composite
def yaml_texts(draw: st.DrawFn, servers: st.SearchStrategy[Any] = SERVERS) -> str:
    def scalar(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    def comment(level: int) -> str:
        return draw(st.sampled_from(["", "", "", "# c: {\n", f"{' ' * level}# - d\n", "\n"]))

    def tail() -> str:
        return draw(st.sampled_from(["", "", " # e: ]", "  "])) + "\n"

    def write(value: Any, level: int) -> str:
        """What follows the colon or the dash, with its line's end."""
        if not isinstance(value, dict | list) or not value or draw(st.integers(0, 4)) == 0:
            return f" {scalar(value)}{tail()}"
        if isinstance(value, dict):
            step = draw(st.sampled_from([1, 2, 4]))
            return tail() + "".join(pair(key, inner, level + step) for key, inner in value.items())
        step = draw(st.sampled_from([0, 2, 3]))
        return tail() + "".join(
            f"{comment(level + step)}{' ' * (level + step)}-{write(inner, level + step + 1)}" for inner in value
        )

    def pair(key: str, value: Any, level: int) -> str:
        name = key if key.isalnum() and draw(st.booleans()) else scalar(key)
        return f"{comment(level)}{' ' * level}{name}:{write(value, level)}"

    parts = [
        pair("before", draw(ENTRIES), 0),
        "text: |\n  servers:\n    a: 1\n\n",
        "kept: |+\n  x\n\n",
        "anchored: &x [1, 2]\nagain: *x\n",
        pair("servers", draw(servers), 0),
    ]
    text = draw(st.sampled_from(["", "---\n", "# head\n\n"])) + "".join(draw(st.permutations(parts)))
    if draw(st.booleans()) and not text.endswith("\n\n"):
        text = text.rstrip("\n")
    return draw_breaks(draw, text)


TEXTS = {"json": json_texts, "toml": toml_texts, "yaml": yaml_texts}
EXAMPLES = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_an_added_entry_leaves_every_byte_and_its_removal_gives_back_the_text(kind: Kind, data: st.DataObject) -> None:
    text = data.draw(TEXTS[kind]())
    before = read_with_another_parser(text, kind)
    after = put_value(text, kind, ("servers", "new one"), ENTRY)
    assert read_with_another_parser(after, kind) == {**before, "servers": {**before["servers"], "new one": ENTRY}}
    assert is_kept(text, within=after)
    assert remove_value(after, kind, ("servers", "new one")) == text


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_several_entries_added_at_once_are_written_as_if_one_came_after_the_other(
    kind: Kind, data: st.DataObject
) -> None:
    text = data.draw(TEXTS[kind]())
    new = dict.fromkeys(("new one", "new-two", "three"), ENTRY)
    one_by_one = text
    for name, entry in new.items():
        one_by_one = put_value(one_by_one, kind, ("servers", name), entry)
    assert add_members(text, kind, ("servers",), new) == one_by_one
    with pytest.raises(ParseError):
        add_members(one_by_one, kind, ("servers",), {"three": ENTRY})


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_several_entries_replaced_at_once_change_nothing_around_them(kind: Kind, data: st.DataObject) -> None:
    text = data.draw(TEXTS[kind]())
    before = read_with_another_parser(text, kind)
    names = data.draw(st.lists(st.sampled_from(sorted(before["servers"])), min_size=1, unique=True))
    new = {name: {**ENTRY, "command": name} for name in names}
    one_by_one = text
    for name, entry in reversed(new.items()):
        one_by_one = put_value(one_by_one, kind, ("servers", name), entry)
    after = replace_members(text, kind, ("servers",), new)
    assert read_with_another_parser(after, kind) == {**before, "servers": {**before["servers"], **new}}
    # Tables that only lines with dotted keys described are written anew behind the others, in any order.
    assert sorted(after.split()) == sorted(one_by_one.split())
    with pytest.raises(ParseError):
        replace_members(text, kind, ("servers",), {"nobody": ENTRY})


@pytest.mark.parametrize("kind", ["json", "yaml"])
@pytest.mark.parametrize("text", ["", "servers: []", "servers: [{a: 1}]", "servers:\n- a: 1\n", "servers:\n  - a: 1"])
def test_several_elements_are_added_to_a_list_at_once(kind: Kind, text: str) -> None:
    if kind == "json":
        text = json.dumps(parse(text.encode(), "yaml").data or {}, indent=2)
    before = (parse(text.encode(), kind).data or {}).get("servers", [])
    after = add_members(text, kind, ("servers",), [ENTRY, {"b": 2}])
    assert read_with_another_parser(after, kind) == {"servers": [*before, ENTRY, {"b": 2}]}


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_a_removed_entry_takes_nothing_else_with_it(kind: Kind, data: st.DataObject) -> None:
    text = data.draw(TEXTS[kind]())
    before = read_with_another_parser(text, kind)
    name = data.draw(st.sampled_from(sorted(before["servers"])))
    after = remove_value(text, kind, ("servers", name))
    rest = {key: entry for key, entry in before["servers"].items() if key != name}
    left = read_with_another_parser(after, kind)
    # A TOML table that only the headers of its inner tables named is gone with the last of them.
    assert left == {**before, "servers": rest} or (kind == "toml" and not rest and "servers" not in left)
    if rest:
        assert is_kept(after.replace(",", ""), within=text)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_a_replaced_entry_changes_nothing_around_it(kind: Kind, data: st.DataObject) -> None:
    text = data.draw(TEXTS[kind]())
    before = read_with_another_parser(text, kind)
    name = data.draw(st.sampled_from(sorted(before["servers"])))
    after = put_value(text, kind, ("servers", name), ENTRY)
    assert read_with_another_parser(after, kind) == {**before, "servers": {**before["servers"], name: ENTRY}}


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_one_key_of_an_entry_can_be_set_and_removed(kind: Kind, data: st.DataObject) -> None:
    text = data.draw(TEXTS[kind]())
    before = read_with_another_parser(text, kind)
    name = data.draw(st.sampled_from(sorted(before["servers"])))
    after = put_value(text, kind, ("servers", name, "disabled"), True)
    entry = {**before["servers"][name], "disabled": True}
    assert read_with_another_parser(after, kind) == {**before, "servers": {**before["servers"], name: entry}}
    assert is_kept(text, within=after)
    assert remove_value(after, kind, ("servers", name, "disabled")) == text


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.text(st.sampled_from(' \n\r\t{}[]",:=#/*-.a1ü&|>'), max_size=40))
def test_a_text_of_any_shape_is_changed_as_meant_or_refused(kind: Kind, text: str) -> None:
    try:
        before = parse(text.encode(), kind).data
        after = put_value(text, kind, ("a", "b"), {"c": "d"})
    except ParseError:
        return
    assert parse(after.encode(), kind).data == {**before, "a": {**(before.get("a") or {}), "b": {"c": "d"}}}


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(
    value=st.recursive(
        st.text() | st.integers(-(2**60), 2**60) | st.booleans(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    )
)
def test_every_value_is_read_as_it_was_written(kind: Kind, value: Any) -> None:
    try:
        text = put_value("", kind, ("x",), {"value": value})
    except ParseError as error:
        # Only JSON can write half of a surrogate pair.
        assert "\\ud" in ascii(value), error  # noqa: PT017
        return
    assert parse(text.encode(), kind).data == {"x": {"value": value}}


# --- how it looks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("json", "", '{\n  "s": {\n    "x": {\n      "command": "npx"\n    }\n  }\n}\n'),
        ("json", "{}", '{\n  "s": {\n    "x": {\n      "command": "npx"\n    }\n  }\n}'),
        ("json", '{"s": {}}', '{"s": {"x": {"command": "npx"}}}'),
        (
            "json",
            '{\n\t"s": {} // mine\n}\n',
            '{\n\t"s": {\n\t\t"x": {\n\t\t\t"command": "npx"\n\t\t}\n\t} // mine\n}\n',
        ),
        ("json", '{"s": null}', '{"s": {"x": {"command": "npx"}}}'),
        ("toml", "", '[s.x]\ncommand = "npx"\n'),
        ("toml", "model = 1", 'model = 1\n\n[s.x]\ncommand = "npx"'),
        ("toml", "s = {}\n", 's = {x = { command = "npx" }}\n'),
        ("yaml", "", "s:\n  x:\n    command: npx\n"),
        ("yaml", "s:\nt: 1\n", "s:\n  x:\n    command: npx\nt: 1\n"),
        ("yaml", "s: {} # mine\n", 's: {"x": {"command": "npx"}} # mine\n'),
        ("yaml", "# only this", "# only this\ns:\n  x:\n    command: npx"),
    ],
)
def test_a_container_is_made_where_there_is_none(kind: Kind, before: str, after: str) -> None:
    assert put_value(before, kind, ("s", "x"), {"command": "npx"}) == after


def test_an_element_of_a_list_is_added_replaced_and_removed() -> None:
    text = "mcpServers:\n- name: a # first\n  command: x\n# the end\n"
    longer = put_value(text, "yaml", ("mcpServers", 1), {"name": "b", "args": ["-y"]})
    assert longer == 'mcpServers:\n- name: a # first\n  command: x\n- name: b\n  args:\n    - "-y"\n# the end\n'
    assert remove_value(longer, "yaml", ("mcpServers", 1)) == text
    changed = put_value(longer, "yaml", ("mcpServers", 0), {"name": "c"})
    assert parse(changed.encode(), "yaml").data == {"mcpServers": [{"name": "c"}, {"name": "b", "args": ["-y"]}]}


def test_the_last_entry_leaves_an_empty_container() -> None:
    assert remove_value('{"s": {"a": 1}}', "json", ("s", "a")) == '{"s": {}}'
    assert remove_value("s: # mine\n  a: 1\nt: 2\n", "yaml", ("s", "a")) == "s: {} # mine\nt: 2\n"
    assert remove_value("[s]\na = 1\n", "toml", ("s", "a")) == "[s]\n"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("json", "{"),
        ("json", "[]"),
        ("json", '{"s": 1}'),
        ("json", '{"s": {}, "s": {}}'),
        ("json", '{"s": {"x": 1, "x": 2}}'),
        ("toml", "s = 1"),
        ("toml", "[[s]]\na = 1"),
        ("yaml", "s: [1]"),
        ("yaml", "t: &t {a: 1}\ns: *t\n"),
        ("yaml", "s: &t {a: 1}\nt: *t\n"),
        ("yaml", "a: 1\n---\nb: 2\n"),
        ("plist", "<plist/>"),
    ],
)
def test_a_text_that_is_not_understood_is_refused(kind: Kind, text: str) -> None:
    with pytest.raises(ParseError):
        put_value(text, kind, ("s", "x"), {"command": "npx"})


def test_what_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(ParseError, match="does not hold"):
        remove_value('{"s": {}}', "json", ("s", "x"))


def test_an_element_goes_before_the_one_at_its_index_and_stays_on_one_line() -> None:
    text = '{"permissions": [{"a": 1} /* , */ , {"b": 2}]}'
    assert (
        insert_element(text, ("permissions", 1), {"c": 3}) == '{"permissions": [{"a": 1} /* , */ , {"c": 3}, {"b": 2}]}'
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_encoding_and_its_mark_stay(encoding: str) -> None:
    made = edit_bytes('{"ü": 1}'.encode(encoding), lambda text: put_value(text, "json", ("x",), 2))
    assert made == '{"ü": 1, "x": 2}'.encode(encoding)


def test_bytes_that_are_not_text_are_refused() -> None:
    with pytest.raises(ParseError, match="not UTF-8"):
        edit_bytes(b"\xff", lambda text: text)
