"""Skills that servers offer, as the skills extension describes them, and what makes one unusable."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from mooring.core.definitions.problem import Problem

EXTENSION: Final = "io.modelcontextprotocol/skills"
"""What a server that offers skills declares."""
MAIN_FILE: Final = "SKILL.md"
LARGEST = 256 * 1024
"""Bytes of a `SKILL.md`; a skill of a file may have as many."""
MOST_FILES = 512
MOST_BYTES = 16 * 1024 * 1024
"""Of all files of a skill together. Both limits are the extension's own."""
LONGEST_ADDRESS = 500
_NAME = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_LONGEST_NAME = 64
_DIGEST = r"sha256:[0-9a-f]{64}"


class SkillFile(Struct, frozen=True):
    """One file of a skill, and what its bytes have to be."""

    uri: str
    digest: str
    size: int


class ServerSkill(Struct, frozen=True):
    """A skill as a server lists it. Whatever its header says, it grants nothing."""

    uri: str
    frontmatter: dict[str, Any]
    """The header of its `SKILL.md`."""
    resources: tuple[SkillFile, ...] | Literal["dynamic"]

    @property
    def name(self) -> str:
        return str(self.frontmatter.get("name", ""))

    @property
    def description(self) -> str:
        return " ".join(str(self.frontmatter.get("description", "")).split())

    @property
    def files(self) -> dict[str, SkillFile]:
        """Its files by their paths in the skill."""
        folder = self.uri.removesuffix(MAIN_FILE)
        listed = self.resources if isinstance(self.resources, tuple) else ()
        return {file.uri.removeprefix(folder): file for file in listed if file.uri.startswith(folder)}


class OfferedSkill(Struct, frozen=True):
    """A skill, the server that offers it, and the name to use it by."""

    server: str
    name: str
    skill: ServerSkill
    is_listed: bool = True
    """Otherwise somebody named its address, and reading it was permitted."""


class FoundSkills(Struct, frozen=True):
    """The skills of some servers by the names to use them by, and what kept others from being used."""

    by_name: Mapping[str, OfferedSkill] = {}
    problems: tuple[Problem, ...] = ()


def find_skill_flaw(skill: ServerSkill) -> str:
    """Why a skill cannot be used; empty if it can."""
    name = skill.name
    if len(name) > _LONGEST_NAME or re.fullmatch(_NAME, name) is None:
        return "its name is not made of lowercase letters, digits and hyphens"
    is_typeable = skill.uri.isprintable() and " " not in skill.uri
    if len(skill.uri) > LONGEST_ADDRESS or not is_typeable or not skill.uri.endswith(f"/{name}/SKILL.md"):
        return f"its address does not end in /{name}/SKILL.md"
    if skill.resources == "dynamic":
        return "it has no digests, so what it says cannot be checked"
    return _find_manifest_flaw(skill.uri, skill.resources)


def _find_manifest_flaw(uri: str, files: tuple[SkillFile, ...]) -> str:
    if len(files) > MOST_FILES or sum(file.size for file in files) > MOST_BYTES:
        return f"it has more than {MOST_FILES} files or 16 MiB"
    own = [file for file in files if file.uri == uri]
    if len(own) != 1 or re.fullmatch(_DIGEST, own[0].digest) is None:
        return "its SKILL.md has no digest"
    if not 0 <= own[0].size <= LARGEST:
        return f"its SKILL.md is larger than {LARGEST // 1024} KiB"
    return ""


def name_skills(server: str, skills: Iterable[ServerSkill]) -> Iterator[OfferedSkill]:
    """The skills of a server as `server:skill`; two of the same name go by their addresses, so that neither wins."""
    known = list(skills)
    counts = Counter(skill.name for skill in known)
    for skill in known:
        own = skill.name if counts[skill.name] == 1 else skill.uri.removesuffix("/SKILL.md")
        yield OfferedSkill(server, f"{server}:{own}", skill)
