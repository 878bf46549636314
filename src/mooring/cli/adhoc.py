"""The options of commands that talk to servers: a server by its command or address, its variables, a timeout."""

import re
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from msgspec.structs import replace

from mooring.cli.base import Globals, echo, make_guard, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.question import find_asker
from mooring.cli.warn import CONFIG_ERROR, print_warnings
from mooring.core.conversation.question import Form, Question, Visit
from mooring.core.conversation.status import Status, status_error
from mooring.core.definitions.config import Http, ServerConfig
from mooring.core.definitions.problem import Problem
from mooring.display.text import count_noun, problem_line, problem_without_place, quote_argument, safe
from mooring.errors import ConfigError, Denied, ServerError
from mooring.host.host import Host
from mooring.verbs.parse import UsageError
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import Setup, make_http_config, make_program_config, run_on_host

T = TypeVar("T")


def is_adhoc(given: Mapping[str, Any]) -> bool:
    """Whether the options name a server, so that nothing configured is used."""
    return given["server"] is not None or given["url"] is not None


def make_setup(options: Globals, given: Mapping[str, Any]) -> Setup:
    """What to open a host on, according to the options that name one. Raises: ConfigError."""
    setup = make_configured_setup(options, given["timeout"])
    if is_adhoc(given):
        return replace(setup, adhoc=_make_adhoc_config(setup, given))
    if given["header"] or given["transport"] != "auto":
        raise ConfigError("-H and --transport go with --url; a configured server has its own in its definition.")
    return replace(setup, env=_parse_variables(setup, given))


def make_configured_setup(options: Globals, timeout: float | None) -> Setup:
    """What to open a host on for the configured servers alone."""
    return Setup(
        workspace=options.workspace(),
        timeout=timeout,
        guard=make_guard(options),
        ask=find_asker(options),
        warn=LackWarnings(options),
        tell=_make_problem_printer(options),
    )


def run_with_host(
    setup: Setup,
    work: Callable[[Host, Deadline], Coroutine[Any, Any, T]],
    *,
    named: str | None = None,
    start_required: bool = False,
) -> T:
    """Open a host, run the work on it, close it.

    Raises: what the work raises; Denied if the server that was named asked something that nobody could answer.
    """
    # A command that concerns all servers says in one line what some of them have to start without.
    is_about_one = bool(named or setup.adhoc_name)
    lacks = setup.warn
    if isinstance(lacks, LackWarnings) and not is_about_one:
        with lacks.collected():

            async def work_and_compare(host: Host, deadline: Deadline) -> T:
                result = await work(host, deadline)
                lacks.drop_named(host.status())
                return result

            return run_until_interrupted(run_on_host(setup, work_and_compare, start_required=start_required))
    try:
        result = run_until_interrupted(run_on_host(setup, work, named=named, start_required=start_required))
    except ServerError as error:
        if setup.unanswered:
            raise Denied(f"{error} {_describe_unanswered(setup.unanswered[0])}") from None
        raise
    if is_about_one and setup.unanswered:
        raise Denied(_describe_unanswered(setup.unanswered[0]))
    return result


def _describe_unanswered(question: Question) -> str:
    match question:
        case Form(message=message) | Visit(message=message):
            asked = f"asked {message!r}"
        case _:
            asked = "wanted a model to write something"
    return f"{question.server} {asked}, and there is no terminal to answer in. Run the same command in one."


