"""A program that puts one question of every kind to the person at its terminal, in either face of the chat.

Its words are the face and a file, into which it writes the answers.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mooring.chat.plain.dialog import DialogTerminal
from mooring.chat.plain.questions import Questions
from mooring.core.conversation.question import (
    Answer,
    ApplyRules,
    Approval,
    CarryOutPlan,
    ChangedIssuer,
    ChangedTool,
    ChangedTools,
    ChangeFile,
    ChooseAnswerer,
    ContinueTurn,
    Form,
    KeepAnswerer,
    KeepServer,
    Login,
    MissingValue,
    Permission,
    Question,
    RemoveServer,
    RepeatedCall,
    RestoredFile,
    Sampling,
    ServerDetail,
    UndoTurn,
    Visit,
    WriteServer,
)

_FORM: Mapping[str, Any] = {"type": "object", "properties": {"color": {"type": "string"}}}
_REQUEST: Mapping[str, Any] = {"messages": [{"role": "user", "content": {"type": "text", "text": "Write."}}]}
ASKED: tuple[Question, ...] = (
    Sampling("guest", _REQUEST),
    Form("guest", "Which color?", _FORM),
    Visit("guest", "Please look.", "https://example.com/page", "v1"),
    MissingValue("guest", "token"),
    Permission("guest", "add", {"a": 2}, "no rule matches it", ""),
    RepeatedCall("guest", "add", {"a": 2}, 5),
    ContinueTurn(100, 100),
    CarryOutPlan("# A plan\n\n1. Do it"),
    Approval("guest", (("command", "serve"),), "digest"),
    ApplyRules("guest", ("allow guest.*",)),
    ChangedTools("guest", (ChangedTool("add", "changed", "-old\n+new"),)),
    KeepServer("guest", "/home/mcp.json", False),
    ServerDetail("guest", "Command"),
    WriteServer("guest", "/home/mcp.json", "{}"),
    RemoveServer("guest", "/home/mcp.json"),
    ChangeFile("/home/mcp.json", ("guest",), "-old\n+new"),
    UndoTurn("Do it", (RestoredFile("/home/file", "-old\n+new"),)),
    Login("guest", "https://issuer.example", "https://issuer.example/login", browser=False),
    ChangedIssuer("guest", "https://new.example", "https://old.example"),
    ChooseAnswerer((("claude", "is installed here"), ("ollama:qwen3", "runs here"))),
    KeepAnswerer("claude", "/home/settings.json"),
)


async def ask_all(terminal: DialogTerminal, answers: list[Answer]) -> None:
    questions = Questions(terminal)
    for number, question in enumerate(ASKED):
        terminal.say(f"question {number}")
        answers.append(await questions(question))


def main(face: str, path: str) -> None:
    answers: list[Answer] = []
    if face == "plain":
        from mooring.chat.plain.terminal import Terminal

        terminal = Terminal()
        terminal.run(ask_all(terminal, answers))
    else:
        from mooring.chat.screen.app import ChatScreen
        from mooring.chat.screen.opening import run_screen

        async def converse(screen: ChatScreen) -> None:
            await ask_all(screen.terminal, answers)

        run_screen(converse, f"{path}.log")
    Path(path).write_bytes(msgspec.json.encode(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
