"""What is said about words of a command that are missing, wrong or too many: a sentence for whoever typed them."""

import pytest

from support import DEMO, Cli


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("chat -p hi --max-turns x", "--max-turns must be a whole number and at least 1, not 'x'."),
        ("chat -p hi --max-cost -1", "--max-cost must be a number of US dollars above 0, not '-1'."),
        ("chat -p hi --max-cost inf", "--max-cost must be a number of US dollars above 0, not 'inf'."),
        ("chat -p hi --token-budget many", "--token-budget must be a whole number and at least 1, not 'many'."),
        ("chat -p hi --max-turns 0", "--max-turns must be a whole number and at least 1, not 0."),
        ("chat -b nobody", "--backend must be api, manual, claude, copilot or opencode, not 'nobody'."),
        ("history -n 0", "--lines must be a whole number and at least 1, not 0."),
        ("call demo.add --timeout x", "--timeout must be a number of seconds above 0, not 'x'."),
        ("call demo.add --timeout 0", "--timeout must be a number of seconds above 0, not 0.0."),
        ("call demo.add --timeout inf", "--timeout must be a number of seconds above 0, not 'inf'."),
        ("mcp list --check --timeout nan", "--timeout must be a number of seconds above 0, not 'nan'."),
        ("mcp doctor --check --timeout inf", "--timeout must be a number of seconds above 0, not 'inf'."),
        ("mcp edit demo --timeout -1", "--timeout must be a number of seconds and at least 0, not -1.0."),
        ("watch demo demo://clock --interval x", "--interval must be a number, not 'x'."),
        ("completion tcsh", "SHELL must be bash, zsh or fish, not 'tcsh'."),
        ("mcp get", "Missing NAME. See: mooring mcp get --help"),
        ("mcp export", "Missing --to TOOL. See: mooring mcp export --help"),
        ("completion", "Missing SHELL: bash, zsh or fish. See: mooring completion --help"),
        ("mcp list demo", "Unexpected argument 'demo'. See: mooring mcp list --help"),
        ("chat hello there", "Unexpected argument 'hello'. See: mooring chat --help"),
    ],
)
def test_a_wrong_word_is_one_sentence_with_what_to_type_instead(cli: Cli, typed: str, says: str) -> None:
    cli.home.configure(demo=DEMO)
    done = cli(*typed.split())
    assert (done.code, done.out, done.err) == (2, "", f"mooring: {says}\n")


def test_a_misspelled_server_is_what_is_said_about_an_edit_without_a_terminal(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert "No server is called 'demp'. Did you mean demo?" in cli("mcp", "edit", "demp").err
    assert "Without a terminal no editor is opened: say what to change." in cli("mcp", "edit", "demo").err
