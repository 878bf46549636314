"""The locks: they name no registry, hold what is installed to hashes, and install the same on x86-64 and arm64."""

import json
import re
import tomllib
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
FOLDERS = ("bench", "locks", "tests")
NPM_LOCKS = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("package-lock.json"))
PYTHON_LOCKS = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.lock"))

BOTH = frozenset({"arm64", "x64"})
SPELLING = re.compile(r"(?<![a-z0-9])(?:(x64-baseline|x64|x86_64|amd64)|arm64|aarch64)(?![a-z0-9])")
"""An architecture in a name. A program for older processors of the one has no counterpart of its own on the other."""
OUR_SYSTEMS = {"darwin", "linux"}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")

Packages = dict[str, dict[str, Any]]


def name_of(lock: Path) -> str:
    return lock.relative_to(ROOT).as_posix()


def packages_of(lock: Path) -> Packages:
    packages: Packages = json.loads(lock.read_text())["packages"]
    return packages


def listed(value: str | list[str] | None) -> set[str]:
    """What a package says of `cpu` or `os`, which may be one word or several."""
    return {value} if isinstance(value, str) else set(value or ())


def made_for(path: str, package: dict[str, Any]) -> frozenset[str]:
    """Which of the two architectures it runs on: as it declares, or as its name says."""
    if "cpu" in package:
        return BOTH & listed(package["cpu"])
    spelled = SPELLING.search(path)
    return BOTH if spelled is None else frozenset({"x64" if spelled[1] else "arm64"})


def without_architecture(text: str) -> str:
    return SPELLING.sub("*", text)


def required_of_one_architecture(packages: Packages) -> list[str]:
    return [
        path for path, package in packages.items() if made_for(path, package) != BOTH and not package.get("optional")
    ]


def without_counterpart(packages: Packages) -> list[str]:
    """Programs of one architecture without a counterpart at the same version, shown with a `*` for the architecture."""
    siblings = defaultdict(set)
    for path, package in packages.items():
        systems = listed(package.get("os")) or OUR_SYSTEMS
        if (made := made_for(path, package)) and systems & OUR_SYSTEMS:
            siblings[f"{without_architecture(path)}@{without_architecture(package.get('version', ''))}"] |= made
    return [family for family, made in siblings.items() if made != BOTH]


def left_out(packages: Packages) -> list[str]:
    """Programs for Linux that a package asks for and the lock does not have: npm leaves out what a registry lacks."""
    here = {path.rpartition("node_modules/")[2] for path in packages}
    wanted = {name for package in packages.values() for name in package.get("optionalDependencies", {})}
    return sorted(name for name in wanted - here if "linux" in name and SPELLING.search(name))


def bound_to_one_architecture(packages: Packages) -> list[str]:
    return [*required_of_one_architecture(packages), *without_counterpart(packages), *left_out(packages)]


def requirements_of(text: str) -> list[Requirement]:
    lines = [line.removesuffix("\\").strip() for line in text.splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith(("#", "--hash="))]


def installed(requirements: list[Requirement], python: str, machine: str) -> set[str]:
    there = {
        "platform_machine": machine,
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": "linux",
    }
    return {
        f"{wanted.name}{wanted.specifier}"
        for wanted in requirements
        if wanted.marker is None or wanted.marker.evaluate(there)
    }


def installed_on_one_architecture(text: str) -> set[str]:
    requirements = requirements_of(text)
    return {
        wanted
        for python in PYTHONS
        for wanted in installed(requirements, python, "x86_64") ^ installed(requirements, python, "aarch64")
    }


def test_whatever_names_packages_has_a_lock() -> None:
    named = [path.parent for folder in FOLDERS for path in (ROOT / folder).rglob("package.json")]
    assert sorted(named) == sorted(lock.parent for lock in NPM_LOCKS) != []
    wanted = [path.with_suffix(".lock") for folder in FOLDERS for path in (ROOT / folder).rglob("*.in")]
    assert {*wanted, *(ROOT / "locks" / f"{name}.lock" for name in ("dev", "run", "search"))} == set(PYTHON_LOCKS)


@pytest.mark.parametrize("lock", NPM_LOCKS, ids=name_of)
def test_a_lock_for_npm_names_no_registry_and_has_a_hash_for_each_package(lock: Path) -> None:
    packages = packages_of(lock)
    assert [path for path, package in packages.items() if "resolved" in package] == []
    assert [path for path, package in packages.items() if path and not package.get("integrity")] == []


