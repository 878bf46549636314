"""What each tool's strings mean: which placeholders count where, and what stays as it is written."""

import re
import subprocess
import sys
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mooring.core.definitions.template import (
    CommandPart,
    FilePart,
    ForeignPart,
    InputPart,
    KnownPart,
    Part,
    SecretPart,
    Template,
    TextPart,
    VariablePart,
    literal,
)
from mooring.discovery.dialect import (
    AGENT_PLUGINS,
    AMP,
    ATOMIC,
    CLAUDE,
    CLINE,
    CONTINUE,
    COPILOT,
    CRUSH,
    GEMINI,
    GOOSE,
    MCPM,
    MCPORTER,
    MOORING,
    OPENCODE,
    PLAIN,
    ROO,
    SHARED,
    VSCODE,
    WINDSURF,
    Dialect,
    TextSlot,
)  # fmt: skip
from mooring.discovery.template import parse_template
from support import is_within

DIALECTS = {
    "PLAIN": PLAIN,
    "CLAUDE": CLAUDE,
    "SHARED": SHARED,
    "MOORING": MOORING,
    "COPILOT": COPILOT,
    "OPENCODE": OPENCODE,
    "VSCODE": VSCODE,
    "AMP": AMP,
    "MCPM": MCPM,
    "AGENT_PLUGINS": AGENT_PLUGINS,
    "CLINE": CLINE,
    "ROO": ROO,
    "WINDSURF": WINDSURF,
    "GEMINI": GEMINI,
    "CONTINUE": CONTINUE,
    "GOOSE": GOOSE,
    "ATOMIC": ATOMIC,
    "MCPORTER": MCPORTER,
    "CRUSH": CRUSH,
}
SLOTS: tuple[TextSlot, ...] = get_args(TextSlot)
VALUE_SLOTS: tuple[TextSlot, ...] = ("env", "headers")
SECRET = "cAnArY7q"

A, EMPTY_A = VariablePart("A"), VariablePart("A", unset="empty")
HOME, WORKSPACE, SEPARATOR = KnownPart("home"), KnownPart("workspace"), KnownPart("separator")


def parts(text: str, dialect: Dialect, slot: TextSlot = "args") -> tuple[Part, ...]:
    return parse_template(text, dialect, slot).parts


def T(text: str) -> TextPart:  # noqa: N802 - the tables below are read across
    return TextPart(text)


BRACED: list[tuple[str, tuple[Part, ...]]] = [
    ("", (T(""),)),
    ("plain", (T("plain"),)),
    ("${A}", (A,)),
    ("a${A}b", (T("a"), A, T("b"))),
    ("${A}${_b9}", (A, VariablePart("_b9"))),
    ("$${A}}", (T("$"), A, T("}"))),
    ("${A:-}", (VariablePart("A", ""),)),
    ("${A:-x}", (VariablePart("A", "x"),)),
    ("${A:-:-$x{\"'\\\n é😀-}", (VariablePart("A", ":-$x{\"'\\\n é😀-"),)),
    ("${A:-${B}}", (VariablePart("A", "${B"), T("}"))),
    (
        "https://${A:-h.example:80}/p?q=${B}",
        (T("https://"), VariablePart("A", "h.example:80"), T("/p?q="), VariablePart("B")),
    ),
    ("$A", (T("$A"),)),
    ("${A", (T("${A"),)),
    ("${A:-x", (T("${A:-x"),)),
    ("${}", (T("${}"),)),
    ("${9A}", (T("${9A}"),)),
    ("${A-x}", (T("${A-x}"),)),
    ("${A:x}", (T("${A:x}"),)),
    ("${ A }", (T("${ A }"),)),
    ("${A\n}", (T("${A\n}"),)),
    ("${É}", (T("${É}"),)),
    ("${env:A}", (T("${env:A}"),)),
    ("${input:a}", (T("${input:a}"),)),
    ("{env:A}", (T("{env:A}"),)),
    ("~/x", (T("~/x"),)),
]

