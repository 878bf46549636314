"""The sentences that people know `/mcp` by, word for word, each where a person meets it: in the chat or at a shell."""

import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from chat.terminal import Person
from chat.test_plain import READY, leave
from support import DEMO, Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

OWN = "home/.config/mooring/mcp.json"
MUTE = {"command": sys.executable, "args": ["-S", "-c", "import time; time.sleep(600)"], "timeout": 700}
USAGE = "Usage: /mcp, /mcp enable <server>, /mcp disable <server>"


@pytest.fixture(params=[401, 403])
def refusal(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that answers nobody it does not know."""

    class Refusal(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(request.param)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


def ask_chat(home: Home, *lines: str) -> list[str]:
    """What the chat shows for each line."""
    shown = []
    with Person(home) as person:
        person.sees(READY)
        for line in lines:
            person.types(line)
            person.sees(line)
            shown.append(person.sees(READY))
        leave(person)
    return shown


def run_command(home: Home, *words: str) -> str:
    """What a command prints, wherever it prints it."""
    done = run_beside(home, *words)
    return done.out + done.err


# --- the list -------------------------------------------------------------------------------------------------------


def test_without_servers_the_files_are_named_that_may_have_some(home: Home) -> None:
    text = (
        "No MCP servers found.\n\nAdd servers via `.mcp.json`, `.copilot/mcp-config.json`, `.github/mcp-config.json`, "
        "or `.opencode/opencode.json`."
    )
    [shown] = ask_chat(home, "/mcp")
    assert text in shown


def test_the_list_has_a_symbol_a_name_a_transport_and_a_target(home: Home) -> None:
    off = {"type": "http", "url": "https://example.com/mcp", "enabled": False}
    home.configure(demo=DEMO, off=off)
    [shown] = ask_chat(home, "/mcp")
    lines = shown.splitlines()
    at = lines.index("MCP Servers")
    assert lines[at + 1] == ""
    assert lines[at + 2].startswith("  ● demo (stdio)")
    assert lines[at + 3] == f"    {DEMO['command']} -I -m mooring.demo"
    assert lines[at + 4].startswith("  ○ off (http)")
    assert lines[at + 5] == "    https://example.com/mcp"
    assert lines[at + 6 : at + 8] == ["", "Use `/mcp enable <name>` or `/mcp disable <name>` to toggle."]


def test_the_help_of_the_chat_says_what_the_command_is_for(home: Home) -> None:
    [shown] = ask_chat(home, "/help")
    assert "/mcp [enable|disable <server>]" in shown
    assert "View and toggle MCP servers" in shown


# --- enable and disable ---------------------------------------------------------------------------------------------


def test_a_switch_says_that_it_is_for_this_session(home: Home) -> None:
    home.configure(demo=DEMO)
    off, on, unknown = ask_chat(home, "/mcp disable DEMO", "/mcp enable Demo", "/mcp disable dmeo")
    assert "MCP server 'demo' disabled for this session." in off
    assert "MCP server 'demo' enabled for this session." in on
    assert "MCP server 'dmeo' not found. Run /mcp to see available servers. Did you mean demo?" in unknown


@pytest.mark.parametrize("line", ["/mcp frob", "/mcp enable", "/mcp disable", "/mcp frob demo"])
def test_anything_else_is_answered_with_the_usage_on_a_line_of_its_own(home: Home, line: str) -> None:
    home.configure(demo=DEMO)
    [shown] = ask_chat(home, line)
    assert shown.splitlines()[1] == USAGE


def test_a_tool_of_a_disabled_server_names_the_command_that_enables_it(home: Home) -> None:
    home.configure(demo={**DEMO, "enabled": False})
    [shown] = ask_chat(home, "/call demo.echo text=x")
    assert 'Server "demo" is disabled. Run /mcp enable demo first.' in shown


# --- add ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("x --url https://a.example -- npx", "Use either --url or -- <command...>, not both."),
        ("x --token t -- npx", "--token requires --url (HTTP/SSE transport)."),
        ("x --transport sse -- npx", "Invalid server config: sse needs a URL, and this is a command."),
        ("a/b npx", "Invalid server config: the name may have letters, digits, `_`, `.` and `-` only."),
    ],
)
def test_a_description_that_is_not_sound_is_refused_in_the_same_words_everywhere(
    home: Home, words: str, text: str
) -> None:
    [shown] = ask_chat(home, f"/mcp add {words}")
    assert text in shown
    assert text in run_command(home, "mcp", "add", *words.split())
    assert not (home.folder / OWN).exists()


def test_a_name_that_is_taken_is_named_with_its_file(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"demo": DEMO}})
    text = 'Server "demo" already exists in ~/.config/mooring/mcp.json'
    [shown] = ask_chat(home, "/mcp add demo npx")
    assert text in shown
    assert text in run_command(home, "mcp", "add", "demo", "npx")


# --- connect and test -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["/mcp test gone", "/mcp reload gone", "/mcp enable gone"])
def test_a_failed_connection_names_the_server_and_the_reason(home: Home, line: str) -> None:
    home.write(OWN, {"mcpServers": {"gone": {"command": "no-such-program"}}})
    [shown] = ask_chat(home, line)
    assert 'Failed to connect to "gone": ' in shown
    assert "no-such-program" in shown.partition('Failed to connect to "gone": ')[2].splitlines()[0]
    assert 'Failed to connect to "gone": ' in run_command(home, "mcp", "test", "gone")


def test_a_server_that_is_too_slow_suggests_a_longer_timeout(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"mute": MUTE}})
    [shown] = ask_chat(home, "/mcp test mute")
    assert 'Failed to connect to "mute": mute did not ' in shown
    assert "It may need longer: `mooring mcp edit mute --timeout 120` raises its timeout." in shown
    printed = run_command(home, "mcp", "test", "mute")
    assert (
        "It may need longer: `mooring mcp edit mute --timeout 120` raises its timeout, or try with --timeout."
        in printed
    )


def test_a_server_that_refuses_who_asks_says_how_to_give_it_a_token(home: Home, refusal: str) -> None:
    home.write(OWN, {"mcpServers": {"locked": {"type": "http", "url": refusal}}})
    [shown] = ask_chat(home, "/mcp test locked")
    for text in (shown, run_command(home, "mcp", "test", "locked")):
        assert 'Failed to connect to "locked": ' in text
        assert 'Give it a token: "headers": {"Authorization": "Bearer ${TOKEN}"} in ~/.config/mooring/mcp.json.' in text
