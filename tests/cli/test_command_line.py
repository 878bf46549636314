"""How the words of a command are read: options in every spelling, before and after the command, and what completes them."""

import os
import subprocess

import pytest

from chat.terminal import Person
from support import DEMO, MOORING, Cli, Home, run_beside, run_mooring


@pytest.mark.parametrize(
    "typed",
    [
        "mcp get demo --json -q",
        "--json mcp get demo -q",
        "mcp --json get demo -q",
        "-q mcp get --json -- demo",
        "mcp get -q demo --json",
    ],
)
def test_options_of_every_command_stand_wherever_they_are_typed(cli: Cli, typed: str) -> None:
    cli.home.configure(demo=DEMO)
    done = cli(*typed.split())
    assert (done.code, done.data["server"]["name"], done.err) == (0, "demo", "")


@pytest.mark.parametrize("typed", ["history -n 1", "history -n1", "history --lines=1", "log --lines 1", "history -qn1"])
def test_a_value_follows_its_option_in_each_way_that_shells_know(cli: Cli, typed: str) -> None:
    cli.home.configure(demo=DEMO)
    for text in ("first", "second"):
        assert cli("call", "demo.echo", f"text={text}").code == 0
    lines = cli(*typed.split()).out.splitlines()
    assert len([line for line in lines if "demo.echo" in line]) == 1


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("mcp list --json=1", "--json takes no value. See: mooring mcp list --help"),
        ("mcp list --cwd", "--cwd needs a value. See: mooring mcp list --help"),
        ("mcp list -qx", "There is no option -x. See: mooring mcp list --help"),
        ("mcp list --chekc", "There is no option --chekc. Did you mean --check?"),
        ("mcp ls --colour", "There is no option --colour. See: mooring mcp list --help"),
        ("--frob", "There is no option --frob. See: mooring --help"),
        ("mcp lits", "There is no command 'lits'. Did you mean mooring mcp list?"),
        ("mcp logs", "There is no command 'logs'. Did you mean mooring logs?"),
    ],
)
def test_an_option_or_command_that_cannot_be_read_is_one_sentence(cli: Cli, typed: str, says: str) -> None:
    done = cli(*typed.split())
    assert (done.code, done.out, done.err) == (2, "", f"mooring: {says}\n")


def test_files_named_before_and_after_a_command_are_both_read(cli: Cli) -> None:
    for name in ("one", "two"):
        cli.home.write(f"{name}.json", {"mcpServers": {name: {"command": "sh"}}})
    files = [str(cli.home.folder / f"{name}.json") for name in ("one", "two")]
    done = cli("--config", files[0], "mcp", "list", "--json", "--config", files[1])
    assert [server["name"] for server in done.data["servers"]] == ["one", "two"]


def test_a_group_without_a_command_shows_its_help_as_an_error_and_asked_for_as_a_result(cli: Cli) -> None:
    alone, asked = cli("mcp"), cli("mcp", "-h")
    assert (alone.code, alone.out, asked.code, asked.err) == (2, "", 0, "")
    assert alone.err == asked.out
    assert "  doctor    What to fix, each with the command that fixes it.\n" in asked.out


