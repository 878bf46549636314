"""`mooring mcp doctor --fix`: what is safe is fixed and shown, everything else stays as it is."""

import asyncio
import fcntl
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from mooring import files
from mooring.errors import FileError
from mooring.files.cleanup import remove_leftover
from mooring.testing.site import Site
from support import DEMO, Cli, Home, run_beside

STATE = "home/.local/state/mooring"
OWN = "home/.config/mooring/mcp.json"
SHELL = {"command": "sh", "args": ["-c", "true"]}
DAY = 86_400


def make_old(path: Path, seconds: float = 2 * DAY) -> Path:
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def snapshot(folder: Path) -> dict[str, bytes | int]:
    """Every file with its bytes, and every mode."""
    contents: dict[str, bytes | int] = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    modes = {f"{path} mode": path.stat().st_mode for path in folder.rglob("*")}
    return {**contents, **modes}


def list_repairs(cli: Cli, *words: str) -> list[dict[str, Any]]:
    repairs: list[dict[str, Any]] = cli("mcp", "doctor", *words, "--json").data["repairs"]
    return repairs


def test_what_mooring_writes_itself_needs_no_repair(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert cli("call", "demo.echo", "text=hi").code == 0
    cli("mcp", "disable", "demo")
    cli("mcp", "enable", "demo")
    assert list_repairs(cli, "--fix") == []
    assert "--fix" not in cli("mcp", "doctor").out


def test_records_that_others_can_read_become_private(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert cli("call", "demo.echo", "text=hi").code == 0
    state = cli.home.folder / STATE
    log = next(path for path in state.iterdir() if path.suffix in (".jsonl", ".log"))
    state.chmod(0o755)
    log.chmod(0o644)
    report = cli("mcp", "doctor")
    assert "? Other users can open 2 of its files and folders  (~/.local/state/mooring)" in report.out
    assert "fix: mooring mcp doctor --fix" in report.out
    before = snapshot(cli.home.folder)
    shown = cli("mcp", "doctor", "--dry-run").out
    assert "Would fix ~/.local/state/mooring: takes the rights of other users away" in shown
    assert snapshot(cli.home.folder) == before
    assert "Fixed ~/.local/state/mooring: takes the rights of other users away" in cli("mcp", "doctor", "--fix").out
    assert (state.stat().st_mode & 0o777, log.stat().st_mode & 0o777) == (0o700, 0o600)
    assert "--fix" not in cli("mcp", "doctor").out


def test_a_state_folder_that_is_a_link_becomes_private_where_it_is(cli: Cli) -> None:
    elsewhere = cli.home.write("elsewhere/approvals.json", {"version": 1}).parent
    link = cli.home.folder / STATE
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    assert {repair["error"] for repair in list_repairs(cli, "--fix")} == {None}
    assert elsewhere.stat().st_mode & 0o777 == 0o700
    assert list_repairs(cli, "--fix") == []


def test_what_killed_processes_left_behind_is_swept_and_what_is_in_use_stays(cli: Cli) -> None:
    state = cli.home.folder / STATE
    state.mkdir(parents=True, mode=0o700)
    (state / "locks").mkdir(mode=0o700)
    names = (".approvals.json.0123456789abcdef.tmp", ".gone.json.lock", "locks/0123.lock", "locks/4567.lock")
    old_temporary, orphan, unused, held = (make_old(cli.home.write(f"{STATE}/{name}", "")) for name in names)
    young = cli.home.write(f"{STATE}/.approvals.json.fedcba9876543210.tmp", "")
    needed = make_old(cli.home.write(f"{STATE}/.kept.json.lock", ""))
    kept = cli.home.write(f"{STATE}/kept.json", "{}")
    for path in state.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    with held.open("r+b") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        done = cli("mcp", "doctor", "--fix")
        assert held.exists()
    assert done.out.count("removes a file that a process left behind") == 4
    assert not any(path.exists() for path in (old_temporary, orphan, unused))
    assert all(path.exists() for path in (young, needed, kept))


def test_a_lock_that_is_swept_while_others_wait_for_it_still_lets_in_one_at_a_time(tmp_path: Path) -> None:
    path = str(tmp_path / "record.json")
    lock = tmp_path / ".record.json.lock"
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(50):
            with files.locked(path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    def sweep() -> None:
        while any(worker.is_alive() for worker in workers):
            try:
                remove_leftover(str(lock))
            except FileError:
                continue  # it is not there just now

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    sweep()
    for worker in workers:
        worker.join()
    assert (len(most), max(most)) == (200, 1)


def test_a_damaged_record_of_disabled_servers_is_moved_aside_and_decisions_stay(cli: Cli) -> None:
    cli.home.configure(a=SHELL)
    state = cli.home.folder / STATE
    state.mkdir(parents=True, mode=0o700)
    damaged = [cli.home.write(f"{STATE}/{name}", '{"half') for name in ("overlay.json", "approvals.json", "rules.json")]
    for path in damaged:
        path.chmod(0o600)
    done = cli("mcp", "doctor", "--fix")
    assert "moves the damaged record of disabled servers aside" in done.out
    assert done.code == 1
    assert [path.exists() for path in damaged] == [False, True, True]
    assert (state / "overlay.json.damaged").read_text() == '{"half'
    # Nothing is written over the second time, either.
    damaged[0].write_text("[")
    damaged[0].chmod(0o600)
    assert cli("mcp", "doctor", "--fix").code == 1
    assert (state / "overlay.json.damaged").read_text() == '{"half'
    assert (state / "overlay.json.damaged-2").read_text() == "["


def test_a_record_of_a_newer_version_is_left_alone(cli: Cli) -> None:
    record = cli.home.write(f"{STATE}/overlay.json", {"version": 2})
    cli("mcp", "doctor", "--fix")
    assert record.exists()


async def fix(home: Home, *words: str) -> str:
    """What the command prints, while the site of this process answers it."""
    done = await asyncio.to_thread(run_beside, home, "mcp", "doctor", *words)
    return done.out


async def test_a_url_without_a_type_gets_the_one_it_has_and_every_other_byte_stays(home: Home) -> None:
    async with Site() as site:
        text = f'{{\n\t// mine\n\t"mcpServers": {{\n\t\t"docs": {{ "url": "{site.url}" }},  // the docs\n\t\t"b": {{"command": "sh",}}\n\t}}\n}}\r\n'
        own = home.write(OWN, text.encode())
        foreign = home.write("home/.cursor/mcp.json", {"mcpServers": {"far": {"url": f"{site.url}?x=1"}}})
        before = foreign.read_bytes()
        shown = await fix(home, "docs")
        assert "it speaks http" in shown
        assert "fix: mooring mcp edit -t http docs" in shown
        assert "Would fix" in await fix(home, "docs", "far", "--dry-run")
        assert own.read_bytes() == text.encode()
        shown = await fix(home, "docs", "far", "--fix")
    assert 'Fixed ~/.config/mooring/mcp.json: adds "type": "http" to docs' in shown
    assert own.read_bytes() == text.replace(f'"{site.url}" }}', f'"{site.url}", "type": "http" }}').encode()
    assert foreign.read_bytes() == before


async def test_a_definition_whose_tools_were_approved_keeps_its_text(home: Home) -> None:
    async with Site() as site:
        own = home.write(OWN, {"mcpServers": {"docs": {"url": site.url}}})
        before = own.read_bytes()
        called = await asyncio.to_thread(run_beside, home, "call", "docs.echo", "text=x")
        assert called.code == 0
        assert "Fixed" not in await fix(home, "docs", "--fix")
    assert own.read_bytes() == before


@pytest.mark.parametrize("words", [["--fix"], ["--dry-run"], ["--fix", "--check"]])
def test_other_tools_files_and_approvals_are_never_touched(cli: Cli, words: list[str]) -> None:
    cli.home.write("home/.cursor/mcp.json", {"mcpServers": {"a": SHELL, "web": {"url": "http://127.0.0.1:9/mcp"}}})
    cli.home.write("project/.mcp.json", {"mcpServers": {"theirs": SHELL}})
    digest = cli("mcp", "approve", "theirs").err.rpartition("--digest ")[2].split()[0]
    assert cli("mcp", "approve", "theirs", "--digest", digest).code == 0
    kept = [cli.home.folder / path for path in ("home/.cursor", "project", f"{STATE}/approvals.json")]
    before = [snapshot(path) if path.is_dir() else path.read_bytes() for path in kept]
    assert list_repairs(cli, *words) == []
    assert [snapshot(path) if path.is_dir() else path.read_bytes() for path in kept] == before
