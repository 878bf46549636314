"""The catalog on disk: what it keeps, for whom, and what becomes of it when disks, clocks and neighbours misbehave."""

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Http, OAuth, Origin, ServerConfig, Stdio
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import CommandPart, KnownPart, Template, TextPart, VariablePart, literal
from mooring.core.protocol.raw import ABSENT
from mooring.core.protocol.tool import (
    Argument,
    Execution,
    Hints,
    Implementation,
    Listing,
    Offer,
    Prompt,
    Rejected,
    Resource,
    ResourceTemplate,
    ServerInfo,
    Tool,
)
from mooring.core.protocol.units import OFFER_LIFE
from mooring.servers import cache
from mooring.servers.cache import Cache
from support import Home, is_within

HOUR, DAY = 3600.0, 86400.0
NOBODY = 65534
PATIENCE = 100.0


def offer(words: str = "one", *, ago: float = 1.0, tools: int = 1, size: int = 0) -> Offer:
    described = (f"{words} {number} {'x' * size}" for number in range(tools))
    listed = tuple(Tool(name=f"t{n}", input_schema=Raw(b"{}"), description=text) for n, text in enumerate(described))
    return Offer(hello=ServerInfo("2025-11-25"), era="handshake", at=time.time() - ago, tools=Listing(listed))


def name(number: int) -> bytes:
    return number.to_bytes(32, "big")


def keep(where: Paths, **offers: Offer) -> dict[bytes, Offer]:
    """Put offers on disk, each under a key of its own."""
    kept = {word.encode().ljust(32): each for word, each in offers.items()}
    writer = Cache(where)
    for key, each in kept.items():
        writer.put(key, each)
    writer.flush()
    return kept


def folder(where: Paths) -> Path:
    return Path(where.cache, "catalog")


def file(where: Paths, key: bytes) -> Path:
    return folder(where) / key.hex()


def names(where: Paths) -> list[bytes]:
    """The keys of everything that is on disk."""
    return sorted(bytes.fromhex(path.name).strip() for path in folder(where).iterdir())


def works_anew(where: Paths) -> bool:
    """Whether a fresh catalog keeps what it is given."""
    new = keep(where, anew=offer("after"))
    return Cache(where).load(new) == new


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# --- what is kept -------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
maybe = st.none() | texts
numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=0, max_value=1e12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, values, max_size=3)
sent = objects.map(lambda value: Raw(json.dumps(value, ensure_ascii=False).encode()))
raws = st.just(ABSENT) | sent
named: dict[str, st.SearchStrategy[Any]] = {"title": maybe, "description": maybe, "icons": raws, "meta": raws}
flags = st.none() | st.booleans()


def listings(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Listing[Any]]:
    rejected = st.lists(st.builds(Rejected, texts, texts), max_size=2).map(tuple)
    return st.builds(Listing, st.lists(items, max_size=3).map(tuple), rejected, texts, st.none() | numbers, flags)


tools = st.builds(
    Tool,
    name=texts,
    input_schema=sent,
    output_schema=raws,
    annotations=st.none() | st.builds(Hints, maybe, flags, flags, flags, flags),
    execution=st.none() | st.builds(Execution, st.sampled_from(["forbidden", "optional", "required"])),
    **named,
)
resources = st.builds(
    Resource, uri=texts, name=texts, mime_type=maybe, size=st.none() | numbers, annotations=raws, **named
)
templates = st.builds(ResourceTemplate, uri_template=texts, name=texts, mime_type=maybe, annotations=raws, **named)
arguments = st.lists(st.builds(Argument, texts, maybe, maybe, flags), max_size=2).map(tuple)
prompts = st.builds(Prompt, name=texts, arguments=st.none() | arguments, **named)
offers = st.builds(
    Offer,
    hello=st.builds(ServerInfo, texts, objects, st.builds(Implementation, texts, texts, maybe, maybe), maybe),
    era=st.sampled_from(["handshake", "stateless"]),
    at=st.floats(1.0, OFFER_LIFE - HOUR).map(lambda ago: time.time() - ago),
    tools=listings(tools),
    resources=st.none() | listings(resources),
    templates=st.none() | listings(templates),
    prompts=st.none() | listings(prompts),
)


