"""What cannot be written is reported by the command that lost it, and by doctor."""

from pathlib import Path

import pytest

from mooring.errors import FileError
from mooring.files import check_writable
from support import DEMO, Cli

STATE = "home/.local/state/mooring"


def test_pins_that_cannot_be_written_are_reported_by_the_call_and_by_doctor(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    cli.home.write(f"{STATE}/pins", "a file in its place")
    called = cli("call", "demo.echo", "text=hi")
    assert (called.code, called.out) == (0, "hi\n")
    assert "demo: has tools that could not be pinned" in called.err
    doctor = cli("mcp", "doctor")
    assert doctor.code == 1
    assert "which tools were approved are lost" in doctor.out


def test_doctor_finds_nothing_where_everything_can_be_written_and_leaves_nothing(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert cli("mcp", "doctor").code == 0
    assert not (cli.home.folder / STATE).exists()
    (cli.home.folder / STATE).mkdir(parents=True, mode=0o700)
    assert cli("mcp", "doctor").code == 0
    assert list((cli.home.folder / STATE).iterdir()) == []


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", refuse)
    with pytest.raises(FileError, match="no space left"):
        check_writable(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
