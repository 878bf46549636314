"""Which other tools on this machine would start the project's servers without asking."""

from collections.abc import Iterator

from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.discovery.formats import find_format
from mooring.discovery.scan import RankedDefinition
from mooring.discovery.unasked import UnaskedStart, find_present_tools
from mooring.display.text import count_noun, quote_argument, safe, short_path
from mooring.inventory.approval import list_definitions
from mooring.inventory.load import Inventory
from mooring.verbs.doctor.fixes import make_fix
from mooring.verbs.doctor.report import Finding

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
