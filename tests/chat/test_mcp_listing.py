"""`/mcp` in a chat and `mooring mcp list` in a shell say the same of the same servers."""

import asyncio
import re
import sys
from functools import partial
from pathlib import Path

import pytest

from chat.terminal import Person
from cli.test_status import make_refusing_site
from support import DEMO, Actor, Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal"),
]

READY = "\n> "


def read_chat(shown: str) -> dict[str, tuple[str, str, str]]:
    """The mark, the transport and the status of each server in `/mcp`."""
    lines = re.findall(r"^  (\S) (\S+) \(([^)]*)\) · ([^·(\n]+)", shown, re.M)
    return {name: (mark, transport, status.strip()) for mark, name, transport, status in lines}


def read_table(out: str) -> dict[str, tuple[str, str, str]]:
    """The same of `mooring mcp list`, whose output is a table."""
    table = out.partition("\n\n")[0].splitlines()[1:]
    rows = [re.split(r"\s{2,}", line.strip()) for line in table if not line.startswith("   ")]
    return {name: (mark, transport, status.partition(" (")[0]) for mark, name, status, transport, *_ in rows}


def list_in_chat(home: Home, *, settled: bool = False) -> str:
    """What the chat lists; if it shall be `settled`, once no server is being connected any more."""
    with Person(home, "chat") as person:
        person.sees(READY)
        shown = "connecting"
        while "connecting" in shown:
            person.types("/mcp")
            shown = person.sees("Use `/mcp enable <name>`")
            person.sees(READY)
            if not settled:
                break
        person.types("/quit")
        assert person.ended() == 0
        assert "\x1b[1mMCP Servers" in person.raw
    return shown


def test_the_chat_and_the_shell_name_the_same_servers_states_and_words(home: Home, tmp_path: Path) -> None:
    broken = Actor(tmp_path / "broken.json", die=True)
    home.configure(
        demo=DEMO,
        broken=broken.entry,
        off={"command": "no-such-program", "disabled": True},
        far={"url": "http://127.0.0.1:9/mcp", "disabled": True},
        empty={},
    )
    home.write("project/.mcp.json", {"mcpServers": {"theirs": {"type": "http", "url": "https://their.example/mcp"}}})
    home.write("project/.vscode/mcp.json", {"servers": {"theirs2": {"command": "sh"}}})
    assert run_beside(home, "mcp", "reject", "theirs2").code == 0
    assert run_beside(home, "mcp", "list", "--check").code == 1
    table = read_table(run_beside(home, "mcp", "list").out)
    shown = list_in_chat(home)
    assert "\n    —\n" in shown
    listed = read_chat(shown)
    assert set(listed) == set(table) == {"demo", "broken", "off", "far", "empty", "theirs", "theirs2"}
    # The chat may be connecting the two that can be, which the list never does.
    for name in listed.keys() - {"demo", "broken"}:
        assert listed[name] == table[name]
    assert table["far"][1] == "http"
    assert table["theirs"][2] == "unapproved"


async def test_a_server_that_wants_a_login_says_so_in_both(home: Home) -> None:
    async with make_refusing_site() as site:
        home.configure(site={"type": "http", "url": site.url})
        assert (await asyncio.to_thread(run_beside, home, "tools", "site")).code == 3
        out = (await asyncio.to_thread(run_beside, home, "mcp", "list")).out
        shown = await asyncio.to_thread(partial(list_in_chat, home, settled=True))
    assert read_table(out)["site"] == ("?", "http", "needs login")
    assert read_chat(shown)["site"] == ("?", "http", "needs login")
