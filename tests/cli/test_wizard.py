"""`mooring mcp add` without a description: a person at a terminal is asked, one thing after another."""

import asyncio
import json
import sys
from typing import Any

import pytest

from chat.terminal import Person
from mooring.auth.store import SecretStore
from mooring.core.conversation.question import Answer, No, Question, ServerDetail, WriteServer, Yes
from mooring.errors import ConfigError
from mooring.testing.site import Site
from mooring.verbs.config.describe import ServerDescription
from mooring.verbs.config.wizard import NewServer, ask_for_server
from support import DEMO, Cli, Home

OWN = "home/.config/mooring/mcp.json"
BEFORE = '{"mcpServers": {"other": {"command": "x"}}} // mine\n'
DEMO_LINE = " ".join((DEMO["command"], *DEMO["args"]))
TOKEN = "ghp_canaryCanaryCanary0123456789abcdefAB"

terminal = pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")


def servers(home: Home, path: str = OWN) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home.folder / path).read_text())["mcpServers"]
    return found


# --- at a terminal ------------------------------------------------------------------------------------------


@terminal
def test_a_program_is_described_checked_shown_connected_and_kept(home: Home) -> None:
    with Person(home, "mcp", "add") as person:
        person.answers(
            ("Name: ", "a/b"),
            ("the name may have letters, digits, `_`, `.` and `-` only.\nName: ", "demo"),
            ("Program or address [program]: ", ""),
            ("Command line: ", f"{DEMO_LINE} 'x"),
            ("unbalanced quotes.\nCommand line: ", DEMO_LINE),
            ("(Enter to go on): ", "COLOR"),
            ("a variable is written as KEY=VALUE.\nVariable, as KEY=VALUE (Enter to go on): ", "COLOR=blue"),
            ("(Enter to go on): ", ""),
            ("Scope [user]: ", "team"),
            ("Type one of these: user, project.\n  1  user\n  2  project\nScope [user]: ", ""),
            ("Tool [mooring]: ", "kimi"),
        )
        assert "kimi is not a tool whose files are written" in person.sees("Tool [mooring]: ")
        person.types("")
        shown = person.sees("Add it? [Y/n]: ")
        assert "demo will be added to ~/.config/mooring/mcp.json:" in shown
        assert '"COLOR": "blue"' in shown
        assert not (home.folder / OWN).exists()
        person.types("")
        assert "✓ tools" in person.sees("Keep it? [Y/n]: ")
        person.types("")
        assert person.ended() == 0
    command, *args = DEMO_LINE.split()
    assert servers(home) == {"demo": {"command": command, "args": args, "env": {"COLOR": "blue"}}}


@terminal
def test_each_question_about_a_file_says_which_file_it_is(home: Home) -> None:
    with Person(home, "mcp", "add", "demo", cells=80) as person:
        person.answers(("[program]: ", ""), ("Command line: ", DEMO_LINE), ("(Enter to go on): ", ""))
        notes = " ".join(person.sees("Scope [user]: ").split())
        assert "user: for you, everywhere. project: for everyone who works on this project, in a file" in notes
        person.types("")
        notes = " ".join(person.sees("Tool [mooring]: ").split())
        assert "The file of which tool it goes into: mooring, " in notes
        person.presses("\x04")
        assert person.ended() == 0
    assert not (home.folder / OWN).exists()


@terminal
async def test_a_token_is_typed_unseen_and_only_a_reference_to_it_is_written(home: Home) -> None:
    def describe(url: str) -> str:
        with Person(home, "mcp", "add", "docs", DOCS_TOKEN=TOKEN) as person:
            person.answers(
                ("Program or address [program]: ", "2"),
                ("URL: ", "ftp://a.example"),
                ("`url` is not a URL (begin it with https://).\nURL: ", url),
                ("Transport [auto]: ", "http"),
                ("Header, as NAME: VALUE (Enter to go on): ", "X-Team blue"),
                ("a header is written as NAME: VALUE.\nHeader, as NAME: VALUE (Enter to go on): ", "X-Team: blue"),
                ("Header, as NAME: VALUE (Enter to go on): ", ""),
                ("Bearer token, not shown (Enter to go on): ", TOKEN),
                ("Write it as [Bearer ${DOCS_TOKEN}]: ", ""),
                ("Scope [user]: ", ""),
                ("Tool [mooring]: ", ""),
                ("Add it? [Y/n]: ", ""),
                ("Keep it? [Y/n]: ", ""),
            )
            assert person.ended() == 0
            return person.shown

    async with Site() as site:
        shown = await asyncio.to_thread(describe, site.url)
        sent = {(heard.headers.get("Authorization"), heard.headers.get("X-Team")) for heard in site.heard}
    assert TOKEN not in shown
    assert sent == {(f"Bearer {TOKEN}", "blue")}
    headers = {"X-Team": "blue", "Authorization": "Bearer ${DOCS_TOKEN}"}
    assert servers(home) == {"docs": {"type": "http", "url": site.url, "headers": headers}}


