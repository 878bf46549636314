"""What a program holds, as a shell or a notebook shows it: short, without secrets, and never as markup of a server's."""

import base64
import builtins
import inspect
import pydoc
import re
from html.parser import HTMLParser
from typing import Any

import pytest

import mooring
import mooring.testing
from support import DEMO, Home, live_server

EVIL = '<script>alert("x")</script>'
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(5_000)).decode()
LONG = "word " * 10_000


class Markup(HTMLParser):
    """The tags and the text of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


TABLE = {"table", "thead", "tbody", "tr", "th", "td"}


def make_server() -> mooring.testing.Server:
    server = mooring.testing.Server("x")
    tool = {"name": EVIL, "description": EVIL, "inputSchema": {"type": "object"}}
    content = [{"type": "text", "text": EVIL + LONG}, {"type": "image", "data": PIXEL, "mimeType": "image/png"}]
    server.answer("tools/list", lambda params, call: {"tools": [tool]})
    server.answer("tools/call", lambda params, call: {"content": content})
    return server


async def test_servers_tools_and_statuses_are_tables_that_hold_no_markup_of_a_server(home: Home) -> None:
    servers = {EVIL: make_server(), "gone": {"command": f"/nowhere/{EVIL}"}}
    async with mooring.open(request=home.request(), servers=servers, policy="allow") as host:
        assert list(await host.ready()) == ["gone"]
        for shown in (host.servers, host.tools, host.status()):
            html = shown._repr_html_()  # type: ignore[attr-defined]
            assert Markup(html).tags == TABLE
            assert EVIL not in html
            assert "alert" in Markup(html).text
        assert "connected" in Markup(host.status()._repr_html_()).text  # type: ignore[attr-defined]
        # Everything else takes them for what they are.
        assert isinstance(host.tools, tuple)
        assert isinstance(host.status(), dict)
        assert host.tools is host.tools


async def test_a_table_shows_hidden_characters_as_escapes(home: Home) -> None:
    async with mooring.open(request=home.request(), servers={"a\u202eb": make_server()}) as host:
        html = host.status()._repr_html_()  # type: ignore[attr-defined]
        assert "\u202e" not in html
        assert "a\\u202eb" in html


async def test_results_show_their_text_and_images_and_nothing_a_server_could_run(home: Home) -> None:
    async with mooring.open(request=home.request(), servers={"x": make_server()}, policy="allow") as host:
        await host.ready()
        result = await host.call(host.tools[0])
        async with host.conversation() as tools:
            outcome = await tools.call(host.tools[0].name)
    for shown in (result, outcome):
        html = shown._repr_html_()
        assert Markup(html).tags == {"pre", "img"}
        assert f'<img src="data:image/png;base64,{PIXEL}">' in html
        assert EVIL in Markup(html).text
        assert len(repr(shown)) < 300
    image = next(block for block in result.content if isinstance(block, mooring.Image))
    assert image._repr_mimebundle_() == {"text/plain": "Image('image/png', 4 KB)", "image/png": PIXEL}


def test_only_images_that_cannot_run_anything_are_shown() -> None:
    svg = base64.b64encode(f"<svg>{EVIL}</svg>".encode()).decode()
    for data, kind in [(svg, "image/svg+xml"), (f'x">{EVIL}', "image/png"), (PIXEL, 'image/png"><script>')]:
        image = mooring.Image(data=data, mime_type=kind)
        assert list(image._repr_mimebundle_()) == ["text/plain"]
        assert Markup(mooring.Result((image,))._repr_html_()).tags == {"pre"}


async def test_everything_that_a_program_holds_has_a_short_repr_without_secrets(home: Home) -> None:
    entry = {**DEMO, "env": {"TOKEN": "canary-secret"}, "args": [*DEMO["args"], "--token=canary-secret"]}
    web = {"url": "https://canary-secret@example.com/x", "headers": {"Authorization": "canary-secret"}}
    host = mooring.open(request=home.request(), servers={"demo": entry, "web": web}, policy="allow")
    assert repr(host) == "<Host, not open yet>"
    async with host:
        await host.ready(servers=["demo"])
        result = await host.call("demo.echo", {"text": LONG})
        session = await live_server(host, "demo").session()
        registry = host.conversation()
        async with registry:
            outcome = await registry.call("mcp__demo__echo", {"text": LONG})
            held = [
                *(host, host.servers, host.servers["demo"], host.tools[0], host.tools[0].definition, host.status()),
                *(host.servers["demo"].config, host.servers["web"].config, host.servers["web"].config.connection),
                *(registry, registry.definitions[0], session, session.hello, result, outcome, *result.content),
                *(*await host.resources("demo"), *await host.prompts("demo"), await host.read("demo", "demo://readme")),
                *(*host.status().values(), await host.prompt("demo", "explain", {"topic": "tides"})),
            ]
        assert repr(host) == "<Host of 2 servers, 7 tools>"
        assert repr(registry) == "<Conversation, closed>"
        assert repr(session) == "<Session with demo, 7 tools>"
    assert repr(host) == "<Host, closed>"
    for thing in held:
        assert len(repr(thing)) < 300, thing
        assert "canary" not in repr(thing)
    assert repr(host.troubles) == "()"
    assert len(repr(home.inventory())) < 300


PYTHON = [
    "AbstractAsyncContextManager",
    "Any",
    "AsyncIterator",
    "Awaitable",
    "Callable",
    "Coroutine",
    "Iterable",
    "Literal",
    "Mapping",
    "Self",
    "Sequence",
    "UnsetType",
]


def test_the_names_in_the_help_of_a_host_are_public_or_python_s_own() -> None:
    functions = [mooring.open, mooring.connect, mooring.discover_and_load]
    for name, member in inspect.getmembers(mooring.Host):
        if isinstance(member, property) and member.fget is not None:
            functions.append(member.fget)
        elif inspect.isfunction(member) and not name.startswith("_"):
            functions.append(member)
    known = {*mooring.__all__, *dir(builtins), *PYTHON}
    for function in functions:
        for parameter, annotation in inspect.get_annotations(function).items():
            assert isinstance(annotation, str), f"{function.__qualname__}: help shows {parameter} with a module's path"
            names = set(re.findall(r"\w+", re.sub(r"['\"][^'\"]*['\"]", "", annotation)))
            assert names <= known, (function.__qualname__, parameter, names - known)


@pytest.mark.parametrize("thing", [mooring.open, mooring.Host, mooring.connect], ids=["open", "Host", "connect"])
def test_the_help_shows_no_address_in_memory_and_no_inner_module(thing: Any) -> None:
    shown = pydoc.plain(pydoc.render_doc(thing))
    _, _, body = shown.partition("\n\n")
    assert " at 0x" not in body
    assert re.findall(r"mooring\.(?:core|host|tools|servers|permissions|inventory|wire)\.\S*", body) == []
