"""uv as it is now, and one that still read a project's uv.toml for `uvx`: neither takes anything from the project."""

import json
import os
import subprocess

import install
import pytest
from wheel import SERVER, make_wheel

VERSIONS = ["uv-0.2", "uv"]


def make_source(folder, word):
    """A file of uv's that names the folder with the package as the only source."""
    make_wheel(folder, word)
    return f'no-index = true\nfind-links = ["{folder}"]\n'


class Clone:
    """A person whose uv.toml names a good source, and a project whose files name an evil one."""

    def __init__(self, folder):
        self.folder = folder
        self.home, self.project = folder / "home", folder / "project"
        (self.project / ".git").mkdir(parents=True)
        (self.home / ".config/uv").mkdir(parents=True)
        (self.home / ".config/uv/uv.toml").write_text(make_source(folder / "good", "good"))
        (self.project / "uv.toml").write_text(make_source(folder / "evil", "evil"))
        (self.project / "gauge_server.py").write_text(f"WORD = 'evil'\n{SERVER}")

    def ask(self, room, *command):
        """What the server says: its word, its folder, and its variables of uv's."""
        binaries = install.CACHE / room / "bin"
        (self.home / ".cursor").mkdir(exist_ok=True)
        entry = {"command": str(binaries / command[0]), "args": command[1:]}
        (self.home / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": {"own": entry}}))
        env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "MOORING_TEST": os.environ["MOORING_TEST"]}
        done = subprocess.run(
            [install.mooring(), "call", "own.where"],
            cwd=self.project,
            env={**env, "UV_PYTHON_DOWNLOADS": "never"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path)


@pytest.mark.parametrize("room", VERSIONS)
@pytest.mark.parametrize("command", [["uvx"], ["uv", "tool", "run"]], ids=" ".join)
def test_uvx_takes_a_package_from_the_persons_source_and_runs_it_in_the_project(clone, room, command):
    word, cwd, variables = clone.ask(room, *command, "gauge-server")
    assert (word, cwd) == ("good", str(clone.project))
    assert set(variables) <= {"UV_PYTHON_DOWNLOADS"}


def test_python_behind_uvx_runs_the_installed_module_in_the_project(clone):
    assert clone.ask("uv", "uvx", "--with", "gauge-server", "python", "-m", "gauge_server")[:2] == [
        "good",
        str(clone.project),
    ]


@pytest.mark.parametrize(
    "words", [["gauge-server"], ["python", "-m", "gauge_server"], ["-m", "gauge_server"]], ids=" ".join
)
def test_uv_run_takes_nothing_from_the_project(clone, words):
    (clone.project / "pyproject.toml").write_text('[project]\nname = "evil"\nversion = "1"\n')
    (clone.project / ".python-version").write_text(f"{clone.project}/python\n")
    word, cwd, _ = clone.ask("uv", "uv", "run", "--with", "gauge-server", *words)
    assert word == "good"
    assert not cwd.startswith(str(clone.project))