@terminal
def test_a_secret_that_is_written_all_the_same_is_not_shown_once_more(home: Home) -> None:
    with Person(home, "mcp", "add", "demo", "--no-test") as person:
        person.answers(("Program or address [program]: ", f"API_KEY={TOKEN} {DEMO_LINE}"))
        shown = person.sees("Write it as [${keyring:demo.API_KEY}]: ")
        assert "API_KEY is not set here. Before you use the server: export API_KEY=…" in shown
        person.types("3")
        person.answers(("(Enter to go on): ", ""), ("Scope [user]: ", ""), ("Tool [mooring]: ", ""))
        assert '"API_KEY": "•••"' in person.sees("Add it? [Y/n]: ")
        person.types("")
        assert person.ended() == 0
    assert servers(home)["demo"]["env"] == {"API_KEY": TOKEN}


@terminal
def test_a_file_pasted_over_several_lines_is_one_answer(home: Home) -> None:
    entry = {"command": DEMO["command"], "args": DEMO["args"]}
    with Person(home, "mcp", "add", "--no-test") as person:
        person.sees("Name: ")
        person.types(*json.dumps({"mcpServers": {"demo": entry}}, indent=2).split("\n"))
        person.answers(("Scope [user]: ", ""), ("Tool [mooring]: ", ""), ("Add it? [Y/n]: ", ""))
        assert person.ended() == 0
    assert servers(home) == {"demo": entry}


@terminal
@pytest.mark.parametrize(("keys", "code"), [("\x03", 130), ("\x04", 0)], ids=["interrupted", "ended"])
@pytest.mark.parametrize("answered", range(6))
def test_whoever_leaves_at_any_question_adds_nothing(home: Home, answered: int, keys: str, code: int) -> None:
    path = home.write(OWN, BEFORE)
    questions = [
        ("Name: ", "demo"),
        ("[program]: ", DEMO_LINE),
        ("go on): ", ""),
        ("[user]: ", ""),
        ("[mooring]: ", ""),
    ]
    last = [*(text for text, _ in questions), "Add it? [Y/n]: "][answered]
    with Person(home, "mcp", "add") as person:
        person.answers(*questions[:answered])
        person.sees(last)
        person.presses(keys)
        person.sees("Nothing was added.")
        assert person.ended() == code
        assert person.left() == []
    assert path.read_text() == BEFORE


@terminal
def test_a_no_at_the_end_adds_nothing(home: Home) -> None:
    path = home.write(OWN, BEFORE)
    with Person(home, "mcp", "add", "demo") as person:
        person.answers(
            ("[program]: ", DEMO_LINE),
            ("go on): ", ""),
            ("[user]: ", ""),
            ("[mooring]: ", ""),
            ("Add it? [Y/n]: ", "n"),
        )
        person.sees("Nothing was added.")
        assert person.ended() == 0
    assert path.read_text() == BEFORE


@terminal
def test_a_name_that_somebody_else_takes_in_the_meantime_stays_theirs(home: Home) -> None:
    with Person(home, "mcp", "add", "demo") as person:
        person.answers(("[program]: ", DEMO_LINE), ("go on): ", ""), ("[user]: ", ""), ("[mooring]: ", ""))
        person.sees("Add it? [Y/n]: ")
        with Person(home, "mcp", "add", "demo", "--no-test", "--", "theirs") as other:
            assert other.ended() == 0
        person.types("")
        person.sees('Server "demo" already exists in ')
        assert person.ended() == 2
    assert servers(home) == {"demo": {"command": "theirs"}}


