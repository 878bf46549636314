"""A typed call is itself the permission, except where the machine's settings ask: then the person at the terminal is."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chat.terminal import Person
from mooring.core.conversation.question import Allow, Ask, No, Question
from mooring.core.conversation.verdict import CommandPermissions
from mooring.core.protocol.result import Progress, Result
from mooring.errors import Denied
from mooring.host.host import Host
from mooring.permissions.audit import read_log
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.verbs.use.call import call
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import Setup, run_on_host
from support import DEMO, Home

MOORING = str(Path(sys.executable).with_name("mooring"))
ASK = {"permissions": [{"tool": "mcp__demo__echo", "action": "ask"}]}
PLAIN = CommandPermissions()
QUESTION = '[a]lways · [n]o (or "no, because …"): '
MANAGED, OWN = "system/etc/mooring/settings.json", "home/.config/mooring/settings.json"


class Silent:
    def on_guess(self, entry: CatalogEntry) -> None: ...
    def on_connected(self) -> None: ...
    def on_progress(self, step: Progress) -> None: ...


async def type_call(home: Home, ask: Ask | None = None, permissions: CommandPermissions = PLAIN) -> Result:
    """What `mooring call demo.echo text=x` does."""

    async def work(host: Host, deadline: Deadline) -> Result:
        return await call(host, "demo.echo", lambda *_: {"text": "x"}, Silent(), deadline)

    home.configure(demo=DEMO)
    setup = Setup(workspace=home.request(), ask=ask, permissions=permissions)
    return await run_on_host(setup, work, named="demo.echo")


@pytest.mark.parametrize("mode", [None, "bypass"])
async def test_what_the_machine_asks_about_is_refused_where_nobody_can_be_asked(home: Home, mode: str | None) -> None:
    home.write(MANAGED, ASK)
    with pytest.raises(Denied, match="the machine's settings say: ask mcp__demo__echo, and there is nobody to ask"):
        await type_call(home, permissions=CommandPermissions(mode=mode))  # type: ignore[arg-type]


async def test_what_the_machine_asks_about_is_asked_at_the_terminal(home: Home) -> None:
    home.write(MANAGED, ASK)
    asked: list[Question] = []

    async def say_yes(question: Question) -> Allow:
        asked.append(question)
        return Allow("always")

    async def say_no(_: Question) -> No:
        return No()

    assert not (await type_call(home, say_yes)).is_error
    assert not (await type_call(home, say_yes)).is_error
    assert len(asked) == 2  # no answer of the person silences it
    with pytest.raises(Denied):
        await type_call(home, say_no)


async def test_what_the_person_asks_themselves_about_goes_through_when_they_type_it(home: Home) -> None:
    home.write(OWN, ASK)
    assert not (await type_call(home)).is_error


class Session:
    """The command in a terminal of its own."""

    def __init__(self, home: Home, *words: str) -> None:
        self.screen = ""
        self._master, slave = pty.openpty()
        self._program = subprocess.Popen(
            [MOORING, *words], cwd=home.cwd, env={**home.env, "TERM": "xterm"}, stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True,
        )  # fmt: skip
        os.close(slave)

    def wait_for(self, text: str, seconds: float = 100) -> None:
        until = time.monotonic() + seconds
        while text not in self.screen and time.monotonic() < until:
            self._read(0.1)
        assert text in self.screen

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        while self._read(30):
            pass
        os.close(self._master)
        return self._program.wait(100)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux says so when the other side is gone
            return False
        self.screen += data.decode(errors="replace")
        return bool(data)


@pytest.mark.parametrize(
    ("answer", "called"), [("y", True), ("Yes", True), ("n", False), ("no, because I say so", False), ("\x04", False)]
)
def test_the_person_at_the_terminal_is_asked_until_the_answer_is_one(home: Home, answer: str, called: bool) -> None:
    with Person(home, "--demo", "call", "--permission-mode", "ask", "demo.echo", "text=heard") as person:
        person.answers((QUESTION, ""), (QUESTION, "s"), (QUESTION, answer))
        assert (person.ended() == 0) == called
        assert ("Not called" in person.shown) != called
    assert [entry.outcome for entry in read_log(home.where)] == ["ok" if called else "denied"]


def test_what_was_typed_before_the_question_is_no_answer(home: Home) -> None:
    session = Session(home, "--demo", "call", "--permission-mode", "ask", "demo.echo", "text=heard")
    session.type("y\ny\n")
    session.wait_for(QUESTION)
    session.type("n\n")
    assert session.end() != 0
    assert "Not called." in session.screen


def test_ctrl_c_ends_the_wait_for_an_answer(home: Home) -> None:
    session = Session(home, "--demo", "call", "--permission-mode", "ask", "demo.echo", "text=heard")
    session.wait_for(QUESTION)
    session._program.send_signal(2)
    assert session.end() != 0
