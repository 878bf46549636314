"""What Tab offers: of all lines that could be meant, the next word of each. Pure."""

from collections.abc import Iterable


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
