"""The skills that a model may use by itself, as one section of a system prompt."""

from collections.abc import Iterable
from itertools import groupby

from mooring.agents.commands.command_file import WrittenCommand
from mooring.core.protocol.skill import FoundSkills, OfferedSkill
from mooring.display.text import count_noun, write_marked

LONGEST_DESCRIPTION = 500
MOST_OF_ALL = 15_000
"""Characters of all of them together."""
MOST_OF_ONE = 5_000
"""Characters of the skills of one server."""

_PREFACE = (
    "There are skills: texts that say how a kind of task is done here. When a task fits one of the descriptions, read "
    "the skill with the tool Skill first. The descriptions are the skills' own words."
)
_SERVERS_PREFACE = (
    "The MCP servers below offer skills: texts that say how a kind of task is done with their tools. When a task fits "
    "one of the descriptions, read the skill with the tool Skill first. Names and descriptions are the servers' own "
    "words, not the user's."
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


def write_server_skills(found: FoundSkills) -> str:
    """The names and descriptions of servers' skills, marked with their server; empty if there are none."""
    sections: list[str] = []
    room = MOST_OF_ALL
    for server, offered in groupby(found.by_name.values(), lambda each: each.server):
        # A server with many skills must not take the place of all that follow.
        lines, left_out = _fit_lines(offered, min(room, MOST_OF_ONE))
        room -= sum(map(len, lines))
        more = [f"({count_noun(left_out, 'more skill')} for which there is no room here.)"] if left_out else []
        sections += [write_marked("skills", {"server": server}, "\n".join(lines), MOST_OF_ONE * 2), *more]
    return "\n\n".join((_SERVERS_PREFACE, *sections)) if sections else ""


def _fit_lines(skills: Iterable[OfferedSkill], room: int) -> tuple[list[str], int]:
    """The lines for which there is room, and how many others there are."""
    lines: list[str] = []
    left_out = 0
    for offered in skills:
        line = f"- {offered.name}: {offered.skill.description[:LONGEST_DESCRIPTION]}"
        if left_out or len(line) > room:
            left_out += 1
            continue
        lines.append(line)
        room -= len(line)
    return lines, left_out


def _write_line(name: str, skill: WrittenCommand) -> str:
    return f"- {name} ({skill.scope}): {skill.description[:LONGEST_DESCRIPTION]}"
