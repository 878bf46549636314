"""One definition of what looks like a secret, and one place that strikes secrets out."""

import ast
import base64
import json
from pathlib import Path
from time import process_time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import mooring
from mooring.core.text.secret import (
    HIDDEN,
    hide_in_arguments,
    hide_in_url,
    is_secret,
    is_secret_name,
    list_secrets,
    redact,
    redact_error,
)
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


@given(st.text(min_size=8, max_size=60), st.binary(max_size=40), st.binary(max_size=40))
def test_no_secret_stays_in_base64_wherever_it_begins(secret: str, before: bytes, after: bytes) -> None:
    assume(len(secret.strip()) >= 8)
    encoded = base64.b64encode(before + secret.encode() + after).decode()
    shown = redact(encoded, list_secrets([secret]))
    assert HIDDEN in shown
    # What stays holds the bytes around it, and no more than three of its own.
    assert len(shown.replace(HIDDEN, "")) * 3 // 4 <= len(before) + len(after) + 6


@given(st.text(min_size=4, max_size=60))
def test_no_secret_stays_in_json_or_in_an_address(secret: str) -> None:
    assume(len(secret.strip()) >= 4)
    secrets = list_secrets([secret])
    for form in (json.dumps(secret), json.dumps([{"a": json.dumps(secret)}]), quote(secret), quote_plus(secret)):
        assert HIDDEN in redact(f"before {form} after", secrets)


def test_a_login_is_struck_out_with_and_without_its_word_and_so_is_the_password_in_it() -> None:
    basic = "Basic " + base64.b64encode(b"ana:canary-pw").decode()
    shown = redact(f"{basic} {basic[6:]} ana:canary-pw canary-pw", list_secrets([basic]))
    assert shown == f"{HIDDEN} {HIDDEN} {HIDDEN} {HIDDEN}"


def test_a_secret_has_few_forms_and_a_text_without_it_costs_little() -> None:
    secrets = list_secrets([f"ghp_{number}{'aZ3kQ9vT' * 4}" for number in range(5)])
    assert len(secrets) <= 40
    text = "the quick brown fox jumps over 12 lazy dogs; " * 24_000
    began = process_time()
    assert redact(text, secrets) is text
    assert process_time() - began < 0.2


def test_nothing_else_in_the_package_defines_what_is_hidden() -> None:
    root = Path(mooring.__file__).parent
    makers = [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value == HIDDEN
    ]
    assert makers == ["core/text/secret.py"]


@pytest.mark.parametrize(
    ("argument", "shown"),
    [
        ("run --token s3cret-value && true", "run --token ••• && true"),
        (
            'curl -H "Authorization: Bearer abcd1234" https://a.example',
            'curl -H "Authorization: •••" https://a.example',
        ),
        ("export GH_TOKEN='abcd1234'; run", "export GH_TOKEN='•••'; run"),
        ('{"apiKey": "abcd1234", "mode": "fast"}', '{"apiKey": "•••", "mode": "fast"}'),
        ('["--token", "abcd1234"]', '["--token", "•••"]'),
        # Names of variables, and ordinary words.
        ('run --token "$TOKEN" --key {env:KEY}', 'run --token "$TOKEN" --key {env:KEY}'),
        ("import os; print(os.environ['TOKEN'])", "import os; print(os.environ['TOKEN'])"),
        ("two words: and more", "two words: and more"),
    ],
)
def test_secrets_inside_a_line_or_json_are_hidden(argument: str, shown: str) -> None:
    assert hide_in_arguments([argument]) == (shown,)
