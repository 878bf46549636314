"""How to get a program that is not on PATH: by a package manager that is here, or by another command in the entry."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from mooring.core.definitions.config import ServerConfig
from mooring.display.text import safe
from mooring.verbs.doctor.fixes import make_fix, suggest_edit

_NODE = {"brew": "node", "apt-get": "npm", "dnf": "npm", "pacman": "npm", "apk": "npm"}
_UV = {"brew": "uv", "pacman": "uv", "apk": "uv", "pipx": "uv", "pip": "uv"}
_BUN = {"brew": "oven-sh/bun/bun", "npm": "bun"}
_DOCKER = {"brew": "--cask docker", "apt-get": "docker.io", "dnf": "moby-engine", "pacman": "docker", "apk": "docker"}
_PODMAN = dict.fromkeys(("brew", "apt-get", "dnf", "pacman", "apk"), "podman")
_PACKAGES: Mapping[str, Mapping[str, str]] = {
    "npx": _NODE,
    "npm": _NODE,
    "node": _NODE,
    "uvx": _UV,
    "uv": _UV,
    "bunx": _BUN,
    "bun": _BUN,
    "deno": {"brew": "deno", "npm": "deno"},
    "docker": _DOCKER,
    "podman": _PODMAN,
    "pipx": {"brew": "pipx", "apt-get": "pipx", "dnf": "pipx", "pacman": "python-pipx", "apk": "pipx", "pip": "pipx"},
}
"""The package that has a program, by package manager, the ones that fit best first."""
_INSTALL: Mapping[str, str] = {
    "brew": "brew install",
    "apt-get": "sudo apt-get install -y",
    "dnf": "sudo dnf install -y",
    "pacman": "sudo pacman -S --noconfirm",
    "apk": "sudo apk add",
    "npm": "npm install -g",
    "pipx": "pipx install",
    "pip": "pip install",
}
_HOMES: Mapping[str, str] = {
    "npx": "Node.js, https://nodejs.org",
    "npm": "Node.js, https://nodejs.org",
    "node": "https://nodejs.org",
    "uvx": "uv, https://docs.astral.sh/uv",
    "uv": "https://docs.astral.sh/uv",
    "bunx": "Bun, https://bun.sh",
    "bun": "https://bun.sh",
    "docker": "https://docs.docker.com/get-docker",
}
"""Where people get a program that no package manager here has."""


def suggest_program(config: ServerConfig, command: str, search_path: str) -> str:
    """The fix for a command that is not on PATH."""
    packages = _PACKAGES.get(command, {})
    for manager, package in packages.items():
        found = shutil.which(manager, path=search_path)
        if found and not (manager == "pip" and _is_for_the_system_alone(found)):
            install = f"{_INSTALL[manager]} {package}"
            return install.removeprefix("sudo ") if _is_root() else install
    if "/" in command:
        return make_fix(suggest_edit(config), f"there is no program {safe(command)}: write the path of one")
    home = _HOMES.get(command)
    source = f" ({home})" if home else ""
    words = f"install {safe(command)}{source}, or change the command: its full path, or another program"
    return make_fix(suggest_edit(config), words)


def suggest_docker_start(search_path: str) -> str:
    """The command that starts Docker here; empty if only the person knows how they do."""
    if shutil.which("systemctl", path=search_path) is None:
        return ""
    return "systemctl start docker" if _is_root() else "sudo systemctl start docker"


def _is_for_the_system_alone(pip: str) -> bool:
    """Whether a pip refuses to install anything: distributions keep their Python for their own packages (PEP 668)."""
    root = Path(pip).parent.parent
    return any(root.glob("lib/python3*/EXTERNALLY-MANAGED"))


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