def complete(home: Home, *words: str) -> list[str]:
    env = {"_MOORING_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    out = run_mooring(cwd=home.cwd, env={**home.env, **env}).stdout
    return [line.partition(",")[2] for line in out.splitlines()]


def test_options_their_choices_and_those_of_every_command_are_completed(home: Home) -> None:
    home.configure(demo=DEMO)
    assert complete(home, "mooring", "mcp", "list", "--c") == ["--check", "--cwd", "--config"]
    assert complete(home, "mooring", "mcp", "list", "--check", "--che") == []
    assert complete(home, "mooring", "--js") == ["--json"]
    assert complete(home, "mooring", "chat", "-b", "c") == ["claude", "copilot"]
    assert complete(home, "mooring", "chat", "--backend=c") == ["claude", "copilot"]
    assert complete(home, "mooring", "history", "--server", "d") == ["demo"]
    assert complete(home, "mooring", "--cwd", "mcp", "m") == ["mcp"]
    assert complete(home, "mooring", "mcp", "get", "--nonsense", "d") == []


@pytest.mark.parametrize(
    ("shell", "line", "at"),
    [("bash", "mooring mcp ge", ""), ("zsh", "", "x"), ("fish", "", "x"), ("bash", "mooring -q --cwd x", "3")],
)
def test_a_shell_that_asks_oddly_is_offered_nothing_and_told_nothing(
    home: Home, shell: str, line: str, at: str
) -> None:
    env = {"_MOORING_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": at}
    done = run_mooring(cwd=home.cwd, env={**home.env, **env})
    assert (done.returncode, done.stderr) == (0, "")
    assert not [word for word in done.stdout.split() if word.startswith("-")]


def test_colors_are_for_terminals_that_show_them(home: Home) -> None:
    home.configure(demo=DEMO)
    green = "\x1b[32m●  demo"
    with Person(home, "mcp", "list") as person:
        assert person.ended() == 0
        assert green in person.raw
    with Person(home, "mcp", "list", TERM="dumb") as person:
        assert person.ended() == 0
        assert "\x1b" not in person.raw
    assert "\x1b" not in run_mooring("mcp", "list", cwd=home.cwd, env=home.env).stdout


def test_values_of_settings_rules_and_the_parameters_of_a_tool_are_completed(home: Home) -> None:
    home.configure(demo=DEMO)
    assert run_beside(home, "tools", "demo").code == run_beside(home, "prompts", "demo").code == 0
    for rule in ("demo.add", "demo.*", "git.run(log *)"):
        assert run_beside(home, "allow", rule).code == 0
    assert complete(home, "mooring", "settings", "permissionMode", "a") == ["ask", "accept-reads"]
    assert complete(home, "mooring", "settings", "searchByMeaning", "t") == ["true"]
    assert complete(home, "mooring", "settings", "backend", "c") == ["claude", "copilot"]
    assert complete(home, "mooring", "settings", "sources", "c") == []
    assert complete(home, "mooring", "settings", "trustedServers", "--add", "d") == ["demo"]
    assert complete(home, "mooring", "rules", "--remove", "d") == ["demo.add", "demo.*"]
    assert complete(home, "mooring", "rules", "--remove", "g") == ["git.run(log *)"]
    assert complete(home, "mooring", "call", "demo.add", "--a") == ["--args", "--allow", "--a"]
    assert complete(home, "mooring", "call", "demo.add", "--a", "1", "--b") == ["--b"]
    assert complete(home, "mooring", "call", "demo", "slow", "--ste") == ["--steps"]
    assert complete(home, "mooring", "watch", "demo", "slow", "--se") == ["--server", "--seconds"]
    assert complete(home, "mooring", "prompt", "demo", "explain", "--to") == ["--topic"]
    assert complete(home, "mooring", "tools", "--a") == []
    assert complete(home, "mooring", "sessions", "s") == ["show"]
    assert complete(home, "mooring", "history", "--outcome", "d") == ["denied"]


def test_commands_behind_help_and_the_words_of_options_are_completed(home: Home) -> None:
    home.configure(demo=DEMO)
    home.write("home/.cursor/mcp.json", {"mcpServers": {"demo": DEMO, "other": DEMO}})
    assert run_beside(home, "tools", "demo").code == 0
    assert complete(home, "mooring", "help", "m") == ["mcp"]
    assert complete(home, "mooring", "help", "mcp", "e") == ["edit", "export", "enable"]
    assert complete(home, "mooring", "help", "call", "") == complete(home, "mooring", "version", "") == []
    assert complete(home, "mooring", "ver") == ["version"]
    assert complete(home, "mooring", "mcp", "edit", "--in", "") == ["cursor", "claude-code"]
    assert complete(home, "mooring", "mcp", "edit", "other", "--in", "") == ["cursor"]
    assert complete(home, "mooring", "mcp", "remove", "other", "--from", "") == ["cursor"]
    assert complete(home, "mooring", "mcp", "add", "x", "--to", "cod") == ["codex"]
    assert complete(home, "mooring", "history", "--tool", "pi") == ["picture"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("mooring --cwd ./pro", "dir"),
        ("mooring mcp list --cwd ./pro", "dir"),
        ("mooring --config ./pro", "file"),
        ("mooring call demo.picture -o ./pro", "file"),
        ("mooring read demo demo://clock -o ./pro", "file"),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_completes_paths_itself(line: str, kind: str, shell: str, home: Home) -> None:
    env = {"_MOORING_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": "./pro"}
    if shell == "bash":
        env["COMP_CWORD"] = str(len(line.split()) - 1)
    assert run_mooring(cwd=home.cwd, env={**home.env, **env}).stdout == f"{kind},./pro\n"


def test_bash_quotes_what_it_would_take_for_a_pattern(home: Home) -> None:
    assert run_beside(home, "deny", "demo.*").code == 0
    script = (
        f'PATH={os.path.dirname(MOORING)}:$PATH; eval "$(mooring completion bash)"; '
        'COMP_LINE="mooring rules --remove d" COMP_POINT=24 COMP_WORDS=(mooring rules --remove d) COMP_CWORD=3; '
        '_mooring_completion mooring 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], cwd=home.cwd, env={**home.env}, capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "demo.\\*\n", done.stderr
