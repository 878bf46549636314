"""What Copilot's program is given: a provider or a login, and servers as they are. None of it needs the program."""

from math import inf

from mooring.backends.bridge.native import NativeAddress, NativeProgram, NativeServer, read_status
from mooring.backends.copilot.program import CopilotVariables
from mooring.backends.copilot.session import BLANKS, write_native

BYOK = {"COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:1/v1", "COPILOT_PROVIDER_API_KEY": "k"}


def test_a_provider_of_ones_own_is_given_with_the_session_and_its_keys_stay_out_of_the_environment() -> None:
    more = {
        "COPILOT_PROVIDER_HEADERS": "X-Tenant: one\\nX-Gate: two: three",
        "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "500",
        "COPILOT_PROVIDER_AZURE_API_VERSION": "2024-10-21",
        "GITHUB_TOKEN": "t",
        "HOME": "/home/me",
    }
    variables = CopilotVariables(BYOK | more)
    assert variables.make_provider() == {
        "type": "openai",
        "base_url": "http://127.0.0.1:1/v1",
        "api_key": "k",
        "max_output_tokens": 500,
        "azure": {"api_version": "2024-10-21"},
        "headers": {"X-Tenant": "one", "X-Gate": "two: three"},
    }
    assert variables.make_environment() == {"HOME": "/home/me"}


def test_without_a_provider_the_program_gets_the_login_and_nothing_that_allows_everything() -> None:
    variables = CopilotVariables({"GITHUB_TOKEN": "t", "COPILOT_ALLOW_ALL": "true", "COPILOT_HOME": "/c"})
    assert variables.make_provider() is None
    assert variables.make_environment() == {"GITHUB_TOKEN": "t", "COPILOT_HOME": "/c"}
    assert variables.home == "/c"


def test_a_program_is_written_so_that_what_copilot_fills_in_comes_out_as_it_was() -> None:
    program = NativeProgram("run", ("$HOME", "HOME"), {"A": "HOME", "B": "x${HOME}", "C": "two words"}, "/work")
    server = NativeServer(name="s", server="s", connection=program, timeout=1.5, tools=("add",))
    written = write_native(server)
    assert written["args"] == ["${MOORING_DOLLAR}HOME", "HOME"]
    assert written["env"] == {"A": "${MOORING_NOTHING}HOME", "B": "x${MOORING_DOLLAR}{HOME}", "C": "two words"}
    assert BLANKS == {"MOORING_DOLLAR": "$", "MOORING_NOTHING": ""}
    rest = {name: written[name] for name in ("type", "command", "cwd", "timeout", "tools")}
    assert rest == {"type": "local", "command": "run", "cwd": "/work", "timeout": 1500, "tools": ["add"]}


def test_an_address_keeps_its_transport_and_headers_and_no_limit_is_a_day() -> None:
    address = NativeAddress("http://127.0.0.1/sse", {"X-Key": "a$b"}, "sse")
    written = write_native(NativeServer(name="s", server="s", connection=address, timeout=inf))
    assert written == {
        "type": "sse",
        "url": "http://127.0.0.1/sse",
        "headers": {"X-Key": "a${MOORING_DOLLAR}b"},
        "tools": ["*"],
        "timeout": 86_400_000,
    }
    without = write_native(NativeServer(name="s", server="s", connection=address))
    assert "timeout" not in without


def test_statuses_have_our_words() -> None:
    words = ("connected", "pending", "failed", "needs-auth", "disabled", "stopped", "not_configured", "new word")
    expected = ["connected", "pending", "failed", "needs-auth", "disabled", "disabled", "disabled", "unknown"]
    assert [read_status("box", word, None).status for word in words] == expected
