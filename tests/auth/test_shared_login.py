"""One login, many processes: at the moment when its token ends, one of them refreshes it, and all go on."""

import asyncio
import subprocess
import time
from pathlib import Path

import pytest

import mooring
from mooring.testing import Issuer, Site, log_in
from support import Home
from warm import start_python

REFRESHER = Path(__file__).with_name("refresher.py").read_text()
FILE_STORE = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
PROCESSES = 20
LEAD = 4.0
"""Seconds for all processes to start, before all of them call at the same moment."""


def refresh_in_each(home: Home, site: Site, moment: float) -> list[tuple[int, str, str]]:
    """What as many processes do that call at the same moment: how each ended, and what it printed."""
    env = {**home.env, **FILE_STORE}
    words, pipe = (site.url, str(moment)), subprocess.PIPE
    each = [start_python(REFRESHER, *words, cwd=home.cwd, env=env, stdout=pipe, stderr=pipe) for _ in range(PROCESSES)]
    written = [process.communicate(timeout=100) for process in each]
    return [(process.wait(), out.decode(), err.decode()) for process, (out, err) in zip(each, written, strict=True)]


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_twenty_processes_at_the_moment_of_expiry_refresh_once_and_no_family_is_revoked(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in FILE_STORE.items():
        monkeypatch.setenv(name, value)
    asyncio.run(let_twenty_refresh(home))


async def let_twenty_refresh(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        servers = {"web": {"type": "http", "url": site.url}}
        async with mooring.open(request=home.request(), servers=servers, ask=log_in) as host:
            await host.login("web")
        issuer.expire()
        outcomes = await asyncio.to_thread(refresh_in_each, home, site, time.time() + LEAD)
        assert outcomes == [(0, "hi", "")] * PROCESSES
        assert issuer.count("refresh_token") == 1
        assert issuer.revoked == set()