TABLES: dict[str, list[tuple[str, tuple[Part, ...]]]] = {
    "PLAIN": [
        (text, (T(text),)) for text in ("", "x", "$A", "${A}", "${A:-x}", "{env:A}", "${env:A}", "!x", "~/x", "A_B")
    ],
    "CLAUDE": BRACED,
    "SHARED": BRACED,
    "MOORING": BRACED,
    "OPENCODE": [
        ("", (T(""),)),
        ("{env:A}", (EMPTY_A,)),
        ("Bearer {env:A}!", (T("Bearer "), EMPTY_A, T("!"))),
        ("{env:my-var.x y}", (VariablePart("my-var.x y", unset="empty"),)),
        ("{file:~/.token}", (FilePart("~/.token"),)),
        ("{file:./a b}{env:A}", (FilePart("./a b"), EMPTY_A)),
        ("${env:A}", (T("$"), EMPTY_A)),
        ("{env:}", (T("{env:}"),)),
        ("{file:}", (T("{file:}"),)),
        ("{env:A", (T("{env:A"),)),
        ("{other:A}", (T("{other:A}"),)),
        ("${A}", (T("${A}"),)),
        ("$A", (T("$A"),)),
        ('{"a": {env:A}}', (T('{"a": '), EMPTY_A, T("}"))),
    ],
    "VSCODE": [
        ("", (T(""),)),
        ("${env:A}", (EMPTY_A,)),
        ("${env:}", (T("${env:}"),)),
        ("${env:A:-x}", (T("${env:A:-x}"),)),
        ("${A}", (T("${A}"),)),
        ("{env:A}", (T("{env:A}"),)),
        ("${input:my-key}", (InputPart("my-key"),)),
        ("${input:}", (T("${input:}"),)),
        ("${workspaceFolder}/x", (WORKSPACE, T("/x"))),
        ("${workspaceFolder:name}/x", (WORKSPACE, T("/x"))),
        ("${workspaceFolderBasename}", (KnownPart("workspace-name"),)),
        ("${userHome}${/}a${pathSeparator}b", (HOME, SEPARATOR, T("a"), SEPARATOR, T("b"))),
        ("${workspaceFolders}", (T("${workspaceFolders}"),)),
        ("${config:a.b}", (ForeignPart("${config:a.b}"),)),
        ("x${command:a.b}", (T("x"), ForeignPart("${command:a.b}"))),
        ("${extensionInstallFolder:a.b}", (ForeignPart("${extensionInstallFolder:a.b}"),)),
        ("${config:}", (T("${config:}"),)),
        ("${file}", (T("${file}"),)),
    ],
    "AMP": [("a${A}b", (T("a"), A, T("b"))), ("${A:-x}", (T("${A:-x}"),)), ("$A", (T("$A"),))],
    "MCPM": [("${A}", (A,)), ("a${A}", (T("a${A}"),)), ("${A}\n", (T("${A}\n"),))],
    "AGENT_PLUGINS": [
        ("${PLUGIN_ROOT}/x", (VariablePart("PLUGIN_ROOT", unset="error"), T("/x"))),
        ("${A}", (T("${A}"),)),
    ],
    "CLINE": [("${env:A}", (A,)), ("${A}", (T("${A}"),)), ("{env:A}", (T("{env:A}"),))],
    "ROO": [("${workspaceFolder}/${env:A}", (WORKSPACE, T("/"), A)), ("${userHome}", (T("${userHome}"),))],
    "WINDSURF": [("x${file:~/a b}", (T("x"), FilePart("~/a b"))), ("${env:A}", (EMPTY_A,)), ("${A}", (T("${A}"),))],
    "GEMINI": [("$A-${B:-x}%C%", (A, T("-"), VariablePart("B", "x"), T("%C%"))), ("$$A", (T("$"), A))],
    "CONTINUE": [
        ("Bearer ${{ secrets.A-b.c }}", (T("Bearer "), SecretPart("A-b.c"))),
        ("${{secrets.A}}", (SecretPart("A"),)),
        ("${{ inputs.A }}", (ForeignPart("${{ inputs.A }}"),)),
        ("${{ other.A }}", (T("${{ other.A }}"),)),
        ("${A}", (T("${A}"),)),
    ],
    "GOOSE": [("$A", (T("$A"),))],
    "ATOMIC": [("$env:A/${A}", (EMPTY_A, T("/"), EMPTY_A)), ("${A:-x}", (T("${A:-x}"),)), ("$A", (T("$A"),))],
    "MCPORTER": [
        ("$env:A", (VariablePart("A", unset="error"),)),
        ("${A:-x}${A}", (VariablePart("A", "x", "error"), VariablePart("A", unset="error"))),
    ],
    "CRUSH": [
        ("$A${A:-x}", (EMPTY_A, VariablePart("A", "x", "empty"))),
        ("a$(op read x)b", (T("a"), CommandPart((T("op read x"),)), T("b"))),
        ("$(a (b (c)) d)", (CommandPart((T("a (b (c)) d"),)),)),
        ("$(open", (T("$(open"),)),
        ("$(a (b (c (too deep)", (T("$(a (b (c (too deep)"),)),
    ],
}


