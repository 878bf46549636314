"""The system's certificates: read once where a connection needs them, and not at all where none does."""

import asyncio
import json
import ssl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Thread

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from certificates import make_certificate
from mooring.cli.certificates import ContextToComplete, put_off_certificates, read_certificates
from mooring.testing import Site
from support import Home
from warm import run_mooring
from wire.test_network import serve_tls, serve_tls_before

COUNTING = """
import json, sys
from mooring import cli
cli._run_command()
from aiohttp import connector
contexts = connector._SSL_CONTEXT_VERIFIED, connector._SSL_CONTEXT_UNVERIFIED
print(json.dumps([[type(each).__name__, each.cert_store_stats()["x509"]] for each in contexts]))
"""
VERIFYING = ["SSLContext", 1]
UNTOUCHED = ["ContextToComplete", 0]


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """A folder with the only certificate that the system trusts."""
    make_certificate(tmp_path, "127.0.0.1")
    return tmp_path


def trust(folder: Path) -> dict[str, str]:
    return {"SSL_CERT_FILE": str(folder / "cert.pem"), "SSL_CERT_DIR": str(folder / "none")}


async def count_certificates(home: Home, env: Mapping[str, str], *words: str) -> tuple[str, list[list[object]]]:
    """What a command prints, and the kind and the certificates of the contexts that aiohttp has in the end."""
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", COUNTING, *words],
        cwd=home.cwd,
        env={**home.env, **env},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=100,
    )
    *lines, counted = done.stdout.splitlines() or [done.stderr]
    return "\n".join(lines), json.loads(counted)


async def test_a_prompt_to_an_address_without_tls_reads_no_certificates(home: Home, authority: Path) -> None:
    async with FakeModel([Say("hello")]) as model:
        env = {**variables(model), **trust(authority)}
        answer = await count_certificates(home, env, "chat", "-p", "Hi", "-m", MODELS["anthropic"])
    assert answer == ("hello", [UNTOUCHED, UNTOUCHED])


async def test_a_server_behind_tls_is_verified_by_the_systems_certificates(home: Home, authority: Path) -> None:
    async with Site() as site:
        server, url = await serve_tls(authority, site)
        async with server:
            words = ("call", "--url", url, "echo", "text=sealed")
            answer = await count_certificates(home, trust(authority), *words)
            refused = await asyncio.to_thread(run_mooring, *words, cwd=home.cwd, env=home.env, real=True)
    assert answer == ("sealed", [VERIFYING, UNTOUCHED])
    assert refused.returncode == 1
    assert "certificate" in refused.stderr


async def test_a_model_behind_tls_is_verified_although_another_is_without(home: Home, authority: Path) -> None:
    async with FakeModel([Say("sealed")]) as model:
        server, url = await serve_tls_before(authority, model.url)
        async with server:
            env = {**variables(model), "ANTHROPIC_BASE_URL": url}
            words = ("chat", "-p", "Hi", "-m", MODELS["anthropic"])
            answer = await count_certificates(home, {**env, **trust(authority)}, *words)
            refused = await asyncio.to_thread(run_mooring, *words, cwd=home.cwd, env={**home.env, **env}, real=True)
        assert len(model.requests) == 1
    assert answer == ("sealed", [VERIFYING, UNTOUCHED])
    assert refused.returncode == 1
    assert "certificate" in refused.stderr


def test_contexts_of_other_threads_and_later_ones_are_ordinary(
    monkeypatch: pytest.MonkeyPatch, authority: Path
) -> None:
    for name, value in trust(authority).items():
        monkeypatch.setenv(name, value)
    made: list[ssl.SSLContext] = []

    def make() -> None:
        made.append(ssl.create_default_context())

    with put_off_certificates() as collected:
        make()
        other = Thread(target=make)
        other.start()
        other.join()
    make()
    assert [(type(each), each.cert_store_stats()["x509"]) for each in made] == [
        (ContextToComplete, 0),
        (ssl.SSLContext, 1),
        (ssl.SSLContext, 1),
    ]
    assert list(collected) == made[:1]
    for _ in range(2):  # whoever comes second finds it done
        read_certificates(collected[0])
        assert (type(made[0]), made[0].cert_store_stats()["x509"]) == (ssl.SSLContext, 1)
