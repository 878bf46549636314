"""How this copy of Mooring was installed, and the command that adds an extra to it.

Messages name that command and no other: our name on a public index may belong to somebody else's program.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "mooring-host"
_PIPX_RECORD = "pipx_metadata.json"
_UV_RECORD = "uv-receipt.toml"
_UV_CACHES = ("archive-v", "environments-v", "builds-v")
"""What the folders of uv's cache begin with, in which `uvx` has its environments."""


def find_version() -> str:
    """The version of Mooring; `0` for a copy that nothing installed."""
    found = _find_distribution()
    return "0" if found is None else found.version


def spell_install(extra: str) -> str:
    """The command that adds an extra to this copy, with whatever it was installed."""
    found = _find_distribution()
    source = _find_source(found)
    if found is not None and not source:
        # It came from an index, and nobody knows from which: what the extra brings is named, and not our own name.
        return _spell_pip(shlex.join(_list_requirements(found, extra)))
    if os.path.exists(_in_environment(_PIPX_RECORD)):
        return f"pipx install --force {_spell_requirement(source, _add_extra(_list_pipx_extras(), extra))}"
    if os.path.exists(_in_environment(_UV_RECORD)):
        return f"uv tool install --force {_spell_requirement(source, _add_extra(_list_uv_extras(), extra))}"
    requirement = _spell_requirement(source, [extra])
    if _is_in_uv_cache():
        return f"uvx --from {requirement} mooring"
    option = "-e " if found is not None and _read_direct_url(found).get("dir_info", {}).get("editable") else ""
    return _spell_pip(f"{option}{requirement}")


def _spell_pip(words: str) -> str:
    python = shlex.quote(sys.executable)
    # An environment that uv has made may be without pip.
    if find_spec("pip") is None:
        return f"uv pip install --python {python} {words}"
    return f"{python} -m pip install {words}"


def _list_requirements(found: Distribution, extra: str) -> list[str]:
    """What an extra brings."""
    parts = [requirement.partition(";") for requirement in found.requires or ()]
    return [
        wanted.strip() for wanted, _, marker in parts if re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", marker)
    ]


def _find_distribution() -> Distribution | None:
    try:
        return distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return None


def _find_source(found: Distribution | None) -> str:
    """Where this copy came from: a path or an address; empty if that is not known, as for an index of packages."""
    if found is None:
        return os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    direct = _read_direct_url(found)
    url = str(direct.get("url", ""))
    if url.startswith("file:"):
        return unquote(urlsplit(url).path)
    vcs = direct.get("vcs_info", {})
    revision = vcs.get("requested_revision") or vcs.get("commit_id")
    return f"{vcs['vcs']}+{url}@{revision}" if vcs else url


def _read_direct_url(found: Distribution) -> dict[str, Any]:
    """What whoever installed it noted of its origin; nothing if it came from an index."""
    return _parse_record(found.read_text("direct_url.json") or "")


def _spell_requirement(source: str, extras: Sequence[str]) -> str:
    wanted = f"[{','.join(extras)}]"
    if source.startswith("/"):
        return shlex.quote(f"{source}{wanted}")
    origin = f" @ {source}" if source else ""
    return shlex.quote(f"{DISTRIBUTION}{wanted}{origin}")


def _add_extra(there: Sequence[str], extra: str) -> list[str]:
    """The extras that this copy has and the new one: pipx and uv install what is named and nothing else."""
    return [*there, *([] if extra in there else [extra])]


def _list_pipx_extras() -> list[str]:
    record = _parse_record(_read_record(_PIPX_RECORD))
    requirement = str(record.get("main_package", {}).get("package_or_url", ""))
    # In a path, brackets may be anywhere else.
    found = re.search(r"\[([\w,\s-]+)\](?:\s*@.*)?$", requirement)
    return [extra.strip() for extra in found[1].split(",")] if found else []


def _parse_record(text: str) -> dict[str, Any]:
    """A record as JSON; a damaged one says nothing."""
    try:
        record = json.loads(text)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _list_uv_extras() -> list[str]:
    import tomllib

    try:
        requirements = tomllib.loads(_read_record(_UV_RECORD)).get("tool", {}).get("requirements", [])
    except tomllib.TOMLDecodeError:
        return []
    named = [each for each in requirements if each.get("name") == DISTRIBUTION]
    return [extra for each in named for extra in each.get("extras", [])]


def _is_in_uv_cache() -> bool:
    folders = sys.prefix.split(os.sep)
    return "uv" in folders and any(folder.startswith(_UV_CACHES) for folder in folders)


def _in_environment(name: str) -> str:
    return os.path.join(sys.prefix, name)


def _read_record(name: str) -> str:
    with open(_in_environment(name), encoding="utf-8", errors="replace") as record:
        return record.read()