@pytest.mark.parametrize(
    ("name", "text", "expected"), [(name, text, found) for name, table in TABLES.items() for text, found in table]
)
def test_a_string_among_the_arguments_means_what_its_tool_says(
    name: str, text: str, expected: tuple[Part, ...]
) -> None:
    made = parse_template(text, DIALECTS[name], "args")
    assert made.parts == expected
    assert made.text == text


@pytest.mark.parametrize("slot", sorted(VALUE_SLOTS))
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (T(""),)),
        ("$A", (A,)),
        ("${A}", (A,)),
        ("${A:-x $B}", (VariablePart("A", "x $B"),)),
        ("$A$B_9-$", (A, VariablePart("B_9"), T("-$"))),
        ("Bearer $A.", (T("Bearer "), A, T("."))),
        ("$9", (T("$9"),)),
        ("$$A", (T("$"), A)),
        ("${A", (T("${A"),)),
        ("$A}", (A, T("}"))),
        ("${env:A}", (T("${env:A}"),)),
        ("!op read x", (T("!op read x"),)),
        ("A_TOKEN", (T("A_TOKEN"),)),
    ],
)
def test_a_dollar_value_means_what_its_tool_says(text: str, expected: tuple[Part, ...], slot: TextSlot) -> None:
    assert parts(text, COPILOT, slot) == expected


@pytest.mark.parametrize("slot", [slot for slot in SLOTS if slot not in VALUE_SLOTS])
def test_dollars_count_in_env_and_headers_alone(slot: TextSlot) -> None:
    for text in ("$A", "${A}", "${A:-x}", "x $A"):
        assert parts(text, COPILOT, slot) == (TextPart(text),)


@pytest.mark.parametrize("slot", SLOTS)
def test_the_other_placeholders_count_everywhere(slot: TextSlot) -> None:
    for dialect in (CLAUDE, SHARED, MOORING):
        assert parts("x-${A}", dialect, slot) == (TextPart("x-"), A)
    assert parts("x-{env:A}", OPENCODE, slot) == (TextPart("x-"), EMPTY_A)
    assert parts("x-${env:A}", VSCODE, slot) == (TextPart("x-"), EMPTY_A)


@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("name", DIALECTS)
def test_an_exclamation_mark_is_a_command_only_in_values_of_shared_and_own_files(name: str, slot: TextSlot) -> None:
    made = parts("!op read x", DIALECTS[name], slot)
    if name in ("SHARED", "MOORING") and slot in VALUE_SLOTS:
        assert made == (CommandPart((TextPart("op read x"),)),)
    else:
        assert made == (TextPart("!op read x"),)


def test_a_command_is_one_only_from_the_first_character_and_may_hold_placeholders() -> None:
    assert parts(" !x", SHARED, "env") == (TextPart(" !x"),)
    assert parts("a!x", MOORING, "env") == (TextPart("a!x"),)
    assert parts("!", SHARED, "env") == (CommandPart((TextPart(""),)),)
    assert parts("!!x", SHARED, "env") == (CommandPart((TextPart("!x"),)),)
    assert parts("!pass ${A:-x}/y", SHARED, "headers") == (
        CommandPart((TextPart("pass "), VariablePart("A", "x"), TextPart("/y"))),
    )
    assert parts("!NAME", MOORING, "env") == (CommandPart((TextPart("NAME"),)),)


@pytest.mark.parametrize(
    ("text", "unset"),
    [
        ("GITHUB_TOKEN", "omit"),
        ("A_1", "omit"),
        ("A2_B_C", "omit"),
        ("DEBUG", "literal"),
        ("production", "literal"),
        ("github_token", "literal"),
        ("Github_Token", "literal"),
        ("_A_B", "literal"),
        ("A__B", "literal"),
        ("A_", "literal"),
        ("true", "literal"),
    ],
)
def test_a_bare_name_in_an_own_value_is_a_variable_and_surely_one_when_it_looks_like_one(text: str, unset: str) -> None:
    for slot in VALUE_SLOTS:
        (part,) = parts(text, MOORING, slot)
        assert isinstance(part, VariablePart)
        assert (part.name, part.default, part.unset) == (text, None, unset)


