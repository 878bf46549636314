"""What a README shows is pasted or piped as it stands: every block, every tool's command, several servers at once."""

import json
import os
import sys
from typing import Any

import pytest

from chat.terminal import Person
from support import DEMO, Cli, Home, Result
from warm import run_mooring

OWN = "home/.config/mooring/mcp.json"
PROJECT = "project/.mooring/mcp.json"

terminal = pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")

README = """# Harbor

Ask with `claude mcp add inline -- npx inline`, or add this to your client:

```jsonc
{
  "mcpServers": {
    // runs on your machine
    "everything": {"command": "server-everything", "args": ["stdio"], "env": {"LOUDNESS": "11"}},
  }
}
```

Codex:

~~~toml
[mcp_servers.codex-one]
command = "npx"
args = ["-y", "one"]
~~~

1. VS Code, in its settings:

   ```json
   {"mcp": {"servers": {"code-one": {"type": "http", "url": "https://code.example/mcp"}}}}
   ```

   or

   ```bash
   npm install -g harbor
   code --add-mcp '{"name": "code-two", "command": "npx", "args": ["-y", "two"]}'
   ```

> ```yaml
> mcpServers:
>   - name: continue-one
>     command: uvx
> ```

```
$ claude mcp add --transport http claude-one \\
    https://claude.example/mcp && claude mcp list
codex mcp add codex-two --url https://codex.example/mcp --bearer-token-env-var HARBOR_TOKEN
```

or, with an indent instead of fences:

    $ claude mcp add indented -- npx indented

1. or this

    {"mcpServers": {
      "indented-too": {"command": "npx"}}}

A call looks like this:

```json
{"params": {"url": "https://other.example"}}
```

```python
print({"mcpServers": {"never": {"command": "never"}}})
```
"""
SERVERS = {
    "inline": {"command": "npx", "args": ["inline"]},
    "everything": {"command": "server-everything", "args": ["stdio"], "env": {"LOUDNESS": "11"}},
    "codex-one": {"command": "npx", "args": ["-y", "one"]},
    "code-one": {"type": "http", "url": "https://code.example/mcp"},
    "code-two": {"command": "npx", "args": ["-y", "two"]},
    "continue-one": {"command": "uvx"},
    "claude-one": {"type": "http", "url": "https://claude.example/mcp"},
    "indented": {"command": "npx", "args": ["indented"]},
    "indented-too": {"command": "npx"},
    "codex-two": {"url": "https://codex.example/mcp", "headers": {"Authorization": "Bearer ${HARBOR_TOKEN}"}},
}


def servers(home: Home, path: str = OWN) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home.folder / path).read_text())["mcpServers"]
    return found


def pipe(home: Home, text: str, *words: str) -> Result:
    done = run_mooring("mcp", *words, cwd=home.cwd, env=home.env, input=text.encode())
    return Result(done.returncode, done.stdout, done.stderr)


def test_every_block_and_command_of_a_whole_readme_is_read(home: Home) -> None:
    done = pipe(home, README, "import", "-y", "--from", "-")
    assert done.code == 0, done.err
    assert servers(home) == SERVERS


def test_a_page_that_is_named_as_a_file_comes_with_the_command_that_reads_it(home: Home, cli: Cli) -> None:
    home.write("project/README.md", README)
    done = cli("mcp", "import", "-y", "--from", "README.md")
    assert done.code == 2
    assert done.err == "mooring: README.md is a page. To read it: mooring mcp import --from - <README.md\n"
    assert not (home.folder / OWN).exists()


def test_one_server_of_a_readme_can_be_picked(home: Home) -> None:
    done = pipe(home, README, "import", "code-two", "-y", "--from", "-")
    assert done.code == 0, done.err
    assert servers(home) == {"code-two": SERVERS["code-two"]}


def test_add_takes_a_readme_from_a_pipe_or_as_a_word(home: Home, cli: Cli) -> None:
    piped = pipe(home, README, "add", "--no-test", "-")
    assert piped.code == 0, piped.err
    assert servers(home) == SERVERS
    (home.folder / OWN).unlink()
    done = cli("mcp", "add", "--no-test", README)
    assert done.code == 0, done.err
    assert servers(home) == SERVERS


def test_several_servers_that_are_added_at_once_are_all_tried(home: Home) -> None:
    entries = {"one": DEMO, "two": DEMO, "dead": {"command": "/nowhere/dead"}}
    done = pipe(home, json.dumps({"mcpServers": entries}), "add", "-", "--json")
    assert done.code == 1
    data = json.loads(done.out)
    assert data["written"] == ["dead", "one", "two"]
    assert set(data["tests"]) == set(entries)


