"""What is sound and still surprises: rivals, names that become one, switches, tools that start servers unasked."""

import os
import re
import sys
from collections.abc import Iterator

from mooring.core.conversation.verdict import Rule
from mooring.core.definitions.config import ServerConfig, list_inputs
from mooring.core.definitions.paths import Paths
from mooring.discovery.choose import Choice, explain
from mooring.discovery.edit import list_lacks_of_copy, write_entry
from mooring.discovery.entry import IN_ENTRY
from mooring.discovery.formats import find_format
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.scan import RankedDefinition
from mooring.discovery.translate import Equivalents, translate_config
from mooring.discovery.unasked import UnaskedStart, find_present_tools
from mooring.display.text import count_noun, quote_argument, safe, short_path
from mooring.inventory.approval import list_definitions
from mooring.inventory.load import Inventory
from mooring.permissions.rule import find_idle_denies
from mooring.verbs.config.list import describe_winner
from mooring.verbs.doctor.fixes import make_fix, suggest_editor
from mooring.verbs.doctor.report import Finding


def check_pitfalls(inventory: Inventory, where: Paths) -> Iterator[Finding]:
    """What a person should know about definitions that can be used."""
    yield from _check_names(inventory)
    for choice in inventory.choices:
        copies = list(_check_copy(choice, where.home))
        yield from copies or _check_rivals(inventory, choice, where.home)
        yield from _check_hidden(choice, where.home)
    yield from _check_denies(inventory)


def _check_copy(choice: Choice, home: str) -> Iterator[Finding]:
    """A copy in Mooring's own file that lacks something that its original has: it wins all the same."""
    copy = choice.definition.config
    if not isinstance(copy, ServerConfig) or copy.origin.tool != OWN.tool:
        return
    for other in choice.shadowed:
        original = other.config
        lacks = list_lacks_of_copy(copy, original) if isinstance(original, ServerConfig) else ()
        if isinstance(original, ServerConfig) and lacks:
            keys = ", ".join(f"`{safe(key)}`" for key in lacks)
            what = f"An earlier import left out {keys}, which {_describe_place(other, home)} has; the copy wins"
            yield Finding(choice.name, what, copy.origin.path, None, _suggest_copy(copy, original), True)
            return


def _suggest_copy(copy: ServerConfig, original: ServerConfig) -> str:
    name = quote_argument(copy.name)
    inputs = list_inputs(original.written or original.connection, original.oauth)
    # Which values they have does not matter here, only whether the whole can be written.
    places = dict.fromkeys(("workspace", "workspace-name", "home", "separator"), "/x")
    equivalents = Equivalents(places, secrets={each.id: "x" for each in inputs})
    scope = " -s project" if copy.origin.scope == "project" else ""
    if write_entry(translate_config(original, OWN, equivalents), OWN).lacks:
        return make_fix(f"mooring mcp remove {name}{scope}", "the definition that has all of it is used then")
    command = f"mooring mcp import {name} --from {original.origin.tool} --replace{scope}"
    return make_fix(command, "copies all of it")


def _check_rivals(inventory: Inventory, choice: Choice, home: str) -> Iterator[Finding]:
    """The same name in several files, with different definitions."""
    if not choice.shadowed:
        return
    shadows = describe_winner(inventory, choice).shadows
    rivals = [other for other, shadow in zip(choice.shadowed, shadows, strict=True) if shadow.differs is True]
    if not rivals:
        return
    why = explain(choice.definition, rivals[0], inventory.standing(rivals[0]))
    places = " and ".join(_describe_place(rival, home) for rival in rivals)
    what = f"It is defined differently in {places}, and this definition wins: {why}"
    fix = make_fix(f"mooring mcp why {quote_argument(choice.name)}", "shows the differences")
    yield Finding(choice.name, what, choice.definition.origin.path, None, fix, False)


def _describe_place(definition: RankedDefinition, home: str) -> str:
    path = definition.origin.path
    return short_path(path, home) if path else "the command line"


def _check_hidden(choice: Choice, home: str) -> Iterator[Finding]:
    """A definition that is switched off in its entry still owns the name: the next one does not take its place."""
    config = choice.definition.config
    if config.disabled_by is None or not config.disabled_by.endswith(IN_ENTRY):
        return
    hidden = [other for other in choice.shadowed if isinstance(other.config, ServerConfig) and other.config.enabled]
    if hidden:
        what = f"It is off by {config.disabled_by}, and so is the definition in {_describe_place(hidden[0], home)}"
        fix = f"mooring mcp enable {quote_argument(choice.name)}"
        yield Finding(choice.name, what, choice.definition.origin.path, None, fix, False)