@settings(max_examples=30)
@given(known=st.dictionaries(st.binary(min_size=32, max_size=32), offers, max_size=3))
def test_any_offer_comes_back_as_it_was_put(
    tmp_path_factory: pytest.TempPathFactory, known: dict[bytes, Offer]
) -> None:
    where = Paths(str(tmp_path_factory.mktemp("home")))
    writer = Cache(where)
    for key, each in known.items():
        writer.put(key, each)
    assert writer.load(known) == known
    writer.flush()
    assert writer.load(known) == known
    assert Cache(where).load([*known, b"unknown"]) == known


def test_what_was_not_sent_is_still_not_there_after_a_round_trip(home: Home) -> None:
    keys = keep(home.where, a=offer())
    (tool,) = next(iter(Cache(home.where).load(keys).values())).tools.items
    assert tool.icons is ABSENT
    assert tool.output_schema is ABSENT
    assert tool.result_schema is None


def test_closing_writes_what_is_left(home: Home) -> None:
    known = {name(1): offer()}
    writer = Cache(home.where)
    writer.put(*next(iter(known.items())))
    assert Cache(home.where).load(known) == {}
    writer.close()
    assert Cache(home.where).load(known) == known


def test_what_is_forgotten_is_gone_at_once_and_for_everyone_after_a_flush(home: Home) -> None:
    keys = keep(home.where, a=offer(), b=offer())
    first, second = keys
    forgetful = Cache(home.where)
    forgetful.forget(first)
    assert set(forgetful.load(keys)) == {second}
    assert set(Cache(home.where).load(keys)) == {first, second}
    forgetful.flush()
    assert set(Cache(home.where).load(keys)) == {second}


def test_thousands_of_keys_are_looked_up_in_one_load(home: Home) -> None:
    keys = keep(home.where, a=offer(), z=offer())
    asked = [next(iter(keys)), *(name(number) for number in range(5000)), list(keys)[-1]]
    assert Cache(home.where).load(asked) == keys


def test_a_load_never_makes_a_file(home: Home) -> None:
    assert Cache(home.where).load([name(1)]) == {}
    assert not folder(home.where).exists()


def test_a_flush_of_nothing_makes_nothing(home: Home) -> None:
    Cache(home.where).flush()
    assert list(home.home.iterdir()) == []


# --- time and size ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ago", [OFFER_LIFE + 1, -DAY, float("nan")])
def test_what_is_too_old_or_from_the_future_is_neither_offered_nor_kept(home: Home, ago: float) -> None:
    keys = keep(home.where, a=offer(ago=ago), b=offer())
    assert set(Cache(home.where).load(keys)) == {list(keys)[1]}
    assert names(home.where) == [b"b"]


def test_what_outlived_its_time_is_swept_by_later_flushes(home: Home) -> None:
    keys = keep(home.where, a=offer(), b=offer())
    long_ago = time.time() - OFFER_LIFE - 1
    os.utime(file(home.where, next(iter(keys))), (long_ago, long_ago))
    keep(home.where, c=offer())
    assert names(home.where) == [b"b", b"c"]


def test_an_equal_offer_is_not_written_again_within_the_hour(home: Home) -> None:
    earlier = offer(ago=HOUR / 2)
    [key] = keep(home.where, a=earlier)
    before = file(home.where, key).read_bytes()
    keep(home.where, a=replace(earlier, at=time.time()))
    assert file(home.where, key).read_bytes() == before


def test_an_equal_offer_is_written_again_after_an_hour(home: Home) -> None:
    earlier, now = offer(ago=HOUR * 2), time.time()
    keep(home.where, a=earlier)
    [key] = keep(home.where, a=replace(earlier, at=now))
    assert Cache(home.where).load([key])[key].at == now


def test_a_changed_offer_is_written_at_once(home: Home) -> None:
    keep(home.where, a=offer("old", ago=2.0))
    changed = keep(home.where, a=offer("new", ago=1.0))
    assert Cache(home.where).load(changed) == changed


def test_what_another_process_learned_later_is_not_overwritten(home: Home) -> None:
    later = keep(home.where, a=offer("later", ago=10.0))
    keep(home.where, a=offer("earlier", ago=500.0))
    assert Cache(home.where).load(later) == later


def test_an_offer_that_is_too_large_takes_its_outdated_predecessor_with_it(home: Home) -> None:
    keys = keep(home.where, a=offer(ago=5.0), b=offer())
    keep(home.where, a=offer(size=cache.LARGEST))
    assert set(Cache(home.where).load(keys)) == {list(keys)[1]}


