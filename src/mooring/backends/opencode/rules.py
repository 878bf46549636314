"""OpenCode's permissions, written so that it asks about every call and nothing that the person configured answers.

The last rule that matches decides, and a key that a person's own configuration has too keeps its place there. So each
rule is spelled in a way that nobody else spells it. Nothing is allowed here: a name that a server chooses could match.
"""

from collections.abc import Mapping
from typing import Final

EVERYTHING: Final = "**"


def spell_exactly(name: str) -> str:
    """A pattern for the permission of this name alone.

    Its last letter is a wildcard for one. The name of a server's tool has a `_` with something behind it, so it would
    have to be this very name; and servers are renamed that could come by it.
    """
    return f"{name[:-1]}?"


ASK_ALWAYS: Final[Mapping[str, str]] = {EVERYTHING: "ask"}
_EXPLORES: Final = ("grep", "glob", "list", "bash", "webfetch", "websearch", "read", "external_directory", "doom_loop")
EXPLORE: Final[Mapping[str, str]] = {
    # Its sub-agent that only reads.
    EVERYTHING: "deny",
    **{spell_exactly(name): "ask" for name in _EXPLORES},
}
