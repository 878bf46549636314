"""Read, Write and Edit: what a model gets of a file, and what becomes of one that it changes."""

import os

import pytest
from desk import ONCE, Reader, allow, desk_in, desk_with, host_in

from mooring.core.conversation.question import Allow, No
from mooring.core.protocol.content import Image
from support import Home, umask

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32


async def test_a_text_is_read_with_its_line_numbers(home: Home) -> None:
    home.write("project/a.txt", "one\r\ntwo\nthree")
    async with desk_in(home) as desk:
        assert await desk.text("Read", file_path="a.txt") == "     1\tone\n     2\ttwo\n     3\tthree"
        part = await desk.text("Read", file_path=str(home.project / "a.txt"), offset=2, limit=1)
        assert part == "     2\ttwo\n[The file goes on: continue with offset 3.]"
        assert "fewer than 9 lines" in await desk.text("Read", file_path="a.txt", offset=9)
        assert desk.person.asked == []


async def test_a_picture_comes_as_a_picture_and_what_is_no_text_is_refused_in_a_sentence(home: Home) -> None:
    home.write("project/p.png", PNG)
    home.write("project/d.pdf", b"%PDF-1.7\n\0")
    home.write("project/b.bin", b"\0\1\2")
    async with desk_in(home) as desk:
        picture = await desk.call("Read", file_path="p.png")
        assert [part.mime_type for part in picture.parts if isinstance(part, Image)] == ["image/png"]
        assert "is a PDF" in await desk.failure("Read", file_path="d.pdf")
        assert "is a binary file" in await desk.failure("Read", file_path="b.bin")
        assert "does not exist" in await desk.failure("Read", file_path="none.txt")
        assert "is a folder" in await desk.failure("Read", file_path=".")


async def test_no_more_is_read_at_once_than_a_model_takes(home: Home) -> None:
    home.write("project/long.txt", "".join(f"line {number}\n" for number in range(1, 10_001)))
    home.write("project/wide.txt", "x" * 5_000_000)
    home.write("project/bad.txt", b"caf\xe9 \xff\xfe\n")
    async with desk_in(home) as desk:
        long = await desk.text("Read", file_path="long.txt")
        assert long.endswith("  2000\tline 2000\n[The file goes on: continue with offset 2001.]")
        assert "  9999\tline 9999" in await desk.text("Read", file_path="long.txt", offset=9_999)
        wide = await desk.text("Read", file_path="wide.txt")
        assert len(wide) < 2_100
        assert "the line goes on" in wide
        assert await desk.text("Read", file_path="bad.txt") == "     1\tcaf\ufffd \ufffd\ufffd"


async def test_a_file_larger_than_can_be_kept_in_memory_is_read_in_parts(home: Home) -> None:
    home.write("project/huge.txt", b"0123456789abcde\n" * (2 * 1024 * 1024))
    async with desk_in(home) as desk:
        assert "2000000\t0123456789abcde" in await desk.text("Read", file_path="huge.txt", offset=2_000_000, limit=1)


async def test_an_edit_is_asked_about_with_a_diff_and_made_as_it_was_shown(home: Home) -> None:
    path = home.write("project/a.py", "import os\n\nprint('a')\n")
    async with desk_in(home, answer=ONCE) as desk:
        await desk.text("Read", file_path="a.py")
        await desk.text("Edit", file_path="a.py", old_string="print('a')", new_string="print('b')")
        assert f"+++ {path}" in desk.person.last.preview
        assert "-print('a')\n+print('b')" in desk.person.last.preview
        assert path.read_text() == "import os\n\nprint('b')\n"
        # Its own change is known to it: no need to read the file again.
        await desk.text("Edit", file_path="a.py", old_string="import os\n\n", new_string="")
    assert path.read_text() == "print('b')\n"


async def test_a_no_leaves_the_file_as_it_is(home: Home) -> None:
    path = home.write("project/a.txt", "a\n")
    async with desk_in(home, answer=No("not that one")) as desk:
        assert "not that one" in await desk.failure("Edit", file_path="a.txt", old_string="a", new_string="b")
        assert await desk.failure("Write", file_path="b.txt", content="b")
    assert path.read_text() == "a\n"
    assert not (home.project / "b.txt").exists()