def test_each_of_several_servers_is_tried_under_its_name(home: Home) -> None:
    done = pipe(home, json.dumps({"mcpServers": {"one": DEMO, "two": DEMO}}), "add", "-")
    assert done.code == 0, done.err
    lines = [line.partition("  ")[0] for line in done.out.splitlines()]
    stages = ["✓ file", "✓ approval", "✓ variables", "✓ command", "✓ protocol", "✓ tools", "✓ ping", "✓ close"]
    assert lines == ["Wrote 2 servers to ~/.config/mooring/mcp.json: one, two.", "one", *stages, "two", *stages]


@pytest.mark.parametrize(
    "verb", [["import", "-y", "--from", "-"], ["import", "-y", "line", "--from", "-"], ["add", "-"]]
)
def test_a_whole_line_as_the_command_of_one_of_several_is_not_written(verb: list[str], home: Home) -> None:
    tool = home.write("home/My Servers/demo", "#!/bin/sh\n")
    entries = {"line": {"command": "npx -y some-server"}, "path": {"command": str(tool)}}
    done = pipe(home, json.dumps({"mcpServers": entries}), *verb, *(["--no-test"] if verb[0] == "add" else []))
    assert done.code == 2
    assert (
        "Skipped line: the command has blanks in it; write its words apart. "
        "To add it: mooring mcp add line -- npx -y some-server\n" in done.out + done.err
    )
    if "line" in verb:
        assert not (home.folder / OWN).exists()
    else:
        assert servers(home) == {"path": {"command": str(tool)}}


def test_a_single_server_is_added_and_tried_as_if_it_had_been_typed(home: Home) -> None:
    done = pipe(home, f"```json\n{json.dumps({'mcpServers': {'kit': DEMO}})}\n```\n", "add", "-")
    assert done.code == 0, done.err
    assert "Added kit to ~/.config/mooring/mcp.json." in done.out
    assert "✓ tools" in done.out
    assert servers(home) == {"kit": DEMO}


@pytest.mark.parametrize("verb", [["import", "-y", "--from", "-"], ["add", "--no-test", "-"]])
@pytest.mark.parametrize("option", ["-s project", "--scope project", "--scope=project"])
def test_the_scope_of_a_pasted_command_is_honored(verb: list[str], option: str, home: Home) -> None:
    done = pipe(home, f"claude mcp add {option} gh -- npx gh\n", *verb)
    assert done.code == 0, done.err
    assert servers(home, PROJECT) == {"gh": {"command": "npx", "args": ["gh"]}}
    assert not (home.folder / OWN).exists()


def test_the_scope_that_is_typed_comes_before_the_pasted_one(home: Home) -> None:
    done = pipe(home, "claude mcp add -s project gh -- npx gh", "import", "-y", "-s", "user", "--from", "-")
    assert done.code == 0, done.err
    assert set(servers(home)) == {"gh"}


def test_claudes_local_scope_is_the_persons_own_file(home: Home) -> None:
    done = pipe(home, "claude mcp add -s local gh -- npx gh", "import", "-y", "--from", "-")
    assert done.code == 0, done.err
    assert set(servers(home)) == {"gh"}


def test_commands_that_name_two_scopes_are_refused(home: Home) -> None:
    text = "claude mcp add -s project a -- npx a\nclaude mcp add -s user b -- npx b\n"
    done = pipe(home, text, "import", "-y", "--from", "-")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "mooring: The commands add a for the project scope and b for the user scope. Add them one at a time.\n"
    )


def test_a_server_that_is_described_twice_is_taken_as_it_comes_first(home: Home) -> None:
    blocks = ["npx", "docker", "npx"]
    text = "\n".join(f'```json\n{{"mcpServers": {{"gh": {{"command": "{block}"}}}}}}\n```' for block in blocks)
    done = pipe(home, text, "import", "-y", "--from", "-")
    assert done.code == 0, done.err
    assert servers(home) == {"gh": {"command": "npx"}}
    said = done.out + done.err
    assert said.count("Skipped gh: described again at line 5; the description at line 2 is used.") == 1


def test_a_command_that_cannot_be_read_is_named_with_its_line(home: Home) -> None:
    text = "# Two ways\n```sh\nclaude mcp add --color a -- npx a\nclaude mcp add b -- npx b\n```\n"
    done = pipe(home, text, "import", "-y", "--from", "-")
    assert "Skipped line 3: There is no option --color." in done.err
    assert set(servers(home)) == {"b"}


def test_a_quotation_mark_that_is_never_closed_ends_with_its_line(home: Home) -> None:
    text = (
        "```sh\nclaude mcp add a -- npx a  # don't wait\nclaude mcp add b -- npx 'b\nclaude mcp add c -- npx c\n```\n"
    )
    done = pipe(home, text, "import", "-y", "--from", "-")
    assert servers(home) == {"a": {"command": "npx", "args": ["a"]}, "c": {"command": "npx", "args": ["c"]}}
    assert "Skipped line 3: Invalid server config: unbalanced quotes." in done.err


