"""server-filesystem works in the folders that its client names, whether a command starts it or the chat."""

import os
import subprocess
import sys

import pytest
from fleet import FILESYSTEM

from chat.terminal import Person
from support import Home

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")

LIST = "fs.list_allowed_directories"


def call(home: Home, folder: str, env: dict[str, str]) -> str:
    line = [sys.executable, "-m", "mooring", "--cwd", folder, "call", LIST]
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def chat(home: Home, folder: str, env: dict[str, str]) -> str:
    with Person(home, "--cwd", folder, "chat", "--allow", "*", **env) as person:
        person.answers(("\n> ", f"/call {LIST}"))
        person.sees("Allowed directories:\n")
        answer = person.sees("\n")
        person.types("/quit")
        assert person.ended() == 0
    return answer


def test_the_filesystem_server_works_in_the_project_in_every_command_and_every_chat(home: Home) -> None:
    command, *args = FILESYSTEM
    (home.folder / "elsewhere").mkdir()
    home.configure(fs={"command": command, "args": [*args, str(home.folder / "elsewhere")]})
    env = {**os.environ, "HOME": str(home.home)}
    for name in ("one", "two"):
        (home.folder / name / ".git").mkdir(parents=True)
        folder = str(home.folder / name)
        seen = [face(home, folder, env) for face in (call, chat, call, chat)]
        assert set(seen) == {folder}
