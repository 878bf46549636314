"""Rules: a name takes over what was granted to another, a call is written so that a deny misses it, a file stalls us."""

import asyncio
import itertools
import json
import random
import resource
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.attacks.table import Attack, Tally, Victim
from tests.support import is_within

import mooring
from mooring.core.conversation.verdict import ProposedCall, Rule
from mooring.core.definitions.paths import Paths, Workspace
from mooring.core.text.glob import Glob
from mooring.errors import MooringError
from mooring.inventory.approval import decide, list_questions
from mooring.inventory.load import load
from mooring.permissions.argument_match import MAX_FOREIGN, MAX_TEXT
from mooring.permissions.policy import Policy, RuleLevel
from mooring.tools.catalog.names import Scheme, name_tools

ACTOR = str(Path(__file__).parents[1] / "flow" / "actor.py")
DEMO = {"command": sys.executable, "args": ["-I", "-m", "mooring.demo"]}
INVISIBLE = ("\0", "\x1b", "\x7f", "\xad", "\u034f", "\u180e", "\u200b", "\u200d", "\u202e", "\u2060", "\ufe0f", "\ufeff",
             "\ufff9", "\ufffa", "\ufffb", "\U000e0001", "\U000e0072", "\U000e0100")  # fmt: skip
LOOKALIKES = ("g\u0456thub", "gith\u057db", "\uff47ithub", "\U0001d420ithub", "g\u0131thub", "git\u04bbub", "github\u200b",
              "\u2060github", "git\u00adhub", "github\ufe0f")  # fmt: skip


class Servant:
    """A server that leaves a mark for each call of its tool `count`, and for each start."""

    def __init__(self, path: Path, **script: Any) -> None:
        self._path = path
        path.write_text(json.dumps(script))
        self.entry = {"command": sys.executable, "args": ["-S", ACTOR, str(path)]}

    def was_hit(self, kind: str = "counts") -> bool:
        """Whether it was called since the last look, or started."""
        return bool(self.take_marks(kind))

    def take_marks(self, *kinds: str) -> list[str]:
        """What it has noted since the last look."""
        marks: list[str] = []
        for kind in kinds:
            mark = Path(f"{self._path}.{kind}")
            marks += mark.read_text().splitlines() if mark.exists() else []
            mark.unlink(missing_ok=True)
        return marks


def _view(victim: Victim) -> Workspace:
    return Workspace(Paths(str(victim.home), victim.env, "linux", str(victim.system)), str(victim.project))


def _configure(victim: Victim, servers: dict[str, Any], **settings: Any) -> None:
    victim.write(victim.home / ".config/mooring/mcp.json", {"mcpServers": servers})
    victim.write(victim.home / ".config/mooring/settings.json", settings)


def _approve(victim: Victim, name: str) -> None:
    """What the person does when they want a project's server: nothing of their rules comes with it."""
    view = _view(victim)
    inventory = load(view)
    decide(inventory, list_questions(inventory, [name], view.where), view.where, approve=True)
    assert load(view).find(name).definition.origin.foreign, f"the project's {name} was not approved"


# --- A24: a name takes over rules ---------------------------------------------------------------------------------

GRANTS = ("mcp__github__*", "mcp__github", "mcp__github__count", "github.*", "github/count", "mcp__git*", "mcp__*", "*")


def take_over_a_name(folder: Path, tally: Tally) -> None:
    """The project's `github`, approved, with everything that the person granted to their own."""
    victim = Victim(folder)
    own, theirs = Servant(folder / "own.json"), Servant(folder / "theirs.json")
    for grant in GRANTS:
        rules = [{"tool": grant, "action": "allow"}]
        settings = {"permissions": rules, "trustedServers": ["github"], "permissionMode": "accept-reads"}
        (victim.project / ".mcp.json").unlink(missing_ok=True)
        _configure(victim, {"github": own.entry}, **settings)
        _try_every_way(victim)
        assert own.was_hit(), f"{grant} does not even let the person's own server be called"
        victim.write(victim.project / ".mcp.json", {"mcpServers": {"github": theirs.entry}})
        _approve(victim, "github")
        _try_every_way(victim)
        tally.count(f"{grant} in a host", theirs.was_hit())
    victim.run("call", "--permission-mode", "ask", "github.count")
    tally.count("mooring call", theirs.was_hit())


