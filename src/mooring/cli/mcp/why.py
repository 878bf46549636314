"""`mooring mcp why NAME`: prints every definition of a name, and why one of them wins."""

from mooring.cli.base import Globals, print_json, say
from mooring.verbs.config.why import Candidate, describe_aliases, describe_candidate, explain_choice


def run(options: Globals, name: str) -> None:
    """Which definitions of a name exist and why one wins."""
    reasons = explain_choice(options.inventory(), name)
    if options.json:
        print_json(reasons)
        return
    home = options.workspace().where.home
    for candidate in reasons.candidates:
        headline, *lines = describe_candidate(candidate, home)
        say(headline, fg=_choose_color(candidate))
        for line in lines:
            say(line)
    if reasons.aliases:
        say(describe_aliases(reasons))


def _choose_color(candidate: Candidate) -> str | None:
    if not candidate.wins:
        return None
    return "green" if candidate.starts else "yellow"
