"""The verbs behind `/mcp`: the table of them, and how they are spelled."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TypeAlias

from msgspec import Struct

from mooring.chat.command import CommandFace

VerbFunction: TypeAlias = Callable[[CommandFace, str], Awaitable[None]]


class Verb(Struct, frozen=True):
    """One verb: where its function is, and how `/mcp help` shows it."""

    place: str
    """The module in this folder and the function; it is loaded when the verb is typed, since few chats need many."""
    usage: str
    help: str
    needs_words: bool = True
    completes_server: bool = True

    def load(self) -> VerbFunction:
        module, _, function = self.place.partition(":")
        loaded: VerbFunction = getattr(import_module(f"mooring.chat.mcp.{module}"), function)
        return loaded


VERBS: Mapping[str, Verb] = {
    "list": Verb("show:list_all", "/mcp", "every server and its status", False, False),
    "get": Verb("show:get", "/mcp get NAME", "its definition, secrets masked"),
    "why": Verb("show:why", "/mcp why NAME", "why this definition of it wins"),
    "add": Verb("add:add", "/mcp add [NAME URL | NAME COMMAND…]", "add, connect, keep it or undo", False, False),
    "remove": Verb("remove:remove", "/mcp remove NAME [--from TOOL] [-s SCOPE]", "take it out of its file"),
    "enable": Verb("switch:enable", "/mcp enable NAME [--save]", "on for this session, or for good"),
    "disable": Verb("switch:disable", "/mcp disable NAME [--save]", "off for this session, or for good"),
    "test": Verb("test:test", "/mcp test NAME", "connect step by step"),
    "reload": Verb(
        "reload:reload", "/mcp reload [NAME]", "restart it, or read all files and list all tools again", False
    ),
    "import": Verb(
        "copying:import_servers", "/mcp import [NAME…] [--from TOOL|FILE]", "copy servers of other tools", False
    ),
    "login": Verb("login:login", "/mcp login NAME [--scope SCOPE]", "log in, in your browser"),
    "logout": Verb("login:logout", "/mcp logout NAME", "revoke the login and remove it"),
    "approve": Verb("approval:approve", "/mcp approve [NAME]", "decide what the project may start", False),
    "reject": Verb("approval:reject", "/mcp reject NAME", "refuse a server of the project"),
    "pins": Verb("approval:pins", "/mcp pins [NAME]", "decide about tools that changed", False),
    "doctor": Verb("doctor:doctor", "/mcp doctor [NAME]", "what to fix, and how", False),
    "help": Verb("run:show_help", "/mcp help", "this list", False, False),
}
ALIASES = {"ls": "list", "rm": "remove", "reconnect": "reload", "reauth": "login", "auth": "login", "unauth": "logout"}


def spell_for_chat(text: str) -> str:
    """The same text, with each command of `mooring mcp` that is a verb here as it is typed here."""
    # Not behind `env -u HTTPS_PROXY`: the chat keeps the environment that it was started with.
    behind = r"(?<!_PROXY )(?<!_proxy )"
    return re.sub(rf"{behind}\bmooring mcp (?=(?:{'|'.join(VERBS)})(?![\w-]))", "/mcp ", text)


def list_completions(servers: Iterable[str]) -> Iterator[str]:
    """Every verb, alone and with each server that it may be about."""
    names = list(servers)
    for word, verb in VERBS.items():
        yield f"/mcp {word}"
        if verb.completes_server:
            yield from (f"/mcp {word} {name}" for name in names)
