"""The catalog on disk: what it keeps, for whom, and what becomes of it when disks, clocks and neighbours misbehave."""

import json
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from mooring.core.approved import Approved
from mooring.core.config import Http, OAuth, Origin, ServerConfig, Stdio
from mooring.core.hello import Hello, Implementation
from mooring.core.offer import LIFE, Offer
from mooring.core.raw import ABSENT
from mooring.core.template import CommandPart, Template, TextPart, VariablePart, literal
from mooring.core.tool import (
    Argument,
    Execution,
    Hints,
    Listing,
    Prompt,
    Rejected,
    Resource,
    ResourceTemplate,
    Tool,
)
from mooring.core.where import Where
from mooring.servers import cache
from mooring.servers.cache import Cache
from support import Home

HOUR, DAY = 3600.0, 86400.0
NOBODY = 65534
PATIENCE = 30.0


def offer(words: str = "one", *, ago: float = 1.0, tools: int = 1, size: int = 0) -> Offer:
    described = (f"{words} {number} {'x' * size}" for number in range(tools))
    listed = tuple(Tool(name=f"t{n}", input_schema=Raw(b"{}"), description=text) for n, text in enumerate(described))
    return Offer(hello=Hello("2025-11-25"), era="handshake", at=time.time() - ago, tools=Listing(listed))


def name(number: int) -> bytes:
    return number.to_bytes(32, "big")


def keep(where: Where, **offers: Offer) -> dict[bytes, Offer]:
    """Put offers on disk, each under a key of its own."""
    kept = {word.encode().ljust(32): each for word, each in offers.items()}
    writer = Cache(where)
    for key, each in kept.items():
        writer.put(key, each)
    writer.flush()
    return kept


def database(where: Where) -> Path:
    return Path(where.cache, "catalog.db")


@contextmanager
def opened(where: Where) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database(where), isolation_level=None)) as db:
        yield db


def works_anew(where: Where) -> bool:
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
    hello=st.builds(Hello, texts, objects, st.builds(Implementation, texts, texts, maybe, maybe), maybe),
    era=st.sampled_from(["handshake", "stateless"]),
    at=st.floats(1.0, LIFE - HOUR).map(lambda ago: time.time() - ago),
    tools=listings(tools),
    resources=st.none() | listings(resources),
    templates=st.none() | listings(templates),
    prompts=st.none() | listings(prompts),
)


@settings(max_examples=30, deadline=None)
@given(known=st.dictionaries(st.binary(min_size=32, max_size=32), offers, max_size=3))
def test_any_offer_comes_back_as_it_was_put(
    tmp_path_factory: pytest.TempPathFactory, known: dict[bytes, Offer]
) -> None:
    where = Where(str(tmp_path_factory.mktemp("home")))
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
    assert not database(home.where).exists()


def test_a_flush_of_nothing_makes_nothing(home: Home) -> None:
    Cache(home.where).flush()
    assert list(home.home.iterdir()) == []


# --- time and size ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ago", [LIFE + 1, -DAY, float("nan")])
def test_what_is_too_old_or_from_the_future_is_neither_offered_nor_kept(home: Home, ago: float) -> None:
    keys = keep(home.where, a=offer(ago=ago), b=offer())
    assert set(Cache(home.where).load(keys)) == {list(keys)[1]}
    with opened(home.where) as db:
        assert db.execute("SELECT COUNT(*) FROM offer").fetchone() == (1,)


def test_rows_that_outlived_their_time_are_swept_by_later_flushes(home: Home) -> None:
    keys = keep(home.where, a=offer(), b=offer(), c=offer())
    with opened(home.where) as db:
        db.execute("UPDATE offer SET at = at - ? WHERE key = ?", (LIFE, next(iter(keys))))
        db.execute("UPDATE offer SET at = at + ? WHERE key = ?", (LIFE, list(keys)[1]))
    keep(home.where, d=offer())
    with opened(home.where) as db:
        assert [key.strip() for (key,) in db.execute("SELECT key FROM offer ORDER BY key")] == [b"c", b"d"]


def times(where: Where) -> list[float]:
    with opened(where) as db:
        return [at for (at,) in db.execute("SELECT at FROM offer")]


def test_an_equal_offer_is_not_written_again_within_the_hour(home: Home) -> None:
    earlier = offer(ago=HOUR / 2)
    keep(home.where, a=earlier)
    before = database(home.where).read_bytes()
    keep(home.where, a=replace(earlier, at=time.time()))
    assert database(home.where).read_bytes() == before


