"""`/mcp login` and `/mcp logout`: a server that wants to know who the person is."""

import os
from collections.abc import Sequence

from mooring.auth.browser import has_browser
from mooring.chat.command import CommandFace, find_server
from mooring.chat.mcp.connecting import explain_failure
from mooring.display.text import safe
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.login import (
    LoginUnused,
    describe_login,
    describe_logout,
    explain_logout,
)
from mooring.verbs.use.login import login as log_in
from mooring.verbs.use.login import logout as log_out


async def login(chat: CommandFace, name: str, scopes: Sequence[str]) -> None:
    """Log in, then connect. Ctrl+C cancels, and keeps the login that there was. Raises: MooringError."""
    server = find_server(chat, name)
    host = chat.session.host
    chat.show_progress(f"asking {safe(server)} where to log in …")
    words = " ".join(scopes).split()
    outcome = await log_in(host, Deadline(None), server, scopes=words, browser=has_browser(os.environ))
    report = outcome.report if isinstance(outcome, LoginUnused) else outcome
    chat.say(describe_login(report), *(safe(note) for note in report.notes))
    if isinstance(outcome, LoginUnused):
        explain_failure(chat, server, outcome.error)


async def logout(chat: CommandFace, name: str) -> None:
    """Revoke and remove a login. Raises: MooringError."""
    report = await log_out(chat.session.host, find_server(chat, name))
    chat.say(describe_logout(report))
    if report.problem:
        chat.warn(explain_logout(report))
