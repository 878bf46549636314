"""What Tab offers: of all lines that could be meant, the next word of each; behind an `@`, what can be attached."""

import re
from collections.abc import Iterable, Sequence

from mooring.core.definitions.paths import Workspace
from mooring.verbs.agent.named_files import list_paths

_LAST_MENTION = re.compile(r"(?<!\S)@\S*\Z")


def complete_line(workspace: Workspace, lines: Sequence[str], resources: Sequence[str], typed: str) -> list[str]:
    """The whole lines that the typed one can become. Looks at the disk if the last word begins with `@`.

    `resources` are as a person names them: `@server:uri`.
    """
    mention = _LAST_MENTION.search(typed)
    if mention is None:
        return complete_next_word(lines, typed)
    before, word = typed[: mention.start()], mention.group()
    paths = [f"@{path}" for path in list_paths(workspace, word[1:])]
    named = [each for each in resources if each.startswith(word)]
    return sorted(f"{before}{each}" for each in (*named, *paths))


def complete_next_word(lines: Iterable[str], typed: str) -> list[str]:
    """What the typed text can go on with, sorted: its next word, with a blank if more follows.

    With hundreds of servers, whole lines would be thousands to choose from: `/mcp re` offers the verbs, `/mcp remove `
    the servers.
    """
    found: dict[str, str] = {}
    for line in lines:
        if line.startswith(typed):
            word, blank, _ = line[len(typed) :].partition(" ")
            whole = f"{typed}{word}"
            # A word that can stand alone is offered with its blank, too, if it can also go on.
            found[whole] = max(found.get(whole, ""), f"{whole}{blank}")
    return sorted(found.values())