def test_beyond_its_bound_the_oldest_go(home: Home) -> None:
    most = 1024 * 1024
    writer = Cache(home.where, most=most)
    known = {name(number): offer(f"{number}", ago=100.0 - number, size=50_000) for number in range(60)}
    for key, each in known.items():
        writer.put(key, each)
    writer.flush()
    left = Cache(home.where).load(known)
    assert 10 <= len(left) <= 20
    assert left == dict(list(known.items())[-len(left) :])
    assert sum(path.stat().st_size for path in folder(home.where).iterdir()) <= most


def test_text_that_cannot_be_written_costs_one_offer(home: Home) -> None:
    keys = keep(home.where, a=offer("\ud800"), b=offer())
    assert set(Cache(home.where).load(keys)) == {list(keys)[1]}


def test_fifty_servers_are_read_in_a_moment(home: Home) -> None:
    keep(home.where, **{f"s{number}": offer(tools=10, size=500) for number in range(50)})
    code = f"""
import time
from mooring.core.definitions.paths import Paths
from mooring.servers.cache import Cache
begun = time.process_time()
found = Cache(Paths({home.where.home!r})).load([f"s{{n}}".encode().ljust(32) for n in range(50)])
print(len(found), time.process_time() - begun)
"""
    done = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(3)]
    counts, seconds = zip(*(each.stdout.split() for each in done), strict=True)
    assert counts == ("50",) * 3
    assert is_within(min(map(float, seconds)), 5 * 0.010)


# --- keys ---------------------------------------------------------------------------------------------------

PARTS = (TextPart("--token="), VariablePart("TOKEN"))
PROGRAM = Stdio(literal("run"), (Template("--token=${TOKEN}", PARTS),), {"MODE": literal("fast")}, ("PASSED",))
SITE = Http(
    literal("https://example.org"),
    {"Authorization": Template("!echo $TOKEN", (CommandPart((VariablePart("TOKEN"),)),))},
)
ENV = {"TOKEN": "canary-token", "PASSED": "canary-passed", "OTHER": "x"}


def stdio(command: str, *args: str) -> Stdio:
    return Stdio(literal(command), tuple(map(literal, args)))


def approved(connection: Stdio | Http = PROGRAM, **changes: Any) -> Approved:
    config = ServerConfig(name="s", origin=Origin("mooring", "user", None), connection=connection)
    return Approved(replace(config, oauth=changes.pop("oauth", None)), **{"folder": "/project", **changes})


def at(home: Home, **env: str) -> Paths:
    return replace(home.where, env={**ENV, **env})


@pytest.mark.parametrize("connection", [PROGRAM, SITE])
def test_the_same_definition_has_the_same_key_in_every_process(home: Home, connection: Stdio | Http) -> None:
    keys = {Cache(home.where).key(approved(connection), at(home, OTHER=other)) for other in ("x", "y")}
    assert [len(key) for key in keys] == [32]


def test_whatever_decides_what_a_server_offers_is_in_its_key(home: Home) -> None:
    made, where = Cache(home.where), at(home)
    keys = [
        made.key(approved(), where),
        made.key(approved(SITE), where),
        made.key(approved(SITE), at(home, TOKEN="another")),
        made.key(approved(replace(PROGRAM, cwd=literal("/elsewhere"))), where),
        made.key(approved(replace(PROGRAM, env={"MODE": literal("slow")})), where),
        made.key(approved(), at(home, TOKEN="another")),
        made.key(approved(), at(home, PASSED="another")),
        made.key(approved(), at(home, PASSED="")),
        made.key(approved(), replace(where, env={"TOKEN": ENV["TOKEN"]})),
        made.key(approved(own=False), where),
        made.key(approved(own=False, folder="/other"), where),
        made.key(approved(oauth=OAuth(client_id="me")), where),
        made.key(approved(), where, credential="work"),
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("connection", "depends"),
    [
        (stdio("uvx", "mcp-server-time"), False),
        (stdio("npx", "-y", "@scope/server"), False),
        (stdio("docker", "run", "-i", "ghcr.io/x/y:1.2"), False),
        (stdio("python", "/opt/server.py"), False),
        (Http(literal("https://example.com/mcp")), False),
        (stdio("python", "server.py"), True),
        (stdio("uvx", "--from", ".", "server"), True),
        (stdio("./server"), True),
        (stdio("bin/server"), True),
        (replace(stdio("x"), cwd=literal("sub")), True),
        (replace(stdio("x"), env_file=literal(".env")), True),
        (Stdio(literal("x"), (Template("${workspaceFolder}", (KnownPart("workspace"),)),)), True),
        (Stdio(literal("x"), env={"A": Template("!pwd", (CommandPart((TextPart("pwd"),)),))}), True),
    ],
)
def test_what_is_known_in_one_folder_is_known_in_all_unless_the_definition_depends_on_it(
    home: Home, connection: Stdio | Http, depends: bool
) -> None:
    made, where = Cache(home.where), at(home)
    keys = {made.key(approved(connection, folder=folder), where) for folder in ("/one", "/other")}
    assert len(keys) == 1 + depends