class LackWarnings:
    """Reports what servers have to start without: each thing once, however often a server is started."""

    def __init__(self, options: Globals) -> None:
        self._options = options
        self._reported: set[tuple[str, str]] = set()
        self._later: list[tuple[str, str]] | None = None

    def __call__(self, server: str, what: str) -> None:
        if (server, what) in self._reported:
            return
        self._reported.add((server, what))
        if self._later is not None:
            self._later.append((server, what))
        elif not self._options.quiet:
            # This comes while the ticker may show progress: its line is cleared first.
            if sys.stderr.isatty():
                echo("\r\x1b[K", err=True, end="")
            say(f"{CONFIG_ERROR} {_make_lack_line(server, what)}", err=True)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Report everything at the end, in one line unless -v is given."""
        self._later = []
        try:
            yield
        finally:
            later, self._later = self._later, None
            print_warnings(
                self._options,
                CONFIG_ERROR,
                [_make_lack_line(server, what) for server, what in later],
                lambda count: f"{count_noun(count, 'value')} are missing; -v shows which",
            )

    def drop_named(self, status: Mapping[str, Status]) -> None:
        """Forget what was collected and the error of a server names as well: a person reads that one anyway."""
        errors = {name: status_error(each) or "" for name, each in status.items()}
        self._later = [each for each in self._later or () if not _names_lack(errors.get(each[0], ""), each[1])]


# How a variable is named in what a server has to start without: in a header, and in an address.
_UNSET = r"the variable (\w+), which is not set|^(\w+) in url was left out: it is not set"


def _names_lack(error: str, what: str) -> bool:
    """Whether an error begins with the same variable, as in `github: TOKEN is not set. github requires a login.`"""
    lacking = re.search(_UNSET, what)
    unset, ends, _ = error.partition(" not set. ")
    if lacking is None or not ends:
        return False
    variable = lacking[1] or lacking[2]
    return variable in re.findall(r"\w+", unset)


def _make_lack_line(server: str, what: str) -> str:
    return f"{safe(server)}: {safe(what)}"


def _make_problem_printer(options: Globals) -> Callable[[Problem], None]:
    home = options.workspace().where.home

    def tell(problem: Problem) -> None:
        # Without a path it is not about a file.
        line = problem_line(problem, home) if problem.path else problem_without_place(problem)
        if not options.quiet:
            options.clear_progress()
            say(f"Warning: {line}", err=True)

    return tell


def refuse_second_server(options: Globals, given: Mapping[str, Any], first: str) -> None:
    """Refuse a server that an option names behind the name of one that is configured: a tool may have such a parameter.

    Raises: UsageError, before anything is connected to.
    """
    named = next((option for option in options.late if option in ("--server", "--url")), None)
    if named is None:
        return
    from mooring.inventory.load import load  # few name a server behind a tool

    known = {choice.name.casefold() for choice in load(options.workspace(), remember=False).choices}
    starts = {first.casefold(), *(first[:at].casefold() for at, letter in enumerate(first) if letter == ".")}
    if known.isdisjoint(starts):
        return
    parameter = named.removeprefix("--")
    raise UsageError(
        f"{first} names a server that is configured, and {named} another.",
        f"For the tool's own parameter: {quote_argument(f'{parameter}={given[parameter]}')}. "
        f"For the other server, put {named} before {first}.",
    )


def require_words(setup: Setup, words: Sequence[str], second: str = "", *listings: str) -> tuple[str, ...]:
    """The server, the second word if there has to be one, and the rest; `SERVER.SECOND` is both in one.

    An ad hoc server is put first, as if it had been typed. `listings` are the commands that show what the second word
    can be. Raises: UsageError.
    """
    given = (setup.adhoc_name, *words) if setup.adhoc_name else tuple(words)
    if not given:
        missing = f"SERVER and {second}" if second else "SERVER"
        raise UsageError(f"Missing {missing};", "see: mooring mcp list")
    if second and "." in given[0] and not setup.adhoc_name:
        given = (*_split_first(setup, given[0], is_alone=len(given) == 1), *given[1:])
    if second and len(given) == 1:
        server = quote_argument(given[0])
        if setup.adhoc:
            server = "--url …" if isinstance(setup.adhoc.connection, Http) else "--server …"
        commands = " or ".join(f"mooring {listing} {server}" for listing in listings)
        raise UsageError(f"Missing {second};", f"see: {commands}")
    return given


def _split_first(setup: Setup, first: str, *, is_alone: bool) -> tuple[str, ...]:
    """A server and what is named of it, in one word or two. Raises: ConfigError if it can be read in several ways."""
    from mooring.inventory.load import load  # few names have a dot in them

    known = {choice.name.casefold() for choice in load(setup.workspace, remember=False).choices}
    if first.casefold() in known:
        return (first,)
    places = [at for at, character in enumerate(first) if character == "." and first[at + 1 :]]
    read = [(first[:at], first[at + 1 :]) for at in places if first[:at].casefold() in known]
    if len(read) > 1:
        spelled = " or ".join(" ".join(map(quote_argument, words)) for words in read)
        raise UsageError(f"{first} can be read in several ways.", f"Write {spelled}.")
    if read:
        return read[0]
    server, _, name = first.partition(".")
    # No server is called so; whatever was meant, it was in two parts.
    return (server, name) if is_alone and name else (first,)


def label_server(given: Mapping[str, Any], name: str) -> str:
    """What to call the server while it starts."""
    return str(given["server"] or given["url"] or name)


def _make_adhoc_config(setup: Setup, given: Mapping[str, Any]) -> ServerConfig:
    """The server that the options name. Raises: ConfigError if they name none, or two."""
    if bool(given["server"]) == bool(given["url"]):
        raise ConfigError("Name one server: its command with --server, or its address with --url.")
    env, headers = _parse_variables(setup, given), dict(map(_parse_header, given["header"]))
    if given["server"]:
        return make_program_config(given["server"], env)
    from mooring.servers.connect import is_server_url  # loads what a server needs, which a prompt may be without

    if not is_server_url(given["url"]):
        raise ConfigError(f"{given['url']} is no address; begin it with https://, http:// or unix://.")
    return make_http_config(given["url"], headers, given["transport"])


def _parse_variables(setup: Setup, given: Mapping[str, Any]) -> dict[str, str]:
    return dict(_parse_variable(text, setup.workspace.where.env) for text in given["env"])


def _parse_header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise ConfigError("A header is written as 'NAME: VALUE'.")
    return name.strip(), value.strip()


def _parse_variable(text: str, env: Mapping[str, str]) -> tuple[str, str]:
    """`NAME=VALUE`, or `NAME` alone to pass on a variable of the person's own environment."""
    name, equals, value = text.partition("=")
    if equals:
        return name, value
    if name not in env:
        raise ConfigError(f"The variable {name} is not set, so it cannot be passed on; give it with -e {name}=VALUE.")
    return name, env[name]
