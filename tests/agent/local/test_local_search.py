"""Glob, Grep, LS and notebooks: what is found, and that no repository makes a search long or leads it astray."""

import json
import time
import uuid
from typing import Any

import pytest
from desk import ONCE, allow, desk_in

from mooring.agents.local.walk import PathGlob, expand_braces
from mooring.core.protocol.content import Image
from support import Home, running

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def lay_out(home: Home, *paths: str) -> None:
    for path in paths:
        home.write(f"project/{path}", f"# {path}\nneedle here\nlast\n")


async def test_files_are_found_by_their_paths(home: Home) -> None:
    lay_out(home, "a.py", "src/b.py", "src/deep/c.ts", "src/deep/d.tsx", "docs/e.md")
    async with desk_in(home) as desk:
        assert set((await desk.text("Glob", pattern="**/*.py")).split()) == {"a.py", "src/b.py"}
        assert set((await desk.text("Glob", pattern="src/**/*.{ts,tsx}")).split()) == {
            "src/deep/c.ts",
            "src/deep/d.tsx",
        }
        assert await desk.text("Glob", pattern="*.md", path="docs") == "docs/e.md"
        assert await desk.text("Glob", pattern=f"{home.project}/*.py", path=str(home.project)) == "a.py"
        assert await desk.text("Glob", pattern="*.rs") == "No file matches."
        assert (await desk.text("LS", path="src")).split() == ["b.py", "deep/"]
        assert "does not exist" in await desk.failure("LS", path="nowhere")
        assert desk.person.asked == []


async def test_contents_are_searched_in_every_mode(home: Home) -> None:
    lay_out(home, "a.py", "src/b.py", "notes.md")
    home.write("project/c.py", "x = 1\nNeedle = 2\nneedle = 3\ny = 4\n")
    async with desk_in(home) as desk:
        assert set((await desk.text("Grep", pattern="needle")).split()) == {"a.py", "c.py", "notes.md", "src/b.py"}
        assert await desk.text("Grep", pattern="needle", glob="*.md") == "notes.md"
        assert await desk.text("Grep", pattern="needle =", type="py", output_mode="count", **{"-i": True}) == "c.py:2"
        shown = await desk.text("Grep", pattern="needle =", path="c.py", output_mode="content", **{"-C": 1})
        assert shown == "c.py-2-Needle = 2\nc.py:3:needle = 3\nc.py-4-y = 4"
        plain = await desk.text("Grep", pattern="^y", path="c.py", output_mode="content", **{"-n": False})
        assert plain == "c.py:y = 4"
        over = await desk.text("Grep", pattern="x.*?Needle", path="c.py", output_mode="content", multiline=True)
        assert over == "c.py:1:x = 1\nc.py:2:Needle = 2"
        assert "[The first 1 are shown.]" in await desk.text("Grep", pattern="needle", head_limit=1)
        assert await desk.text("Grep", pattern="nothing like it") == "Nothing matches."
        assert "is not a regular expression" in await desk.failure("Grep", pattern="(")
        assert "no type 'cobol'" in await desk.failure("Grep", pattern="x", type="cobol")


async def test_what_is_ignored_binary_or_a_link_is_not_searched(home: Home) -> None:
    lay_out(home, "a.txt", "build/b.txt", "keep/c.log", "d.log", "sub-a/e.txt")
    home.write("project/.gitignore", "build/\n*.log\n!keep/*.log\n# comment\n\n/sub-a\n")
    home.write("project/.git/f.txt", "needle\n")
    home.write("project/g.bin", b"\0needle\n")
    home.write("home/outside.txt", "needle\n")
    (home.project / "link.txt").symlink_to(home.home / "outside.txt")
    (home.project / "folder").symlink_to(home.home)
    async with desk_in(home) as desk:
        *found, note = (await desk.text("Grep", pattern="needle")).splitlines()
        assert set(found) == {"a.txt", "keep/c.log"}
        assert note.endswith("reading one is asked about: folder, link.txt]")
        assert "outside" not in await desk.text("Glob", pattern="**")


