"""An https address behind a proxy: a tunnel is asked for, and only through it is anything said."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import mooring
from certificates import make_certificate
from mooring.errors import ConnectError
from mooring.testing.site import Site
from mooring.wire.http.network import Network, Options
from mooring.wire.session.remote import open_url
from tunnels import Proxy, tunneled

FAR = "https://far.example/mcp"
"""Nothing on this machine is called so: only a proxy can lead there."""


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for far.example that vouches for itself, with its key."""
    folder = tmp_path_factory.mktemp("tls")
    make_certificate(folder, "far.example", "127.0.0.1")
    return folder


@asynccontextmanager
async def far(tls: Path, refusal: str = "") -> AsyncIterator[tuple[Proxy, str, Site]]:
    """A server behind TLS and a proxy that leads to it; yields the proxy, its `host:port` and the site."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls / "cert.pem", tls / "key.pem")
    async with Site() as site, tunneled(int(site.origin.rpartition(":")[2]), context, refusal) as (proxy, at, _):
        yield proxy, at, site


async def test_a_proxy_of_the_settings_leads_to_an_https_address_without_seeing_what_is_said(tls: Path) -> None:
    async with far(tls) as (proxy, at, site):
        network = {"proxy": f"http://{at}", "ca": str(tls / "cert.pem")}
        headers = {"Authorization": "Bearer canary-token"}
        async with mooring.connect(FAR, network=network, headers=headers) as session:
            assert (await session.call_tool("echo", {"text": "canary-words"})).text == "canary-words"
        assert {head.split("\r\n")[0] for head in proxy.heard} == {"CONNECT far.example:443 HTTP/1.1"}
        assert not any("canary" in head for head in proxy.heard), "the proxy was told what is the server's alone"
        assert b"canary" not in proxy.carried, "what went through the tunnel could be read"
        assert site.said("tools/call")[0].headers["Authorization"] == "Bearer canary-token"
        assert proxy.logins == []


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
async def test_a_proxy_of_the_environment_leads_to_an_https_address(tls: Path, variable: str) -> None:
    async with far(tls) as (proxy, at, _):
        network = Network({variable: at, "NO_PROXY": "near.example", "NODE_EXTRA_CA_CERTS": str(tls / "cert.pem")})
        async with await open_url(FAR, network=network) as session:
            assert (await session.call_tool("echo", {"text": "through"})).text == "through"
        assert proxy.heard


@pytest.mark.parametrize("spared", ["far.example", ".example", "*"])
async def test_an_address_that_is_spared_is_not_asked_for_at_the_proxy(tls: Path, spared: str) -> None:
    async with far(tls) as (proxy, at, site):
        network = Network({"HTTPS_PROXY": at, "NO_PROXY": spared})
        with pytest.raises(ConnectError):
            await open_url(FAR, network=network)
        assert proxy.heard == []
        assert site.heard == []


async def test_user_and_password_of_the_proxy_go_to_the_proxy_alone(tls: Path) -> None:
    async with far(tls) as (proxy, at, site):
        options = Options(proxy=f"http://me:p%40ss:word@{at}", ca=str(tls / "cert.pem"))
        async with await open_url(FAR, options=options) as session:
            await session.call_tool("echo")
        assert set(proxy.logins) == {"me:p@ss:word"}
        assert not any("Proxy-Authorization" in heard.headers for heard in site.heard)


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        ("403 Forbidden", "its proxy answered with HTTP status 403"),
        ("407 Proxy Authentication Required", "its proxy requires a login"),
        ("502 Bad Gateway", "its proxy answered with HTTP status 502"),
    ],
)
async def test_a_proxy_that_refuses_is_told_of_in_one_sentence(tls: Path, refusal: str, words: str) -> None:
    async with far(tls, refusal) as (proxy, at, site):
        with pytest.raises(ConnectError) as failed:
            await open_url(FAR, options=Options(proxy=f"http://me:canary@{at}"))
        assert words in str(failed.value)
        assert FAR in str(failed.value)
        assert "canary" not in str(failed.value)
        assert str(failed.value).count(". ") == 0
        assert "\n" not in str(failed.value)
        assert site.heard == []
        assert len(proxy.heard) == 1, "a refusal is not asked for twice"


async def test_a_proxy_that_is_not_there_is_told_of_without_its_password(tls: Path) -> None:
    with pytest.raises(ConnectError) as failed:
        await open_url(FAR, options=Options(proxy="http://me:canary@127.0.0.1:1"))
    assert "Connection refused" in str(failed.value)
    assert "canary" not in str(failed.value)


async def test_a_tunnel_that_leads_to_another_server_is_not_used(tls: Path) -> None:
    async with far(tls) as (_, at, site):
        options = Options(proxy=f"http://{at}", ca=str(tls / "cert.pem"))
        with pytest.raises(ConnectError, match="certificate"):
            await open_url("https://other.example/mcp", options=options)
        assert site.heard == []