def test_the_order_of_variables_makes_no_difference(home: Home) -> None:
    made, where = Cache(home.where), at(home)
    both = {"A": literal("1"), "B": literal("2")}
    turned = dict(reversed(both.items()))
    keys = {made.key(approved(replace(PROGRAM, env=env)), where) for env in (both, turned)}
    assert len(keys) == 1


def test_bytes_of_the_environment_that_are_no_text_are_no_obstacle(home: Home) -> None:
    assert len(Cache(home.where).key(approved(), at(home, TOKEN="\udcff"))) == 32


def test_no_secret_of_a_definition_is_on_disk(home: Home) -> None:
    writer = Cache(home.where)
    key = writer.key(approved(), at(home))
    writer.put(key, offer())
    writer.close()
    written = b"".join(path.read_bytes() for path in home.home.rglob("*") if path.is_file())
    assert file(home.where, key).exists()
    assert b"canary" not in written


def test_another_person_has_other_keys(home: Home, tmp_path: Path) -> None:
    assert Cache(home.where).key(approved(), at(home)) != Cache(Paths(str(tmp_path / "b"))).key(approved(), at(home))


@pytest.mark.parametrize("damage", ["short", "readable by others", "a link", "gone"])
def test_a_secret_that_cannot_be_relied_on_is_made_anew(home: Home, damage: str) -> None:
    before = Cache(home.where).key(approved(), at(home))
    secret = Path(home.where.state, "catalog.key")
    kept = secret.read_bytes()
    match damage:
        case "short":
            secret.write_bytes(b"x")
        case "readable by others":
            secret.chmod(0o644)
        case "gone":
            secret.unlink()
        case "a link":
            secret.rename(secret.with_name("elsewhere"))
            secret.symlink_to("elsewhere")
    assert Cache(home.where).key(approved(), at(home)) != before
    assert secret.read_bytes() != kept
    assert mode(secret) == 0o600
    assert works_anew(home.where)


def test_without_a_place_for_the_secret_nothing_is_kept(home: Home) -> None:
    home.write("home/.local/state/mooring", "a file where the folder should be")
    made = Cache(home.where)
    key = made.key(approved(), at(home))
    made.put(key, known := offer())
    assert made.load([key]) == {key: known}
    made.flush()
    assert made.load([key]) == {}
    assert not folder(home.where).exists()


# --- the file is not as it should be ------------------------------------------------------------------------


def test_files_and_folder_are_closed_to_others(home: Home) -> None:
    before = os.umask(0)
    try:
        keep(home.where, a=offer())
    finally:
        os.umask(before)
    assert mode(Path(home.where.cache)) == mode(folder(home.where)) == 0o700
    assert [mode(path) for path in folder(home.where).iterdir()] == [0o600]
    assert mode(Path(home.where.state, "catalog.key")) == 0o600


def test_a_folder_open_to_others_is_closed(home: Home) -> None:
    Path(home.where.cache).mkdir(parents=True)
    Path(home.where.cache).chmod(0o777)
    assert works_anew(home.where)
    assert mode(Path(home.where.cache)) == 0o700


@pytest.mark.parametrize("content", [b"", b"\n", b"somebody's notes" * 100, b"mooring-catalog/1 x y\n{}", b"\xff" * 99])
def test_a_file_that_is_not_ours_counts_as_none_and_is_replaced(home: Home, content: bytes) -> None:
    [key] = keep(home.where, a=offer())
    file(home.where, key).write_bytes(content)
    assert Cache(home.where).load([key]) == {}
    again = keep(home.where, a=offer())
    assert Cache(home.where).load([key]) == again


def test_what_is_no_file_counts_as_none_and_costs_nothing_else(home: Home) -> None:
    keys = keep(home.where, a=offer(), b=offer(), c=offer())
    first, second, third = keys
    file(home.where, first).unlink()
    file(home.where, first).mkdir()
    file(home.where, second).unlink()
    os.mkfifo(file(home.where, second))
    assert set(Cache(home.where).load(keys)) == {third}
    keep(home.where, a=offer(), b=offer())
    assert works_anew(home.where)