@pytest.mark.parametrize("text", ["A-B", "1", "A B", "A_B\n", "\nA_B", "É", "", "A.B", "$A_B", "A_B "])
def test_what_is_no_name_is_no_bare_name(text: str) -> None:
    assert parts(text, MOORING, "env") == (TextPart(text),)


def test_bare_names_count_in_values_of_own_files_alone() -> None:
    for name, dialect in DIALECTS.items():
        for slot in SLOTS:
            bare = name == "MOORING" and slot in VALUE_SLOTS
            assert (parts("A_TOKEN", dialect, slot) != (TextPart("A_TOKEN"),)) == bare, (name, slot)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("~", (HOME,)),
        ("~/", (HOME, T("/"))),
        ("~/a b", (HOME, T("/a b"))),
        ("~/$A", (HOME, T("/$A"))),
        ("~user/x", (T("~user/x"),)),
        ("/~", (T("/~"),)),
        (" ~/x", (T(" ~/x"),)),
    ],
)
def test_a_tilde_begins_a_working_folder_where_the_tool_has_it(text: str, expected: tuple[Part, ...]) -> None:
    assert parts(text, COPILOT, "cwd") == expected


def test_a_tilde_is_a_home_in_no_other_field_or_dialect() -> None:
    for name, dialect in DIALECTS.items():
        for slot in SLOTS:
            home = name in ("COPILOT", "ATOMIC") and slot == "cwd"
            assert (parts("~/x", dialect, slot) != (TextPart("~/x"),)) == home, (name, slot)


def test_an_input_carries_what_its_file_says_about_it() -> None:
    inputs = {
        "key": {"type": "promptString", "description": "The key", "password": True, "default": "d"},
        "pick": {"type": "pickString", "options": ["a", "b"], "password": False},
        "odd": {"description": 1, "password": "yes", "default": ["x"], "options": "ab"},
    }
    made = parse_template("${input:key} ${input:pick} ${input:odd} ${input:none}", VSCODE, "env", inputs)
    assert [part for part in made.parts if isinstance(part, InputPart)] == [
        InputPart("key", "The key", "d", True),
        InputPart("pick", options=("a", "b")),
        InputPart("odd"),
        InputPart("none"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "unset"),
    [
        ("CLAUDE", "${A}", "literal"),
        ("SHARED", "${A}", "literal"),
        ("MOORING", "${A}", "literal"),
        ("COPILOT", "$A", "literal"),
        ("COPILOT", "${A}", "literal"),
        ("OPENCODE", "{env:A}", "empty"),
        ("VSCODE", "${env:A}", "empty"),
        ("GEMINI", "$A", "empty"),
        ("CLINE", "${env:A}", "literal"),
        ("ATOMIC", "$env:A", "empty"),
        ("MCPORTER", "${A}", "error"),
        ("CRUSH", "$A", "empty"),
    ],
)
def test_each_dialect_says_what_an_unset_variable_becomes(name: str, text: str, unset: str) -> None:
    (variable,) = parse_template(text, DIALECTS[name], "env").variables
    assert (variable.name, variable.unset) == ("A", unset)


def test_the_variables_of_a_template_are_listed_in_order_also_inside_a_command() -> None:
    assert [variable.name for variable in parse_template("${B} ${A:-x} ${B}", CLAUDE, "args").variables] == [
        "B",
        "A",
        "B",
    ]
    assert [variable.name for variable in parse_template("!${B} ${A}", SHARED, "env").variables] == ["B", "A"]
    assert parse_template("no ${} such", CLAUDE, "args").variables == ()


def test_a_variable_left_unset_may_mean_something_else_in_env_or_headers() -> None:
    unset = {slot: parse_template("$A", GEMINI, slot).variables[0].unset for slot in ("env", "headers", "args")}
    assert unset == {"env": "empty", "headers": "literal", "args": "literal"}
    assert parse_template("$A", CRUSH, "headers").variables[0].unset == "omit"
    assert parts("Bearer $A", GOOSE, "headers") == (TextPart("Bearer "), A)