@pytest.mark.parametrize("lock", PYTHON_LOCKS, ids=name_of)
def test_a_lock_for_pip_names_no_registry_and_has_a_hash_for_each_package(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    lines = [line.strip() for line in text.splitlines()]
    assert [
        line for line, below in pairwise([*lines, ""]) if "==" in line and not below.startswith("--hash=sha256:")
    ] == []


@pytest.mark.parametrize("lock", NPM_LOCKS, ids=name_of)
def test_a_lock_for_npm_serves_both_architectures(lock: Path) -> None:
    assert bound_to_one_architecture(packages_of(lock)) == []


@pytest.mark.parametrize("lock", PYTHON_LOCKS, ids=name_of)
def test_a_lock_for_pip_installs_the_same_on_both_architectures(lock: Path) -> None:
    assert installed_on_one_architecture(lock.read_text()) == set()


def test_the_fast_tests_have_what_the_extra_for_images_brings() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = [Requirement(each) for each in extras["images"]]
    locked = {each.name: each.specifier for each in requirements_of((ROOT / "locks/dev.lock").read_text())}
    assert [each.name for each in wanted] == ["pillow"]
    [exact] = locked["pillow"]
    assert wanted[0].specifier.contains(exact.version)


def program(version: str = "1.0.0", **fields: Any) -> dict[str, Any]:
    return {"version": version, "optional": True, "os": ["linux"], **fields}


X64, ARM64 = program(cpu=["x64"]), program(cpu=["arm64"])


@pytest.mark.parametrize(
    "packages",
    [
        {"node_modules/it-linux-x64": X64},
        {"node_modules/it-linux-x64": program(cpu="x64")},
        {"node_modules/it-linux-x64": program()},
        {"node_modules/it": X64},
        {"node_modules/it-linux-x64": X64, "node_modules/it-linux-arm64": program("1.0.1", cpu=["arm64"])},
        {"node_modules/it-linux-x64": X64, "node_modules/it-linux-arm64": {**ARM64, "optional": False}},
        {"node_modules/it-linux-x64-musl": X64, "node_modules/it-linux-arm64": ARM64},
        {"node_modules/it": {"optionalDependencies": {"it-linux-arm64": "1.0.0"}}},
    ],
    ids=[
        "alone", "alone, in one word", "alone, by its name", "alone, by what it declares", "another version", "required",
        "another C library", "left out",
    ],
)  # fmt: skip
def test_a_lock_for_npm_that_serves_one_architecture_is_found_out(packages: Packages) -> None:
    assert bound_to_one_architecture(packages) != []


@pytest.mark.parametrize(
    "packages",
    [
        {"node_modules/it-linux-x64": X64, "node_modules/it-linux-arm64": ARM64},
        {
            "node_modules/it-linux-x64": program("1.0.0-linux-x64", cpu=["x64"]),
            "node_modules/it-linux-arm64": program("1.0.0-linux-arm64", cpu=["arm64"]),
        },
        {
            "node_modules/it-linux-x64": X64,
            "node_modules/it-linux-x64-baseline": X64,
            "node_modules/it-linux-arm64": ARM64,
        },
        {"node_modules/it": {"version": "1.0.0", "cpu": ["x64", "arm64"]}},
        {"node_modules/it-linux-s390x": program(cpu=["s390x"])},
        {"node_modules/it-freebsd-x64": program(cpu=["x64"], os=["freebsd"])},
    ],
    ids=["both", "in the version too", "older processors too", "one for both", "a third", "a system that is not ours"],
)
def test_a_lock_for_npm_that_serves_both_is_left_alone(packages: Packages) -> None:
    assert bound_to_one_architecture(packages) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it==1 ; platform_machine == 'x86_64'", {"it==1"}),
        ("it==1 ; python_full_version >= '3.13' and platform_machine != 'aarch64'", {"it==1"}),
        ("it==1 ; platform_machine == 'x86_64'\nit==2 ; platform_machine != 'x86_64'", {"it==1", "it==2"}),
        ("it==1 ; platform_machine == 'x86_64' or platform_machine == 'aarch64'", set()),
        ("it==1 ; sys_platform == 'win32'", set()),
    ],
)
def test_what_pip_would_install_on_one_architecture_alone_is_found_out(text: str, expected: set[str]) -> None:
    assert installed_on_one_architecture(text) == expected