def _try_every_way(victim: Victim) -> None:
    async def work() -> None:
        async with mooring.open(request=_view(victim)) as host:
            for attempt in (host.call("github.count"), host.poll("github", tool="count", interval=60)):
                with suppress(MooringError):
                    await attempt
            async with host.conversation() as registry:
                await registry.call("mcp__github__count", {})
                await registry.call("SubscribePolling", {"type": "tool", "server": "github", "toolName": "count"})

    asyncio.run(work())


# --- A33: a deny that misses --------------------------------------------------------------------------------------

EVASIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("port=22", {"port": port}) for port in (22, 22.0, 2.2e1, "22", "22.0", "2.2e1", " 22", "+22", "0x16", "\uff12\uff12")),
    *(("*rm -rf*", {"argv": argv}) for argv in (["rm", "-rf"], ["sudo", "rm", "-rf", "/"], [["rm", "-rf"]])),
    *(("*rm -rf*", {"command": line}) for line in ("rm  -rf", "rm\t-rf", "rm\u00a0-rf", "RM -RF", "\uff52\uff4d -rf")),
    ("*rm -rf*", {"command": "rm", "args": ["-rf"]}),
    *(("command=rm", {"command": line}) for line in ("rm ", " rm", "rm\n", "rm\0", "rm\u3000")),
    *(("*rm -rf*", {"command": f"r{odd}m -rf"}) for odd in INVISIBLE),
)  # fmt: skip


def evade_a_deny(folder: Path, tally: Tally) -> None:
    """Arguments that a server takes for what a rule denies, and that look otherwise to the rule."""
    victim = Victim(folder)
    servant = Servant(folder / "own.json")
    _configure(victim, {"own": servant.entry})
    for pattern, arguments in EVASIONS:
        rule = Rule("mcp__own__*", "deny", pattern)
        _call(victim, "own.count", arguments, rules=[rule])
        tally.count(f"{pattern} against {arguments!a}", servant.was_hit())
    _call(victim, "own.count", {"port": 23}, rules=[rule])
    assert servant.was_hit(), "nothing was ever called"


def evade_a_deny_by_name(folder: Path, tally: Tally) -> None:
    victim = Victim(folder)
    servant = Servant(folder / "own.json")
    names = (("my-server", "mcp__my_server__*"), ("my_server", "my-server.count"), ("My-Server", "mcp__my_server"),
             ("my server", "mcp__my_server__*"), ("\u0441\u0430\u0445\u0430\u0440", "mcp__caxap__*"))  # fmt: skip
    for name, rule in names:
        _configure(victim, {name: servant.entry}, permissions=[{"tool": rule, "action": "deny"}])
        _call(victim, f"{name}.count", {})
        tally.count(f"{rule} against {name!a}", servant.was_hit())
    done = victim.run("call", "--deny", "my_server.*", "my-server.count")
    tally.count("mooring call --deny", done.returncode == 0)


def pass_for_another(folder: Path, tally: Tally) -> None:
    """Servers and tools whose names look like others, in the person's files and in the project's."""
    victim = Victim(folder)
    own, false = Servant(folder / "own.json"), Servant(folder / "false.json")
    _configure(victim, {"github": own.entry, **dict.fromkeys(LOOKALIKES, false.entry)})
    for name in LOOKALIKES:
        _call(victim, f"{name}.count", {})
        tally.count(f"the server {name!a}", false.was_hit("starts"))
    listed = victim.run("mcp", "list")
    tally.count("mcp list does not tell", "U+0456" not in listed.stdout + listed.stderr)
    _configure(victim, {})
    victim.write(victim.project / ".mcp.json", {"mcpServers": {"g1thub": false.entry}})
    _approve(victim, "g1thub")
    _call(victim, "g1thub.count", {})
    assert false.was_hit("starts"), "it never starts"
    _configure(victim, {"glthub": own.entry})
    _call(victim, "g1thub.count", {})
    tally.count("g1thub beside glthub", false.was_hit("starts"))


def offer_a_tool_that_passes_for_another(folder: Path, tally: Tally) -> None:
    victim = Victim(folder)
    odd = [f"se{letter}rch" for letter in ("\u0430", "\u0251", "\uff41", "\U0001d41a", "a\u200b", "a\u00ad", "a\0")]
    servant = Servant(folder / "own.json", tools=["search", *odd])
    _configure(victim, {"own": servant.entry})
    marks = asyncio.run(_call_each(victim, servant, [f"own.{name}" for name in odd], "own.search"))
    for name in odd:
        tally.count(f"the tool {name!a}", name in marks)


