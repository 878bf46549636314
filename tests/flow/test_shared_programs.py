"""Two names of one program: they may share its process, and nothing that belongs to a name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import mooring
from mooring.core.conversation.question import Allow, Answer, Permission, Question
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Http, Origin, ServerConfig
from mooring.core.definitions.template import literal
from mooring.host.host import Host
from mooring.inventory.approval import decide, list_questions
from mooring.permissions.audit import read_log
from mooring.verbs.config.pins import approve_tools, list_pinned
from support import Actor, Cli, Home


@asynccontextmanager
async def opened(home: Home, **options: Any) -> AsyncIterator[Host]:
    async with mooring.open(request=home.request(), **{"policy": "allow", **options}) as host:
        yield host


@pytest.fixture
def actor(tmp_path: Path) -> Actor:
    return Actor(tmp_path / "actor.json")


def configure(home: Home, **servers: Any) -> None:
    home.write("home/.config/mooring/mcp.json", {"mcpServers": servers})


def settings(home: Home, *rules: dict[str, str], **more: Any) -> None:
    home.write("home/.config/mooring/settings.json", {"permissions": list(rules), **more})


async def pids(host: Host) -> list[str]:
    return [(await host.call(f"{name}.whoami")).text for name in ("aaa", "zzz")]


async def test_two_names_that_say_the_same_share_a_process(home: Home, actor: Actor) -> None:
    same = {**actor.entry, "blockedTools": ["die"], "timeout": 20_000}
    configure(home, aaa=same, zzz=same)
    async with opened(home) as host:
        one, other = await pids(host)
        assert one == other
        assert {entry.server for entry in host.tools} == {"aaa"}


DIFFERENT = [
    {"blockedTools": ["count"]},
    {"allowedTools": ["whoami"]},
    {"timeout": 30_000},
    {"startTimeout": 30_000},
    {"callTimeout": 30_000},
    {"required": True},
    {"lifecycle": "keep-alive"},
    {"alwaysLoad": True},
]


@pytest.mark.parametrize("extra", DIFFERENT, ids=lambda extra: next(iter(extra)))
@pytest.mark.parametrize("restricted", ["aaa", "zzz"])
async def test_an_entry_keeps_what_it_says_for_itself_whichever_name_comes_first(
    home: Home, actor: Actor, extra: dict[str, Any], restricted: str
) -> None:
    configure(home, **{"aaa": actor.entry, "zzz": actor.entry, restricted: {**actor.entry, **extra}})
    async with opened(home) as host:
        plain = "zzz" if restricted == "aaa" else "aaa"
        configs = {name: host.approved(name).options for name in ("aaa", "zzz")}
        assert host.servers[restricted].approved.options == configs[restricted] != configs[plain]
        assert host.servers[plain].approved.options == configs[plain]


@pytest.mark.parametrize("extra", DIFFERENT[:2], ids=["blocked", "allowed"])
async def test_a_tool_that_one_name_leaves_out_is_called_under_the_other_alone(
    home: Home, actor: Actor, extra: dict[str, Any]
) -> None:
    configure(home, aaa=actor.entry, zzz={**actor.entry, **extra})
    async with opened(home) as host:
        with pytest.raises(mooring.UnknownTool, match="its configuration leaves it out"):
            await host.call("zzz.count")
        await host.call("aaa.count")
    assert len(actor.done("counts")) == 1


def test_the_command_line_refuses_what_an_entry_blocks(home: Home, actor: Actor, cli: Cli) -> None:
    configure(home, aaa=actor.entry, zzz={**actor.entry, "blockedTools": ["count"]})
    refused = cli("call", "zzz.count")
    assert refused.code != 0
    assert "zzz" in refused.err
    assert actor.done("counts") == []
    assert cli("call", "aaa.count").code == 0


async def test_a_deny_of_either_name_holds_for_both_and_an_allow_for_its_own(home: Home, actor: Actor) -> None:
    configure(home, aaa=actor.entry, zzz=actor.entry)
    for denied in ("aaa", "zzz"):
        settings(home, {"tool": f"{denied}.*", "action": "deny"})
        async with opened(home) as host:
            for name in ("aaa", "zzz"):
                with pytest.raises(mooring.Denied, match=f"deny {denied}"):
                    await host.call(f"{name}.count")
    for allowed, other in (("aaa", "zzz"), ("zzz", "aaa")):
        settings(home, {"tool": f"{allowed}.*", "action": "allow"})
        async with opened(home, policy="ask") as host:
            await host.call(f"{allowed}.count")
            with pytest.raises(mooring.Denied, match=rf"{other}\.count .*nobody to ask"):
                await host.call(f"{other}.count")


async def test_an_answer_and_a_trusted_name_hold_for_one_name_alone(home: Home, actor: Actor) -> None:
    configure(home, aaa=actor.entry, zzz=actor.entry)
    settings(home, trustedServers=["aaa"])
    asked: list[Permission] = []

    async def person(question: Question) -> Answer:
        assert isinstance(question, Permission)
        asked.append(question)
        return Allow("session")

    async with opened(home, policy="accept-reads", ask=person) as host:
        await host.call("aaa.whoami")
        await host.call("zzz.whoami")
        await host.call("aaa.count")
        await host.call("aaa.count")
        await host.call("zzz.count")
    assert [(each.server, each.tool) for each in asked] == [("zzz", "whoami"), ("aaa", "count"), ("zzz", "count")]


async def test_each_name_has_its_own_pins_and_says_where_it_is_defined(home: Home, actor: Actor) -> None:
    configure(home, zzz=actor.entry)
    async with opened(home) as host:
        await host.call("zzz.whoami")
    actor.tell(tools=["newcomer"])
    # The name that sorts first, and stands for the program from now on, was never used: it has no pin.
    home.write("home/.cursor/mcp.json", {"mcpServers": {"aaa": actor.entry}})
    async with opened(home) as host:
        await host.ready(refresh=True)
        assert host.servers["aaa"] == host.servers["zzz"]
        with pytest.raises(mooring.HeldBack, match="mooring mcp pins zzz"):
            await host.call("zzz.newcomer")
        await host.call("aaa.newcomer")
        assert [held.tool for held in list_pinned(host, home.where, "zzz")[0].held] == ["newcomer"]
        assert list_pinned(host, home.where, "aaa")[0].held == ()
        approve_tools(host, "zzz")
        await host.call("zzz.newcomer")
    assert [".cursor" in entry.origin for entry in read_log(home.where)] == [False, False, True, False], (
        "the call that was held back is on record, too"
    )


async def test_a_projects_server_never_shares_with_the_persons_own(home: Home, actor: Actor) -> None:
    configure(home, aaa=actor.entry)
    home.write("project/.mcp.json", {"mcpServers": {"zzz": actor.entry}})
    async with opened(home) as host:
        with pytest.raises(mooring.NotApproved):
            await host.call("zzz.whoami")
    inventory = home.inventory()
    decide(inventory, list_questions(inventory, ["zzz"], home.where), home.where, approve=True)
    async with opened(home) as host:
        one, other = await pids(host)
        assert one != other


def test_every_field_of_a_definition_is_compared_before_two_names_share_a_process() -> None:
    read: set[str] = set()

    class Spy:
        def __init__(self, config: ServerConfig) -> None:
            self._config = config

        def __getattr__(self, name: str) -> Any:
            read.add(name)
            return getattr(self._config, name)

    config = ServerConfig(name="x", origin=Origin("t", "user", None), connection=Http(literal("https://x")))
    approved = Approved(Spy(config), "/")  # type: ignore[arg-type]
    assert approved.is_same_program(approved)
    assert approved.options
    # Who says it and in which words; what is off is never shared; what another tool was told to allow grants nothing.
    about_the_text = {"name", "origin", "written", "disabled_by", "auto_approve", "raw"}
    assert read == set(ServerConfig.__struct_fields__) - about_the_text