@pytest.mark.processes
async def test_a_pattern_that_would_take_forever_is_ended_and_holds_up_nobody(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mooring.agents.local.finding as grep

    monkeypatch.setattr(grep, "SECONDS", 2.0)
    home.write("project/a.txt", "a" * 60 + "!\n")
    nonce = uuid.uuid4().hex
    monkeypatch.setattr(grep, "_INHERITED", ("NONCE",))
    monkeypatch.setattr(Home, "env", {**home.env, "NONCE": nonce})
    async with desk_in(home) as desk:
        assert "took longer than 2 s" in await desk.failure("Grep", pattern="(a+)+$")
        assert running(nonce) == []
        assert await desk.text("Grep", pattern="aaa") == "a.txt"


async def test_a_hostile_gitignore_costs_little(home: Home) -> None:
    lay_out(home, *(f"{'a' * 50}{number}/{'a' * 60}.txt" for number in range(300)))
    rules = ["*a" * 60 + "b", "**/" * 80 + "x", "[" * 500, "{a,b}" * 50, "!" * 100, "\\", "/" * 300, "a" * 20_000]
    home.write("project/.gitignore", "\n".join(rules * 20))
    async with desk_in(home) as desk:
        began = time.process_time()
        await desk.text("Grep", pattern="needle")
        assert time.process_time() - began < 5
    home.write("project/.gitignore", b"x\n" * 1_000_000)
    async with desk_in(home) as desk:
        assert "a.txt" in await desk.text("Grep", pattern="needle")


async def test_ten_times_the_files_cost_no_more_than_about_ten_times_as_much(home: Home) -> None:
    async with desk_in(home) as desk:
        seconds = []
        for count in (200, 2_000):
            lay_out(home, *(f"n{count}/{number % 20}/{number}.txt" for number in range(count)))
            began = time.process_time()
            assert "500 of" in await desk.text("Glob", pattern="**/*.txt", path=f"n{count}") or count == 200
            await desk.text("Grep", pattern="needle", path=f"n{count}", output_mode="count", head_limit=5)
            seconds.append(time.process_time() - began)
    assert seconds[1] < 30 * max(seconds[0], 0.01)


@pytest.mark.parametrize(
    ("glob", "path", "is_match"),
    [
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True),
        ("*.py", "x/a.py", False),
        ("src/**", "src/x/y", True),
        ("src/**/y", "src/y", True),
        ("{a,b{c,d}}.txt", "bd.txt", True),
        ("a/**/b/**/c", "a/x/b/c", True),
        ("a/**/b/**/c", "a/x/c", False),
        ("./a", "a", True),
    ],
)
def test_a_glob_over_paths_means_what_people_mean_by_it(glob: str, path: str, is_match: bool) -> None:
    assert PathGlob(glob).matches(path.split("/")) is is_match


def test_braces_never_explode() -> None:
    began = time.process_time()
    assert len(expand_braces("{a,b}" * 100)) <= 64
    PathGlob("**/" * 400 + "x").matches(["a"] * 400)
    PathGlob("*a" * 200 + "b").matches(["a" * 4_000])
    assert time.process_time() - began < 2


# --- notebooks ----------------------------------------------------------------------------------------------------


def make_notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {"x": "é"}, "nbformat": 4, "nbformat_minor": 5}


def make_code(id: str, source: str, *outputs: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": 1,
        "id": id,
        "metadata": {},
        "outputs": list(outputs),
        "source": source.splitlines(True),
    }


async def test_a_notebook_is_read_cell_by_cell(home: Home) -> None:
    picture = {"output_type": "display_data", "data": {"image/png": PIXEL, "text/plain": ["<Figure>"]}}
    printed = {"output_type": "stream", "text": ["4\n"]}
    home.write(
        "project/a.ipynb", make_notebook(make_code("one", "x = 2\nx * 2", printed), make_code("two", "plot()", picture))
    )
    async with desk_in(home) as desk:
        outcome = await desk.call("NotebookRead", notebook_path="a.ipynb")
        assert '<cell id="one" type="code">\nx = 2\nx * 2\n</cell>\nOutput: 4' in outcome.text
        assert sum(isinstance(part, Image) for part in outcome.parts) == 1
        assert "plot()" not in await desk.text("NotebookRead", notebook_path="a.ipynb", cell_id="one")
        assert "has no cell 'three'" in await desk.failure("NotebookRead", notebook_path="a.ipynb", cell_id="three")


async def test_a_cell_is_replaced_inserted_and_deleted(home: Home) -> None:
    path = home.write(
        "project/a.ipynb",
        json.dumps(make_notebook(make_code("one", "a"), make_code("two", "b")), indent=1, ensure_ascii=False) + "\n",
    )
    async with desk_in(home, allow("NotebookEdit")) as desk:
        await desk.text("NotebookEdit", notebook_path="a.ipynb", cell_id="two", new_source="b = 1\nb")
        await desk.text(
            "NotebookEdit",
            notebook_path="a.ipynb",
            cell_id="one",
            new_source="# Title",
            cell_type="markdown",
            edit_mode="insert",
        )
        await desk.text("NotebookEdit", notebook_path="a.ipynb", cell_id="cell-0", edit_mode="delete")
    notebook = json.loads(path.read_text())
    assert [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]] == [
        ("markdown", ["# Title"]),
        ("code", ["b = 1\n", "b"]),
    ]
    assert notebook["metadata"] == {"x": "é"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"cells": 3}',
        b'{"cells": [1, 2]}',
        b'{"cells": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    ],
)
async def test_what_is_no_notebook_is_refused_in_a_sentence(home: Home, content: bytes) -> None:
    home.write("project/a.ipynb", content)
    async with desk_in(home, allow("NotebookEdit"), answer=ONCE) as desk:
        assert "a.ipynb" in await desk.failure("NotebookRead", notebook_path="a.ipynb")
        assert "a.ipynb" in await desk.failure("NotebookEdit", notebook_path="a.ipynb", cell_id="x", new_source="y")


async def test_a_hostile_notebook_shows_no_more_than_it_may(home: Home) -> None:
    cell = make_code(
        "one",
        "x",
        {"text": "y" * 1_000_000},
        {"data": {"image/png": "not base64"}},
        {"data": 3},
        4,
        *[{"data": {"image/png": PIXEL}}] * 50,
    )
    home.write("project/a.ipynb", make_notebook(cell, {"cell_type": ["odd"], "source": [1, "z"], "id": 7}))
    async with desk_in(home) as desk:
        outcome = await desk.call("NotebookRead", notebook_path="a.ipynb")
        assert len(outcome.text) < 20_000
        assert sum(isinstance(part, Image) for part in outcome.parts) == 20