def test_an_equal_offer_is_written_again_after_an_hour(home: Home) -> None:
    earlier, now = offer(ago=HOUR * 2), time.time()
    keep(home.where, a=earlier)
    keep(home.where, a=replace(earlier, at=now))
    assert times(home.where) == [now]


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
    assert 10 <= len(left) < 20
    assert left == dict(list(known.items())[-len(left) :])
    assert database(home.where).stat().st_size <= most + 200_000


def test_text_that_cannot_be_written_costs_one_offer(home: Home) -> None:
    keys = keep(home.where, a=offer("\ud800"), b=offer())
    assert set(Cache(home.where).load(keys)) == {list(keys)[1]}


def test_fifty_servers_are_read_in_a_moment(home: Home) -> None:
    keep(home.where, **{f"s{number}": offer(tools=10, size=500) for number in range(50)})
    code = f"""
import time
from mooring.core.where import Where
from mooring.servers.cache import Cache
begun = time.process_time()
found = Cache(Where({home.where.home!r})).load([f"s{{n}}".encode().ljust(32) for n in range(50)])
print(len(found), time.process_time() - begun)
"""
    done = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(3)]
    counts, seconds = zip(*(each.stdout.split() for each in done), strict=True)
    assert counts == ("50",) * 3
    assert min(map(float, seconds)) < 5 * 0.010


# --- keys ---------------------------------------------------------------------------------------------------

PARTS = (TextPart("--token="), VariablePart("TOKEN"))
PROGRAM = Stdio(literal("run"), (Template("--token=${TOKEN}", PARTS),), {"MODE": literal("fast")}, ("PASSED",))
SITE = Http(
    literal("https://example.org"),
    {"Authorization": Template("!echo $TOKEN", (CommandPart((VariablePart("TOKEN"),)),))},
)
ENV = {"TOKEN": "canary-token", "PASSED": "canary-passed", "OTHER": "x"}


def approved(connection: Stdio | Http = PROGRAM, **changes: Any) -> Approved:
    config = ServerConfig(name="s", origin=Origin("mooring", "user", None), connection=connection)
    return Approved(replace(config, oauth=changes.pop("oauth", None)), **{"folder": "/project", **changes})


def at(home: Home, **env: str) -> Where:
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
        made.key(approved(folder="/other"), where),
        made.key(approved(own=False), where),
        made.key(approved(oauth=OAuth(client_id="me")), where),
        made.key(approved(), where, roots=["/project"]),
        made.key(approved(), where, credential="work"),
    ]
    assert len(set(keys)) == len(keys)


def test_the_order_of_roots_and_of_variables_makes_no_difference(home: Home) -> None:
    made, where = Cache(home.where), at(home)
    both = {"A": literal("1"), "B": literal("2")}
    turned = dict(reversed(both.items()))
    assert made.key(approved(), where, roots=["/a", "/b"]) == made.key(approved(), where, roots=["/b", "/a"])
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
    assert key in written
    assert b"canary" not in written


def test_another_person_has_other_keys(home: Home, tmp_path: Path) -> None:
    assert Cache(home.where).key(approved(), at(home)) != Cache(Where(str(tmp_path / "b"))).key(approved(), at(home))


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
    assert not database(home.where).exists()


# --- the file is not as it should be ------------------------------------------------------------------------


def test_files_and_folder_are_closed_to_others(home: Home) -> None:
    before = os.umask(0)
    try:
        keep(home.where, a=offer())
    finally:
        os.umask(before)
    assert mode(Path(home.where.cache)) == 0o700
    assert {path.name: mode(path) for path in Path(home.where.cache).iterdir()} == {
        "catalog.db": 0o600,
        "catalog.db-journal": 0o600,
    }
    assert mode(Path(home.where.state, "catalog.key")) == 0o600


def test_a_folder_open_to_others_is_closed(home: Home) -> None:
    Path(home.where.cache).mkdir(parents=True)
    Path(home.where.cache).chmod(0o777)
    assert works_anew(home.where)
    assert mode(Path(home.where.cache)) == 0o700


def test_a_file_that_is_no_database_is_set_aside(home: Home) -> None:
    home.write("home/.cache/mooring/catalog.db", "somebody's notes" * 100)
    assert Cache(home.where).load([name(1)]) == {}
    assert works_anew(home.where)
    assert database(home.where).with_suffix(".db.aside").read_text() == "somebody's notes" * 100


def test_the_database_of_another_program_is_set_aside_unchanged(home: Home) -> None:
    Path(home.where.cache).mkdir(parents=True)
    with opened(home.where) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE offer (mine TEXT)")
        db.execute("INSERT INTO offer VALUES ('precious')")
    assert Cache(home.where).load([name(1)]) == {}
    assert works_anew(home.where)
    with closing(sqlite3.connect(database(home.where).with_suffix(".db.aside"))) as db:
        assert db.execute("SELECT mine FROM offer").fetchall() == [("precious",)]


