"""Whether a definition may be copied: a project's only once the person has approved it."""

import os
from functools import cached_property
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.question import Ask
from mooring.core.definitions.approved import Standing
from mooring.core.definitions.paths import Workspace
from mooring.discovery.choose import Choice
from mooring.discovery.guess import FoundServers
from mooring.display.text import quote_argument
from mooring.errors import ConfigError
from mooring.inventory.approval import ApprovalQuestion, list_definitions, list_questions
from mooring.inventory.approval_rows import ask_approval
from mooring.inventory.load import Inventory
from mooring.settings import find_project_folders

SkipKind: TypeAlias = Literal["same", "disabled", "rejected", "broken", "refused", "unapproved"]
"""Why a definition is not copied: the file has it, it is off, the person rejected it, it cannot be used, it cannot be
written there, or it is not approved."""

_NOT_APPROVED = "it comes from the project and is not approved"
_WHY: dict[Standing, str] = {
    "rejected": "rejected for this project",
    "changed": "it changed since you decided about it",
    "approved": "it leads to something else than when you approved it",
}


class SkippedServer(Struct, frozen=True):
    """A definition that is not copied, and why."""

    name: str
    why: str
    kind: SkipKind
    hint: str = ""
    """What to do about it, if anything can be done."""


def list_left_out(found: FoundServers) -> tuple[SkippedServer, ...]:
    """The entries of a file that aren't servers, such as one that uses WebSocket."""
    names = {each.name for each in found.definitions}
    odd = [problem for problem in found.problems if problem.server and problem.server not in names]
    return tuple(SkippedServer(problem.server or "", f"it {problem.message}", "broken") for problem in odd)


class Clearance:
    """Finds out whether the person has approved a project's definition, and asks them if not.

    A copy in the person's own file is started without a question. So nothing of a project gets there unseen.
    """

    def __init__(self, workspace: Workspace, inventory: Inventory, ask: Ask | None) -> None:
        self._request = workspace
        self._where = workspace.where
        self._inventory = inventory
        self._ask = ask

    async def find_objection(self, choice: Choice, *, is_named: bool) -> SkippedServer | None:
        """Why a definition must not be copied; `None` if it may be.

        One that the person rejected is asked about again only if they name it.
        """
        choice = self._distrust(choice)
        if not choice.definition.origin.foreign:
            return None
        question = self._make_question(choice)
        # What it leads to may have changed since it was approved, though its text has not.
        if question.still_approved:
            return None
        if choice.standing == "rejected" and not is_named:
            return SkippedServer(choice.name, _WHY["rejected"], "rejected")
        if self._ask is None:
            why = _WHY.get(choice.standing, _NOT_APPROVED)
            return SkippedServer(choice.name, why, "unapproved", self._suggest(question))
        if not await ask_approval(self._ask, self._inventory, question, self._where):
            return SkippedServer(choice.name, "it comes from the project, and you did not approve it", "unapproved")
        return None

    def _distrust(self, choice: Choice) -> Choice:
        """The choice, as one of the project if `--config` named a file of the project.

        That is good enough for a single command, but a copy stays.
        """
        definition = choice.definition
        origin = definition.origin
        if origin.scope != "cli" or origin.path is None or not is_of_project(origin.path, self._request):
            return choice
        config = replace(definition.config, origin=replace(origin, scope="project"))
        standing = self._inventory.approvals.find_standing(self._inventory.root, config)
        return replace(choice, definition=replace(definition, config=config), standing=standing)

    def _make_question(self, choice: Choice) -> ApprovalQuestion:
        """The question about this very definition, even if `approve` would ask about another of its name first."""
        known = self._by_name.get(choice.name, choice)
        others = tuple(each for each in list_definitions(known) if each is not choice.definition)
        about = Choice(choice.definition, choice.standing, others)
        return list_questions(replace(self._inventory, choices=(about,)), (choice.name,), self._where)[0]

    @cached_property
    def _by_name(self) -> dict[str, Choice]:
        return {choice.name: choice for choice in self._inventory.choices}

    def _suggest(self, question: ApprovalQuestion) -> str:
        if not self._is_asked_first(question):
            return "Run this in a terminal to look and decide."
        name = quote_argument(question.name)
        words = f"{name} --digest {question.digest}"
        # Nothing may follow a name that begins like an option.
        if name.startswith("-"):
            words = f"--digest {question.digest} {name}"
        return f"To look and decide: mooring mcp approve {name}; to approve exactly this: mooring mcp approve {words}"

    def _is_asked_first(self, question: ApprovalQuestion) -> bool:
        """Whether `approve` asks the same question about the name."""
        known = self._by_name.get(question.name)
        if known is None:
            return False
        try:
            only = replace(self._inventory, choices=(known,))
            first = list_questions(only, (question.name,), self._where)[0]
        except ConfigError:  # the person's own file has that name, or the project's definition cannot be used
            return False
        return first.digest == question.digest


def is_of_project(path: str, workspace: Workspace) -> bool:
    """Whether a file came with the project, by its own path or by where a link leads.

    A folder that holds the person's home is no project: whatever is in it is their own.
    """
    root = find_project_folders(workspace.where, workspace.cwd)[-1]
    return _is_inside(path, root) and not _is_inside(workspace.where.home, root)


def _is_inside(path: str, folder: str) -> bool:
    pairs = (path, folder), (os.path.realpath(path), os.path.realpath(folder))
    return any(f"{inner}/".startswith(f"{outer.rstrip('/')}/") for inner, outer in pairs)