def test_a_file_where_the_folder_should_be_costs_nothing_but_the_memory_of_it(home: Home) -> None:
    home.write("home/.cache/mooring/catalog", "precious")
    assert not works_anew(home.where)
    assert folder(home.where).read_text() == "precious"


def as_nobody(folder: Path, code: str) -> list[Any]:
    """What a child without rights printed, each line as JSON; `where` is there for it."""
    prelude = f"""
import json, os, sys, tempfile, time
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.tool import Offer
from mooring.core.protocol.tool import ServerInfo
from mooring.servers.cache import Cache
import hmac, fcntl
where = Paths({str(folder)!r})
key = b"k" * 32
def offer(era="handshake"):
    return Offer(hello=ServerInfo("x"), era=era, at=time.time() - 1)
# Everything is imported that is imported late: without rights, this folder may be out of reach.
with tempfile.TemporaryDirectory() as scratch:
    first = Cache(Paths(scratch)); first.put(key, offer()); first.flush(); first.load([key])
if os.getuid() == 0:
    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
"""
    done = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def nobodys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home that a process without rights owns and can reach, which `tmp_path` is not."""
    import tempfile

    folder = Path(tempfile.mkdtemp())
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    try:
        yield folder
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", folder], check=True)
        shutil.rmtree(folder)


def test_in_a_read_only_folder_the_catalog_is_still_read(nobodys: Path) -> None:
    code = """
made = Cache(where); made.put(key, offer()); made.flush()
os.chmod(f"{where.cache}/catalog/{key.hex()}", 0o400); os.chmod(f"{where.cache}/catalog", 0o500)
os.chmod(where.cache, 0o500)
again = Cache(where); again.put(b"other" * 6, offer()); again.flush()
print(len(Cache(where).load([key, b"other" * 6])))
"""
    assert as_nobody(nobodys, code) == [1]


def test_a_read_only_home_costs_nothing_but_the_memory_of_it(nobodys: Path) -> None:
    code = """
os.chmod(where.home, 0o500)
made = Cache(where); made.put(key, offer())
print(len(made.load([key]))); made.flush(); print(len(made.load([key]))); print(os.listdir(where.home))
"""
    assert as_nobody(nobodys, code) == [1, 0, []]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a file that belongs to somebody else")
def test_a_folder_of_somebody_else_is_not_written_to(home: Home) -> None:
    keep(home.where, a=offer())
    os.chown(folder(home.where), NOBODY, NOBODY)
    assert not works_anew(home.where)
    assert names(home.where) == [b"a"]


def test_a_full_disk_leaves_what_was_there(home: Home) -> None:
    keys = keep(home.where, a=offer())
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
made = Cache(where)
for number in range(50):
    made.put(number.to_bytes(32, "big"), Offer(hello=ServerInfo("x" * 5000), era="handshake", at=time.time() - 1))
made.flush()
print(len(made.load([(1).to_bytes(32, "big")])))
"""
    prelude = "import os, time\nfrom mooring.core.definitions.paths import Paths\nfrom mooring.core.protocol.tool import Offer\n"
    prelude += "from mooring.core.protocol.tool import ServerInfo\nfrom mooring.servers.cache import Cache\n"
    prelude += f"where = Paths({home.where.home!r})\n"
    done = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("0\n", "")
    assert Cache(home.where).load(keys) == keys
    assert works_anew(home.where)


@pytest.mark.parametrize("version", [0, 99])
def test_a_file_of_an_older_or_a_newer_version_is_replaced(home: Home, version: int) -> None:
    [key] = keep(home.where, a=offer())
    written = file(home.where, key).read_bytes()
    file(home.where, key).write_bytes(written.replace(b"mooring-catalog/1", b"mooring-catalog/%d" % version))
    assert Cache(home.where).load([key]) == {}
    again = keep(home.where, a=offer())
    assert Cache(home.where).load([key]) == again


def test_what_was_written_for_one_server_does_not_pass_for_another(home: Home) -> None:
    first, second = keys = keep(home.where, a=offer("a"), b=offer("b"))
    file(home.where, first).replace(file(home.where, second))
    assert Cache(home.where).load(keys) == {}


def test_another_time_in_a_file_is_found_out(home: Home) -> None:
    [key] = keep(home.where, a=offer())
    header, _, payload = file(home.where, key).read_bytes().partition(b"\n")
    magic, seal, _ = header.split(b" ")
    file(home.where, key).write_bytes(b" ".join((magic, seal, repr(time.time()).encode())) + b"\n" + payload)
    assert Cache(home.where).load([key]) == {}


