"""What each placeholder of each dialect becomes when its server starts, and what becomes of it when it cannot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from prepared import (
    CLAUDE,
    CURSOR,
    MCPORTER,
    OPENCODE,
    OWN,
    SHARED,
    VSCODE,
    context,
    defined,
    found,
    reached,
    started,
)

from mooring.core.conversation.question import Answer, MissingValue, No, Question, Yes
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Http, Stdio
from mooring.core.definitions.template import (
    Expanded,
    KeptPlaceholder,
    Part,
    Template,
    TextPart,
    VariablePart,
    expand,
    literal,
)
from mooring.core.text.secret import list_secrets
from mooring.discovery import dialect as dialects
from mooring.discovery.dialect import Dialect
from mooring.discovery.template import parse_template
from mooring.errors import InputMissing, NotApproved, Unresolved
from mooring.servers.launch.inputs import ask_inputs
from mooring.servers.launch.named_files import parse_dotenv
from mooring.servers.launch.prepare import Launch, LaunchContext, OmittedEntry
from support import Home


@given(st.lists(st.text()))
def test_a_template_of_nothing_but_text_is_that_text(texts: list[str]) -> None:
    def text_itself(part: Part) -> Expanded:
        assert isinstance(part, TextPart)
        return Expanded(part.text)

    whole = "".join(texts)
    assert expand(Template(whole, tuple(map(TextPart, texts))), text_itself) == Expanded(whole)


@given(
    st.lists(st.sampled_from(["${A}", "$B", "${env:C}", "${workspaceFolder}", " ", "x", "$", "{", "}", "ä", "${A:-d}"]))
)
@pytest.mark.parametrize("dialect", [dialects.CLAUDE, dialects.GEMINI, dialects.AMP, dialects.ROO])
def test_what_stays_as_written_stays_exactly_as_written(dialect: Dialect, pieces: list[str]) -> None:
    text = "".join(pieces)
    made = parse_template(text, dialect, "args")
    filled = expand(made, lambda part: Expanded(part.text) if isinstance(part, TextPart) else KeptPlaceholder())
    assert filled == Expanded(text)


async def test_variables_are_filled_in_everywhere_and_defaults_where_they_are_not_set(home: Home) -> None:
    entry = {"command": "${TOOL}", "args": ["--mode=${MODE:-fast}", "${TOOL}s"], "env": {"A": "<${TOOL}>"}}
    made = await started(defined(home, CLAUDE, entry), context(home, {"TOOL": "hammer"}))
    assert made.argv == ("hammer", "--mode=fast", "hammers")
    assert made.env["A"] == "<hammer>"
    assert made.omitted == ()


async def test_an_unset_variable_stays_as_written_where_its_tool_leaves_it(home: Home) -> None:
    made = await started(defined(home, CLAUDE, {"command": "x", "args": ["a${NOPE}b${NOPE}"]}), context(home))
    assert made.argv == ("x", "a${NOPE}b${NOPE}")


async def test_an_unset_variable_is_empty_where_its_tool_empties_it(home: Home) -> None:
    made = await started(defined(home, CURSOR, {"command": "x", "args": ["a${env:NOPE}b"]}), context(home))
    assert made.argv == ("x", "ab")


async def test_an_unset_variable_stops_the_start_where_its_tool_says_so(home: Home) -> None:
    approved = defined(home, MCPORTER, {"command": "x", "env": {"TOKEN": "${NOPE}"}})
    with pytest.raises(
        Unresolved, match=r"x cannot be started: env\.TOKEN needs the variable NOPE, which is not set"
    ) as e:
        await started(approved, context(home))
    assert e.value.where == "env.TOKEN"


async def test_a_bare_name_of_an_unset_variable_goes_and_is_reported_without_its_text(home: Home) -> None:
    entry = {"command": "x", "env": {"TOKEN": "CANARY_TOKEN", "MODE": "production", "SET": "GITHUB_TOKEN"}}
    made = await started(defined(home, OWN, entry), context(home))
    assert "TOKEN" not in made.env
    assert made.env["MODE"] == "production"
    assert made.env["SET"] == "canary-environment"
    assert made.omitted == (OmittedEntry("env.TOKEN", "is the name of a variable that is not set"),)
    assert "CANARY" not in f"{made.omitted!r}{made.omitted[0]}"


async def test_a_header_whose_variable_is_not_set_goes_and_is_reported_by_the_variables_name(home: Home) -> None:
    home.write(
        "home/.codex/config.toml",
        '[mcp_servers.x]\nurl = "https://a.example/mcp"\nbearer_token_env_var = "NOPE"\n',
    )
    made = await reached(found(home), context(home))
    assert made.headers == {}
    assert made.omitted == (OmittedEntry("headers.Authorization", "needs the variable NOPE, which is not set"),)


async def test_a_variable_to_be_left_out_stops_the_start_where_nothing_can_be_left_out(home: Home) -> None:
    approved = defined(home, OWN, {"command": "x"})
    blank = Template("NOPE", (TextPart("--token="), VariablePart("NOPE", unset="omit")))
    ways = {
        "command": Stdio(blank),
        "args": Stdio(literal("x"), (blank,)),
        "cwd": Stdio(literal("x"), cwd=blank),
        "url": Http(blank),
    }
    for where, way in ways.items():
        with pytest.raises(Unresolved, match=f"{where} needs the variable NOPE"):
            await started(replace(approved, config=replace(approved.config, connection=way)), context(home))


# --- files ---------------------------------------------------------------------------------------------------


async def test_a_file_is_read_beside_the_one_that_names_it_or_in_the_home_and_trimmed(home: Home) -> None:
    home.write("home/.config/opencode/token", "\n canary-file \n")
    home.write("home/.token", "canary-home\n")
    env = {"A": "{file:token}", "B": "{file:~/.token}", "C": f"<{{file:{home.home}/.token}}>"}
    entry = {"type": "local", "command": ["x"], "environment": env}
    made = await started(defined(home, OPENCODE, entry, key="mcp"), context(home))
    assert {name: made.env[name] for name in "ABC"} == {"A": "canary-file", "B": "canary-home", "C": "<canary-home>"}
    assert {"canary-file", "canary-home"} <= set(made.secrets)


async def test_a_file_that_is_missing_too_large_or_no_text_costs_the_entry_and_is_named(home: Home) -> None:
    home.write("home/large", "x" * 65537)
    home.write("home/binary", b"\xff\xfe")
    env = {"A": "{file:~/none}", "B": "{file:~/large}", "C": "{file:~/binary}", "D": "{file:~}"}
    entry = {"type": "local", "command": ["x"], "environment": env}
    made = await started(defined(home, OPENCODE, entry, key="mcp"), context(home))
    assert not set(env) & set(made.env)
    assert [str(omission) for omission in made.omitted] == [
        "env.A was left out: it needs the file ~/none, which does not exist.",
        "env.B was left out: it needs the file ~/large, which is larger than 65536 bytes.",
        "env.C was left out: it needs the file ~/binary, which is not text.",
        "env.D was left out: it needs the file ~, which is a folder, not a file.",
    ]


async def test_a_file_that_is_missing_stops_the_start_where_nothing_can_be_left_out(home: Home) -> None:
    approved = defined(home, OPENCODE, {"type": "local", "command": ["x", "{file:none}"]}, key="mcp")
    with pytest.raises(Unresolved, match=r"args needs the file .*none, which does not exist"):
        await started(approved, context(home))


# --- places, secrets of other tools, what only they can fill in -----------------------------------------------


async def test_places_are_the_projects_folder_its_name_and_the_persons_home(home: Home) -> None:
    words = ["${workspaceFolder}/a", "${workspaceFolderBasename}", "${userHome}${/}b${pathSeparator}c"]
    made = await started(defined(home, CURSOR, {"command": "x", "args": words}), context(home))
    assert made.argv == ("x", f"{home.project}/a", "project", f"{home.home}/b/c")


async def test_a_secret_in_another_tools_store_costs_the_entry_and_is_reported(home: Home) -> None:
    entry = [{"name": "x", "command": "x", "env": {"A": "${{ secrets.KEY }}", "B": "${{ inputs.NAME }}", "C": "c"}}]
    home.write("home/.continue/mcpServers/x.yaml", f"mcpServers: {entry}")
    made = await started(found(home), context(home))
    assert "A" not in made.env
    assert made.env["C"] == "c"
    assert made.omitted == (
        OmittedEntry("env.A", "needs the secret KEY of continue, whose store cannot be read"),
        OmittedEntry("env.B", "contains ${{ inputs.NAME }}, which only continue can fill in"),
    )


async def test_what_only_another_tool_can_fill_in_stops_the_start_where_nothing_can_be_left_out(home: Home) -> None:
    approved = defined(home, CURSOR, {"command": "x", "args": ["${config:editor.tabSize}"]})
    with pytest.raises(Unresolved, match="only cursor can fill in"):
        await started(approved, context(home))


# --- questions to the person -----------------------------------------------------------------------------------

INPUTS = [
    {"id": "key", "type": "promptString", "description": "Your key", "password": True},
    {"id": "size", "type": "pickString", "options": ["small", "medium"], "default": "medium"},
]
ASKING = {"command": "x", "args": ["${input:size}"], "env": {"KEY": "<${input:key}>"}}


class Person:
    """Answers from a list, and remembers what was asked."""

    def __init__(self, **answers: str) -> None:
        self.answers, self.asked = answers, list[Question]()

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        assert isinstance(question, MissingValue)
        return Yes(self.answers[question.id]) if question.id in self.answers else No()


async def asked_and_started(approved: Approved, given: LaunchContext, person: Person) -> Launch:
    await ask_inputs(approved, given.secrets, person)
    return await started(approved, given)


async def test_a_person_is_asked_for_each_input_once_and_what_is_secret_counts_as_such(home: Home) -> None:
    person = Person(key="canary-typed", size="small")
    given = context(home)
    approved = defined(home, VSCODE, ASKING, key="servers", inputs=INPUTS)
    made, again = [await asked_and_started(approved, given, person) for _ in range(2)]
    assert made.argv == again.argv == ("x", "small")
    assert made.env["KEY"] == "<canary-typed>"
    assert "canary-typed" in made.secrets
    assert "small" not in made.secrets, "it can be read in the file"
    assert person.asked == [
        MissingValue("x", "size", "", "medium", False, ("small", "medium")),
        MissingValue("x", "key", "Your key", None, True, ()),
    ]


async def test_without_an_answer_a_default_is_used_and_without_one_the_start_stops(home: Home) -> None:
    entry = {"command": "x", "args": ["${input:size}"]}
    made = await started(defined(home, VSCODE, entry, key="servers", inputs=INPUTS), context(home))
    assert made.argv == ("x", "medium")
    with pytest.raises(InputMissing, match=r"x needs a value for 'key'.*Run this command again in a terminal"):
        await started(defined(home, VSCODE, ASKING, key="servers", inputs=INPUTS), context(home))


async def test_no_command_runs_for_a_server_that_lacks_an_input(home: Home) -> None:
    approved = defined(home, VSCODE, ASKING, key="servers", inputs=INPUTS)
    helper = Stdio(
        literal("x"), env={"A": parse_template("!touch ran", dialects.MOORING, "env"), **approved.config.connection.env}
    )  # type: ignore[union-attr]
    with pytest.raises(InputMissing):
        await started(replace(approved, config=replace(approved.config, connection=helper)), context(home))
    assert not (home.project / "ran").exists()


async def test_a_person_who_refused_is_asked_again_at_the_next_start(home: Home) -> None:
    person = Person()
    given = context(home)
    approved = defined(home, VSCODE, ASKING, key="servers", inputs=INPUTS)
    with pytest.raises(InputMissing):
        await asked_and_started(approved, given, person)
    person.answers["key"] = "canary-typed"
    assert (await asked_and_started(approved, given, person)).env["KEY"] == "<canary-typed>"


async def test_whatever_came_from_a_secret_place_is_struck_out_whatever_its_name(home: Home) -> None:
    inputs = [{"id": "plain", "type": "promptString"}, {"id": "size", "type": "pickString", "options": ["small"]}]
    entry = {"command": "x", "env": {"PLAIN": "${input:plain}", "SIZE": "${input:size}", "WHERE": "written-down"}}
    approved = defined(home, VSCODE, entry, key="servers", inputs=inputs)
    made = await asked_and_started(approved, context(home), Person(plain="canary-typed", size="small"))
    assert made.redact("canary-typed small written-down") == "••• small written-down"


# --- env files -------------------------------------------------------------------------------------------------


def test_an_env_file_is_read_as_its_writers_mean_it() -> None:
    text = """\ufeff# A=comment
