"""`login` and `logout`: a person's login at one server, and whether the server takes it."""

from collections.abc import Sequence

from msgspec import Struct

from mooring.auth.drive import LOGIN_SECONDS
from mooring.display.text import count_noun, safe
from mooring.errors import ServerError
from mooring.host.host import Host
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import connect_server


class LoginReport(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a login came to. Nothing in it is secret."""

    server: str
    issuer: str
    scopes: tuple[str, ...]
    expires_at: float | None
    """When its token ends, in seconds since 1970; `None` if nobody says so."""
    refreshes: bool
    """Whether it is renewed by itself."""
    tools: int | None
    """How many tools the server has; `None` if it could not be connected."""
    notes: tuple[str, ...] = ()


class LogoutReport(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a logout came to."""

    server: str
    issuer: str
    """Whose token it was; empty if there was none."""
    revoked: bool
    problem: str = ""
    """Why the issuer could not take the token back, which is removed here all the same."""


def describe_login(report: LoginReport) -> str:
    """What a login came to, in a sentence."""
    tools = "" if report.tools is None else f" It has {count_noun(report.tools, 'tool')}."
    return f"Logged in to {safe(report.server)} at {safe(report.issuer)}.{tools}"


def describe_logout(report: LogoutReport) -> str:
    """What a logout came to, in a sentence."""
    if not report.issuer:
        return f"There was no login to {safe(report.server)}."
    end = "revoked and removed" if report.revoked else "removed"
    return f"The login to {safe(report.server)} at {safe(report.issuer)} is {end}."


def explain_logout(report: LogoutReport) -> str:
    """What a person has to know about a token that was not revoked; empty if there is nothing to say."""
    if not report.problem:
        return ""
    return f"It was not revoked, so it may still be valid there: {safe(report.problem)}."


async def login(
    host: Host, deadline: Deadline, name: str, *, scopes: Sequence[str] = (), browser: bool = True
) -> tuple[LoginReport, ServerError | None]:
    """Log in at a server, then connect to it with that; why it fails, if it does. Raises: as `Host.login`."""
    seconds = LOGIN_SECONDS if deadline.seconds is None else deadline.seconds_left
    done = await host.login(name, scopes=scopes, browser=browser, timeout=seconds)
    failure: ServerError | None = None
    try:
        await connect_server(host, deadline, name)
    except ServerError as error:
        failure = error
    report = LoginReport(
        server=host.find_name(name),
        issuer=done.issuer,
        scopes=done.scopes,
        expires_at=done.expires_at,
        refreshes=done.refreshes,
        tools=None if failure else len(host.server(name).tools),
        notes=done.notes,
    )
    return report, failure


async def logout(host: Host, name: str) -> LogoutReport:
    """Revoke and remove the login of a server. Raises: as `Host.logout`."""
    done = await host.logout(name)
    return LogoutReport(server=host.find_name(name), issuer=done.issuer, revoked=done.revoked, problem=done.problem)