def test_a_json_argument_may_go_on_over_several_lines(home: Home) -> None:
    text = """claude mcp add-json a '{
      "command": "npx",
      "args": ["a"]
    }'
    claude mcp add b \\
      -e X=1 \\
      -- npx b
    """
    done = pipe(home, text, "import", "-y", "--from", "-")
    assert done.code == 0, done.err
    assert servers(home) == {
        "a": {"command": "npx", "args": ["a"]},
        "b": {"command": "npx", "args": ["b"], "env": {"X": "1"}},
    }


@pytest.mark.parametrize(
    "line", ["claude mcp add a -- npx '\n", "```\n", "```\nx\n```\n", "<your", "`code", "code --add-mcp ", "> "]
)
def test_a_mebibyte_of_almost_anything_is_read_in_time(line: str, home: Home) -> None:
    began = os.times().children_user
    done = pipe(home, line * (1_000_000 // len(line)), "import", "-y", "--from", "-")
    assert done.code != 0
    assert "Traceback" not in done.err
    assert os.times().children_user - began < 30


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# A page\n\nwith `code` and nothing else.\n", "has no servers in any format that is read here."),
        ('# A page\n```json\n{"a": 1}\n```\n', "has no servers in any format that is read here."),
        ('# A page\n```json\n{"mcpServers": {,}\n```\n', "is not valid JSON: "),
        ('```json\n{"command": "npx"}\n```', "describes one server, but does not name it."),
        ("", "has no servers in any format that is read here."),
    ],
)
@pytest.mark.parametrize("verb", [["import", "-y", "--from", "-"], ["add", "-"]])
def test_a_text_without_servers_is_refused(verb: list[str], text: str, reason: str, home: Home) -> None:
    done = pipe(home, text, *verb)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"mooring: The standard input {reason}")
    assert not (home.folder / OWN).exists()


# --- at a terminal ------------------------------------------------------------------------------------------


@terminal
def test_several_servers_that_are_pasted_into_the_wizard_are_shown_and_written(home: Home) -> None:
    text = f"```json\n{json.dumps({'mcpServers': {'one': DEMO, 'two': DEMO}}, indent=1)}\n```"
    with Person(home, "mcp", "add") as person:
        person.sees("Name: ")
        person.types(*text.split("\n"))
        shown = person.sees("[Y/n]: ")
        assert '"one"' in shown
        assert not (home.folder / OWN).exists()
        person.types("")
        assert person.ended() == 0
    assert set(servers(home)) == {"one", "two"}


@terminal
def test_what_is_pasted_behind_the_first_block_is_read_as_well(home: Home) -> None:
    page = ["```json", json.dumps({"mcpServers": {"one": DEMO}}), "```", "", "or, for Codex:", "", "~~~toml"]
    page += ["[mcp_servers.two]", 'command = "two"', "~~~", "", "or", "", "    claude mcp add three -- three"]
    with Person(home, "mcp", "add", "--no-test") as person:
        person.sees("Name: ")
        # The last line has no end: it is there once Enter is pressed.
        person.presses("\r".join(page))
        for _ in range(2):
            person.sees("An empty line ends what you paste.")
            person.types("")
        shown = person.sees("[Y/n]: ")
        assert all(f'"{name}"' in shown for name in ("one", "two", "three"))
        person.types("/quit")
        person.sees("Press Enter, or type n.")
        person.sees("[Y/n]: ")  # what is typed before that answers nothing
        assert not (home.folder / OWN).exists()
        person.types("y")
        assert person.ended() == 0
    assert set(servers(home)) == {"one", "two", "three"}


@terminal
def test_a_pasted_command_brings_its_scope_into_the_wizard(home: Home) -> None:
    with Person(home, "mcp", "add", "--no-test") as person:
        person.answers(
            ("Name: ", "claude mcp add -s project gh -- npx gh"), ("Tool [mooring]: ", ""), ("Add it? [Y/n]: ", "")
        )
        assert person.ended() == 0
    assert set(servers(home, PROJECT)) == {"gh"}


@terminal
def test_a_chat_takes_the_same_paste_and_connects_what_was_written(home: Home) -> None:
    entries = {"one": DEMO, "two": DEMO}
    with Person(home) as chat:
        chat.types(f"/mcp add {json.dumps({'mcpServers': entries})}")
        chat.sees("[Y/n]: ")
        chat.types("")
        chat.sees("two")
        chat.types("/mcp")
        chat.sees("two")
        chat.types("/quit")
        assert chat.ended() == 0
    assert servers(home) == entries
