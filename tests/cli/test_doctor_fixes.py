"""Everything that doctor finds comes with one command, and the command is one that can be run as it is."""

import shlex
from asyncio import to_thread
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from certificates import Authority
from cli.test_doctor_stages import closed_port, doctor, serve, stages_of
from mooring import errors
from mooring.cli.base import Globals
from mooring.cli.command_line import LineReader
from mooring.core.definitions.config import ServerConfig
from mooring.inventory.load import load
from mooring.testing.site import Site
from mooring.verbs.doctor.trial import TriedServer, check_tried
from mooring.verbs.verb import Verb
from support import DEMO, Home, run_beside

__all__ = ["closed_port"]

OTHERS = {"mv": 3, "chmod": 3, "${EDITOR:-vi}": 2, "pip": 3, "npm": 4, "brew": 3, "apt-get": 4, "sudo": 5}
"""Other programs that a fix may name, and how many words such a command has."""


def find_command(fix: str) -> str:
    """The command that a fix begins with; the words behind it are in parentheses."""
    return fix.partition("  (")[0]


def check_command(fix: str) -> None:
    """See that a fix begins with a command that could be typed as it is. Raises: AssertionError, ClickException."""
    for command in find_command(fix).split(" && "):
        _check_words(shlex.split(command), fix)


def _check_words(words: list[str], fix: str) -> None:
    match words:
        case ["export", assignment]:
            name, _, value = assignment.partition("=")
            assert name.isidentifier(), fix
            assert value, fix
        case ["env", *rest]:
            while rest[0] == "-u":
                rest = rest[2:]
            parse(rest)
        case ["mooring", *_]:
            parse(words)
        case [program, *_]:
            assert len(words) == OTHERS.get(program), fix
        case _:
            pytest.fail(f"no command in {fix!r}")


def parse(words: list[str]) -> None:
    """Let our own command line read a command, without running it."""
    line = LineReader(Globals()).read(words[1:])
    assert isinstance(line.row, Verb), words


def list_fixes(data: Any) -> list[str]:
    stages = [stage for server in data["servers"] for stage in server["stages"] if not stage["ok"]]
    return [each["fix"] for each in (*data["findings"], *stages)]


# --- what is found without starting anything ------------------------------------------------------------------------


def break_everything(home: Home) -> None:
    """A home with one of everything that a quick look can find."""
    own = {
        "empty": {},
        "gone": {"command": "no-such-program"},
        "packed": {"command": "uvx some-server"},
        "bun": {"command": "bunx"},
        "unset": {**DEMO, "env": {"TOKEN": "${NO_SUCH}"}},
        "secret": {**DEMO, "env": {"TOKEN": "${keyring:missing}"}},
        "docs": {"url": "https://a.example"},
        "my-server": DEMO,
        "my_server": DEMO,
        "odd": {**DEMO, "timeuot": 5},
        "off": {"command": "x", "enabled": False},
        "credential": {"type": "http", "url": "https://b.example", "auth": {"credentialId": "none"}},
    }
    home.write("home/.config/mooring/mcp.json", {"mcpServers": own})
    home.write("home/.cursor/mcp.json", {"mcpServers": {"docs": {"command": "y"}, "off": {"command": "y"}, "bad": 7}})
    home.write("home/.codex/config.toml", "this is not TOML")
    home.write("home/.gemini/settings.json", [])
    home.write("project/.mcp.json", {"mcpServers": {"theirs": {"command": "x"}, "broken": {"args": []}}})
    home.write("project/opencode.json", {"mcp": {"build": {"type": "local", "command": ["x"]}}})
    home.write("home/.config/opencode/opencode.json", {})
    inputs = [{"id": "tok", "type": "promptString", "password": True}]
    vault = {**DEMO, "type": "stdio", "env": {"TOKEN": "${input:tok}"}}
    home.write("home/.config/Code/User/mcp.json", {"servers": {"vault": vault}, "inputs": inputs})
    rules = [{"tool": "nobody.*", "action": "deny"}]
    home.write("home/.config/mooring/settings.json", {"permissions": rules, "no such setting": 1})
    for record in ("approvals.json", "disabled.json", "rules.json"):
        home.write(f"home/.local/state/mooring/{record}", "{ damaged").chmod(0o666)