def test_without_a_terminal_the_question_is_an_example(cli: Cli) -> None:
    done = cli("mcp", "add")
    assert (done.code, done.out) == (2, "")
    assert done.err == ("mooring: Say which server to add. For example: mooring mcp add docs https://example.com/mcp\n")


@terminal
def test_a_name_that_cannot_be_one_is_refused_before_anything_is_asked(home: Home) -> None:
    with Person(home, "mcp", "add", "a b") as person:
        assert person.ended() == 2
        assert "Invalid server config: the name may have letters" in person.shown
        assert "Program or address" not in person.shown


# --- whoever asks -------------------------------------------------------------------------------------------


class Answers:
    """Gives these answers by label, one after the other, then the defaults; notes what was asked."""

    def __init__(self, **answers: list[str]) -> None:
        self.answers = answers
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        if isinstance(question, WriteServer):
            return Yes()
        assert isinstance(question, ServerDetail)
        left = self.answers.get(question.label.partition(",")[0].partition(" ")[0], [])
        if left:
            return Yes(left.pop(0))
        return No() if question.default is None else Yes(question.default)

    @property
    def labels(self) -> list[str]:
        return [question.label for question in self.asked if isinstance(question, ServerDetail)]


async def describe(home: Home, answers: Answers, **described: Any) -> NewServer | None:
    return await ask_for_server(answers, home.request(), ServerDescription(**described))


GITHUB = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}


@pytest.mark.parametrize(
    ("pasted", "name", "raw"),
    [
        ("npx -y @modelcontextprotocol/server-github", "github", GITHUB),
        ("$ npx -y @modelcontextprotocol/server-github", "github", GITHUB),
        ("uvx mcp-server-fetch", "fetch", {"command": "uvx", "args": ["mcp-server-fetch"]}),
        (
            "docker run -i --rm ghcr.io/github/github-mcp-server:1.0",
            "github",
            {"command": "docker", "args": ["run", "-i", "--rm", "ghcr.io/github/github-mcp-server:1.0"]},
        ),
        (
            "LOG=1 python -m 'my server'",
            "myserver",
            {"command": "python", "args": ["-m", "my server"], "env": {"LOG": "1"}},
        ),
        ("https://mcp.linear.app/sse", "linear", {"url": "https://mcp.linear.app/sse"}),
        ("http://localhost:3000/mcp", "localhost", {"url": "http://localhost:3000/mcp"}),
        ("claude mcp add gh -- npx -y @modelcontextprotocol/server-github", "gh", GITHUB),
        ("claude mcp add gh npx -y @modelcontextprotocol/server-github", "gh", GITHUB),
        (
            "claude mcp add --transport http -s user sentry https://mcp.sentry.dev/mcp",
            "sentry",
            {"type": "http", "url": "https://mcp.sentry.dev/mcp"},
        ),
        ("""claude mcp add-json x '{"command": "npx"}'""", "x", {"command": "npx"}),
        ('{"mcpServers": {"x": {"command": "npx"}}}', "x", {"command": "npx"}),
        ('{"servers": {"x": {"command": "npx"}}, "inputs": []}', "x", {"command": "npx"}),
        ('{"x": {"command": "npx"}} // mine', "x", {"command": "npx"}),
        ('"x": {"command": "npx"},', "x", {"command": "npx"}),
    ],
)
async def test_what_is_copied_from_a_page_can_be_pasted_as_it_is(
    pasted: str, name: str, raw: dict[str, Any], home: Home
) -> None:
    answers = Answers(Name=[pasted])
    assert await describe(home, answers) == NewServer(name, raw, "user", "mooring")
    assert "Command line" not in answers.labels


async def test_a_pasted_entry_without_a_name_is_asked_for_one(home: Home) -> None:
    answers = Answers(Name=['{"command": "npx"}', "mine"])
    assert await describe(home, answers) == NewServer("mine", {"command": "npx"}, "user", "mooring")


