"""The shape of the package: no circle of imports, and pages that name files which exist."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import mooring

PACKAGE = Path(mooring.__file__).parent
ROOT = Path(__file__).parents[1]


def modules() -> dict[str, Path]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = ["mooring", *path.relative_to(PACKAGE).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


def imported(name: str, path: Path) -> set[str]:
    """Every module that a file names in an import, wherever the import stands."""
    names = set()
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return names


def test_no_modules_import_each_other_in_a_circle_even_inside_functions() -> None:
    known = modules()
    assert len(known) > 300
    # A package's own door names what is behind it, and what is behind it may name the package.
    graph = {
        name: {
            other
            for other in imported(name, path)
            if other in known and other != name and known[other].name != "__init__.py"
        }
        for name, path in known.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"These import each other: {' -> '.join(error.args[1])}")


def test_every_file_that_the_page_on_the_architecture_names_is_there() -> None:
    text = (ROOT / "docs/how-it-works/architecture.md").read_text()
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*/(?:[a-z_]+\.py)?|[a-z_]+\.py)`", text))
    assert len(named) > 40
    exists = {name for name in named if (PACKAGE / name).exists() or (ROOT / name).exists()}
    assert named - exists == set()
