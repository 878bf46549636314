"""Where a person's secrets are kept: in the keyring that answers, or in a file that only they can read."""

import asyncio
import json
import stat
import time

import pytest

from auth.machine import Machine
from mooring.auth.store import SecretStore
from mooring.auth.system_keyring import PROBE_SECONDS
from mooring.errors import FileError
from support import Home, umask

CANARY = "canary-7Yt2-value"


def test_a_secret_goes_into_the_keyring_that_answers_and_into_no_file(home: Home) -> None:
    machine = Machine(home, "Working")
    stored = machine.run("secret", "set", "github", given=f"{CANARY}\n")
    assert (stored.code, stored.out) == (0, "Stored github in the system keyring.\n")
    assert machine.kept == [CANARY]
    assert machine.files_with(CANARY) == []
    listed = machine.run("secret", "list", "--json").data["secrets"]
    assert [(secret["name"], secret["store"], secret["why"]) for secret in listed] == [("github", "keyring", "")]


@pytest.mark.parametrize(
    ("keyring", "why"),
    [
        ("keyring.backends.fail.Keyring", "because this system has no keyring that is running."),
        ("keyring.backends.null.Keyring", "because the system keyring is turned off for Python programs."),
        ("Plain", "because keyrings Plain does not protect what it keeps."),
        ("Locked", "because the system keyring failed: Failed to unlock the collection."),
        ("Breaking", "because keyrings Breaking failed (RuntimeError)."),
        ("Missing", "because the system keyring failed:"),
    ],
)
def test_pitfall_keyring_without_one_that_can_be_used_it_goes_into_a_private_file_and_says_why(
    home: Home, keyring: str, why: str
) -> None:
    machine = Machine(home, keyring)
    with umask(0):
        stored = machine.run("secret", "set", "github", given=CANARY)
    assert stored.code == 0, stored.err
    assert why in stored.out
    assert CANARY not in stored.out + stored.err
    assert machine.kept == []
    assert machine.files_with(CANARY) == ["values.json"]
    for path in (machine.secrets, *machine.secrets.rglob("*")):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_pitfall_keyring_one_that_waits_for_a_dialog_holds_nobody_up(home: Home) -> None:
    machine = Machine(home, "Hanging")
    began = time.monotonic()
    stored = machine.run("secret", "set", "github", given=CANARY)
    assert stored.code == 0
    assert f"because the system keyring did not answer within {PROBE_SECONDS:g} s; it may be locked." in stored.out
    assert time.monotonic() - began < 5 * PROBE_SECONDS
    settings = machine.run("settings", "--json").data["secretStore"]
    assert settings["value"] == "file"
    assert "did not answer" in settings["why"]


def test_a_secret_stays_in_its_file_when_a_keyring_appears_until_it_is_set_again(home: Home) -> None:
    machine = Machine(home)
    machine.run("secret", "set", "github", given="first")
    machine.keyring = "Working"
    machine.run("secret", "set", "other", given="second")
    stores = {secret["name"]: secret["store"] for secret in machine.run("secret", "list", "--json").data["secrets"]}
    assert stores == {"github": "file", "other": "keyring"}
    assert machine.kept == ["second"]
    assert machine.run("secret", "set", "github", given="third").out == "Stored github in the system keyring.\n"
    assert sorted(machine.kept) == ["second", "third"]
    assert machine.files_with("first") == machine.files_with("third") == []


async def test_a_new_value_of_a_login_stays_in_the_store_that_has_the_old_one(home: Home) -> None:
    machine = Machine(home)
    code = (
        "import asyncio, sys; from mooring.auth.store import SecretStore; from mooring.core.definitions.paths import Paths\n"
        "store = SecretStore(Paths(sys.argv[1]))\n"
        "print(asyncio.run(store.set('oauth', 'https://a|b|c', sys.argv[2])).store)"
    )
    assert machine.python(code, "one").communicate()[0] == b"file\n"
    machine.keyring = "Working"
    assert machine.python(code, "two").communicate()[0] == b"file\n"
    assert await SecretStore(home.where).get("oauth", "https://a|b|c") == "two"
    assert machine.kept == []


def test_a_keyring_that_is_away_loses_nothing_and_the_error_says_so(home: Home) -> None:
    machine = Machine(home, "Working")
    machine.run("secret", "set", "github", given=CANARY)
    machine.keyring = "Locked"
    removed = machine.run("secret", "rm", "github")
    assert removed.code == 2
    assert removed.err == (
        "mooring: The store of your secrets cannot be used: the system keyring failed: Failed to unlock the collection.\n"
    )
    machine.keyring = "Working"
    assert machine.kept == [CANARY]
    assert machine.run("secret", "rm", "github").out == "Removed github.\n"
    assert machine.kept == []


@pytest.mark.parametrize("keyring", ["Small", "Cutting"])
def test_a_value_that_the_keyring_does_not_take_in_full_goes_into_the_file_and_says_why(
    home: Home, keyring: str
) -> None:
    machine = Machine(home, keyring)
    value = CANARY * 200
    stored = machine.run("secret", "set", "key", given=value)
    assert f"because keyrings {keyring} does not take a value of {len(value):,} characters" in stored.out
    assert machine.kept == []
    assert machine.files_with(value) == ["values.json"]
    # A shorter one is taken, and the file forgets the long one.
    assert machine.run("secret", "set", "key", given="short").out == "Stored key in the system keyring.\n"
    assert machine.files_with(CANARY) == []


