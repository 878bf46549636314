"""The way to a server: addresses, proxies, certificates."""

import asyncio
import ssl
from pathlib import Path

import pytest

import mooring
from certificates import make_certificate
from mooring.errors import ConfigError, ConnectError
from mooring.testing.site import Site
from mooring.wire.http.address import parse_address
from mooring.wire.http.network import Network, Options
from mooring.wire.session.remote import open_url

FAR = parse_address("https://mcp.example.com/mcp")


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ({"https_proxy": "http://lower:1", "HTTPS_PROXY": "http://upper:1"}, "http://lower:1"),
        ({"all_proxy": "p:1"}, "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "example.com"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".example.com, x"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "ample.com,"}, "http://p:1"),
    ],
)
def test_the_usual_variables_name_the_proxy(env: dict[str, str], expected: str | None) -> None:
    assert Network(env).proxy(FAR, Options()) == expected


def test_a_proxy_that_is_named_outright_counts_above_all() -> None:
    network = Network({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"})
    assert network.proxy(FAR, Options(proxy="http://mine:2")) == "http://mine:2"
    with pytest.raises(ConfigError, match="socks5"):
        network.proxy(FAR, Options(proxy="socks5://mine:2"))


def test_under_cgi_a_header_cannot_set_the_proxy() -> None:
    assert (
        Network({"HTTP_PROXY": "p", "REQUEST_METHOD": "GET"}).proxy(parse_address("http://a.example/"), Options())
        is None
    )


@pytest.mark.parametrize("url", ["http://localhost:1/", "http://127.0.0.1/", "http://[::1]/", "unix:///s#/mcp"])
def test_what_stays_on_this_machine_goes_through_no_proxy(url: str) -> None:
    network = Network({"ALL_PROXY": "p", "HTTP_PROXY": "p"})
    assert network.proxy(parse_address(url), Options()) is None
    assert network.proxy(parse_address(url), Options(proxy="http://p:1")) is None


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://u:secret@a.example:8/mcp/?key=secret", "https://a.example:8/mcp"),
        ("unix:///run/x.sock#/mcp", "/run/x.sock"),
    ],
)
def test_a_server_is_called_by_its_address_without_its_secrets(url: str, name: str) -> None:
    assert parse_address(url).name == name


async def test_a_proxy_is_asked_and_not_the_server() -> None:
    async with Site(path="http://far.example/mcp") as proxy:
        heard: list[str] = []
        plain = proxy._answer

        async def note(request):
            heard.append(str(request.request.url))
            return await plain(request)

        proxy._answer = note  # type: ignore[method-assign]
        proxy.path = "/mcp"
        options = Options(proxy=proxy.origin)
        async with await open_url("http://far.example/mcp", options=options) as session:
            assert (await session.call_tool("echo", {"text": "through"})).text == "through"
    assert set(heard) == {"http://far.example/mcp"}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that vouches for itself, with its key."""
    folder = tmp_path_factory.mktemp("tls")
    make_certificate(folder, "127.0.0.1")
    return folder


async def serve_tls(folder: Path, site: Site, *, ask_for_client: bool = False) -> tuple[asyncio.Server, str]:
    """A TLS server in front of a plain site."""
    server, origin = await serve_tls_before(folder, site.origin, ask_for_client=ask_for_client)
    return server, f"{origin}/mcp"


async def serve_tls_before(folder: Path, origin: str, *, ask_for_client: bool = False) -> tuple[asyncio.Server, str]:
    """A TLS server in front of what answers at a plain address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    if ask_for_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(folder / "cert.pem")
    port = int(origin.rpartition(":")[2])

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, outer), carry(inner, writer), return_exceptions=True)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    return server, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Path) -> None:
    async with Site() as site:
        server, url = await serve_tls(certificate, site)
        async with server:
            with pytest.raises(ConnectError, match="certificate"):
                async with mooring.connect(url):
                    pass
        assert site.heard == []


@pytest.mark.parametrize("named", ["option", "variable"])
async def test_an_authority_of_ones_own_is_trusted(certificate: Path, named: str) -> None:
    path = str(certificate / "cert.pem")
    network = Network({"NODE_EXTRA_CA_CERTS": path} if named == "variable" else {})
    options = Options(ca=path) if named == "option" else Options()
    async with Site() as site:
        server, url = await serve_tls(certificate, site)
        async with server, await open_url(url, network=network, options=options) as session:
            assert (await session.call_tool("echo", {"text": "sealed"})).text == "sealed"
        assert await network.tls(options) is await network.tls(options)


async def test_a_certificate_of_the_client_is_shown(certificate: Path) -> None:
    paths = {"ca": str(certificate / "cert.pem"), "certificate": str(certificate / "cert.pem")}
    async with Site() as site:
        server, url = await serve_tls(certificate, site, ask_for_client=True)
        options = Options(**paths, key=str(certificate / "key.pem"))
        async with server, await open_url(url, options=options) as session:
            assert (await session.call_tool("echo", {"text": "known"})).text == "known"


async def test_a_file_that_holds_no_certificate_is_named(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(ConfigError, match=r"ca\.pem"):
        await open_url("https://127.0.0.1:1/mcp", options=Options(ca=str(tmp_path / "ca.pem")))


async def test_no_context_for_tls_is_made_without_need() -> None:
    network = Network({})
    async with Site() as site, await open_url(site.url, network=network):
        assert network._contexts == {}