def test_everything_that_a_quick_look_finds_has_a_command(home: Home) -> None:
    break_everything(home)
    code, data = doctor(home)
    assert code == 1
    fixes = list_fixes(data)
    for fix in fixes:
        check_command(fix)
    found = {finding["server"] for finding in data["findings"]}
    assert {"empty", "gone", "packed", "bun", "unset", "secret", "docs", "my_server", "vault", "theirs", None} <= found
    assert len(fixes) > 20


def test_a_command_with_its_arguments_in_it_is_split_by_the_command_that_is_named(home: Home) -> None:
    home.write("home/.cursor/mcp.json", {"mcpServers": {"packed": {"command": "uvx some-server"}}})
    _, data = doctor(home)
    command = find_command(stages_of(data, "packed")["command"]["fix"])
    assert command == "mooring mcp edit --in cursor packed -- uvx some-server"
    assert run_beside(home, *shlex.split(command.replace("edit", "edit --no-test"))[1:]).code == 0
    server = run_beside(home, "mcp", "get", "packed", "--json").data["server"]
    assert (server["command"], server["args"]) == ("uvx", ["some-server"])


# --- every error that a trial can end with --------------------------------------------------------------------------

SAMPLES: dict[type[errors.MooringError], list[errors.MooringError]] = {
    errors.Unresolved: [errors.Unresolved("web", "env.A", "is empty")],
    errors.InputMissing: [errors.InputMissing("web", "tok", ["TOKEN"])],
    errors.SecretMissing: [errors.SecretMissing("web", "env.A", "token")],
    errors.Suspended: [errors.Suspended("web", 3, 60, "it died")],
    errors.SpawnError: [
        errors.SpawnError("x is not on PATH", fix="install it", command="x", cwd="/", code=2, cause="ENOENT"),
        errors.SpawnError("x is not on PATH", fix="install it", command="uvx", cwd="/", code=2, cause="ENOENT"),
        errors.SpawnError("/x cannot be run", command="/x", cwd="/", code=13, cause="EACCES"),
    ],
    errors.GuardLost: [errors.GuardLost("The guard died.")],
    errors.ConnectError: [errors.ConnectError("web", "Connection refused")],
    errors.TlsError: [
        errors.TlsError("web", reason)
        for reason in (
            "it speaks no TLS; write http:// in its URL",
            "certificate verify failed: certificate has expired",
            "certificate verify failed: certificate is not yet valid",
            "certificate verify failed: Hostname mismatch, certificate is not valid for 'a.example'",
            "certificate verify failed: IP address mismatch, certificate is not valid for '127.0.0.1'",
            "certificate verify failed: self-signed certificate",
            "sslv3 alert handshake failure",
        )
    ],
    errors.HttpError: [
        errors.HttpError("web", status, "no") for status in (302, 400, 403, 404, 405, 407, 429, 500, 503)
    ],
    errors.NeedsLogin: [errors.NeedsLogin("web", 401), errors.NeedsLogin("web", 403, scope="a b")],
    errors.HandshakeError: [errors.HandshakeError("web", "no common version")],
    errors.ProtocolError: [errors.ProtocolError("web", "it answered nonsense")],
    errors.TooLarge: [errors.TooLarge("web", 10)],
    errors.ServerDied: [errors.ServerDied("web", "initialize"), errors.ServerDied("web", "it", stderr=["fatal"])],
    errors.Clogged: [errors.Clogged("web", 10)],
    errors.Closed: [errors.Closed("web", "initialize")],
    errors.TimedOut: [errors.TimedOut("web", "initialize", 3)],
    errors.RpcError: [errors.RpcError("web", -32603, "no")],
    errors.NotApproved: [errors.NotApproved("web", "changed")],
}
"""Every kind of error that a trial can end with, in all the ways that are told apart."""


def list_kinds(root: type[Any]) -> Iterator[type[Any]]:
    for kind in root.__subclasses__():
        yield kind
        yield from list_kinds(kind)


def test_every_kind_of_error_of_a_server_is_among_the_samples() -> None:
    assert {*list_kinds(errors.ServerError), errors.NotApproved} == set(SAMPLES)


