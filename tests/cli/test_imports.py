"""What a listing and a call load: the list of modules is kept, so that start-up cannot grow unnoticed."""

import fcntl
import json
import os
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from support import Home

HEAVY = ["asyncio", "aiohttp", "textual", "rich", "mcp", "pydantic", "keyring", "httpx", "yaml", "watchfiles",
         "importlib.metadata", "typing_extensions", "inspect", "email", "hashlib", "secrets", "tomllib", "subprocess", "socket", "ssl", "urllib",
         "pydantic_ai", "anthropic", "openai", "google.genai", "genai_prices", "httpx2", "pathlib", "dataclasses", "unittest", "logging", "difflib", "shutil", "tempfile", "http", "xml", "locale"]  # fmt: skip

OURS = [
    "mooring", "mooring.cli", "mooring.cli.app", "mooring.cli.base", "mooring.cli.command_line",
    "mooring.cli.interrupts", "mooring.cli.mcp", "mooring.cli.mcp.list", "mooring.core", "mooring.core.conversation",
    "mooring.core.conversation.backend_name", "mooring.core.conversation.effort",
    "mooring.core.conversation.status_word", "mooring.core.definitions",
    "mooring.core.definitions.approved", "mooring.core.definitions.config", "mooring.core.definitions.paths",
    "mooring.core.definitions.problem", "mooring.core.definitions.template", "mooring.core.protocol",
    "mooring.core.protocol.era", "mooring.core.protocol.failure", "mooring.core.protocol.units", "mooring.core.text",
    "mooring.core.text.secret", "mooring.core.text.suggestions", "mooring.discovery", "mooring.discovery.choose",
    "mooring.discovery.dialect", "mooring.discovery.documents", "mooring.discovery.entry", "mooring.discovery.format",
    "mooring.discovery.formats", "mooring.discovery.mentions", "mooring.discovery.scan", "mooring.discovery.template",
    "mooring.discovery.values", "mooring.display", "mooring.display.status", "mooring.display.tables", "mooring.display.text", "mooring.errors",
    "mooring.files", "mooring.files.owner", "mooring.files.reading", "mooring.files.record", "mooring.inventory",
    "mooring.inventory.load", "mooring.inventory.overlay", "mooring.permissions", "mooring.permissions.trust",
    "mooring.servers", "mooring.servers.records", "mooring.settings", "mooring.syntax", "mooring.syntax.document",
    "mooring.syntax.parse", "mooring.verbs", "mooring.verbs.config", "mooring.verbs.config.get",
    "mooring.verbs.config.known", "mooring.verbs.config.list", "mooring.verbs.mcp_rows", "mooring.verbs.parse",
    "mooring.verbs.rows",
    "mooring.verbs.verb",
]  # fmt: skip
CODE = """
import sys, contextlib, io
from mooring import cli
with contextlib.redirect_stdout(io.StringIO()):
    cli._run_command()
loaded = sorted(sys.modules)
import json
print(json.dumps(loaded))
"""


UNUSED_BY_A_PROMPT = [
    "mooring.servers.server", "mooring.servers.supervisor", "mooring.servers.launch.prepare", "mooring.wire.session.session",
    "mooring.wire.rpc.peer", "mooring.wire.stdio.pipes", "mooring.tools.search.index", "importlib.metadata", "html",
    "attr.validators", "idna", "aiohttp.tracing", "inspect", "platform", "typing_extensions", "email.policy", "urllib.request", "msgspec.inspect", "pydantic", "httpx", "httpx2", "anthropic", "openai", "keyring", "rich", "textual", "yaml",
]  # fmt: skip


def loaded(home: Home, *words: str) -> list[str]:
    home.write("home/.mcp.json", {"mcpServers": {"x": {"command": "sh"}}})
    return loaded_without_servers(home, *words)


