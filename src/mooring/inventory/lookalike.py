"""Servers whose names look like another one: a person who is asked about one of them could take it for the other."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from mooring.core.definitions.config import Broken
from mooring.core.definitions.problem import Problem
from mooring.core.text.confusable import crude_skeleton, describe_oddities, is_disguised, is_plain, skeleton
from mooring.discovery.choose import Choice


def refuse_lookalikes(choices: tuple[Choice, ...]) -> tuple[tuple[Choice, ...], tuple[Problem, ...]]:
    """The same choices, and what is wrong: a definition whose name looks like another one cannot be used."""
    refused = _find_lookalikes(choices)
    if not refused:
        return choices, ()
    kept: list[Choice] = []
    problems: list[Problem] = []
    for choice in choices:
        reason = refused.get(choice.name)
        if reason is None:
            kept.append(choice)
            continue
        problem = Problem(choice.definition.origin.path, f"{reason}; rename it", server=choice.name)
        problems.append(problem)
        kept.append(_break(choice, problem))
    return tuple(kept), tuple(problems)


def _break(choice: Choice, problem: Problem) -> Choice:
    config = choice.definition.config
    broken = Broken(name=config.name, origin=config.origin, problem=problem, disabled_by=config.disabled_by)
    return replace(choice, definition=replace(choice.definition, config=broken))


def _find_lookalikes(choices: Iterable[Choice]) -> Mapping[str, str]:
    """Why servers are refused for their names, by name.

    Of names that look the same, the plainest stays, and the person's own before a project's. Names may differ in case,
    which is seen. The person's own may differ in `l` and `1`; a project's may not pass for one of theirs that way.
    """
    ranked = sorted(choices, key=lambda choice: (not is_plain(choice.name), choice.definition.origin.foreign))
    own = {crude_skeleton(choice.name): choice.name for choice in ranked if not choice.definition.origin.foreign}
    firsts: dict[str, str] = {}
    refused: dict[str, str] = {}
    for choice in ranked:
        first = firsts.setdefault(skeleton(choice.name), choice.name)
        theirs = own.get(crude_skeleton(choice.name)) if choice.definition.origin.foreign else None
        reason = _explain(choice.name, first, theirs)
        if reason is not None:
            refused[choice.name] = reason
    return refused


def _explain(name: str, first: str, theirs: str | None) -> str | None:
    if is_disguised(name):
        return f"looks like {skeleton(name)}, but has {describe_oddities(name)} in its name"
    if not is_plain(name) and name.casefold() != first.casefold():
        return f"looks like {first}, but has {describe_oddities(name)} in its name"
    if theirs is not None and name.casefold() != theirs.casefold():
        return f"comes from the project and looks like your own {theirs}"
    return None