def test_bytes_changed_anywhere_never_change_an_offer(home: Home) -> None:
    [(key, known)] = keep(home.where, a=offer(tools=3, size=300)).items()
    whole = file(home.where, key).read_bytes()
    chance = random.Random(5)
    for _ in range(200):
        broken = bytearray(whole)
        for _ in range(chance.choice([1, 8, 200])):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        broken = broken[: chance.choice([len(broken)] * 3 + [chance.randrange(len(broken))])]
        file(home.where, key).write_bytes(broken)
        assert Cache(home.where).load([key]) in ({}, {key: known} if bytes(broken) == whole else {})


# --- neighbours ---------------------------------------------------------------------------------------------


def test_a_load_while_a_thread_flushes_misses_nothing(home: Home) -> None:
    shared = Cache(home.where)
    stop = threading.Event()

    def flush() -> None:
        while not stop.is_set():
            shared.flush()

    thread = threading.Thread(target=flush)
    thread.start()
    try:
        for number in range(300):
            shared.put(name(number), one := offer(str(number)))
            assert shared.load([name(number)]) == {name(number): one}
    finally:
        stop.set()
        thread.join()
    shared.flush()
    assert len(Cache(home.where).load(map(name, range(300)))) == 300


WRITER = """
import itertools, sys, time
from msgspec import Raw
from mooring.core.protocol.tool import ServerInfo
from mooring.core.protocol.tool import Offer
from mooring.core.protocol.tool import Listing, Tool
from mooring.core.definitions.paths import Paths
from mooring.servers.cache import Cache

home, who, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
for turn in range(rounds) if rounds else itertools.count():
    made = Cache(Paths(home))
    words = f"{who} {turn}"
    for number in range(20):
        tools = tuple(Tool(name=words, input_schema=Raw(b"{}"), description=words * 200) for _ in range(3))
        offer = Offer(hello=ServerInfo(words), era="handshake", at=time.time() - 1, tools=Listing(tools))
        made.put(number.to_bytes(32, "big"), offer)
        if rounds:
            made.put(f"{who} {number}".encode().ljust(32), offer)
    made.flush()
    if turn == 0:
        print("begun", flush=True)
"""


def writer(where: Paths, who: str, rounds: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", WRITER, where.home, who, str(rounds)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def whole(each: Offer) -> bool:
    words = each.hello.protocol_version
    return [(tool.name, tool.description) for tool in each.tools.items] == [(words, words * 200)] * 3


def test_processes_that_begin_and_write_at_the_same_time_lose_nothing(home: Home) -> None:
    children = [writer(home.where, who, 15) for who in ("a", "b", "c")]
    assert [child.wait(PATIENCE) for child in children] == [0, 0, 0]
    for child in children:
        assert child.stdout is not None
        child.stdout.close()
    own = [f"{who} {number}".encode().ljust(32) for who in "abc" for number in range(20)]
    found = Cache(home.where).load([*own, *map(name, range(20))])
    assert len(found) == 80
    assert {found[key].hello.protocol_version for key in own} == {"a 14", "b 14", "c 14"}
    assert all(map(whole, found.values()))


def test_a_writer_killed_at_any_moment_leaves_each_file_old_or_new(home: Home) -> None:
    chance = random.Random(7)
    for attempt in range(20):
        with writer(home.where, str(attempt), 0) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "begun\n"
            # Not to wait for anything: to be somewhere in a write that nobody chose.
            time.sleep(chance.random() * 0.02)
            child.send_signal(signal.SIGKILL)
        found = Cache(home.where).load(map(name, range(20)))
        assert len(found) == 20
        assert all(map(whole, found.values()))


def test_processes_that_need_the_secret_at_the_same_time_agree_on_it(home: Home) -> None:
    code = f"""
import sys
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Origin, ServerConfig, Stdio
from mooring.core.definitions.template import literal
from mooring.core.definitions.paths import Paths
from mooring.servers.cache import Cache
config = ServerConfig(name="s", origin=Origin("mooring", "user", None), connection=Stdio(literal("run")))
sys.stdin.readline()
where = Paths({home.where.home!r})
print(Cache(where).key(Approved(config, "/"), where).hex())
"""
    words = [sys.executable, "-c", code]
    children = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    printed = {child.communicate(timeout=PATIENCE)[0] for child in children}
    assert [len(key) for key in printed] == [65]
