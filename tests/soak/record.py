"""The record of conversations under load: eight people at terminals on one home, who leave or are killed, lose nothing.

`python -m tests.soak.record` runs until 500 chats were killed. Each is the real program: new or continued, with a server
whose calls count and with sub-agents; beside them conversations are listed, removed and cleaned up. Afterwards every
prompt that the model got and every call that the server ran is in the record exactly once.
"""

import argparse
import random
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest has it for the modules of tests

from tests.models import Call, FakeModel, Reply, Say, Stall

from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.agents.history import CallBlock, ModelMessage, PersonMessage
from mooring.agents.sessions.replay import BlockArrived, MessageAdded, ReplyCut, decode_content
from mooring.agents.sessions.store import SessionStore
from mooring.core.protocol.content import Text
from support import Home, run_beside, take_record_openings

PEOPLE = 8
PATIENCE = 120.0
"""Seconds that a step of a chat may take on a machine that is this busy."""
REPORTED = 25
"""After how many kills a line says how far it is: a busy machine takes an hour for all of them."""
MODEL = MODELS["anthropic"]
READY = "\n> "
ALLOWED = ("--allow", "log.*")
# Writes down each call before it answers: what is here has run.
SERVER = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        info = {"name": "log", "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        result = {"tools": [{"name": "write", "inputSchema": schema}]}
    elif method == "tools/call":
        handle = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(handle, (params["arguments"]["text"] + "\\n").encode())
        result = {"content": [{"type": "text", "text": "written"}]}
    else:
        result = {}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.soak.record", description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    options = parser.parse_args(words)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Home(Path(folder)), options.kills)
        soak.run()
        faults = soak.find_faults()
    counted = f"{soak.killed} chats killed, {soak.left} left by /exit, {len(soak.asked)} prompts, {soak.ran} calls"
    sys.stdout.write("\n".join([f"{counted}, {time.monotonic() - began:.0f} s", *faults, ""]))
    return 1 if faults else 0


class Soak:
    """Eight people on one home, and what they did."""

    def __init__(self, home: Home, kills: int) -> None:
        self.home = home
        self.kills = kills
        self.killed = self.left = self.ran = 0
        self.asked: set[str] = set()
        """The prompts that the model got."""
        self.faults: list[str] = []
        self._counting = threading.Lock()
        self._numbers = iter(range(1, sys.maxsize))
        self._calls = home.folder / "calls"
        home.write("server.py", SERVER)
        home.configure(log={"command": sys.executable, "args": [str(home.folder / "server.py"), str(self._calls)]})

    def run(self) -> None:
        """Go on until so many chats were killed."""
        with FakeModel(self._reply) as self._model:
            people = [threading.Thread(target=self._live) for _ in range(PEOPLE)]
            for person in people:
                person.start()
            for person in people:
                person.join()

    def _live(self) -> None:
        try:
            while self.killed < self.kills and not self.faults:
                random.choices((self._chat, self._list, self._remove), (8, 1, 1))[0]()
        except Exception as error:  # noqa: BLE001 - any fault of one person ends the whole
            self.faults.append(f"{type(error).__name__}: {error}")

    # --- what a person does ---------------------------------------------------------------------------------------

    def _chat(self) -> None:
        """Say a few things in a new conversation or in the last one, and leave, unless killed before."""
        words = ("--continue",) if random.random() < 0.5 else ("-m", MODEL)
        with Person(self.home, "chat", *words, *ALLOWED, cells=80, **variables(self._model)) as person:
            killer = threading.Timer(random.uniform(0.0, 4.0), person.is_sent, [signal.SIGKILL])
            kind = random.choices(("while it starts", "while it talks", "never"), (2, 6, 2))[0]
            if kind == "while it starts":
                killer.start()
            self._converse(person, killer if kind == "while it talks" else None)
            code = person.ended()
            killer.cancel()
        # There may be no conversation to continue, or another process has it open.
        assert code in (0, 2, -signal.SIGKILL), person.shown
        with self._counting:
            self.killed += code == -signal.SIGKILL
            self.left += code == 0
            if code == -signal.SIGKILL and self.killed % REPORTED == 0:
                print(f"{self.killed} of {self.kills} killed, {self.left} left", file=sys.stderr, flush=True)  # noqa: T201

    def _converse(self, person: Person, killer: threading.Timer | None) -> None:
        try:
            person.sees(READY, PATIENCE)
            if killer is not None:
                killer.start()
            for _ in range(random.randrange(1, 5)):
                person.types(f"prompt {self._count()} ends")
                person.sees("It is done.", PATIENCE)
                person.sees(READY, PATIENCE)
            person.types("/exit")
        except AssertionError as error:
            if "it ended without" not in str(error):
                raise

    def _list(self) -> None:
        listed = run_beside(self.home, "sessions")
        assert listed.code == 0, listed.err

    def _remove(self) -> None:
        """Have a conversation that is removed again."""
        words = "chat", "-m", MODEL, "-p", "throwaway", "--output-format", "json"
        said = run_beside(self.home, *words, **variables(self._model))
        assert said.code == 0, said.err
        store = SessionStore(self.home.where)
        [id] = [each.id for each in store.list() if f'"session":"{each.id}"' in said.out.replace(" ", "")]
        removed = run_beside(self.home, "sessions", "rm", id)
        assert removed.code == 0, removed.err

    def _count(self) -> int:
        with self._counting:
            return next(self._numbers)

    # --- the model ------------------------------------------------------------------------------------------------

    def _reply(self, request: Any) -> Reply:
        """Make one call for each prompt, sometimes by a sub-agent."""
        last = request.messages[-1]
        if "prompt " not in last.text:
            return [Say("It "), Stall(random.random() / 5), Say("is done.")]
        number = last.text.rpartition("prompt ")[2].partition(" ")[0]
        with self._counting:
            self.asked.add(number)
        if number.endswith("0"):
            task = {"description": "write", "prompt": f"prompt {number}s ends", "subagent_type": "general-purpose"}
            return [Say("I hand it on."), Call("Agent", task)]
        return [Say("I write."), Stall(random.random() / 5), Call("mcp__log__write", {"text": f"call {number}"})]

    # --- what is in the record ------------------------------------------------------------------------------------

    def find_faults(self) -> list[str]:
        """What is wrong with the record."""
        ran = self._calls.read_text().splitlines() if self._calls.exists() else []
        self.ran = len(ran)
        prompts, calls = self._read_record()
        return [
            *self.faults,
            *(f"prompt {number} is {prompts[number]} times in the record" for number in self.asked if prompts[number] != 1),
            *(f"{call} is {calls[call]} times in the record" for call in set(ran) if calls[call] != 1),
            *(f"{call} ran {times} times" for call, times in Counter(ran).items() if times != 1),
            *self._check_health(),
            *take_record_openings(),
        ]  # fmt: skip

    def _check_health(self) -> Iterator[str]:
        with sqlite3.connect(SessionStore(self.home.where).path) as connection:
            health = connection.execute("PRAGMA integrity_check").fetchall()
        connection.close()
        if health != [("ok",)]:
            yield f"integrity_check: {health}"

    def _read_record(self) -> tuple[Counter[str], Counter[str]]:
        """How many times each prompt and each call is in the record."""
        prompts, calls = Counter[str](), Counter[str]()
        with sqlite3.connect(SessionStore(self.home.where).path) as connection:
            rows = connection.execute("SELECT data FROM entries").fetchall()
        connection.close()
        for (data,) in rows:
            match decode_content(data):
                case MessageAdded(PersonMessage(parts=parts)):
                    texts = [part.text for part in parts if isinstance(part, Text) and part.text.startswith("prompt ")]
                    prompts.update(text.split()[1] for text in texts)
                case MessageAdded(ModelMessage(blocks=blocks)) | ReplyCut(ModelMessage(blocks=blocks)):
                    calls.update(_list_calls(blocks))
                case BlockArrived(block):
                    calls.update(_list_calls([block]))
                case _:
                    pass
        return prompts, calls


def _list_calls(blocks: Sequence[Any]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, CallBlock) and block.name == "mcp__log__write":
            yield block.arguments.partition('"text":')[2].strip(' "}')


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