def test_a_folder_in_its_place_is_set_aside_with_what_is_in_it(home: Home) -> None:
    home.write("home/.cache/mooring/catalog.db/notes", "precious")
    assert Cache(home.where).load([name(1)]) == {}
    assert works_anew(home.where)
    assert Path(home.where.cache, "catalog.db.aside/notes").read_text() == "precious"


def test_a_second_thing_to_set_aside_replaces_the_first(home: Home) -> None:
    for words in ("first", "second"):
        home.write("home/.cache/mooring/catalog.db", words)
        assert works_anew(home.where)
    database(home.where).unlink()
    database(home.where).mkdir()
    assert works_anew(home.where)
    assert Path(home.where.cache, "catalog.db.aside").is_dir()


def test_a_link_is_not_followed(home: Home) -> None:
    keys = keep(home.where, a=offer())
    elsewhere = home.home / "elsewhere.db"
    database(home.where).rename(elsewhere)
    before = elsewhere.read_bytes()
    database(home.where).symlink_to(elsewhere)
    assert Cache(home.where).load(keys) == {}
    assert works_anew(home.where)
    assert not database(home.where).is_symlink()
    assert elsewhere.read_bytes() == before


def test_a_file_that_others_could_write_is_not_read(home: Home) -> None:
    keys = keep(home.where, a=offer())
    database(home.where).chmod(0o666)
    assert Cache(home.where).load(keys) == {}
    assert works_anew(home.where)
    assert mode(database(home.where)) == 0o600


def as_nobody(folder: Path, code: str) -> list[Any]:
    """What a child without rights printed, each line as JSON; `where` is there for it."""
    prelude = f"""
import json, os, sys, time
from mooring.core.where import Where
from mooring.core.offer import Offer
from mooring.core.hello import Hello
from mooring.servers.cache import Cache
import sqlite3, hmac, fcntl
where = Where({str(folder)!r})
key = b"k" * 32
def offer(era="handshake"):
    return Offer(hello=Hello("x"), era=era, at=time.time() - 1)
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
os.chmod(f"{where.cache}/catalog.db", 0o400); os.chmod(where.cache, 0o500)
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
def test_a_catalog_or_a_folder_of_somebody_else_is_not_used(home: Home) -> None:
    keys = keep(home.where, a=offer())
    os.chown(database(home.where), NOBODY, NOBODY)
    assert Cache(home.where).load(keys) == {}
    assert works_anew(home.where)
    assert database(home.where).stat().st_uid == 0
    os.chown(home.where.cache, NOBODY, NOBODY)
    before = database(home.where).read_bytes()
    assert not works_anew(home.where)
    assert database(home.where).read_bytes() == before


def test_a_full_disk_leaves_what_was_there(home: Home) -> None:
    keys = keep(home.where, a=offer())
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = os.stat(f"{where.cache}/catalog.db").st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
made = Cache(where)
for number in range(50):
    made.put(number.to_bytes(32, "big"), Offer(hello=Hello("x" * 5000), era="handshake", at=time.time() - 1))
made.flush()
print(len(made.load([(1).to_bytes(32, "big")])))
"""
    prelude = "import os, time\nfrom mooring.core.where import Where\nfrom mooring.core.offer import Offer\n"
    prelude += "from mooring.core.hello import Hello\nfrom mooring.servers.cache import Cache\n"
    prelude += f"where = Where({home.where.home!r})\n"
    done = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("0\n", "")
    assert Cache(home.where).load(keys) == keys
    assert works_anew(home.where)


@pytest.mark.parametrize("version", [0, 99])
def test_a_catalog_of_an_older_or_a_newer_version_is_begun_again(home: Home, version: int) -> None:
    keys = keep(home.where, a=offer())
    with opened(home.where) as db:
        db.execute(f"PRAGMA user_version = {version}")
    assert Cache(home.where).load(keys) == {}
    assert works_anew(home.where)


@pytest.mark.parametrize(
    "change",
    [
        "payload = x'7b7d'",
        "payload = 'text'",
        "payload = substr(payload, 2)",
        "seal = x'00'",
        "at = at + 1",
        "at = 'soon'",
    ],
)
def test_a_damaged_row_counts_as_none_and_is_mended_by_the_next_put(home: Home, change: str) -> None:
    keys = keep(home.where, a=offer(), b=offer())
    first, second = keys
    with opened(home.where) as db:
        db.execute(f"UPDATE offer SET {change} WHERE key = ?", (first,))
    assert set(Cache(home.where).load(keys)) == {second}
    mended = keep(home.where, a=keys[first])
    assert Cache(home.where).load(keys) == {**keys, **mended}