def test_a_value_that_the_configuration_gives_takes_the_place_of_its_variable() -> None:
    made = parse_template("<${A}>${B}", CLAUDE, "args", known_values={"A": "x", "C": "y"})
    assert made.parts == (TextPart("<x>"), VariablePart("B"))
    assert made.text == "<${A}>${B}"
    assert parse_template("${A}", CLAUDE, "args", known_values={"A": ""}).parts == (TextPart(""),)


# --- meaning ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (parse_template("{env:X}", OPENCODE, "env"), parse_template("${env:X}", VSCODE, "env")),
        (parse_template("${X:-d}", CLAUDE, "env"), parse_template("${X:-d}", COPILOT, "env")),
        (parse_template("$X", COPILOT, "env"), parse_template("${X}", MOORING, "args")),
        (parse_template("~/x", COPILOT, "cwd"), parse_template("${userHome}/x", VSCODE, "cwd")),
        (parse_template("~", COPILOT, "cwd"), parse_template("${userHome}", VSCODE, "cwd")),
        (parse_template("${/}", VSCODE, "args"), parse_template("${pathSeparator}", VSCODE, "args")),
        (parse_template("plain", PLAIN, "args"), parse_template("plain", VSCODE, "url")),
        (parse_template("", PLAIN, "args"), parse_template("", CLAUDE, "env")),
        (parse_template("${A}", PLAIN, "args"), literal("${A}")),
    ],
)
def test_templates_that_mean_the_same_are_equal_whoever_wrote_them(one: Template, other: Template) -> None:
    assert one == other
    assert not one != other  # noqa: SIM202 - the other operator is what is asked
    assert hash(one) == hash(other)
    assert len({one, other}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (parse_template("{env:X}", OPENCODE, "env"), parse_template("${X}", CLAUDE, "env")),
        (parse_template("${X}", CLAUDE, "env"), parse_template("${X}", PLAIN, "env")),
        (parse_template("${X}", CLAUDE, "env"), parse_template("${X:-}", CLAUDE, "env")),
        (parse_template("!x", SHARED, "env"), parse_template("!x", SHARED, "args")),
        (parse_template("A_B", MOORING, "env"), parse_template("${A_B}", MOORING, "env")),
        (parse_template("{env:X}", OPENCODE, "env"), parse_template("{file:X}", OPENCODE, "env")),
    ],
)
def test_templates_that_mean_something_else_are_not_equal(one: Template, other: Template) -> None:
    assert one != other
    assert not one == other  # noqa: SIM201 - the other operator is what is asked


def test_a_template_is_no_string() -> None:
    assert literal("x") != "x"


@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("name", DIALECTS)
def test_a_template_never_shows_its_text(name: str, slot: TextSlot) -> None:
    for text in (
        SECRET,
        f"!{SECRET}",
        f"${{A:-{SECRET}}}",
        f"{{file:{SECRET}}}",
        f"~/{SECRET}",
        f"${{input:{SECRET}}}",
    ):
        made = parse_template(text, DIALECTS[name], slot, {SECRET: {"description": SECRET, "default": SECRET}})
        assert made.text == text
        assert SECRET not in f"{made} {made!r} {[made]} {(made,)!r}"


# --- any text -----------------------------------------------------------------------------------------------

dialects = st.sampled_from(sorted(DIALECTS)).map(DIALECTS.__getitem__)
slots = st.sampled_from(SLOTS)
harmless = st.text(st.characters(exclude_characters="${!~", codec="utf-8"))
CLOSED = [
    "$(a)",
    "${{ secrets.A }}",
    "$env:A",
    "${file:f}",
    "${A}",
    "${A:-d}",
    "{env:A}",
    "{file:f}",
    "${env:A}",
    "${input:i}",
    "${config:c}",
]
PLACES = ["${workspaceFolder}", "${workspaceFolder:w}", "${userHome}", "${/}"]
OPEN = ["${", "${A:-", "$A", "A_B", "{env:", "${command:"]
fragments = st.sampled_from([*"${}:-~!/\n A9é", *CLOSED, *PLACES, *OPEN])
texts = st.lists(fragments, max_size=12).map("".join)


