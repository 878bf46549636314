"""An extra is added by the command that Mooring names, whatever it was installed with, and nothing there is lost."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import install
import pytest

ROOT = Path(__file__).parents[2]
NAME_COMMAND = "from mooring.files.installation import spell_install; print(spell_install({extra!r}))"
# The smallest of our extras: it brings one package without dependencies.
SMALL, ITS_MODULE = "build", "flit_core"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """What is committed and what is not yet, in a folder with a blank in its name."""
    folder = tmp_path / "a clone"
    folder.mkdir()
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src", "pyproject.toml", "README.md", "LICENSE"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment in which pipx and uv install into a folder of this test."""
    programs = [str(Path(install.python(room)).parent) for room in ("pipx", "uv")]
    return {
        **os.environ,
        "PATH": os.pathsep.join([*programs, str(tmp_path / "bin"), os.environ["PATH"]]),
        "PIPX_HOME": str(tmp_path / "pipx"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "UV_TOOL_DIR": str(tmp_path / "uv"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
    }


def run(env: dict[str, str], *words: str) -> str:
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def name_command(env: dict[str, str], python: Path, extra: str) -> str:
    return run(env, str(python), "-c", NAME_COMMAND.format(extra=extra))


@pytest.mark.parametrize(
    ("words", "folder", "starts"),
    [
        (("pipx", "install"), "pipx/venvs/mooring-host", "pipx install --force "),
        (("uv", "tool", "install"), "uv/mooring-host", "uv tool install --force "),
    ],
    ids=["pipx", "uv"],
)
def test_the_named_command_adds_an_extra_and_keeps_those_that_are_there(
    tmp_path: Path, source: Path, env: dict[str, str], words: tuple[str, ...], folder: str, starts: str
) -> None:
    run(env, *words, str(source))
    python = tmp_path / folder / "bin" / "python"
    command = name_command(env, python, SMALL)
    assert command == f"{starts}{shlex.quote(f'{source}[{SMALL}]')}"
    run(env, *shlex.split(command))
    run(env, str(python), "-c", f"import {ITS_MODULE}")
    # The command as a person starts it, and what it says is missing for an agent.
    states = json.loads(run(env, str(tmp_path / "bin" / "mooring"), "backends", "--json"))["backends"]
    [fix] = [state["fix"] for state in states if state["name"] == "claude"]
    assert fix == f"{starts}{shlex.quote(f'{source}[{SMALL},claude]')}"


def test_without_a_tool_the_interpreter_itself_is_named(tmp_path: Path, source: Path, env: dict[str, str]) -> None:
    run(env, sys.executable, "-m", "venv", str(tmp_path / "venv"))
    python = tmp_path / "venv" / "bin" / "python"
    run(env, str(python), "-m", "pip", "install", "--quiet", str(source))
    command = name_command(env, python, SMALL)
    assert command == f"{python} -m pip install {shlex.quote(f'{source}[{SMALL}]')}"
    run(env, *shlex.split(command))
    run(env, str(python), "-c", f"import {ITS_MODULE}")


def test_an_environment_without_pip_gets_a_command_of_uv(tmp_path: Path, source: Path, env: dict[str, str]) -> None:
    run(env, "uv", "venv", "--python", sys.executable, str(tmp_path / "venv"))
    python = tmp_path / "venv" / "bin" / "python"
    run(env, "uv", "pip", "install", "--python", str(python), "--editable", str(source))
    command = name_command(env, python, SMALL)
    assert command == f"uv pip install --python {python} -e {shlex.quote(f'{source}[{SMALL}]')}"
    run(env, *shlex.split(command))
    run(env, str(python), "-c", f"import {ITS_MODULE}")


def test_a_copy_that_uvx_runs_is_run_with_the_extra(tmp_path: Path, source: Path, env: dict[str, str]) -> None:
    words = ("uvx", "--from", str(source), "python", "-c", NAME_COMMAND.format(extra=SMALL))
    assert run(env, *words) == f"uvx --from {shlex.quote(f'{source}[{SMALL}]')} mooring"


def test_an_environment_with_the_earlier_name_is_left_with_one_copy(tmp_path: Path, source: Path) -> None:
    """`make` in a clone whose environment was made before the distribution was called mooring-host."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    for name in ("Makefile", "locks"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(source / name)], check=True)
    project = (source / "pyproject.toml").read_text()
    (source / "pyproject.toml").write_text(project.replace('name = "mooring-host"', 'name = "mooring"'))
    run(env, "make", "-C", str(source), ".venv/.run")
    python = source / ".venv" / "bin" / "python"
    assert list(source.glob(".venv/lib/python3*/site-packages/mooring-*.dist-info"))
    (source / "pyproject.toml").write_text(project)
    run(env, "make", "-C", str(source), ".venv/.run")
    assert not list(source.glob(".venv/lib/python3*/site-packages/mooring-*.dist-info"))
    assert run(env, str(source / ".venv" / "bin" / "mooring"), "--version").startswith("mooring ")
    run(env, str(python), "-m", "pip", "check")
