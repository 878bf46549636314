"""The programs of coding tools, each asked in a home of its own what it has configured."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import install
import pytest

ADDRESS = "http://127.0.0.1:9/mcp"
PROGRAM = "true"
"""Some of the tools start what they list: this does nothing, at once."""

ALONE = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
}
"""Keeps a program from asking its maker for updates: nothing outside this machine is reached."""


def lay_out(folder: Path, files: Mapping[str, Any]) -> tuple[Path, dict[str, str]]:
    (folder / "project/.git").mkdir(parents=True)
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        target.write_text(text.replace("$PROJECT", str(folder / "project")))
    env = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"], "TERM": "dumb", "NO_COLOR": "1"}
    # The mark by which what is left of a test is found.
    env["MOORING_TEST"] = os.environ["MOORING_TEST"]
    return folder / "project", {**env, **ALONE}


def ask(command: list[str], cwd: Path, env: Mapping[str, str]) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    if done.returncode:
        pytest.fail(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout if done.stdout.strip() else done.stderr


def ask_mooring(cwd: Path, env: Mapping[str, str], *words: str) -> Any:
    return json.loads(ask([install.mooring(), *words, "--json"], cwd, env))
