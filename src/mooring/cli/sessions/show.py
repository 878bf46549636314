"""`mooring sessions`: prints the conversations of a folder, or one of them in full."""

import msgspec

from mooring.agents.sessions.store import SessionSummary
from mooring.cli.base import Globals, print_columns, print_json, say
from mooring.cli.sessions.transcript import describe_cost, format_local, print_transcript
from mooring.core.definitions.paths import Where
from mooring.display.text import safe, short_path
from mooring.verbs.agent.sessions import list_sessions, show_session


def run(options: Globals, id: str | None, is_all: bool, lines: int) -> None:
    """The conversations of this folder, or all that was said in one."""
    request = options.request()
    if id is not None:
        transcript = show_session(request.where, id)
        if options.json:
            # As JSON first: parts of a message may hold JSON that is kept as it came.
            print_json(msgspec.json.decode(msgspec.json.encode(transcript)))
        else:
            print_transcript(transcript, is_full=options.verbose)
        return
    sessions = list_sessions(request.where, None if is_all else request.cwd, lines)
    if options.json:
        print_json({"sessions": sessions})
    elif sessions:
        print_columns([_make_head(is_all), *(_make_cells(each, request.where, is_all) for each in sessions)])
    elif not options.quiet:
        say("No conversations are stored." if is_all else _NONE_HERE, err=True)


_NONE_HERE = "No conversations of this folder are stored. To list those of all folders: mooring sessions --all"


def _make_head(is_all: bool) -> tuple[str, ...]:
    folder = ("FOLDER",) if is_all else ()
    return "ID", "LAST USED", "TURNS", "COST", "BACKEND", "MODEL", *folder, "FIRST WORDS"


def _make_cells(session: SessionSummary, where: Where, is_all: bool) -> tuple[str, ...]:
    used = f"{format_local(session.used)}, open" if session.open_in is not None else format_local(session.used)
    folder = (short_path(session.folder, where.home),) if is_all else ()
    cost = describe_cost(session.cost)
    model = safe(session.model) or "-"
    return session.id, used, str(session.turns), cost, safe(session.backend), model, *folder, safe(session.title)