def loaded_without_servers(home: Home, *words: str, env: Mapping[str, str] | None = None) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words],
        cwd=home.cwd,
        env={**home.env, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    names: list[str] = json.loads(done.stdout)
    return names


def test_a_listing_loads_nothing_heavy(home: Home) -> None:
    assert [name for name in loaded(home, "mcp", "list") if name in HEAVY] == []


def test_a_listing_loads_exactly_these_modules_of_ours(home: Home) -> None:
    ours = [name for name in loaded(home, "mcp", "list") if name.split(".")[0] == "mooring"]
    assert [name for name in ours if not name.startswith("mooring.discovery.formats.")] == OURS


def test_a_call_of_a_configured_server_loads_at_most_220_modules_of_ours(home: Home) -> None:
    ours = [name for name in loaded(home, "--demo", "call", "demo.echo", "text=x") if name.split(".")[0] == "mooring"]
    assert "mooring.conversation.calls" in ours
    assert len(ours) <= 220


def test_a_call_of_a_program_loads_neither_tls_nor_what_describes_objects(home: Home) -> None:
    names = loaded(home, "--demo", "call", "demo.echo", "text=x")
    assert "asyncio.base_events" in names
    assert {"ssl", "asyncio.sslproto", "inspect", "locale", "msgspec.inspect", "platform"}.isdisjoint(names)


def test_a_prompt_without_servers_loads_at_most_295_modules_of_ours_and_nothing_that_servers_need(home: Home) -> None:
    with FakeModel([Say("hello")]) as model:
        names = loaded_without_servers(home, "chat", "-p", "Hi", "-m", MODELS["anthropic"], env=variables(model))
    assert "mooring.backends.api.codecs.anthropic_reply" in names
    assert [name for name in names if name in UNUSED_BY_A_PROMPT] == []
    assert len([name for name in names if name.split(".")[0] == "mooring"]) <= 295


def test_what_a_command_left_out_is_loaded_by_whoever_uses_it(home: Home) -> None:
    code = """
import sys
sys.argv = ["mooring", "--demo", "call", "demo.echo", "text=x"]
from mooring import cli
cli._run_command()
import asyncio, asyncio.sslproto, inspect, locale, msgspec, platform, ssl
print(
    asyncio.base_events.ssl.SSLContext is ssl.SSLContext,
    asyncio.base_events.sslproto.SSLProtocol is asyncio.sslproto.SSLProtocol,
    asyncio.iscoroutinefunction(print),
    inspect.isfunction(cli.main),
    msgspec.inspect.type_info(int) == msgspec.inspect.IntType(),
    msgspec.json.schema(int) == {"type": "integer"},
    platform.machine() != "",
)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100
    )
    assert (done.stdout, done.stderr) == ("x\nTrue True False True True True True\n", "")


def test_mooring_itself_and_the_choice_of_a_model_load_no_library_of_a_provider(home: Home) -> None:
    code = """
import sys
import mooring, mooring.backends.api.choice, mooring.backends.api.choose
for name in mooring.__all__:
    getattr(mooring, name)
print([name for name in ("pydantic_ai", "pydantic", "httpx2", "anthropic", "openai", "genai_prices") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_call_of_a_server_named_by_its_command_loads_nothing_that_reads_configurations(home: Home) -> None:
    server = shlex.join([sys.executable, "-I", "-m", "mooring.demo"])
    names = loaded(home, "tools", "--server", server)
    assert "mooring.wire.session.session" in names
    assert [name for name in names if name.startswith(("mooring.discovery", "mooring.inventory.load"))] == []


DRAWING = """
import json, os, sys
from importlib.machinery import PathFinder

class Watching:
    # Textual is changed when Mooring loads it, and not before: what it loads is counted too.
    def find_spec(self, name, path=None, target=None):
        if name != "textual.app":
            return None
        spec = PathFinder.find_spec(name, path)
        load = spec.loader.exec_module

        def load_and_change(module):
            load(module)
            module.App._display = note

        spec.loader.exec_module = load_and_change
        return spec

def note(app, screen, renderable):
    drawn = renderable.render_segments(app.console)
    with open(os.environ["REPORT"], "w") as file:
        json.dump({"drawn": drawn, "loaded": sorted(sys.modules)}, file)
    os._exit(0)

sys.meta_path.insert(0, Watching())
from mooring import cli
cli.main()
"""


def load_until_drawn(home: Home, report: Path) -> Any:
    """What a chat at a terminal draws first, and what it has loaded by then."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    env = {**home.env, "TERM": "xterm-256color", "LANG": "C.UTF-8", "REPORT": str(report)}
    command = [sys.executable, "-c", DRAWING, "chat"]
    try:
        subprocess.run(command, cwd=home.cwd, env=env, stdin=slave, stdout=slave, stderr=slave, timeout=100, check=True)
    finally:
        os.close(slave)
        os.close(master)
    return json.loads(report.read_text())


@pytest.mark.processes
def test_the_input_is_drawn_with_at_most_130_modules_of_ours_and_nothing_that_has_a_chat(
    home: Home, tmp_path: Path
) -> None:
    found = load_until_drawn(home, tmp_path / "report.json")
    assert "❯" in found["drawn"]
    ours = [name for name in found["loaded"] if name.split(".")[0] == "mooring"]
    assert "mooring.chat.screen.transcript" in ours
    assert len(ours) <= 130
    assert {
        "mooring.chat.session", "mooring.host.host", "mooring.conversation.conversation", "mooring.agents.history",
        "mooring.servers.fleet", "mooring.wire.rpc.peer", "aiohttp", "sqlite3", "PIL", "pydantic", "keyring",
    }.isdisjoint(found["loaded"])  # fmt: skip


LOADING = """
import asyncio, sys, threading
import mooring

class Seen:
    threads = []
    def find_spec(self, name, path=None, target=None):
        if name == "aiohttp":
            self.threads.append(threading.current_thread() is threading.main_thread())

sys.meta_path.insert(0, Seen())

async def main():
    try:
        async with mooring.connect("http://127.0.0.1:9/mcp"):  # nothing listens there
            pass
    except mooring.ServerError:
        pass

asyncio.run(main())
print(Seen.threads)
"""


def test_what_speaks_http_is_loaded_beside_the_event_loop(home: Home) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100
    )
    assert (done.stdout, done.stderr) == ("[False]\n", "")