async def _call_each(victim: Victim, servant: Servant, names: Sequence[str], last: str) -> list[str]:
    """Call each tool and then the last one; return which of them answered."""
    async with mooring.open(request=_view(victim), policy="allow") as host:
        for name in names:
            with suppress(MooringError):
                await host.call(name)
        await host.call(last)
        return await _take_marks_up_to(servant, last.partition(".")[2])


async def _take_marks_up_to(servant: Servant, last: str) -> list[str]:
    """The tools that answered. A server makes its mark when the answer is on its way, and answers in order."""
    marks: list[str] = []
    until = time.monotonic() + 5
    while last not in marks and time.monotonic() < until:
        await asyncio.sleep(0.01)
        marks += servant.take_marks("answers")
    assert last in marks, f"{last} cannot be called at all"
    return marks


def call_what_was_not_meant(folder: Path, tally: Tally) -> None:
    """`a.b.count`, which can be a tool of `a` or of `a.b`."""
    victim = Victim(folder)
    first, second = Servant(folder / "a.json", tools=["b.count"]), Servant(folder / "ab.json")
    _configure(victim, {"a": first.entry, "a.b": second.entry})
    for words in (("a.b.count",), ("A.b.count",), ("a.b.count", "--allow", "a.*")):
        victim.run("call", *words)
        tally.count(" ".join(words), first.was_hit("answers") or second.was_hit())
    for name in ("a/b.count", "a.b/count"):
        assert victim.run("call", name).returncode == 0, f"{name} cannot be called"


def silence_the_machine(folder: Path, tally: Tally) -> None:
    """A mode, a typed call or an allow against what the machine's settings ask about."""
    victim = Victim(folder)
    servant = Servant(folder / "own.json")
    ask = {"permissions": [{"tool": "mcp__own__count", "action": "ask"}]}
    for settings in ({}, {"permissionMode": "bypass"}, {"permissions": [{"tool": "*", "action": "allow"}]}):
        _configure(victim, {"own": servant.entry}, **settings)
        for policy in (None, "allow", "bypass"):
            for rules in ((), (Rule("mcp__own__*", "allow"),)):
                victim.write(victim.system / "etc/mooring/settings.json", ask)
                _call(victim, "own.count", {}, policy=policy, rules=rules)
                tally.count(f"{settings} {policy} {rules}", servant.was_hit())
    (victim.system / "etc/mooring/settings.json").unlink()
    _call(victim, "own.count", {})
    assert servant.was_hit(), "nothing was ever called"


REJECTIONS: tuple[Any, ...] = (
    [{"matches": {"command": "*EVIL*"}, "action": "reject"}],
    [{"matches": {"command": ["x", "*evil*"]}, "action": "reject"}],
    [{"matches": {"args": ["*evil*"]}, "action": "reject"}],
    [{"matches": {"command": "/evil/"}, "action": "reject"}],
    [{"matches": {"command": "/ev.l/i"}, "action": "reject"}],
    [{"matches": {"command": "/(evil|bad)/"}, "action": "reject"}],
    [{"matches": {"command": {"regex": "evil"}}, "action": "reject"}],
    [{"matches": {"name": "*"}, "action": "reject"}],
    [{"action": "reject"}],
    ["reject"],
    {"matches": {"command": "*"}, "action": "reject"},
    [{"matches": {"command": sys.executable}, "action": "allow"}, {"matches": {"command": "*"}, "action": "reject"}],
)


def start_what_amp_rejects(folder: Path, tally: Tally) -> None:
    """A server that Amp's rules reject, in ways of writing a rule that are not globs."""
    victim = Victim(folder)
    servant = Servant(folder / "evil.json")
    for rules in (*REJECTIONS, []):
        content = {"amp.mcpServers": {"x": servant.entry}, "amp.mcpPermissions": rules}
        victim.write(victim.home / ".config/amp/settings.json", content)
        _call(victim, "x.count", {})
        if rules:
            tally.count(json.dumps(rules), servant.was_hit("starts"))
    assert servant.was_hit("starts"), "it never starts"


