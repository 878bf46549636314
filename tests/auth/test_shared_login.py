"""One login, many processes: at the moment when its token ends, one of them refreshes it, and all go on."""

import asyncio
import sys
import time
from pathlib import Path

import pytest

import mooring
from mooring.testing import Issuer, Site, log_in
from support import Home

REFRESHER = str(Path(__file__).with_name("refresher.py"))
FILE_STORE = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
PROCESSES = 20
LEAD = 8.0
"""Seconds for all processes to start, before all of them call at the same moment."""


async def refresh(home: Home, site: Site, moment: float) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        REFRESHER,
        site.url,
        str(moment),
        cwd=home.cwd,
        env={**home.env, **FILE_STORE},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


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
        moment = time.time() + LEAD
        outcomes = await asyncio.gather(*(refresh(home, site, moment) for _ in range(PROCESSES)))
        assert outcomes == [(0, "hi", "")] * PROCESSES
        assert issuer.count("refresh_token") == 1
        assert issuer.revoked == set()
