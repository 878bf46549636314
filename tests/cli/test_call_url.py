"""`mooring call` and `mooring tools` on a server behind an address, as real processes."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import pytest
from aiohttp import web

from certificates import make_certificate
from mooring.process.guard.boot import start_guard
from mooring.testing.site import ReceivedRequest, Site
from support import Home
from warm import run_mooring
from wire.test_network import serve_tls

MOORING = str(Path(sys.executable).parent / "mooring")


async def run(home: Home, *args: str, real: bool = False) -> tuple[int, str, str]:
    done = await asyncio.to_thread(run_mooring, *args, cwd=home.cwd, env=home.env, real=real)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("stateless", [False, True])
async def test_a_server_behind_an_address_is_listed_and_called(stateless: bool, home: Home) -> None:
    async with Site(stateless=stateless) as site:
        code, out, err = await run(home, "tools", "--url", site.url, "--json", real=True)
        assert (code, err) == (0, "")
        assert [tool["tool"] for tool in json.loads(out)["tools"]] == ["echo"]
        assert await run(home, "call", "--url", site.url, "echo", "text=hello", real=True) == (0, "hello\n", "")


async def test_a_configured_server_behind_tls_is_called(home: Home, tmp_path: Path) -> None:
    # Its command learns of TLS only from the configuration, when the event loop's own TLS was left out.
    make_certificate(tmp_path, "127.0.0.1")
    home.write("home/.config/mooring/settings.json", {"network": {"ca": str(tmp_path / "cert.pem")}})
    async with Site() as site:
        server, url = await serve_tls(tmp_path, site)
        async with server:
            home.configure(web={"type": "http", "url": url})
            assert await run(home, "call", "web.echo", "text=sealed", real=True) == (0, "sealed\n", "")


async def test_headers_go_with_every_request(home: Home) -> None:
    async with Site() as site:
        await run(
            home, "call", "--url", site.url, "-H", "Authorization: Bearer x:y", "-H", "X-Two: 2", "echo", "text=a"
        )
        seen = {(heard.headers.get("Authorization"), heard.headers.get("X-Two")) for heard in site.heard}
        assert seen == {("Bearer x:y", "2")}


async def test_a_server_that_wants_a_login_says_so_with_exit_code_3(home: Home) -> None:
    def refuse(heard: ReceivedRequest) -> web.Response:
        return web.Response(status=401, headers={"WWW-Authenticate": 'Bearer realm="x"'})

    async with Site() as site:
        for method in ("initialize", "server/discover"):
            site.answers[method] = refuse
        code, out, err = await run(home, "tools", "--url", site.url)
        assert (code, out) == (3, "")
        assert err.startswith("mooring: ")
        assert err.count("\n") == 1


async def test_a_call_that_ends_with_an_http_status_says_whether_it_may_have_run(home: Home) -> None:
    async with Site() as site:
        for status, ending in ((500, ". It may have run.\n"), (400, "Bad Request.\n")):
            site.answers["tools/call"] = lambda heard, status=status: web.Response(status=status)
            code, out, err = await run(home, "call", "--url", site.url, "echo", "text=a")
            assert (code, out) == (1, "")
            assert err.endswith(ending)


async def test_a_server_that_hangs_is_given_up_at_the_deadline_with_exit_code_5(home: Home) -> None:
    async def hang(heard: ReceivedRequest) -> None:
        await asyncio.sleep(30)

    async with Site() as site:
        site.answers["tools/call"] = hang
        code, _, err = await run(home, "call", "--url", site.url, "echo", "text=x", "--timeout", "1")
        assert (code, "within 1 s" in err) == (5, True)


async def test_the_settings_name_the_proxy(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"network": {"proxy": "http://127.0.0.1:9"}})
    code, _, err = await run(home, "tools", "--url", "http://far.example/mcp")
    assert (code, err) == (1, "mooring: http://far.example/mcp cannot be reached: Connection refused.\n")


async def test_what_is_on_this_machine_is_reached_without_the_proxy_of_the_settings(home: Home) -> None:
    async with Site() as site:
        home.write("home/.config/mooring/settings.json", {"network": {"proxy": "http://127.0.0.1:9"}})
        assert (await run(home, "tools", "--url", site.url))[0] == 0


async def test_a_project_cannot_name_the_proxy(home: Home) -> None:
    async with Site() as site:
        home.write("project/.mooring/settings.json", {"network": {"proxy": site.origin}})
        await run(home, "tools", "--url", "http://far.invalid/mcp")
        assert site.heard == []


async def test_no_guard_is_started_for_an_address(home: Home) -> None:
    async with Site() as site:
        seen: list[int] = []

        def look(heard: ReceivedRequest) -> dict[str, object]:
            seen.append(count_guards())
            return {"content": []}

        site.answers["tools/call"] = look
        await run(home, "call", "--url", site.url, "echo")
        assert seen == [0]


def test_a_guard_would_be_seen() -> None:
    guard = start_guard()
    deadline = time.monotonic() + 100
    while count_guards() != 1 and time.monotonic() < deadline:  # its words can be read a moment after it was started
        time.sleep(0.001)
    seen = count_guards()
    guard.channel.close()
    os.waitpid(guard.pid, 0)
    assert (seen, count_guards()) == (1, 0)


def count_guards() -> int:
    """How many guards run below this process."""
    found = [path.parent for path in Path("/proc").glob("[0-9]*/cmdline") if b"guard.main" in _read(path)]
    return sum(_is_descendant(path) for path in found)


def _is_descendant(process: Path) -> bool:
    while process.name not in ("0", str(os.getpid())):
        status = _read(process / "status").partition(b"PPid:")[2].split()
        process = Path("/proc") / (status[0].decode() if status else "0")
    return process.name != "0"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize(("path", "usual"), [("", "/mcp or /sse"), ("/mcp", "/sse or /"), ("/other", "/mcp or /sse")])
@pytest.mark.parametrize("words", [["mcp", "test"], ["call", "echo"]])
async def test_a_wrong_path_is_named_as_such(words: list[str], path: str, usual: str, home: Home) -> None:
    async with Site() as site:
        for method in ("initialize", "server/discover", "GET"):
            site.answers[method] = lambda heard: web.Response(status=404)
        code, _, err = await run(home, *words, "--url", f"{site.origin}{path}")
        assert code == 1
        assert f"The server answers, but not at this path; many servers are at {usual}.\n" in err


@pytest.mark.parametrize("words", [["mcp", "test"], ["call", "echo"]])
async def test_a_server_without_tls_is_named_as_such(words: list[str], home: Home) -> None:
    async with Site() as site:
        code, _, err = await run(home, *words, "--url", site.url.replace("http:", "https:"))
        assert (code, "it speaks no TLS; write http:// in its URL." in err, "_ssl" in err) == (1, True, False)


@pytest.mark.parametrize("words", [["mcp", "test"], ["call", "echo"]])
async def test_a_server_that_hangs_up_on_plain_http_may_expect_tls(words: list[str], home: Home) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        code, _, err = await run(home, *words, "--url", f"http://127.0.0.1:{port}/mcp")
        assert (code, "If it expects TLS, write https:// in its URL." in err, "may have run" in err) == (1, True, False)
        told = (await run(home, "tools", "--json", "--url", f"http://127.0.0.1:{port}/mcp"))[2]
        assert json.loads(told)["error"]["hint"] == "If it expects TLS, write https:// in its URL."


async def test_a_refusal_of_plain_http_says_what_to_write(home: Home) -> None:
    page = "<html><h1>400 Bad Request</h1>The plain HTTP request was sent to HTTPS port</html>"
    async with Site() as site:
        for method in ("initialize", "server/discover", "GET"):
            site.answers[method] = lambda heard: web.Response(status=400, text=page, content_type="text/html")
        code, _, err = await run(home, "call", "--url", site.url, "echo")
        assert (code, "it expects TLS; write https:// in its URL." in err) == (1, True)