@pytest.mark.parametrize(
    "place", ["home/.config/mooring/mcp.json", "home/.cursor/mcp.json", "home/.kimi-code/mcp.json"]
)
@pytest.mark.parametrize(
    "entry",
    [
        {"type": "http", "url": "https://a.example/mcp"},
        {"type": "http", "url": "https://a.example/mcp?key=canary-key"},
        {"command": "a"},
    ],
    ids=["address", "secret address", "program"],
)
def test_whatever_a_trial_ends_with_there_is_a_command_for_it(place: str, entry: dict[str, Any], home: Home) -> None:
    home.write(place, {"mcpServers": {"web": entry}})
    config = load(home.request()).find("web").definition.config
    assert isinstance(config, ServerConfig)
    for error in chain.from_iterable(SAMPLES.values()):
        [finding] = check_tried("web", config, TriedServer(error=error), home.where)
        check_command(finding.fix)
        assert "canary" not in finding.fix


# --- the network, end to end ----------------------------------------------------------------------------------------

OWN = "home/.config/mooring/mcp.json"


def configure(home: Home, url: str) -> None:
    home.write(OWN, {"mcpServers": {"web": {"type": "http", "url": url}}})


def find_fix(home: Home, stage: str, **env: str) -> str:
    code, data = doctor(home, "web", **env)
    failed = stages_of(data, "web")[stage]
    assert (code, failed["ok"]) == (1, False), data
    check_command(failed["fix"])
    return find_command(failed["fix"])


def run_fix(home: Home, command: str, **env: str) -> int:
    """Run a command of ours as it was named."""
    return run_beside(home, *shlex.split(command)[1:], **env).code


async def test_a_server_without_tls_is_reached_once_the_command_ran(home: Home) -> None:
    async with Site() as site:
        configure(home, site.url.replace("http:", "https:"))
        fix = await to_thread(find_fix, home, "tls")
        assert fix == f"mooring mcp edit --url {site.url} web"
        assert await to_thread(run_fix, home, fix) == 0
        assert (await to_thread(doctor, home, "web"))[0] == 0


async def test_a_server_at_another_path_is_reached_once_the_command_ran(home: Home) -> None:
    async with Site() as site:
        configure(home, f"{site.origin}/wrong")
        fix = await to_thread(find_fix, home, "protocol")
        assert fix == f"mooring mcp edit --url {site.url} web"
        assert await to_thread(run_fix, home, fix) == 0


def test_a_closed_port_and_an_unknown_name_need_another_address(home: Home, closed_port: int) -> None:
    for url in (f"http://127.0.0.1:{closed_port}/mcp", "https://no-such-host.invalid/mcp"):
        configure(home, url)
        assert find_fix(home, "network") == "mooring mcp edit --url … web"


def test_a_proxy_that_is_gone_is_left_out_by_the_command(home: Home, closed_port: int) -> None:
    configure(home, "https://no-such-host.invalid/mcp")
    proxy = f"http://127.0.0.1:{closed_port}"
    fix = find_fix(home, "network", HTTPS_PROXY=proxy, all_proxy=proxy)
    assert fix == "env -u HTTPS_PROXY -u all_proxy mooring mcp doctor web"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    folder = tmp_path / "authority"
    folder.mkdir()
    return Authority(folder)


@pytest.mark.parametrize("variable", ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"])
def test_a_private_authority_is_trusted_once_the_variable_names_it(
    home: Home, authority: Authority, variable: str
) -> None:
    with serve(authority.sign("127.0.0.1")) as port:
        configure(home, f"https://127.0.0.1:{port}/500")
        assert find_fix(home, "tls") == "export NODE_EXTRA_CA_CERTS=…"
        # The next stage is reached.
        assert find_fix(home, "protocol", **{variable: str(authority.path)}) == "mooring mcp doctor web"


def test_a_certificate_that_expired_is_for_others_to_renew(home: Home, authority: Authority) -> None:
    with serve(authority.sign("127.0.0.1", days=-1)) as port:
        configure(home, f"https://127.0.0.1:{port}/200")
        fix = find_fix(home, "tls", NODE_EXTRA_CA_CERTS=str(authority.path))
    assert fix == "mooring mcp disable web"
    assert run_fix(home, fix) == 0
    assert doctor(home)[0] == 0


def test_a_certificate_of_another_name_needs_another_address(home: Home, authority: Authority) -> None:
    with serve(authority.sign("other.example")) as port:
        configure(home, f"https://127.0.0.1:{port}/200")
        fix = find_fix(home, "tls", NODE_EXTRA_CA_CERTS=str(authority.path))
    assert fix == "mooring mcp edit --url … web"