def _check_names(inventory: Inventory) -> Iterator[Finding]:
    """Names that become one in the names of tools, where most programs allow only letters, digits and `_`."""
    firsts: dict[str, str] = {}
    for choice in inventory.choices:
        if not choice.definition.config.enabled:
            continue
        folded = re.sub(r"[^a-z0-9]+", "_", choice.name.lower()).strip("_")
        first = firsts.setdefault(folded, choice.name)
        # In names that are not ASCII, nothing might be left to compare.
        if first != choice.name and folded:
            what = f"Its name becomes {folded} in the names of tools, as that of {safe(first)} does"
            path = choice.definition.origin.path
            look = suggest_editor(path) if path else f"mooring mcp get {quote_argument(choice.name)}"
            yield Finding(choice.name, what, path, None, make_fix(look, "rename one of them"), False)


def _check_denies(inventory: Inventory) -> Iterator[Finding]:
    """Find rules that deny tools of a server that is not known here, and may be misspelled."""
    known = [choice.name for choice in inventory.choices]
    for value in inventory.settings.every("permissions"):
        written = [Rule(rule["tool"], rule["action"]) for rule in value.value]
        for rule in find_idle_denies(written, known):
            what = f"The deny rule {safe(rule.tool)} matches no known server"
            look = suggest_editor(value.path) if value.path else "mooring mcp list"
            yield Finding(None, what, value.path, None, make_fix(look, "check the name of the server in it"), False)


# --- other programs ---------------------------------------------------------------------------------------------------


def check_own_name(where: Paths) -> Iterator[Finding]:
    """Other programs called `mooring` on PATH, such as the one of that name on the public index of packages."""
    ours = _find_own_command()
    found: dict[str, str] = {}
    for path in _list_commands(where.env.get("PATH", "")):
        found.setdefault(os.path.realpath(path), path)
    first = next(iter(found), "")
    for target, path in found.items():
        if target == os.path.realpath(ours):
            continue
        if target != first:
            what = f"PATH has another program called mooring, further back: {safe(path)}"
            fix = make_fix(f"{quote_argument(ours)} --version", "names this one wherever PATH is in another order")
        else:
            what = f"Your shell starts another program when you type mooring: {safe(path)}"
            folder = quote_argument(os.path.dirname(ours))
            fix = make_fix(f"export PATH={folder}:$PATH", "has it start this one; put it into your shell's profile")
        yield Finding(None, what, path, None, fix, False)


def _find_own_command() -> str:
    """What starts this copy: as it was started, or else as it was installed."""
    started = os.path.abspath(sys.argv[0])
    return started if os.path.basename(started) == "mooring" else os.path.join(sys.prefix, "bin", "mooring")


def _list_commands(search_path: str) -> Iterator[str]:
    for folder in search_path.split(os.pathsep):
        path = os.path.join(folder, "mooring")
        if os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK):
            yield path


_MOST_NAMED = 5


def check_other_tools(inventory: Inventory, where: Paths) -> Iterator[Finding]:
    """For each tool, the project's servers that it would start although nobody approved them here."""
    waiting = list(_list_unapproved(inventory))
    if not waiting:
        return
    for tool in find_present_tools(where):
        theirs = [each for each in waiting if each.origin.tool in tool.reads]
        if theirs:
            yield _report_tool(tool, theirs)
    yield from _check_trusted_folders(waiting, where)


def _list_unapproved(inventory: Inventory) -> Iterator[RankedDefinition]:
    for choice in inventory.choices:
        for definition in list_definitions(choice):
            config = definition.config
            is_usable = isinstance(config, ServerConfig) and config.enabled
            if is_usable and inventory.standing(definition) in ("unseen", "changed", "rejected"):
                yield definition


def _report_tool(tool: UnaskedStart, theirs: list[RankedDefinition]) -> Finding:
    when = f" {tool.when}" if tool.when else ""
    what = f"{tool.claim} {_name_servers(theirs)} of this project without asking{when} (as seen in: {tool.seen})"
    return Finding(None, what, theirs[0].origin.path, None, _suggest_look(theirs), False)


def _check_trusted_folders(waiting: list[RankedDefinition], where: Paths) -> Iterator[Finding]:
    """What a tool starts because the person once trusted the whole folder there."""
    by_mark: dict[tuple[str, str], list[RankedDefinition]] = {}
    for definition in waiting:
        if definition.marked_by:
            by_mark.setdefault((definition.origin.tool, definition.marked_by), []).append(definition)
    for (tool, mark), theirs in by_mark.items():
        format = find_format(tool)
        title = format.title if format else tool
        trust = safe(short_path(mark, where.home))
        what = f"{title} starts {_name_servers(theirs)} of this project without asking, because of {trust}"
        yield Finding(None, what, theirs[0].origin.path, None, _suggest_look(theirs), False)


def _name_servers(definitions: list[RankedDefinition]) -> str:
    names = list(dict.fromkeys(each.name for each in definitions))
    shown = ", ".join(map(safe, names[:_MOST_NAMED]))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{count_noun(len(names), 'server')} ({shown}{more})"


def _suggest_look(definitions: list[RankedDefinition]) -> str:
    name = quote_argument(definitions[0].name)
    return make_fix(f"mooring mcp approve {name}", "shows what would run, before you open the project there")