def test_a_row_of_one_server_does_not_pass_for_another(home: Home) -> None:
    keys = keep(home.where, a=offer("a"), b=offer("b"))
    first, second = keys
    with opened(home.where) as db:
        db.execute("DELETE FROM offer WHERE key = ?", (second,))
        db.execute("UPDATE offer SET key = ?", (second,))
    assert Cache(home.where).load([first, second]) == {}


def test_a_missing_table_is_damage(home: Home) -> None:
    keys = keep(home.where, a=offer())
    with opened(home.where) as db:
        db.execute("DROP TABLE offer")
        db.execute("CREATE TABLE other (x)")
    assert Cache(home.where).load(keys) == {}
    assert works_anew(home.where)


def test_bytes_changed_anywhere_never_change_an_offer(home: Home) -> None:
    keys = keep(home.where, **{f"s{number}": offer(f"{number}", tools=3, size=300) for number in range(30)})
    whole = database(home.where).read_bytes()
    chance = random.Random(5)
    emptied = 0
    for _ in range(60):
        broken = bytearray(whole)
        for _ in range(chance.choice([1, 8, 200])):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        broken = broken[: chance.choice([len(broken)] * 3 + [chance.randrange(len(broken))])]
        database(home.where).write_bytes(broken)
        reader = Cache(home.where)
        found = reader.load(keys)
        assert found.items() <= keys.items()
        emptied += not found
        reader.put(name(1), one := offer("new"))
        reader.flush()
        assert Cache(home.where).load([name(1)]) in ({name(1): one}, {})
    assert 0 < emptied < 60


def test_damage_that_only_a_load_meets_is_mended_by_the_next_flush(home: Home) -> None:
    keys = keep(home.where, **{f"s{number:03}": offer(f"{number}", size=3000) for number in range(100)})
    whole = bytearray(database(home.where).read_bytes())
    for page in range(3, len(whole) // 4096):
        whole[page * 4096 : page * 4096 + 8] = b"\xff" * 8
    database(home.where).write_bytes(whole)
    reader = Cache(home.where)
    assert reader.load(keys) == {}
    reader.put(name(1), new := offer("new"))
    reader.flush()
    assert Cache(home.where).load([*keys, name(1)]) == {name(1): new}


# --- neighbours ---------------------------------------------------------------------------------------------


def test_a_catalog_locked_by_another_process_counts_as_empty_for_now(home: Home) -> None:
    keys = keep(home.where, a=offer())
    late = Cache(home.where, patience=0.1)
    late.put(name(1), offer())
    with opened(home.where) as db:
        db.execute("BEGIN EXCLUSIVE")
        begun = time.monotonic()
        assert Cache(home.where).load(keys) == {}
        late.flush()
        assert time.monotonic() - begun < 5 * (0.1 + cache.READ_PATIENCE)
    assert Cache(home.where).load([*keys, name(1)]) == keys
    assert works_anew(home.where)


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
from mooring.core.hello import Hello
from mooring.core.offer import Offer
from mooring.core.tool import Listing, Tool
from mooring.core.where import Where
from mooring.servers.cache import Cache

home, who, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
for turn in range(rounds) if rounds else itertools.count():
    made = Cache(Where(home))
    words = f"{who} {turn}"
    for number in range(20):
        tools = tuple(Tool(name=words, input_schema=Raw(b"{}"), description=words * 200) for _ in range(3))
        offer = Offer(hello=Hello(words), era="handshake", at=time.time() - 1, tools=Listing(tools))
        made.put(number.to_bytes(32, "big"), offer)
        if rounds:
            made.put(f"{who} {number}".encode().ljust(32), offer)
    made.flush()
    if turn == 0:
        print("begun", flush=True)
"""


def writer(where: Where, who: str, rounds: int) -> subprocess.Popen[str]:
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
    assert not database(home.where).with_suffix(".db.aside").exists()


def test_a_writer_killed_at_any_moment_leaves_the_old_rows_or_the_new(home: Home) -> None:
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
        assert len({each.hello.protocol_version for each in found.values()}) == 1
        assert all(map(whole, found.values()))
    with opened(home.where) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert not database(home.where).with_suffix(".db.aside").exists()


def test_processes_that_need_the_secret_at_the_same_time_agree_on_it(home: Home) -> None:
    code = f"""
import sys
from mooring.core.approved import Approved
from mooring.core.config import Origin, ServerConfig, Stdio
from mooring.core.template import literal
from mooring.core.where import Where
from mooring.servers.cache import Cache
config = ServerConfig(name="s", origin=Origin("mooring", "user", None), connection=Stdio(literal("run")))
sys.stdin.readline()
where = Where({home.where.home!r})
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