@pytest.mark.parametrize(
    ("pasted", "reason"),
    [
        ('{"command": }', "The text is not valid JSON: "),
        ('{"x": 1}', "The text has no servers in any format that is read here."),
        ("[]", "the name may have letters, digits, `_`, `.` and `-` only."),
        ("npx 'x", "unbalanced quotes."),
        ("claude mcp add x --token t -- npx", "--token requires --url (HTTP/SSE transport)."),
        ("claude mcp add x", "it has neither a command nor a URL."),
        ("claude mcp add x --scope team npx", "--scope must be user, project or local, not 'team'."),
    ],
)
async def test_what_cannot_be_pasted_is_explained_and_asked_again(pasted: str, reason: str, home: Home) -> None:
    answers = Answers(Name=[pasted, "x"], Command=["npx"])
    assert await describe(home, answers) == NewServer("x", {"command": "npx"}, "user", "mooring")
    again = answers.asked[1]
    assert isinstance(again, ServerDetail)
    assert reason in again.notes[0]


async def test_secrets_that_were_pasted_become_references_too(home: Home) -> None:
    entry = {"url": "https://a.example", "headers": {"Authorization": f"Bearer {TOKEN}", "X-Api-Key": TOKEN}}
    answers = Answers(Name=[json.dumps({"mcpServers": {"my-docs": entry}})])
    new = await describe(home, answers)
    assert new is not None
    assert new.raw["headers"] == {
        "Authorization": "Bearer ${keyring:my-docs.Authorization}",
        "X-Api-Key": "${keyring:my-docs.X-Api-Key}",
    }
    assert await SecretStore(home.where).get("secret", "my-docs.Authorization") == TOKEN


async def test_a_reference_is_left_as_it_is(home: Home) -> None:
    answers = Answers(Program=["npx"], Variable=["API_KEY=${API_KEY}", "OTHER_KEY=OTHER_KEY"])
    new = await describe(home, answers, name="x")
    assert new is not None
    assert new.raw["env"] == {"API_KEY": "${API_KEY}", "OTHER_KEY": "OTHER_KEY"}
    assert "Write it as" not in answers.labels


async def test_the_entry_is_shown_as_the_chosen_tool_writes_it(home: Home) -> None:
    answers = Answers(Program=["npx -y pkg"], Tool=["codex"])
    assert await describe(home, answers, name="x") == NewServer(
        "x", {"command": "npx", "args": ["-y", "pkg"]}, "user", "codex"
    )
    shown = answers.asked[-1]
    assert isinstance(shown, WriteServer)
    assert shown.path == "~/.codex/config.toml"
    assert shown.text.startswith("[mcp_servers.x]\n")


async def test_a_name_that_the_chosen_tool_has_already_is_asked_for_again(home: Home) -> None:
    home.write("home/.codex/config.toml", '[mcp_servers.x]\ncommand = "a"\n')
    answers = Answers(Program=["npx"], Tool=["codex"], Name=["x", "y"])
    assert await describe(home, answers, name="x") == NewServer("y", {"command": "npx"}, "user", "codex")
    refused = [question.notes for question in answers.asked if isinstance(question, ServerDetail)][-2]
    assert refused == (f'Server "x" already exists in {home.home}/.codex/config.toml',)


async def test_what_an_option_said_is_not_asked(home: Home) -> None:
    answers = Answers(Program=["npx"])
    new = await describe(home, answers, name="x", scope="project", tool="claude-code")
    assert new == NewServer("x", {"command": "npx"}, "project", "claude-code")
    assert answers.labels == ["Program or address", "Variable, as KEY=VALUE"]


async def test_a_name_that_was_given_and_is_taken_is_refused(home: Home) -> None:
    home.write(OWN, '{"mcpServers": {"x": {"command": "a"}}}')
    with pytest.raises(ConfigError, match='Server "x" already exists in '):
        await describe(home, Answers(), name="x")


async def test_a_link_is_shown_with_where_it_leads(home: Home) -> None:
    real = home.write("home/dotfiles/mooring.json", '{"mcpServers": {}}')
    link = home.folder / OWN
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    answers = Answers(Program=["npx"])
    await describe(home, answers, name="x")
    shown = answers.asked[-1]
    assert isinstance(shown, WriteServer)
    assert shown.notes == (f"That is a link; the file is {home.shorten(real)}.",)