def test_two_homes_do_not_share_a_name_in_one_keyring(home: Home) -> None:
    machine = Machine(home, "Working")
    other = Machine(Home(home.folder / "other"), "Working", shared=machine)
    machine.run("secret", "set", "github", given="of the first")
    other.run("secret", "set", "github", given="of the second")
    assert sorted(machine.kept) == ["of the first", "of the second"]
    other.run("secret", "rm", "github")
    assert machine.kept == ["of the first"]


@pytest.mark.parametrize("name", ["index.json", "values.json"])
@pytest.mark.parametrize("damage", [b"{", b"\xff", b'{"version": 2}', b""])
def test_a_damaged_file_of_the_store_is_refused_and_never_written_over(home: Home, name: str, damage: bytes) -> None:
    machine = Machine(home)
    machine.run("secret", "set", "github", given=CANARY)
    path = machine.secrets / name
    path.write_bytes(damage)
    refused = machine.run("secret", "set", "github", given="another")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert f"to start a new one: mv {home.shorten(path)} " in refused.err
    assert path.read_bytes() == damage


def test_a_file_that_others_may_read_is_refused_with_the_command_that_fixes_it(home: Home) -> None:
    machine = Machine(home)
    machine.run("secret", "set", "github", given=CANARY)
    path = machine.secrets / "values.json"
    path.chmod(0o640)
    refused = machine.run("secret", "set", "other", given="x")
    shown = home.shorten(path)
    assert refused.err == f"mooring: {shown}: holds secrets, but others may read it; to fix it: chmod go= {shown}\n"
    path.chmod(0o600)
    assert machine.run("secret", "set", "other", given="x").code == 0


@pytest.mark.timeout(300)
def test_twenty_processes_that_set_twenty_secrets_each_lose_none_of_the_four_hundred(home: Home) -> None:
    machine = Machine(home)
    code = (
        "import asyncio, sys; from mooring.verbs.config.secrets import store_secret; from mooring.core.definitions.paths import Paths\n"
        "async def main():\n"
        "    for number in range(20):\n"
        "        await store_secret(Paths(sys.argv[1]), f'of-{sys.argv[2]}.{number}', f'value {sys.argv[2]} {number}')\n"
        "asyncio.run(main())"
    )
    processes = [machine.python(code, str(each)) for each in range(20)]
    for process in processes:
        _, err = process.communicate(timeout=280)
        assert process.returncode == 0, err
    values = json.loads((machine.secrets / "values.json").read_text())["values"]["secret"]
    assert values == {f"of-{each}.{number}": f"value {each} {number}" for each in range(20) for number in range(20)}
    assert len(machine.run("secret", "list", "--json").data["secrets"]) == 400


# --- the lock of one credential ---------------------------------------------------------------------------------------

COUNT = """
import asyncio, sys
from pathlib import Path
from mooring.auth.store import SecretStore
from mooring.core.definitions.paths import Paths

async def main():
    store = SecretStore(Paths(sys.argv[1]))
    for _ in range(10):
        async with store.locked("oauth", "login"):
            before = int(await store.get("oauth", "login") or 0)
            await asyncio.sleep(0)
            await store.set("oauth", "login", str(before + 1))

asyncio.run(main())
"""


async def test_a_login_is_renewed_by_one_process_at_a_time(home: Home) -> None:
    machine = Machine(home)
    processes = [machine.python(COUNT) for _ in range(4)]
    for process in processes:
        _, err = await asyncio.to_thread(process.communicate, timeout=100)
        assert process.returncode == 0, err
    assert await SecretStore(home.where).get("oauth", "login") == "40"


async def test_the_event_loop_goes_on_while_others_hold_the_lock(home: Home) -> None:
    store, other = SecretStore(home.where), SecretStore(home.where)
    ticks = 0

    async def wait_for_lock() -> None:
        async with other.locked("oauth", "login"):
            pass

    async with store.locked("oauth", "login"):
        waiting = asyncio.create_task(wait_for_lock())
        while ticks < 20:
            await asyncio.sleep(0.01)
            ticks += 1
        assert not waiting.done()
        async with other.locked("oauth", "another login"):
            pass
    await waiting


async def test_a_lock_that_is_held_too_long_is_an_error_and_not_a_wait_for_ever(home: Home) -> None:
    store, other = SecretStore(home.where), SecretStore(home.where)
    async with store.locked("oauth", "login"):
        with pytest.raises(FileError, match=r"has been locked by another process for more than 0\.2 seconds"):
            async with other.locked("oauth", "login", seconds=0.2):
                pass
    async with other.locked("oauth", "login", seconds=0.2):
        pass


async def test_a_canceled_wait_leaves_the_lock_to_others(home: Home) -> None:
    store = SecretStore(home.where)

    async def hold() -> None:
        async with store.locked("oauth", "login"):
            await asyncio.sleep(3600)

    holding, waiting = asyncio.create_task(hold()), asyncio.create_task(hold())
    await asyncio.sleep(0.2)
    for task in (waiting, holding):
        task.cancel()
    await asyncio.wait((holding, waiting))
    async with store.locked("oauth", "login", seconds=1):
        pass


def test_the_lock_of_a_process_that_was_killed_is_free(home: Home) -> None:
    machine = Machine(home)
    code = COUNT.replace("await asyncio.sleep(0)", "print('held', flush=True); await asyncio.sleep(3600)")
    killed = machine.python(code)
    assert killed.stdout is not None
    assert killed.stdout.readline() == b"held\n"
    killed.kill()
    killed.communicate()
    after = machine.python(COUNT)
    after.communicate(timeout=100)
    assert after.returncode == 0
