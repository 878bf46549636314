"""Questions put to the person at the terminal, and what they answer."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mooring.chat.plain.filling import FormDialog
from mooring.chat.plain.terminal import Ended, Interrupted, Terminal
from mooring.core.question import (
    Allow,
    Answer,
    AnswerScope,
    Form,
    MissingValue,
    No,
    Permission,
    Question,
    Sampling,
    Visit,
    Yes,
)
from mooring.display.lines import describe_question as shown
from mooring.display.text import safe, safe_text

_SCOPES: Mapping[AnswerScope, str] = {"once": "[o]nce", "session": "[s]ession", "always": "[a]lways"}


class Questions:
    """Asks one question at a time. Ctrl+C waves any of them away."""

    def __init__(self, terminal: Terminal, *, project: bool = True) -> None:
        self._terminal = terminal
        self._project = project

    async def __call__(self, asked: Question) -> Answer:
        if self._terminal.is_reading:
            self._terminal.say(self._terminal.style(f"{_who(asked)} asks something: press Enter to see it.", "yellow"))
        async with self._terminal.floor:
            self._terminal.say()
            try:
                return await self._answer(asked)
            except (Interrupted, Ended):
                return No(how="cancel")

    async def _answer(self, asked: Question) -> Answer:
        if not isinstance(asked, Sampling):
            first, *rest = shown(asked)
            self._say(self._terminal.style(first, "bold"), *rest)
        match asked:
            case Permission():
                return await self._permission(asked)
            case Form():
                return await self._form(asked)
            case Visit():
                return await self._visit()
            case Sampling():
                return await self._sampling(asked)
            case MissingValue():
                return await self._value(asked)

    # --- may it be called? ----------------------------------------------------------------------------------------

    async def _permission(self, asked: Permission) -> Answer:
        scopes = " ".join(_SCOPES[scope] for scope in asked.scopes)
        while True:
            typed = (await self._terminal.line(f"Call it? {scopes} [n]o, or no, because …: ")).strip()
            match typed, typed.casefold():
                case "N", _:
                    return No((await self._terminal.line("Because: ")).strip())
                case _, "n" | "no":
                    return No()
                case _, _ if (because := re.match(r"no?\b[\s,.:;-]+(?:because\s+)?(\S.*)", typed, re.I)) is not None:
                    return No(because[1])
                case _, "o" | "once" | "y" | "yes":
                    return Allow("once")
                case _, "s" | "session" if "session" in asked.scopes:
                    return Allow("session")
                case _, "a" | "always" if "always" in asked.scopes:
                    return await self._always()
            self._say("One of these letters, please.")

    async def _always(self) -> Answer:
        if not self._project:
            return Allow("always")
        while True:
            typed = (await self._terminal.line("Always: [e]verywhere or in this [p]roject? ")).strip().casefold()
            if typed in ("e", "everywhere", "u", "user"):
                return Allow("always", "user")
            if typed in ("p", "project"):
                return Allow("always", "project-local")

    # --- what servers ask -----------------------------------------------------------------------------------------

    async def _form(self, asked: Form) -> Answer:
        if not await self._agreed("Enter to answer, n to decline: "):
            return No()
        return Yes(await FormDialog(self._terminal, asked.server, "the form", asked.schema).done())

    async def _visit(self) -> Answer:
        self._say("It is not opened for you: copy it, if you trust who asks.")
        return Yes() if await self._agreed("Enter when you have, n to decline: ") else No()

    async def _sampling(self, asked: Sampling) -> Answer:
        self._say(f"{safe(asked.server)} wants a model to write something. You are the model here:")
        self._say(*_messages(asked.request))
        self._say("Your answer; a \\ at the end of a line goes on with the next, Enter alone refuses.")
        lines = [await self._terminal.line("  ")]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1].removesuffix("\\")
            lines.append(await self._terminal.line("  "))
        text = "\n".join(lines).strip()
        content = {"type": "text", "text": text}
        written = {"role": "assistant", "content": content, "model": "person", "stopReason": "endTurn"}
        return Yes(written) if text else No("The person wrote nothing.")

    async def _value(self, asked: MissingValue) -> Answer:
        default = "" if asked.default is None else " (Enter for the default)" if asked.secret else f" [{asked.default}]"
        text = (await self._terminal.line(f"{safe(asked.id)}{safe(default)}: ", secret=asked.secret)).strip()
        if not text:
            return No() if asked.default is None else Yes(asked.default)
        if text.isdecimal() and 0 < int(text) <= len(asked.options) and text not in asked.options:
            return Yes(asked.options[int(text) - 1])
        return Yes(text)

    async def _agreed(self, prompt: str) -> bool:
        return (await self._terminal.line(prompt)).strip().casefold() not in ("n", "no")

    def _say(self, *lines: str) -> None:
        for line in lines:
            self._terminal.say(line)


def _who(asked: Question) -> str:
    return safe(asked.server or "Mooring")


def _messages(request: Mapping[str, Any]) -> list[str]:
    """What a model would be told, a line for each piece."""
    system = request.get("systemPrompt")
    messages = request.get("messages")
    told = [f"  system: {safe_text(str(system))}"] if system else []
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, Mapping):
            told += [f"  {safe(str(message.get('role', '')))}: {text}" for text in _texts(message.get("content"))]
    return told


def _texts(content: Any) -> Sequence[str]:
    blocks = content if isinstance(content, list) else [content]
    found = [block for block in blocks if isinstance(block, Mapping)]
    return [safe_text(str(block.get("text", f"[{block.get('type')}]"))) for block in found]
