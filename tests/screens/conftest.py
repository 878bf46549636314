"""Real terminals: what they need is installed before the first test, or named where it cannot be."""

import os
import shutil
import subprocess
import sys

import pytest

PROGRAMS = {"bash": "bash", "tmux": "tmux", "screen": "screen", "Xvfb": "xvfb", "xclip": "xclip"}
"""Each program that a test starts, and the package of Debian that has it."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Install here, where it may take minutes and be seen: not in a test, which has its time."""
    is_worker = hasattr(session.config, "workerinput")
    if not is_worker and session.items and not session.config.option.collectonly:
        _install(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Install once, before the workers begin."""
    _install(config)


def _install(config: pytest.Config) -> None:
    packages = sorted(package for program, package in PROGRAMS.items() if not shutil.which(program))
    if not packages:
        return
    words = " ".join(packages)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise pytest.UsageError(f"These tests need programs that are missing here; on Debian: apt-get install {words}")
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        sys.stderr.write(f"installing {words} ...\n")
        _run("apt-get", "-q", "update")
        _run("apt-get", "-qy", "--no-install-recommends", "install", *packages)


def _run(*command: str) -> None:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise pytest.UsageError(f"{' '.join(command)} failed: {done.stderr.strip()[-2000:]}")
