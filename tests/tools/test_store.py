"""Kept results: the person's alone, bounded in size and age, and readable in parts."""

import os
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.errors import ConfigError, FileError
from mooring.tools.results.deliver import ResultStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "results"


def test_a_file_is_its_owners_alone_and_named_by_chance(folder: Path) -> None:
    kept = ResultStore(str(folder)).save_text(["one", "two"])
    assert Path(kept.path).read_text() == "onetwo"
    assert kept.size == 6
    assert os.stat(kept.path).st_mode & 0o777 == 0o600
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert ResultStore(str(folder)).save_text(["one", "two"]).id != kept.id


def test_the_oldest_are_given_up_when_there_is_too_much(folder: Path) -> None:
    store = ResultStore(str(folder), max_bytes=250)
    kept = [store.save_text(["x" * 100]) for _ in range(3)]
    for age, each in enumerate(reversed(kept)):
        if os.path.exists(each.path):
            os.utime(each.path, (1e9 - age, 1e9 - age))
    last = ResultStore(str(folder), max_bytes=250, max_age=1e12).save_text(["x" * 100])
    left = sorted(os.listdir(folder))
    assert len(left) == 2
    assert os.path.basename(last.path) in left


def test_the_last_one_stays_however_large_it_is(folder: Path) -> None:
    kept = ResultStore(str(folder), max_bytes=10).save_text(["x" * 100])
    assert os.listdir(folder) == [os.path.basename(kept.path)]


def test_what_is_too_old_is_given_up(folder: Path) -> None:
    old = ResultStore(str(folder)).save_text(["old"])
    os.utime(old.path, (1, 1))
    ResultStore(str(folder)).save_text(["new"])
    assert not os.path.exists(old.path)


@pytest.mark.parametrize("id", ["../../../etc/passwd", "a/b", "", "nothing", "a.b", "é"])
def test_only_what_was_kept_can_be_read(id: str, folder: Path) -> None:
    store = ResultStore(str(folder))
    store.save_text(["x"])
    (folder.parent / "passwd.txt").write_text("secret")
    with pytest.raises(ConfigError):
        store.read(id, 0, 10)


def test_a_link_in_the_folder_is_not_followed(folder: Path) -> None:
    ResultStore(str(folder)).save_text(["x"])
    (folder.parent / "secret.txt").write_text("secret")
    (folder / "abc.txt").symlink_to(folder.parent / "secret.txt")
    with pytest.raises(FileError):
        ResultStore(str(folder)).read("abc", 0, 10)


@settings(max_examples=30)
@given(st.text(alphabet=st.characters(codec="utf-8")), st.integers(1, 40))
def test_a_text_read_in_parts_is_the_text(tmp_path_factory: pytest.TempPathFactory, text: str, most: int) -> None:
    store = ResultStore(str(tmp_path_factory.getbasetemp() / "parts"))
    id, at, read = store.save_text([text]).id, 0, ""
    while at is not None:
        portion = store.read(id, at, most)
        read, at = read + portion.text, portion.next
    assert read == text


def test_what_is_kept_again_with_the_same_secret_is_written_once(tmp_path: Path) -> None:
    store = ResultStore(str(tmp_path))
    data = b64encode(b"an image").decode()
    first = store.save_again(data, "image/png", "a secret")
    assert store.save_again(data, "image/png", "a secret") == first
    assert store.save_again(data, "image/png", "another") != first
    assert len(list(tmp_path.iterdir())) == 2


def test_what_a_crash_left_half_written_is_not_taken_for_the_whole(tmp_path: Path) -> None:
    store = ResultStore(str(tmp_path))
    data = b64encode(b"an image").decode()
    torn = Path(store.save_again(data, "image/png", "a secret").path)
    torn.write_bytes(b"an im")
    assert Path(store.save_again(data, "image/png", "a secret").path).read_bytes() == b"an image"
