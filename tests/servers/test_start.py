"""What a program is started with: the environment is given, not leaked."""

import os
from pathlib import Path

import pytest

from mooring.core.definitions.paths import Paths
from mooring.servers.launch.environment import make_launch, search_path

SECRETS = [
    "GITHUB_TOKEN", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "NPM_TOKEN",
    "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "STRIPE_SECRET", "SSH_PRIVATE_KEY", "GPG_PASSPHRASE", "DATABASE_URL",
    "REDIS_URL", "MONGODB_URI", "SENTRY_DSN", "GOOGLE_APPLICATION_CREDENTIALS", "SESSION_COOKIE", "GH_PAT", "API_KEYS",
    "AZURE_CLIENT_SECRET", "HF_TOKEN", "ANTHROPIC_API_KEY", "SLACK_BOT_TOKEN", "JWT_SIGNING", "BASIC_AUTH", "api_key",
    "DB_PASS", "SMTP_PASS", "PGPASS", "SLACK_WEBHOOK_URL", "SQLALCHEMY_DATABASE_URI", "MYSQL_URL", "RABBITMQ_URL", "DB_URL",
    "STRIPE_SK", "SIGNINGKEY", "HTTP_BASICAUTH", "AZURE_STORAGE_SAS", "WALLET_MNEMONIC", "SESSION_SALT",
]  # fmt: skip
HARMLESS = [
    "PATH", "HOME", "LANG", "LC_ALL", "TERM", "EDITOR", "SSH_AUTH_SOCK", "DISPLAY", "XAUTHORITY", "VIRTUAL_ENV", "PWD",
    "NODE_ENV", "KEYBOARD_LAYOUT", "GOPATH", "JAVA_HOME", "COLORTERM", "XDG_RUNTIME_DIR", "MONKEY", "HOKEY_POKEY_MODE",
]  # fmt: skip


def where(*names: str) -> Paths:
    return Paths("/home/me", {name: f"value of {name}" for name in names})


def test_a_persons_own_server_inherits_everything_but_what_looks_like_a_secret() -> None:
    made = make_launch(["x"], where(*SECRETS, *HARMLESS), "/", own=True)
    assert sorted(made.withheld) == sorted(SECRETS)
    assert set(HARMLESS) <= set(made.env)


def test_a_projects_server_gets_a_short_list() -> None:
    made = make_launch(["x"], where(*SECRETS, *HARMLESS), "/", own=False)
    assert set(made.env) == {"PATH", "HOME", "LANG", "LC_ALL", "TERM", "XDG_RUNTIME_DIR"}
    assert set(made.withheld) == {*SECRETS, *HARMLESS} - set(made.env)


@pytest.mark.parametrize("own", [True, False])
def test_both_get_what_their_definition_names(own: bool) -> None:
    given = where("GITHUB_TOKEN", "OTHER_TOKEN", "PATH")
    made = make_launch(["x"], given, "/", own=own, env={"MODE": "fast"}, pass_env=["GITHUB_TOKEN", "NOT_SET"])
    assert made.env["GITHUB_TOKEN"] == "value of GITHUB_TOKEN"
    assert made.env["MODE"] == "fast"
    assert "NOT_SET" not in made.env
    assert made.withheld == ("OTHER_TOKEN",)


def test_no_value_shows_in_its_repr() -> None:
    assert "value of" not in repr(make_launch(["x"], where("PATH", "MODE"), "/", own=True))


def test_version_managers_are_found_behind_the_given_path(tmp_path: Path) -> None:
    for folder in (".volta/bin", ".pyenv/shims", ".nvm/versions/node/v18.1.0/bin", ".nvm/versions/node/v22.10.0/bin"):
        (tmp_path / folder).mkdir(parents=True)
    found = search_path("/first:/second", str(tmp_path)).split(":")
    assert found[:2] == ["/first", "/second"]
    home = [folder.removeprefix(f"{tmp_path}/") for folder in found if folder.startswith(str(tmp_path))]
    assert home == [
        ".volta/bin", ".pyenv/shims", ".nvm/versions/node/v22.10.0/bin", ".nvm/versions/node/v18.1.0/bin",
    ]  # fmt: skip


def test_no_folder_is_searched_twice() -> None:
    found = search_path("/usr/bin:/bin", os.path.expanduser("~")).split(":")
    assert len(found) == len(set(found))


def test_an_address_with_a_password_in_it_is_a_secret_whatever_its_name() -> None:
    given = Paths(
        "/home/me", {"UPSTREAM": "amqp://me:pw@host", "SITE": "https://host/x:y@z", "HTTPS_PROXY": "http://u:p@proxy"}
    )
    assert make_launch(["x"], given, "/", own=True).withheld == ("UPSTREAM",)