async def test_an_edit_must_be_exact_and_unique(home: Home) -> None:
    path = home.write("project/a.txt", "x = 1\nx = 1\n")
    async with desk_in(home, allow("Edit")) as desk:
        assert "contains old_string 2 times" in await desk.failure(
            "Edit", file_path="a.txt", old_string="x = 1", new_string="y"
        )
        assert "does not contain" in await desk.failure("Edit", file_path="a.txt", old_string="x=1", new_string="y")
        assert "are the same" in await desk.failure("Edit", file_path="a.txt", old_string="x", new_string="x")
        assert path.read_text() == "x = 1\nx = 1\n"
        await desk.text("Edit", file_path="a.txt", old_string="x = 1", new_string="y", replace_all=True)
    assert path.read_text() == "y\ny\n"


async def test_what_would_fail_is_not_asked_about(home: Home) -> None:
    home.write("project/a.txt", "a\n")
    async with desk_in(home, answer=ONCE) as desk:
        await desk.failure("Edit", file_path="a.txt", old_string="nothing like it", new_string="b")
        assert desk.person.asked == []


async def test_a_file_that_changed_since_it_was_read_is_not_changed_again(home: Home) -> None:
    path = home.write("project/a.txt", "a\n")
    async with desk_in(home, allow("Edit"), allow("Write")) as desk:
        await desk.text("Read", file_path="a.txt")
        path.write_text("a b\n")
        assert "changed since it was read" in await desk.failure(
            "Edit", file_path="a.txt", old_string="a", new_string="c"
        )
        assert "changed since it was read" in await desk.failure("Write", file_path="a.txt", content="c")
        assert path.read_text() == "a b\n"
        await desk.text("Read", file_path="a.txt")
        await desk.text("Write", file_path="a.txt", content="c\n")
    assert path.read_text() == "c\n"


async def test_what_changes_while_the_question_is_open_was_not_agreed_to(home: Home) -> None:
    path = home.write("project/a.txt", "a\n")

    class Meddler(Reader):
        async def __call__(self, question: object) -> Allow:
            path.write_text("a, and a line of somebody else\n")
            return ONCE

    async with host_in(home) as host, desk_with(host, home, Meddler()) as desk:
        told = await desk.failure("Edit", file_path="a.txt", old_string="a", new_string="b", replace_all=True)
        assert "changed while its change waited" in told
    assert path.read_text() == "a, and a line of somebody else\n"


async def test_an_existing_file_is_not_replaced_unread(home: Home) -> None:
    path = home.write("project/a.txt", "a\n")
    async with desk_in(home, allow("Write")) as desk:
        assert "read it first" in await desk.failure("Write", file_path="a.txt", content="b")
        await desk.text("Write", file_path="deep/down/new.txt", content="new\n")
    assert path.read_text() == "a\n"
    assert (home.project / "deep/down/new.txt").read_text() == "new\n"


async def test_two_conversations_do_not_share_what_they_have_read(home: Home) -> None:
    path = home.write("project/a.txt", "a\n")
    async with (
        host_in(home) as host,
        desk_with(host, home, Reader(), allow("Write")) as one,
        desk_with(host, home, Reader(), allow("Write")) as other,
    ):
        await one.text("Read", file_path="a.txt")
        assert "read it first" in await other.failure("Write", file_path="a.txt", content="b")
        await one.text("Write", file_path="a.txt", content="b\n")
    assert path.read_text() == "b\n"


async def test_every_other_byte_of_an_edited_file_stays(home: Home) -> None:
    path = home.write("project/a.txt", b"\xef\xbb\xbfone\r\ntwo \xff\r\nthree")
    async with desk_in(home, allow("Edit")) as desk:
        await desk.text("Edit", file_path="a.txt", old_string="one\ntwo", new_string="1\n2")
    assert path.read_bytes() == b"\xef\xbb\xbf1\r\n2 \xff\r\nthree"


async def test_a_file_with_both_kinds_of_line_ends_keeps_both(home: Home) -> None:
    path = home.write("project/a.txt", b"one\r\ntwo\nthree\n")
    async with desk_in(home, allow("Edit")) as desk:
        await desk.text("Edit", file_path="a.txt", old_string="two\nthree", new_string="2\n3")
    assert path.read_bytes() == b"one\r\n2\n3\n"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
async def test_an_edited_file_keeps_its_mode_and_a_new_one_gets_what_the_umask_leaves(home: Home, mode: int) -> None:
    path = home.write("project/a.sh", "a\n")
    path.chmod(mode)
    async with desk_in(home, allow("Edit"), allow("Write")) as desk:
        with umask(0o027):
            await desk.text("Edit", file_path="a.sh", old_string="a", new_string="b")
            await desk.text("Write", file_path="new.txt", content="new\n")
    assert path.stat().st_mode & 0o777 == mode
    assert (home.project / "new.txt").stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(home.project)) == [".git", "a.sh", "new.txt"]
