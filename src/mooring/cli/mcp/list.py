"""`mooring mcp list`: prints every server; what `mooring` prints without a command and a terminal."""

from collections.abc import Iterator, Mapping

from mooring.cli.base import OK, UNHEALTHY, Globals, find_width, print_json, say
from mooring.display.status import NOTHING as NO_VALUE
from mooring.display.status import STATUS_MARKS, STATUS_WORDS, name_transport
from mooring.display.tables import wrap_columns
from mooring.display.text import (
    cut,
    describe_origin,
    name_server,
    problem_line,
    quote_argument,
    safe,
    short_path,
)
from mooring.verbs.config.known import add_known
from mooring.verbs.config.list import Row, ServerListing, list_servers, make_problem_data
from mooring.verbs.verb import LineStyle

_STYLES: Mapping[str, LineStyle] = {
    "connected": "good",
    "idle": "good",
    "pending": "waiting",
    "unapproved": "doubtful",
    "failed": "bad",
    "needs-auth": "doubtful",
    "needs-input": "doubtful",
    "idle, incomplete": "doubtful",
    "disabled": "dim",
    "shadowed": "dim",
}
_OTHER_MARKS: Mapping[str, str] = {"shadowed": "·", "idle, incomplete": "!"}
"""Of what is no status of a server, but of its row."""

LONGEST_NAME = 40
"""In a terminal, longer names lose their middles."""

NOTHING = """No MCP servers are configured here.
  Try the bundled one:   mooring --demo
  Add one of your own:   mooring mcp add NAME -- COMMAND ARGS…   (it goes into ~/.config/mooring/mcp.json)"""


def run(options: Globals, everything: bool, check: bool, timeout: float | None) -> int:
    if check:
        return _show_checked(options, list_servers(options.inventory(), all=everything), timeout)
    show_listing(options, everything)
    return OK


def show_listing(options: Globals, everything: bool = False) -> None:
    """Print the list, as text or data."""
    inventory = options.inventory()
    listing = list_servers(inventory, all=everything)
    print_listing(options, add_known(listing, inventory, options.workspace().where))


def print_listing(options: Globals, listing: ServerListing) -> None:
    """Print rows on stdout, and on stderr what a person should know besides."""
    if options.json:
        print_json(make_data(listing))
        return
    home = options.workspace().where.home
    _print_rows(listing, home)
    if not options.quiet:
        for line in _list_notes(listing, home):
            say(line, err=True)


def _show_checked(options: Globals, listing: ServerListing, timeout: float | None) -> int:
    """Connect to every server and print its status; the exit code says whether all are healthy."""
    # Loaded here because a plain listing must not pay for the host: with them it would take twice as long.
    from mooring.cli.adhoc import make_configured_setup, run_with_host
    from mooring.cli.ticker import Ticker
    from mooring.cli.warn import warn
    from mooring.verbs.use.check import check, is_healthy

    with Ticker(options, "the servers") as ticker:
        live = run_with_host(
            make_configured_setup(options, timeout),
            lambda host, deadline: check(host, listing, deadline, ticker.on_pending),
        )
    print_listing(options, live)
    # What was wrong before anything was connected is among the problems that the listing shows.
    known = {row.name: row.error for row in listing.servers}
    new = [row for row in live.servers if row.error != known[row.name]]
    warn(options, failed={row.name: row.error for row in new if row.error})
    return OK if is_healthy(live) else UNHEALTHY


def make_data(listing: ServerListing) -> dict[str, object]:
    """The listing in the shape that other programs rely on."""
    problems = [make_problem_data(problem) for problem in listing.problems]
    return {"version": listing.version, "servers": listing.servers, "problems": problems}


