"""Copies that lack nothing: every placeholder is translated exactly, or its server is skipped with a reason."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from chat.terminal import Person
from cli.test_copying import CURSOR, ON_TERMINAL, OWN, configure_cursor, servers
from mooring.auth.store import SecretStore
from mooring.core.definitions.config import Http, Origin, ServerConfig, Stdio, list_templates
from mooring.core.definitions.template import (
    OWN_KEEPER,
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
    join_texts,
    literal,
)
from mooring.discovery.edit import write_entry
from mooring.discovery.format import Format
from mooring.discovery.formats import FORMATS
from mooring.discovery.formats.mooring import FORMAT as OWN_FORMAT
from mooring.discovery.scan import make_context, scan
from mooring.discovery.targets import find_target
from mooring.discovery.translate import Equivalents, meaning_of, translate_config
from mooring.errors import ConfigError
from mooring.verbs.config.add import find_destination
from mooring.verbs.config.secrets import store_secret
from support import Home, run_beside

EVIL = {"command": "sh", "args": ["-c", "true"]}

CODE = "home/.config/Code/User/mcp.json"


def configure_code(home: Home, inputs: Sequence[Any] = (), **entries: Any) -> None:
    home.write(CODE, {"inputs": list(inputs), "servers": entries})


def test_what_has_an_equivalent_is_translated_and_the_copy_means_the_same(home: Home) -> None:
    entry = {
        "command": "${userHome}/bin/serve",
        "args": ["${workspaceFolder}/data", "--name=${workspaceFolderBasename}", "a${/}b"],
        "env": {"DB": "${userHome}/db", "TOKEN": "${env:GITHUB_TOKEN}"},
        "cwd": "${workspaceFolder}",
    }
    configure_code(home, x=entry)
    assert run_beside(home, "mcp", "import", "x", "-y").code == 0
    assert servers(home)["x"] == {
        "command": "${HOME}/bin/serve",
        "args": [f"{home.project}/data", f"--name={home.project.name}", "a/b"],
        "env": {"DB": "${HOME}/db", "TOKEN": "${GITHUB_TOKEN}"},
        "cwd": str(home.project),
    }
    # It is there already, and back in VS Code a place is what it was or a variable.
    assert "already in" in run_beside(home, "mcp", "import", "x", "-y").err


def test_a_server_whose_copy_would_lack_something_is_skipped_and_the_good_one_stays_in_force(home: Home) -> None:
    configure_code(
        home,
        config={"command": "npx", "env": {"T": "${config:editor.tabSize}"}},
        header={"type": "http", "url": "https://example.com/mcp", "headers": {"X": "${command:pick}"}},
        input={"command": "npx", "env": {"T": "${input:t}"}},
        good={"command": "npx"},
    )
    done = run_beside(home, "mcp", "import", "-y")
    assert (done.code, done.out) == (0, "Wrote 1 server to ~/.config/mooring/mcp.json: good.\n")
    assert (
        "Skipped config: Mooring cannot express `env.T` (${config:editor.tabSize}), so the copy would lack it."
        in done.err
    )
    assert (
        "Skipped header: Mooring cannot express `headers.X` (${command:pick}), so the copy would lack it." in done.err
    )
    assert "Skipped input: it asks for t, which nobody gave. " in done.err
    assert "mooring secret set input.t" in done.err
    assert set(servers(home)) == {"good"}
    named = run_beside(home, "mcp", "import", "config", "-y", "--json")
    assert (named.code, named.data["written"]) == (2, [])
    for choice in home.inventory().choices:
        assert choice.definition.origin.tool == ("mooring" if choice.name == "good" else "vscode")


def test_an_input_is_a_secret_that_was_stored_before(home: Home) -> None:
    configure_code(home, x={"command": "npx", "env": {"T": "Bearer ${input:t}"}})
    where = home.where
    asyncio.run(store_secret(where, "x.t", "canary-input"))
    done = run_beside(home, "mcp", "import", "x", "-y")
    assert done.code == 0, done.err
    assert "x: what it asked for is the secret x.t, which is stored and not in the file." in done.err
    assert servers(home)["x"]["env"] == {"T": "Bearer ${keyring:x.t}"}


def test_a_secret_of_another_tools_store_becomes_one_of_ours(home: Home) -> None:
    entry = 'mcpServers:\n- {name: x, type: stdio, command: npx, env: {T: "${{ secrets.ACME }}"}}\n'
    path = home.write("elsewhere/continue.yaml", entry)
    done = run_beside(home, "mcp", "import", "-y", "--from", str(path))
    assert (done.code, done.out) == (2, "")
    assert "mooring secret set x.ACME" in done.err
    assert not (home.folder / OWN).exists()
    asyncio.run(store_secret(home.where, "x.ACME", "canary-input"))
    assert run_beside(home, "mcp", "import", "-y", "--from", str(path)).code == 0
    assert servers(home)["x"]["env"] == {"T": "${keyring:x.ACME}"}


@ON_TERMINAL
def test_at_a_terminal_an_input_is_asked_for_and_stored(home: Home) -> None:
    question = {"id": "t", "description": "The token of Acme", "password": True, "type": "promptString"}
    configure_code(home, [question], x={"command": "npx", "env": {"T": "${input:t}"}})
    with Person(home, "mcp", "import", "x") as person:
        shown = person.sees("t: ")
        assert "The token of Acme (stored as the secret x.t)" in shown
        person.types("canary-input")
        shown = person.sees("Write it? [Y/n]: ")
        assert "canary-input" not in shown
        person.types("y")
        assert person.ended() == 0
    assert servers(home)["x"]["env"] == {"T": "${keyring:x.t}"}
    assert asyncio.run(SecretStore(home.where).get("secret", "x.t")) == "canary-input"


@pytest.mark.parametrize("words", [["import"], ["import", "x", "--json"], ["export", "x", "--to", "cursor"]])
def test_without_a_terminal_and_without_yes_the_change_is_shown_and_nothing_is_written(
    words: list[str], home: Home
) -> None:
    home.write("home/.codex/config.toml", '[mcp_servers.x]\ncommand = "npx"\nenv.TOKEN = "canary-literal"\n')
    done = run_beside(home, "mcp", *words)
    assert done.code == 2
    assert '+    "x": {' in (done.data["diff"] if "--json" in words else done.out)
    assert "Nobody could be asked about the change. Add -y to write it." in done.err
    assert "canary-literal" not in done.out + done.err
    assert not (home.folder / OWN).exists()
    assert not (home.folder / CURSOR).exists()
    assert run_beside(home, "mcp", *words, "-y").code == 0


def test_the_exit_code_is_about_the_servers_that_were_named(home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"evil": EVIL}})
    configure_cursor(home, good={"command": "npx"}, bad={"args": []})
    done = run_beside(home, "mcp", "import", "-y")
    assert (done.code, done.out) == (0, "Wrote 1 server to ~/.config/mooring/mcp.json: good.\n")
    assert "Skipped evil: " in done.err
    assert "Skipped bad: " in done.err
    assert run_beside(home, "mcp", "import", "-y", "good", "--from", "cursor").code == 0
    assert run_beside(home, "mcp", "import", "-y", "good", "evil").code == 4
    assert run_beside(home, "mcp", "import", "-y", "bad").code == 1


PLACEHOLDERS: dict[str, tuple[Part, ...]] = {
    "variable": (VariablePart("GITHUB_TOKEN"),),
    "variable in text": (TextPart("Bearer "), VariablePart("GITHUB_TOKEN")),
    "default": (VariablePart("REGION", "eu"),),
    "home": (KnownPart("home"), TextPart("/x")),
    "home inside": (TextPart("a:"), KnownPart("home")),
    "workspace": (KnownPart("workspace"), TextPart("/x")),
    "workspace name": (TextPart("in "), KnownPart("workspace-name")),
    "separator": (TextPart("a"), KnownPart("separator"), TextPart("b")),
    "input": (InputPart("t", "The token", secret=True),),
    "file": (FilePart("/etc/token"),),
    "command": (CommandPart((TextPart("pass show x"),)),),
    "stored secret": (SecretPart("t", OWN_KEEPER),),
    "a tool's secret": (SecretPart("t", "continue"),),
    "foreign": (ForeignPart("${config:a.b}"),),
    "text like a placeholder": (TextPart("${GITHUB_TOKEN} {env:GITHUB_TOKEN} $HOME ~"),),
}
WRITABLE = {format.tool: format for format in FORMATS if format.writes}


def find_places(home: Home) -> dict[str, str]:
    return {
        "workspace": str(home.project),
        "workspace-name": home.project.name,
        "home": str(home.home),
        "separator": "/",
    }


def evaluate(config: ServerConfig, home: Home) -> list[tuple[str, tuple[Part, ...]]]:
    """What a definition means on this machine: places and the home as texts, a secret under the name of its input."""
    known = {"HOME": str(home.home)}

    def settle(part: Part) -> Part:
        match part:
            case KnownPart(place):
                return TextPart(find_places(home)[place])
            case VariablePart(name, None) if name in known:
                return TextPart(known[name])
            case InputPart(id):
                return SecretPart(f"x.{id}", OWN_KEEPER)
            case SecretPart(name, keeper) if keeper != OWN_KEEPER:
                return SecretPart(f"x.{name}", OWN_KEEPER)
            case _:
                return part

    connection = config.written or config.connection
    if isinstance(connection, Stdio):
        passed = {name: Template("", (VariablePart(name),)) for name in connection.pass_env}
        connection = replace(connection, env={**passed, **connection.env}, pass_env=())
    return sorted(
        ((key, tuple(join_texts(map(settle, meaning_of(template))))) for key, template in list_templates(connection)),
        key=str,
    )


@pytest.mark.parametrize("kind", PLACEHOLDERS)
@pytest.mark.parametrize("slot", ["command", "args", "env", "cwd", "url", "headers"])
def test_every_tool_gets_each_placeholder_exactly_or_not_at_all(slot: str, kind: str, home: Home) -> None:
    template = Template("".join(part.written for part in PLACEHOLDERS[kind]), PLACEHOLDERS[kind])
    plain = literal("x")
    connection: Stdio | Http
    match slot:
        case "url":
            parts = (TextPart("https://example.com/"), *template.parts)
            connection = Http(Template("".join(part.written for part in parts), tuple(join_texts(parts))))
        case "headers":
            connection = Http(literal("https://example.com/mcp"), {"Authorization": template})
        case "env":
            connection = Stdio(plain, env={"GITHUB_TOKEN": template})
        case "args":
            connection = Stdio(plain, (template,))
        case _:
            connection = replace(Stdio(plain), **{slot: template})
    config = ServerConfig(name="x", origin=Origin("test", "user", None), connection=connection)
    seen = 0
    for tool, format in WRITABLE.items():
        equivalents = Equivalents(find_places(home), secrets={"t": "x.t"} if tool == "mooring" else {})
        translated = translate_config(config, format, equivalents)
        try:
            entry = write_entry(translated, format)
        except ConfigError as error:
            assert "cannot express" in str(error), (tool, error)  # noqa: PT017 - either outcome is right, but no third
            continue
        if entry.lacks:
            continue
        seen += 1
        # What was written is read from a file by the discovery that every command uses.
        definition = read_written(home, format, entry.raw)
        assert evaluate(definition, home) == evaluate(config, home), (tool, entry.raw)
    assert seen or slot not in ("env", "headers") or kind == "foreign", "no tool takes it"
    if slot in ("env", "headers") and kind in ("home", "workspace", "separator", "workspace name", "input", "variable"):
        own = write_entry(
            translate_config(config, OWN_FORMAT, Equivalents(find_places(home), secrets={"t": "x.t"})), OWN_FORMAT
        )
        assert not own.lacks, "Mooring's own file takes it"


def read_written(home: Home, format: Format, raw: Mapping[str, Any]) -> ServerConfig:
    scope: Literal["user", "project"] = "user" if find_target(format.tool, "user") else "project"
    destination = find_destination(home.request(), format.tool, scope)
    data = destination.put("x", raw, b"")
    os.makedirs(os.path.dirname(destination.path), exist_ok=True)
    Path(destination.path).write_bytes(data)
    found = scan(make_context(home.where, str(home.cwd)), (destination.target.format,))
    os.unlink(destination.path)
    [definition] = [each.config for each in found.definitions if each.name == "x"]
    assert isinstance(definition, ServerConfig)
    return definition


def test_doctor_finds_a_copy_that_an_earlier_import_left_something_out_of(home: Home) -> None:
    configure_code(
        home,
        db={"command": "npx", "args": ["db"], "env": {"DB": "${userHome}/db", "MODE": "rw"}},
        web={"type": "http", "url": "https://example.com/mcp", "headers": {"X": "${config:a.b}"}},
        changed={"command": "npx", "env": {"DB": "${userHome}/db"}},
        whole={"command": "npx", "env": {"A": "${env:HOME}"}},
    )
    own = {
        "db": {"command": "npx", "args": ["db"], "env": {"MODE": "rw"}},
        "web": {"type": "http", "url": "https://example.com/mcp"},
        "changed": {"command": "npx", "args": ["of my own"]},
        "whole": {"command": "npx", "env": {"A": "${HOME}"}},
    }
    path = home.write(OWN, {"mcpServers": own})
    done = run_beside(home, "mcp", "doctor", "--json")
    found = {each["server"]: each for each in done.data["findings"] if "earlier import" in each["what"]}
    assert set(found) == {"db", "web"}
    assert (
        found["db"]["what"]
        == "An earlier import left out `env.DB`, which ~/.config/Code/User/mcp.json has; the copy wins"
    )
    assert (found["db"]["path"], found["db"]["unhealthy"]) == (str(path), True)
    assert found["db"]["fix"].startswith("mooring mcp import db --from vscode --replace")
    assert found["web"]["fix"].startswith("mooring mcp remove web")
    command = found["db"]["fix"].partition("  (")[0].split()[1:]
    assert run_beside(home, *command, "-y").code == 0
    assert servers(home)["db"]["env"] == {"DB": "${HOME}/db", "MODE": "rw"}
    assert run_beside(home, "mcp", "remove", "web").code == 0
    again = run_beside(home, "mcp", "doctor", "--json")
    assert not [each for each in again.data["findings"] if "earlier import" in each["what"]]