@settings(max_examples=150)
@given(harmless, dialects, slots)
def test_a_text_without_placeholders_means_exactly_itself(text: str, dialect: Dialect, slot: TextSlot) -> None:
    assume(not (dialect.slots.get(slot, dialect).bare_names and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", text)))
    made = parse_template(text, dialect, slot)
    assert made == literal(text)
    assert made.text == text
    assert made.variables == ()


def source(part: Part) -> str:
    """A pattern for all the ways a part can have been written."""
    match part:
        case TextPart(text=text) | ForeignPart(text=text):
            return re.escape(text)
        case VariablePart(name=name, default=None):
            name = re.escape(name)
            return rf"(?:\$\{{{name}\}}|\${name}|\{{env:{name}\}}|\$\{{env:{name}\}}|\$env:{name}|{name})"
        case VariablePart(name=name, default=default):
            return re.escape(f"${{{name}:-{default}}}")
        case FilePart(path=path):
            return rf"\$?\{{file:{re.escape(path)}\}}"
        case CommandPart(line=line):
            inner = "".join(map(source, line))
            return rf"(?:!{inner}|\$\({inner}\))"
        case SecretPart(name=name):
            return rf"\$\{{\{{\s*secrets\.{re.escape(name)}\s*\}}\}}"
        case InputPart(id=id):
            return re.escape(f"${{input:{id}}}")
        case KnownPart():
            return r"(?:~|\$\{[A-Za-z/]+(?::[^}]*)?\})"


@settings(max_examples=250)
@given(texts, dialects, slots)
def test_the_parts_in_order_make_up_the_text_and_nothing_is_lost(text: str, dialect: Dialect, slot: TextSlot) -> None:
    made = parse_template(text, dialect, slot)
    assert re.fullmatch("".join(map(source, made.parts)), text)
    assert made.text == text


@settings(max_examples=250)
@given(texts, dialects, slots)
def test_equal_meanings_have_one_form(text: str, dialect: Dialect, slot: TextSlot) -> None:
    """No two texts side by side and none that is empty beside another part: else equality would miss them."""
    made = parse_template(text, dialect, slot).parts
    fixed = [isinstance(part, TextPart) for part in made]
    assert made
    assert not any(one and other for one, other in pairwise(fixed))
    assert len(made) == 1 or TextPart("") not in made


@settings(max_examples=150)
@given(st.from_regex("[A-Za-z_][A-Za-z0-9_]*", fullmatch=True), st.text(st.characters(exclude_characters="}")))
def test_any_default_without_a_closing_brace_is_kept_to_the_letter(name: str, default: str) -> None:
    for dialect in (CLAUDE, SHARED, MOORING, COPILOT):
        assert parts(f"<${{{name}:-{default}}}>", dialect, "env") == (
            TextPart("<"),
            VariablePart(name, default),
            TextPart(">"),
        )


# In a process of its own, which the system ends: nothing else stops a regular expression.
TIMED = """
import resource, sys, time
from mooring.discovery import dialect
from mooring.discovery.template import parse_template
resource.setrlimit(resource.RLIMIT_CPU, (3, 3))
start = time.process_time()
text = sys.argv[2] * (64 * 1024 // len(sys.argv[2]))
made = parse_template(text, getattr(dialect, sys.argv[1]), "env")
assert made.text == text
print(time.process_time() - start)
"""


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("CLAUDE", "${A:-"),
        ("CLAUDE", "${A"),
        ("MOORING", "!${A:-"),
        ("COPILOT", "${A:-"),
        ("COPILOT", "$"),
        ("OPENCODE", "{env:"),
        ("OPENCODE", "{file:"),
        ("VSCODE", "${input:"),
        ("VSCODE", "${config:"),
        ("VSCODE", "${userHome:"),
        ("WINDSURF", "${file:"),
        ("CONTINUE", "${{ secrets."),
        ("CONTINUE", "${{ inputs."),
        ("CRUSH", "$("),
        ("CRUSH", "$(a("),
        ("CRUSH", "$((("),
        ("MCPORTER", "$env:"),
    ],
)
def test_the_longest_string_of_open_placeholders_is_read_in_half_a_second(name: str, unit: str) -> None:
    done = subprocess.run([sys.executable, "-c", TIMED, name, unit], capture_output=True, text=True)
    assert done.returncode == 0, f"it took more than three seconds: {done.stderr}"
    assert is_within(float(done.stdout), 0.5)
