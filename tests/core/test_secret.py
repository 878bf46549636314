"""One definition of what looks like a secret, and one place that strikes secrets out."""

import ast
from pathlib import Path

import pytest

import mooring
from mooring.core.secret import HIDDEN, hide_in_url, is_secret, is_secret_name, list_secrets, redact, redact_error
from mooring.errors import RpcError


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "X-Api-Key", "apiKey", "accessToken", "Authorization", "db_password"])
def test_a_name_looks_secret_however_it_is_written(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "author", "monkey", "keyboard", "Accept", "Content-Type"])
def test_an_ordinary_name_is_shown(name: str) -> None:
    assert not is_secret_name(name)


def test_a_password_in_an_address_is_a_secret_but_not_in_a_proxy() -> None:
    assert is_secret("DATABASE", "postgres://me:canary@host/db")
    assert not is_secret("HTTPS_PROXY", "http://me:canary@proxy")


def test_an_address_is_shown_without_what_grants_access() -> None:
    url = "https://me:canary@host/mcp?team=a&api_key=canary&code=canary#top"
    assert hide_in_url(url) == f"https://me:{HIDDEN}@host/mcp?team=a&api_key={HIDDEN}&code={HIDDEN}#top"


def test_the_longest_secret_is_struck_out_first_and_short_ones_stay() -> None:
    secrets = list_secrets(["canary", "canary-long", "abc", "line-one\nline-two\n"])
    assert redact("canary-long canary abc line-two", secrets) == f"{HIDDEN} {HIDDEN} abc {HIDDEN}"


def test_an_error_forgets_secrets_in_every_text_that_it_holds() -> None:
    error = RpcError("github", -32000, "bad token canary-1")
    redact_error(error, list_secrets(["canary-1"]))
    assert "canary" not in f"{error} {error.message} {error.args}"


def test_nothing_else_in_the_package_defines_what_is_hidden() -> None:
    root = Path(mooring.__file__).parent
    makers = [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value == HIDDEN
    ]
    assert makers == ["core/secret.py"]
