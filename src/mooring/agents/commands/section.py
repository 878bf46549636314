"""The skills that a model may use by itself, as one section of a system prompt."""

from collections.abc import Iterable

from mooring.agents.commands.command_file import WrittenCommand
from mooring.display.marked import write_marked
from mooring.display.text import count_noun

LONGEST_DESCRIPTION = 500
MOST_OF_ALL = 15_000
"""Characters of all of them together."""

_PREFACE = (
    "There are skills: texts that say how a kind of task is done here. When a task fits one of the descriptions, read "
    "the skill with the tool Skill first. The descriptions are the skills' own words."
)


def write_skills(skills: Iterable[tuple[str, WrittenCommand]]) -> str:
    """Their names and descriptions; empty if there are none."""
    lines = [_write_line(name, skill) for name, skill in skills]
    kept: list[str] = []
    room = MOST_OF_ALL
    for line in lines:
        room -= len(line)
        if room < 0:
            break
        kept.append(line)
    if not kept:
        return ""
    left_out = len(lines) - len(kept)
    note = [f"({count_noun(left_out, 'more skill')} for which there is no room here.)"] if left_out else []
    return "\n\n".join((_PREFACE, write_marked("skills", {}, "\n".join(kept), MOST_OF_ALL * 2), *note))


def _write_line(name: str, skill: WrittenCommand) -> str:
    return f"- {name} ({skill.scope}): {skill.description[:LONGEST_DESCRIPTION]}"
