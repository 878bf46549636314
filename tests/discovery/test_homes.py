"""Each tool's sample home gives exactly the inventory that lies beside it."""

import json
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from statistics import median

import pytest

from mooring.cli.mcp.list import make_data
from mooring.discovery import formats
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


def test_no_format_lacks_a_sample_home() -> None:
    modules = {module.name for module in iter_modules(formats.__path__)}
    homes = {home.name for home in HOMES.iterdir()}
    assert modules <= homes
    listed = {id(format) for format in FORMATS}
    assert {id(import_module(f"{formats.__name__}.{name}").FORMAT) for name in modules} == listed


@pytest.mark.parametrize("name", [module.name for module in iter_modules(formats.__path__)])
def test_a_sample_home_exercises_every_level_its_format_has(name: str) -> None:
    format = import_module(f"{formats.__name__}.{name}").FORMAT
    levels = {place.scope for place in format.places if place.scope != "managed"}
    expected = json.loads((HOMES / name / "expected.json").read_text())
    seen = {row["source"]["scope"] for row in expected["list"]["servers"] if row["source"]["tool"] == format.tool}
    assert levels <= seen, f"{Path(name)} shows only {seen}"


def test_a_format_is_a_small_file() -> None:
    files = [path for path in Path(formats.__path__[0]).glob("*.py") if path.name != "__init__.py"]
    assert median(len(path.read_text().splitlines()) for path in files) <= 44
