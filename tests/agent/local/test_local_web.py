"""WebFetch and WebSearch, TodoWrite and AskUserQuestion: what goes out, what comes back, and who is asked."""

import asyncio
import gzip
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from desk import ONCE, Reader, allow, deny, desk_in, desk_with, host_in

import mooring
from mooring.agents.local.web import WebFetchArguments, WebFetchTool, extract_text, parse_web_address
from mooring.core.conversation.event import Todo
from mooring.core.conversation.question import Form, No, Yes
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.protocol.content import Image
from mooring.errors import ConfigError
from mooring.permissions.argument_match import AccessPattern
from support import DEMO, Home

PAGE = b"<html><head><title>T</title><style>x{}</style></head><body><h1>Head</h1><p>One &amp; two <a href='/x'>link</a></p><script>evil()</script></body></html>"


def answer(body: bytes, kind: str = "text/html; charset=utf-8", status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class Site:
    """A web server on this machine that answers by path, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {"/": answer(PAGE)}
        self.asked: list[str] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split(" ")[1]
        self.asked.append(path)
        writer.write(self.pages.get(path, answer(b"none", "text/plain", "404 Not Found")))
        await writer.drain()
        writer.close()


@asynccontextmanager
async def open_site() -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site


async def test_a_page_comes_as_its_text(home: Home) -> None:
    async with open_site() as site, desk_in(home, answer=ONCE) as desk:
        told = await desk.text("WebFetch", url=f"{site.url}/", prompt="what is there?")
        assert told == f"[The text of {site.url}/]\nHead\n\nOne & two link (/x)"
        site.pages["/json"] = answer(b'{"a": 1}', "application/json")
        assert '{"a": 1}' in await desk.text("WebFetch", url=f"{site.url}/json")
        site.pages["/zipped"] = answer(gzip.compress(b"small"), "text/plain", Content_Encoding="gzip")
        assert "small" in await desk.text("WebFetch", url=f"{site.url}/zipped")
        site.pages["/png"] = answer(b"\x89PNG", "image/png")
        assert any(isinstance(part, Image) for part in (await desk.call("WebFetch", url=f"{site.url}/png")).parts)
        site.pages["/zip"] = answer(b"PK", "application/zip")
        assert "is not text" in await desk.failure("WebFetch", url=f"{site.url}/zip")
        assert "HTTP status 404" in await desk.failure("WebFetch", url=f"{site.url}/nowhere")


async def test_this_machine_and_private_networks_are_asked_about_whatever_rules_and_modes_allow(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"permissionMode": "bypass"})
    async with open_site() as site, desk_in(home, allow("WebFetch"), allow("WebFetch(domain:127.0.0.1)")) as desk:
        for host in (
            "127.0.0.1",
            "localhost",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "10.0.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "printer.local",
            "x.localhost",
        ):
            await desk.failure("WebFetch", url=f"http://{host}:{site.port}/")
            assert "private network" in desk.person.last.why
        assert len(desk.person.asked) == 9
        assert site.asked == []


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1", "0177.0.0.1"])
async def test_a_name_that_leads_inside_is_not_contacted_even_with_a_yes(home: Home, host: str) -> None:
    async with open_site() as site, desk_in(home, answer=ONCE) as desk:
        told = await desk.failure("WebFetch", url=f"http://{host}:{site.port}/")
        assert "inside a private network or on this machine" in told or "not a canonical" in told
        assert site.asked == []


async def test_a_redirect_is_followed_on_its_host_and_told_of_beyond(home: Home) -> None:
    async with open_site() as site, desk_in(home, answer=ONCE) as desk:
        site.pages["/here"] = answer(b"", status="302 Found", Location="/")
        assert "Head" in await desk.text("WebFetch", url=f"{site.url}/here")
        site.pages["/there"] = answer(b"", status="302 Found", Location=f"http://localhost:{site.port}/")
        told = await desk.text("WebFetch", url=f"{site.url}/there")
        assert told == f"It redirects to another origin, which was not followed: http://localhost:{site.port}/"
        site.pages["/round"] = answer(b"", status="302 Found", Location="/round")
        assert "redirects too often" in await desk.failure("WebFetch", url=f"{site.url}/round")
        site.pages["/file"] = answer(b"", status="302 Found", Location="file:///etc/passwd")
        assert "must begin with http" in await desk.failure("WebFetch", url=f"{site.url}/file")


async def test_a_page_without_end_and_a_bomb_are_cut_off(home: Home) -> None:
    async with open_site() as site, desk_in(home, answer=ONCE) as desk:
        site.pages["/large"] = answer(b"x" * (6 * 1024 * 1024), "text/plain")
        assert "larger than 5 MiB" in await desk.failure("WebFetch", url=f"{site.url}/large")
        site.pages["/bomb"] = answer(zlib.compress(bytes(50 * 1024 * 1024)), "text/plain", Content_Encoding="deflate")
        assert "larger than 5 MiB" in await desk.failure("WebFetch", url=f"{site.url}/bomb")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://x/y",
        "https://user:pw@example.com",
        "http://",
        "x",
        "http://a:99999/",
        "gopher://x",
        "http://[::1",
    ],
)
async def test_what_is_no_address_of_the_web_is_refused(home: Home, url: str) -> None:
    with pytest.raises(ConfigError):
        parse_web_address(url)
    async with desk_in(home, answer=ONCE) as desk:
        assert "WebFetch" in await desk.failure("WebFetch", url=url)
        assert desk.person.asked == []


def test_a_rule_about_a_domain_means_that_host() -> None:
    def fetch(url: str) -> LocalAccess:
        address = parse_web_address(url)
        return LocalAccess(kind="domain", subject=address.place, spellings=(address.url, f"origin:{address.origin}"))

    exact, below = AccessPattern("domain:example.com"), AccessPattern("domain:*.example.com")
    assert exact.covers(fetch("https://EXAMPLE.com./x"))
    for url in (
        "https://example.com.evil.org/",
        "https://evil.org/example.com",
        "https://www.example.com/",
        "https://evil.org/?domain:example.com",
    ):
        assert not exact.covers(fetch(url))
    assert below.covers(fetch("https://www.example.com"))
    assert not AccessPattern("https://*.example.com/*").covers(fetch("https://evil.org/x.example.com/y"))
    assert exact.touches(fetch("https://www.example.com/"))
    assert AccessPattern("https://evil.org/*").touches(fetch("https://evil.org/x"))


def test_a_rule_and_an_answer_are_for_an_origin() -> None:
    def fetch(url: str) -> LocalAccess:
        tool = WebFetchTool.__new__(WebFetchTool)  # it fetches nothing here
        return tool.assess(WebFetchArguments(url))

    host = AccessPattern("domain:example.com")
    for url in ("https://example.com", "http://example.com:80/", "https://example.com:443/x"):
        assert host.covers(fetch(url))
    elsewhere = ("https://example.com:8443/", "http://example.com:443/", "https://example.com:80")
    for url in elsewhere:
        assert not host.covers(fetch(url))
        assert not AccessPattern("domain:*").covers(fetch(url))
        assert host.touches(fetch(url))
    assert AccessPattern("domain:example.com:8443").covers(fetch("https://example.com:8443"))
    for url in ("https://example.com/a", "http://[::1]:8080/"):
        granted = AccessPattern(fetch(url).grant)
        assert granted.covers(fetch(url))
        assert not any(granted.covers(fetch(other)) for other in (*elsewhere, "http://example.com", "http://[::1]/"))


async def test_a_redirect_to_another_port_is_not_followed(home: Home) -> None:
    async with open_site() as site, open_site() as inner, desk_in(home, answer=ONCE) as desk:
        site.pages["/port"] = answer(b"", status="302 Found", Location=f"{inner.url}/")
        told = await desk.text("WebFetch", url=f"{site.url}/port")
        assert told == f"It redirects to another origin, which was not followed: {inner.url}/"
        assert inner.asked == []


async def test_a_rule_lets_a_page_be_fetched_unasked_and_a_deny_stands_against_it(home: Home) -> None:
    async with desk_in(home, deny("WebFetch(domain:example.org)"), allow("WebFetch(domain:*.example.org)")) as desk:
        assert desk.registry.may("WebFetch", {"url": "https://www.example.org"}).action == "deny"
    async with desk_in(home, allow("WebFetch(domain:example.org)")) as desk:
        assert desk.registry.may("WebFetch", {"url": "https://example.org/x"}).action == "allow"
        assert desk.registry.may("WebFetch", {"url": "https://example.net/x"}).action == "ask"


@pytest.mark.parametrize(
    "page",
    [
        "<!--" * 300_000,
        "<" * 1_000_000,
        "<script>" * 150_000,
        "<a href=" * 150_000,
        "<p" * 500_000,
        "&" * 1_000_000,
        "<![CDATA[" * 100_000,
        "<a x='" * 200_000,
        "</" * 500_000,
    ],
)
def test_no_page_takes_long_to_read(page: str) -> None:
    began = time.process_time()
    extract_text(page)
    assert time.process_time() - began < 10


def test_the_text_of_a_page_is_what_a_person_reads() -> None:
    html = "<ul><li>a<li>b</ul>1 < 2 &lt;b&gt;<br/>x<!-- no --><template>no</template><td>1</td><td>2</td><SCRIPT>no</SCRIPT >end<style>"
    assert extract_text(html) == "- a\n- b\n1 < 2 <b>\nx1 2 end"


async def test_a_search_is_the_tool_that_the_person_chose_and_passes_its_gate(home: Home) -> None:
    home.configure(demo=DEMO)
    async with desk_in(home) as desk:
        assert '{"webSearch": "SERVER.TOOL"}' in await desk.failure("WebSearch", query="x")
    home.write("home/.config/mooring/settings.json", {"webSearch": "demo.find"})
    async with host_in(home) as host:
        await host.ready()
        async with desk_with(host, home, Reader()) as desk:
            assert "no server offers demo.find" in await desk.failure("WebSearch", query="x")
    home.write("home/.config/mooring/settings.json", {"webSearch": "demo.echo"})
    async with host_in(home) as host:
        await host.ready()
        async with desk_with(host, home, Reader()) as desk:
            assert "the answer was no" in await desk.failure("WebSearch", query="x")
            desk.person.answer = ONCE
            told = await desk.text(
                "WebSearch", query="words", allowed_domains=["a.org", "b.org"], blocked_domains=["c.org"]
            )
            assert "words site:a.org OR site:b.org -site:c.org" in told
            assert [(question.server, question.tool) for question in desk.person.asked] == [("demo", "echo")] * 2


async def test_a_plan_is_told_and_belongs_to_one_conversation(home: Home) -> None:
    from mooring.agents.local.toolbox import local_tools

    plans: list[tuple[Todo, ...]] = []
    async with host_in(home) as host:
        tools = local_tools(home.where, str(home.cwd), host.guard, on_plan=plans.append)
        async with host.conversation(more=tools) as one, desk_with(host, home, Reader()) as other:
            steps = [
                {"content": "look", "status": "completed", "activeForm": "Looking"},
                {"content": "do", "status": "in_progress"},
            ]
            outcome = await one.call("TodoWrite", {"todos": steps})
            assert outcome.text == "Noted: 2 steps, 1 to do."
            await other.text("TodoWrite", todos=[])
    assert plans == [(Todo("look", "completed"), Todo("do", "in_progress"))]


QUESTIONS = [
    {
        "question": "Which database?",
        "header": "Database",
        "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres"}],
    },
    {"question": "Which checks?", "options": [{"label": "lint"}, {"label": "types"}], "multiSelect": True},
]


async def test_the_person_is_asked_with_a_form_and_the_model_told_what_they_chose(home: Home) -> None:
    chosen = Yes({"1. Database": "SQLite", "2. answer": ["lint", "types"], "other": "and be quick"})
    async with desk_in(home, answer=chosen) as desk:
        told = await desk.text("AskUserQuestion", questions=QUESTIONS)
        assert told == "Which database? SQLite\nWhich checks? lint, types\nIn their own words: and be quick"
        (form,) = desk.person.asked
        assert isinstance(form, Form)
        assert "SQLite: one file" in form.message
        desk.person.answer = No("later")
        assert await desk.text("AskUserQuestion", questions=QUESTIONS) == "The person did not answer: later"
        desk.person.answer = No(nobody=True)
        assert "nobody to ask" in await desk.failure("AskUserQuestion", questions=QUESTIONS)


async def test_every_tool_has_a_schema_that_providers_take(home: Home) -> None:
    async with host_in(home) as host:
        for provider in ("anthropic", "openai", "openai-strict", "gemini", "ollama"):
            async with desk_with(host, home, Reader(), provider=provider) as desk:
                names = {definition.name for definition in desk.registry.definitions}
                wanted = {
                    "Read",
                    "Write",
                    "Edit",
                    "Glob",
                    "Grep",
                    "LS",
                    "Bash",
                    "BashOutput",
                    "KillShell",
                    "NotebookRead",
                    "NotebookEdit",
                    "TodoWrite",
                    "WebFetch",
                    "WebSearch",
                    "AskUserQuestion",
                }
                assert wanted <= names
                assert isinstance(desk.registry, mooring.Conversation)
