"""OpenCode's permissions, written so that it asks about every call and nothing that the person configured answers.

The last rule that matches decides, and a key that a person's own configuration has too keeps its place there. So the
rule for everything is spelled in a way that nobody else spells it.
"""

from collections.abc import Mapping
from typing import Final

EVERYTHING: Final = "**"

# Steps of a plan are shown, not done. Paths outside the folder are judged with the call itself, and so is one that is
# made for the third time: a second question about it would say less.
_FREE: Final = {"todowrite*": "allow", "external_directory*": "allow", "doom_loop*": "allow", "question*": "allow"}

ASK_ALWAYS: Final[Mapping[str, str]] = {EVERYTHING: "ask", **_FREE}
EXPLORE: Final[Mapping[str, str]] = {
    # Its sub-agent that only reads.
    EVERYTHING: "deny",
    "grep*": "ask",
    "glob*": "ask",
    "list*": "ask",
    "bash*": "ask",
    "webfetch*": "ask",
    "websearch*": "ask",
    "read*": "ask",
    "external_directory*": "allow",
    "doom_loop*": "allow",
}