def _print_rows(listing: ServerListing, home: str) -> None:
    if not listing.servers:
        say(NOTHING)
        return
    header = ("", "NAME", "STATUS", "TYPE", "TOOLS", "FROM")
    rows = [header, *(_make_cells(row, home) for row in listing.servers)]
    # A program gets names and paths whole, and no width to guess.
    cells = find_width()
    if cells is not None:
        rows = [(mark, cut(name, min(LONGEST_NAME, cells // 3)), *rest) for mark, name, *rest in rows]
    first, *rest = wrap_columns(rows, cells)
    say("\n".join(first), "dim")
    for row, lines in zip(listing.servers, rest, strict=True):
        say("\n".join(lines), _STYLES.get(_find_look(row), "plain"))


def _make_cells(row: Row, home: str) -> tuple[str, ...]:
    status = _find_status(row)
    origin = describe_origin(row.source.tool, row.source.shown_scope, row.source.path, home)
    tools = NO_VALUE if row.tools is None else str(row.tools)
    mark = _OTHER_MARKS.get(_find_look(row), STATUS_MARKS[row.status])
    return mark, safe(row.name), _describe_status(row, status), name_transport(row.transport), tools, origin


def _describe_status(row: Row, status: str) -> str:
    word = status if status == "shadowed" else STATUS_WORDS[row.status]
    if status != "needs-input" or not row.inputs:
        return word
    return f"{word} ({cut(safe(', '.join(row.inputs)), LONGEST_NAME)})"


def _find_status(row: Row) -> str:
    # What a project proposes is not shadowed by the person's own: it waits, or was rejected.
    is_shadowed = row.shadowed_by is not None and row.status not in ("unapproved", "rejected")
    return "shadowed" if is_shadowed else row.status


def _find_look(row: Row) -> str:
    """The status that decides the mark and the color: a server that lacks something is not simply idle."""
    status = _find_status(row)
    return "idle, incomplete" if status == "idle" and row.error else status


def _list_notes(listing: ServerListing, home: str) -> Iterator[str]:
    """What a person should know below the list: what is broken, proposals, approvals to give, problems."""
    troubles = [_describe_trouble(row) for row in listing.servers if row.error and _is_usable(row)]
    if troubles:
        yield ""
        yield from troubles
    rivals = [line for row in listing.servers if (line := _describe_rivals(row))]
    if rivals:
        yield ""
        yield from rivals
    for row in listing.servers:
        path = row.proposed.source.path if row.proposed else None
        if path:
            command = f"mooring mcp approve {quote_argument(row.name)}"
            yield f"\n{short_path(path, home)} would put its own {safe(row.name)} in place of yours: {command}"
        if row.adopted_from:
            reject = f"mooring mcp reject {quote_argument(row.name)}"
            yield f"\n{safe(row.name)} is approved: adopted from {safe(row.adopted_from)}. To withdraw that: {reject}"
        if row.applied_rules:
            rules = ", ".join(str(rule) for rule in row.applied_rules)
            reset = f"mooring mcp reset {quote_argument(row.name)}"
            yield f"\n{safe(row.name)} is approved, and you applied to it: {safe(rules)}. To withdraw both: {reset}"
    if listing.waiting:
        names = ", ".join(map(safe, listing.waiting))
        yield f"\nThe project's files define {names}. To look and decide: mooring mcp approve --all"
    if listing.problems:
        yield "\nProblems:"
    for problem in listing.problems:
        yield f"  {problem_line(problem, home)}"


def _describe_rivals(row: Row) -> str:
    """Which tools define the server differently; empty if none does."""
    tools = dict.fromkeys(shadow.tool for shadow in row.shadows if shadow.differs is True)
    if not tools:
        return ""
    why = f"mooring mcp why {quote_argument(row.name)}"
    return f"{safe(row.name)} is also defined in {', '.join(tools)}, differently: {why}"


def _describe_trouble(row: Row) -> str:
    error = row.error or ""
    named = name_server(row.name, error)
    # Only a name that was put in front is cut: within a sentence it is spelled out.
    return safe(error if named == error else f"{cut(row.name, LONGEST_NAME)}: {error}")


def _is_usable(row: Row) -> bool:
    """Whether the definition itself is right; what is wrong with one that is not is among the problems."""
    is_understood = row.command is not None or row.url is not None
    return is_understood and row.shadowed_by is None