A=1
export B = two words  # a comment
C='$as "it" is # here'
D="a\\nb \\"q\\" # here" # comment
E=
F=a#b
 G="first
second"
not an assignment
H.I-J=x\r
exported=name
K="unclosed
"""
    assert parse_dotenv(text) == {
        "A": "1",
        "B": "two words",
        "C": '$as "it" is # here',
        "D": 'a\nb "q" # here',
        "E": "",
        "F": "a#b",
        "G": "first\nsecond",
        "H.I-J": "x",
        "exported": "name",
        "K": '"unclosed',
    }


@given(st.text())
def test_no_text_is_too_odd_for_an_env_file(text: str) -> None:
    assert all("=" not in name and "\0" not in name for name in parse_dotenv(text))


async def test_an_env_file_counts_after_the_entries_own_env(home: Home) -> None:
    home.write("project/.env", "A=file\nB=file\nAPI_KEY=canary-file\n")
    entry = {"command": "x", "env": {"A": "entry"}, "envFile": "${workspaceFolder}/.env"}
    made = await started(defined(home, CURSOR, entry), context(home))
    assert (made.env["A"], made.env["B"]) == ("entry", "file")
    assert made.secrets == list_secrets(["canary-file"])


async def test_an_env_file_that_is_missing_is_reported(home: Home) -> None:
    made = await started(defined(home, OWN, {"command": "x", "envFile": "none.env"}), context(home))
    assert list(map(str, made.omitted)) == ["envFile was left out: it does not exist."]


async def test_a_projects_env_file_cannot_choose_another_program(home: Home) -> None:
    home.write("project/.env", "PATH=./bin\nMODE=fast\n")
    approved = defined(home, SHARED, {"command": "x", "envFile": ".env"})
    made = await started(approved, context(home))
    assert made.env["MODE"] == "fast"
    assert "./bin" not in made.env["PATH"]
    assert [omission.where for omission in made.omitted] == ["envFile.PATH"]
    home.write("project/.env", "PATH=./bin\nLD_PRELOAD=./e.so\nNODE_OPTIONS=-r ./e.js\nMODE=fast\n")
    with pytest.raises(NotApproved) as caught:
        await started(approved, context(home))
    assert ".env sets LD_PRELOAD, NODE_OPTIONS. To look" in str(caught.value)


async def test_an_env_file_that_only_the_start_can_find_changes_nothing_of_what_is_loaded(home: Home) -> None:
    home.write("project/.env", "LD_PRELOAD=./e.so\nNODE_OPTIONS=-r ./e.js\nMODE=fast\n")
    inputs = [{"id": "file", "type": "promptString"}]
    approved = defined(home, VSCODE, {"command": "x", "envFile": "${input:file}"}, key="servers", inputs=inputs)
    made = await asked_and_started(approved, context(home), Person(file=".env"))
    assert made.env["MODE"] == "fast"
    assert not {"LD_PRELOAD", "NODE_OPTIONS"} & set(made.env)
    assert [omission.where for omission in made.omitted] == ["envFile.LD_PRELOAD", "envFile.NODE_OPTIONS"]


async def test_a_secret_of_goose_comes_from_a_variable_of_its_name_or_from_the_file_beside_its_configuration(
    home: Home,
) -> None:
    extension = {"type": "stdio", "enabled": True, "cmd": "run", "env_keys": ["GITHUB_TOKEN", "KEPT", "NOWHERE"]}
    home.write("home/.config/goose/config.yaml", {"extensions": {"goose": extension}})
    home.write("home/.config/goose/secrets.yaml", "KEPT: canary-kept\n")
    choice = home.inventory().find("goose")
    made = await started(Approved(choice.definition.config, str(home.project)), context(home))
    assert (made.env["GITHUB_TOKEN"], made.env["KEPT"]) == ("canary-environment", "canary-kept")
    assert made.redact("canary-kept") == "•••"
    assert [omission.where for omission in made.omitted] == ["env.NOWHERE"]
    assert "set a variable of that name" in str(made.omitted[0])