def _call(victim: Victim, name: str, arguments: dict[str, Any], **options: Any) -> None:
    """Call a tool of a real server through a host on which everything is allowed that nothing forbids."""

    async def work() -> None:
        async with mooring.open(request=_view(victim), **{"policy": "allow", **options}) as host:
            with suppress(MooringError):
                await host.call(name, arguments, timeout=20)

    asyncio.run(work())


# --- A27, A20: what stalls us -------------------------------------------------------------------------------------

SLOW_RULES = {
    "denies": lambda number: {"tool": f"mcp__server{number}__t", "action": "deny"},
    "patterns": lambda number: {"tool": "mcp__demo__*", "action": "ask", "pattern": f"*{number}*q?x{number}*"},
    "long globs": lambda number: {"tool": "mcp__*" + "a?" * 20 + str(number), "action": "deny", "pattern": "?q" * 20},
}
MEGABYTE = 1_000_000


def stall_by_rules(folder: Path, tally: Tally) -> None:
    """A megabyte of rules, in the person's file and in the project's; and a deny at the end of too many."""
    victim = Victim(folder)
    usual = _cpu_of_call(victim, {}, {})
    for what, make in SLOW_RULES.items():
        rules = list(itertools.islice(map(make, itertools.count()), MEGABYTE // len(json.dumps(make(10_000)))))
        for name, files in (("own", ({"permissions": rules}, {})), ("the project's", ({}, {"permissions": rules}))):
            seconds = _cpu_of_call(victim, *files)
            tally.count(f"{what}, {name}: {seconds:.1f} s", seconds > usual + 2)
    harmless = [{"tool": f"mcp__x{number}__t", "action": "ask"} for number in range(20_000)]
    _configure(victim, {"demo": DEMO}, permissions=[*harmless, {"tool": "mcp__demo__*", "action": "deny"}])
    done = victim.run("call", "demo.echo", "text=x")
    tally.count("a deny behind too many rules", done.returncode == 0)


def _cpu_of_call(victim: Victim, own: dict[str, Any], theirs: dict[str, Any]) -> float:
    """Seconds of CPU that one `mooring call` takes, its server included."""
    _configure(victim, {"demo": DEMO}, **own)
    victim.write(victim.project / ".mooring/settings.json", theirs)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    victim.run("call", "demo.echo", "text=x")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def stall_by_a_pattern(_: Path, tally: Tally) -> None:
    """Globs and texts that make a matcher try again and again: at most a millisecond for each."""
    globs = ("*" + "a" * 25 + "b" + "a" * 25 + "*", "*a" * 400 + "b", "*" + "a?" * 400, "*[!a]*", "*a?b*", "?" * 900 + "*",
             "*" + "a" * 900 + "b*", "*" + "ab" * 400 + "a*", "[" * 900, "*[" * 400)  # fmt: skip
    texts = ("a" * MAX_TEXT, "ab" * (MAX_TEXT // 2), "\u00e9" * MAX_FOREIGN)
    for written, text in itertools.product(globs, texts):
        glob = Glob(written)
        glob.matches("a" * 2_000)
        seconds = min(_time(lambda: glob.matches(text)) for _ in range(5))  # noqa: B023
        tally.count(f"{written[:12]}… on {len(text)}: {seconds * 1000:.2f} ms", not is_within(seconds, 0.001))
    policy = Policy(
        [RuleLevel("project", tuple(Rule("*", "deny", f"*{n}{'a' * 40}b*") for n in range(2_000)))], "bypass"
    )
    for text in texts:
        call = ProposedCall("x", "t", {"text": text})
        policy.decide(call)
        seconds = min(_time(lambda: policy.decide(call)) for _ in range(3))  # noqa: B023
        tally.count(f"2,000 patterns on {len(text)}: {seconds * 1000:.0f} ms", not is_within(seconds, 0.05))


def _time(work: Any) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


# --- A5, A6: names that collide -----------------------------------------------------------------------------------

COLLIDING = (("a", "b__count"), ("a__b", "count"), ("a_b", "count"), ("a-b", "count"), ("a", "b_count"), ("A", "b_count"),
             ("a", "b.count"), ("a", "b-count"), ("a", "b_count_"), ("x" * 60, "count"), ("x" * 61, "count"))  # fmt: skip


def share_a_shown_name(folder: Path, tally: Tally) -> None:
    """A hundred thousand random pairs, and pairs made to collide that are called in a real host."""
    chance = random.Random(5)
    parts = ("a", "b", "A", "_", "__", "-", ".", "/", "1", "\u00e9", "\u200b", "\uff41", " ", "mcp", "\u0430")
    texts = sorted({"".join(chance.choices(parts, k=chance.randint(1, 6))) for _ in range(900)})
    pairs = list(itertools.islice(itertools.product(texts, texts), 100_000))
    schemes: tuple[Scheme, ...] = ("mcp__server__tool", "mcp_server_tool", "mcp.server.tool")
    for scheme in schemes:
        tally.tries += len(pairs)
        shared = len(pairs) - len(set(name_tools(pairs, scheme).values()))
        tally.through.extend([f"{scheme}: a name is shared"] * shared)
    asyncio.run(_call_each_by_its_shown_name(Victim(folder), folder, tally))


async def _call_each_by_its_shown_name(victim: Victim, folder: Path, tally: Tally) -> None:
    by_server: dict[str, list[str]] = {}
    for server, tool in COLLIDING:
        by_server.setdefault(server, []).append(tool)
    servants = {
        server: Servant(folder / f"{number}.json", tools=[tool for tool in tools if tool != "count"])
        for number, (server, tools) in enumerate(by_server.items())
    }
    _configure(victim, {server: servant.entry for server, servant in servants.items()})
    async with mooring.open(request=_view(victim), policy="allow") as host:
        await host.ready()
        for entry in [entry for entry in host.tools if (entry.server, entry.tool) in COLLIDING]:
            await host.call(entry.name)
            await _take_marks_up_to(servants[entry.server], entry.tool)
            wrong = [name for name, servant in servants.items() if servant.take_marks("answers")]
            tally.count(f"{entry.name} reached {wrong}", bool(wrong))


def take_a_reserved_name(folder: Path, tally: Tally) -> None:
    """A server whose tools are called like Mooring's own, in every scheme of names."""
    victim = Victim(folder)
    reserved = ("ListMcpResources", "ReadMcpResource", "ReadMcpResourceTool", "SubscribePolling", "ToolResult", "ToolSearch",
                "toolsearch", "Tool_Search")  # fmt: skip
    servant = Servant(folder / "own.json", tools=list(reserved), bare=True)
    for names in ("mcp__server__tool", "mcp_server_tool", "mcp.server.tool"):
        _configure(victim, {"mooring": servant.entry, "mcp": servant.entry}, toolNames=names)
        asyncio.run(_call_reserved(victim, servant, reserved, tally))


async def _call_reserved(victim: Victim, servant: Servant, reserved: Sequence[str], tally: Tally) -> None:
    arguments = {"server": "mooring", "uri": "x:y", "id": "1", "query": "x", "type": "resource"}
    async with mooring.open(request=_view(victim), policy="allow") as host:
        await host.ready()
        async with host.conversation() as registry:
            shown = [definition.name for definition in registry.definitions]
            tally.count("a name is shown twice", len(shown) != len(set(shown)))
            for name in reserved:
                await registry.call(name, arguments)
        await host.call(next(entry for entry in host.tools if entry.tool == "whoami"))
        marks = await _take_marks_up_to(servant, "whoami")
        for name in reserved:
            tally.count(f"{name} reached the server", name in marks)


ATTACKS = (
    Attack("A5", "two tools share a shown name", share_a_shown_name),
    Attack("A6", "a server takes the name of a tool of ours", take_a_reserved_name),
    Attack("A20", "a pattern that takes for ever", stall_by_a_pattern),
    Attack("A24", "a project's server takes over rules by its name", take_over_a_name),
    Attack("A27", "a megabyte of rules", stall_by_rules),
    Attack("A33", "arguments that evade a deny", evade_a_deny),
    Attack("A33", "names that evade a deny", evade_a_deny_by_name),
    Attack("A33", "a server that passes for another", pass_for_another),
    Attack("A33", "a tool that passes for another", offer_a_tool_that_passes_for_another),
    Attack("A33", "a name with two readings", call_what_was_not_meant),
    Attack("A33", "an ask of the machine, silenced", silence_the_machine),
    Attack("A33", "a rule of Amp's that is no glob", start_what_amp_rejects),
)
