"""`Skill`: what one of the skills says that the system prompt lists."""

import asyncio
import os
from typing import Annotated

from msgspec import Meta, Struct

from mooring.agents.commands.command_file import WrittenCommand
from mooring.agents.commands.find import CommandFiles
from mooring.agents.commands.template import CommandArguments, has_fields
from mooring.agents.local.workspace import Workspace
from mooring.core.near import nearest
from mooring.core.result import Result
from mooring.core.verdict import LocalAccess
from mooring.display.marked import escape_marks
from mooring.errors import ConfigError
from mooring.tools.local_tool import LocalCall, LocalTool, text_result


class SkillArguments(Struct, forbid_unknown_fields=True):
    """What `Skill` takes."""

    skill: Annotated[str, Meta(description="The name of the skill")]
    args: Annotated[str, Meta(description="What it is to be used on, if it takes anything")] = ""


class SkillTool(LocalTool):
    label = "Skill"
    description = (
        "Read one of the skills that the system prompt lists, before you do what it is about. It permits nothing: what "
        "it says to run or to change is called and checked as always."
    )
    parameters = SkillArguments
    only_reads = True
    aliases = ("Read",)

    def __init__(self, workspace: Workspace, files: CommandFiles) -> None:
        self._workspace = workspace
        self._files = files

    def assess(self, arguments: SkillArguments) -> LocalAccess:
        skill = self._find(arguments.skill)
        real = os.path.realpath(skill.path)
        return LocalAccess(
            kind="path",
            subject=real,
            spellings=(skill.path,),
            project=self._workspace.project,
            home=self._workspace.home,
            # The person keeps it where skills belong, or works in the project that has it.
            is_free=True,
            why="it reads a skill",
            preview=f"Path: {real}",
        )

    async def run(self, call: LocalCall) -> Result:
        arguments: SkillArguments = call.arguments
        skill = await asyncio.to_thread(self._find, arguments.skill)
        return text_result(write_skill(skill, arguments.args))

    def _find(self, name: str) -> WrittenCommand:
        known = dict(self._files.find().skills)
        skill = known.get(name.removeprefix("/"))
        if skill is not None:
            return skill
        near = nearest(name, known)
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ConfigError(f"There is no skill {name!r}.{guess}")


def write_skill(skill: WrittenCommand, typed: str) -> str:
    """What a skill says, and where its other files are. Raises: ConfigError if an argument is missing."""
    arguments = CommandArguments(typed)
    text = arguments.fill(escape_marks(skill.body))
    if arguments.typed and not has_fields(skill.body):
        text = f"{text}\n\nARGUMENTS: {arguments.typed}"
    return f"[The skill {skill.name}. Its other files are in {skill.folder}]\n\n{text}"
