"""Each tool's sample home gives exactly the inventory that lies beside it."""

import ast
import json
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from statistics import median

import pytest

from mooring.cli.mcp.list import make_data
from mooring.discovery import formats
from mooring.discovery.format import Format
from mooring.discovery.formats import FORMATS
from mooring.verbs.config.get import get_details
from mooring.verbs.config.list import list_servers
from support import HOMES, Home


def test_a_sample_home_gives_exactly_the_expected_inventory(sample: Home, request: pytest.FixtureRequest) -> None:
    inventory = sample.inventory()
    found = sample.neutral(
        {
            "list": make_data(list_servers(inventory, all=True)),
            "servers": {choice.name: get_details(inventory, choice.name, sample.env) for choice in inventory.choices},
            "files": inventory.files,
        }
    )
    expected = HOMES / sample.folder.name / "expected.json"
    if request.config.getoption("--accept"):
        expected.write_text(json.dumps(found, indent=1) + "\n")
    assert found == json.loads(expected.read_text())


def find_formats() -> dict[str, tuple[str, Format]]:
    """Each format by the name of its sample home, with the module that it stands in."""
    found = {}
    for module in iter_modules(formats.__path__):
        for attribute, value in vars(import_module(f"{formats.__name__}.{module.name}")).items():
            if isinstance(value, Format):
                found[name_home(module.name, attribute)] = module.name, value
    return found


def name_home(module: str, attribute: str) -> str:
    match attribute:
        case "FORMAT":
            return module
        case "PLUGINS":
            return f"{module}_plugins"
        case _:
            return attribute.lower().removesuffix("_format")


def test_no_format_lacks_a_sample_home() -> None:
    found = find_formats()
    assert found.keys() <= {home.name for home in HOMES.iterdir()}
    assert {id(format) for _, format in found.values()} == {id(format) for format in FORMATS}


@pytest.mark.parametrize("name", find_formats())
def test_a_sample_home_exercises_every_level_its_format_has(name: str) -> None:
    _, format = find_formats()[name]
    levels = {place.scope for place in format.places if place.scope != "managed"}
    expected = json.loads((HOMES / name / "expected.json").read_text())
    seen = {row["source"]["scope"] for row in expected["list"]["servers"] if row["source"]["tool"] == format.tool}
    assert levels <= seen, f"{name} shows only {seen}"


def test_a_format_is_a_small_table() -> None:
    modules = {module for module, _ in find_formats().values()}
    assert median(lines for module in modules for lines in count_lines(module)) <= 44


def count_lines(module: str) -> list[int]:
    """How many lines each format of a file takes, with what stands between it and the one before."""
    tree = ast.parse(Path(formats.__path__[0], f"{module}.py").read_text())
    values = vars(import_module(f"{formats.__name__}.{module}"))
    tables = [node for node in tree.body if isinstance(node, ast.Assign)]
    ends = [node.end_lineno or 0 for node in tables if isinstance(values.get(ast.unparse(node.targets[0])), Format)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]
