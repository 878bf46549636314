"""The jobs: what a person wants to know of each, and what they type in each program."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from bench.jobs.world import REPLY, Done, World

PROGRAMS = ("mooring", "mcporter", "fastmcp", "claude", "codex")
RESOURCE = "demo://resource/static/document/features.md"


class Fact(NamedTuple):
    """Something that a good answer has, in the words of the page."""

    text: str
    is_shown: Callable[[World, Done], bool]


class Job(NamedTuple):
    """One thing people do; a program without a command cannot do it."""

    key: str
    title: str
    about: str
    """What the home looks like, where that matters."""
    facts: tuple[Fact, ...]
    commands: Mapping[str, tuple[str, ...]]
    lay_out: Callable[[World, str], None]
    anew: bool = False
    """Whether the home is made anew before each run, because the job changes it."""


def shows(text: str, pattern: str | None = None) -> Fact:
    """The answer has this, on either stream."""
    wanted = re.compile(pattern or re.escape(text), re.I | re.S)
    return Fact(text, lambda world, done: wanted.search(done.out + done.err) is not None)


def prints(text: str, pattern: str) -> Fact:
    """This and nothing else is on stdout, where a script reads it."""
    wanted = re.compile(pattern, re.S)
    return Fact(text, lambda world, done: wanted.fullmatch(done.out.strip()) is not None)


def _beside(name: str, words: str) -> str:
    """Matches the name and one of the words in the same line."""
    return rf"{name}[^\n]*({words})|({words})[^\n]*{name}"


NUMBER = r"\W+(type\W+)?(number|float)"
FAILS = Fact("exits with an error", lambda world, done: done.code not in (0, None))
NO_TRACE = Fact("no stack trace", lambda world, done: "Traceback" not in done.out + done.err)
STARTS_NOTHING = Fact("starts nothing", lambda world, done: not world.started())
SENDS_NOTHING = Fact("does not send the text ${HARBOR_TOKEN}", lambda world, done: not world.sent("${"))

WHOLE = Fact("takes the block as the README has it", lambda world, done: world.is_pasted)
REMEMBERS = Fact(
    "the model is sent what was said before", lambda world, done: world.asked_last("the Ahoy.", "What is it called?")
)
SAID, ASKED = "My ship is the Ahoy.", "What is it called?"

EVERYTHING = {"everything": {"command": "server-everything"}}
TOOLS = {
    "aft": "Claude Code",
    "bow": "Cursor",
    "cleat": "Codex",
    "davit": "Gemini CLI",
    "ensign": "VS Code",
    "fender": "Windsurf",
}


def _own(**servers: object) -> Callable[[World, str], None]:
    return lambda world, program: world.configure(program, {**EVERYTHING, **servers})


JOBS = (
    Job(
        "servers",
        "See which servers are configured, in all coding tools",
        "Six tools have one server each: " + ", ".join(TOOLS.values()) + ".",
        tuple(shows(f"{name}, of {tool}", rf"\b{name}\b") for name, tool in TOOLS.items()),
        {
            "mooring": ("mooring mcp list",),
            "mcporter": ("mcporter list",),
            "fastmcp": ("fastmcp discover",),
            "claude": ("claude mcp list",),
            "codex": ("codex mcp list",),
        },
        lambda world, program: world.configure_tools(list(TOOLS)),
    ),
    Job(
        "parameters",
        "Look up what a tool takes",
        "",
        (
            shows("both parameters with their type", rf"\ba\b{NUMBER}.*\bb\b{NUMBER}"),
            shows("what each means", r"First number.*Second number"),
            shows("a call to paste", r"call everything[. ]get-sum\W+a\b"),
            Fact("nothing about other tools", lambda world, done: "tiny" not in done.out),
        ),
        {
            "mooring": ("mooring tools everything.get-sum",),
            "mcporter": ("mcporter list everything.get-sum",),
            "fastmcp": ("fastmcp list everything --input-schema",),
        },
        _own(),
    ),
    Job(
        "call",
        "Call a tool",
        "",
        (prints("the result alone on stdout", r"The sum of 2 and 40 is 42\."),),
        {
            "mooring": ("mooring call everything.get-sum a=2 b=40",),
            "mcporter": ("mcporter call everything.get-sum a=2 b=40",),
            "fastmcp": ("fastmcp call everything get-sum a=2 b=40",),
        },
        _own(),
    ),
    Job(
        "misspelled",
        "Call a tool with a misspelled argument",
        "",
        (
            shows("the name that is wrong: mesage", r"mesage"),
            shows("the name that is right: message", r"\bmessage\b"),
            FAILS,
            NO_TRACE,
        ),
        {
            "mooring": ("mooring call everything.echo mesage=hi",),
            "mcporter": ("mcporter call everything.echo mesage=hi",),
            "fastmcp": ("fastmcp call everything echo mesage=hi",),
        },
        _own(),
    ),
    Job(
        "missing",
        "A server whose command is not installed",
        "",
        (
            shows(
                "harbor-mcp is not found",
                _beside("harbor-mcp", "not found|no such file|ENOENT|in no folder|not on PATH"),
            ),
            shows("where it was looked for", r"PATH"),
            shows("what to do", r"install|full path"),
            FAILS,
            NO_TRACE,
        ),
        {
            "mooring": ("mooring mcp test missing",),
            "mcporter": ("mcporter list missing --exit-code",),
            "fastmcp": ("fastmcp list missing",),
            "claude": ("claude mcp get missing",),
            "codex": ("codex mcp get missing",),
        },
        _own(missing={"command": "harbor-mcp"}),
    ),
    Job(
        "unset",
        "A server whose token is in a variable that is not set",
        "Its header is `Bearer ${HARBOR_TOKEN}`; for Codex, `bearer_token_env_var` names the variable.",
        (
            shows("HARBOR_TOKEN is not set", _beside("HARBOR_TOKEN", "not set|unset|must be set|is missing")),
            SENDS_NOTHING,
            FAILS,
            NO_TRACE,
        ),
        {
            "mooring": ("mooring mcp test harbor",),
            "mcporter": ("mcporter list harbor --exit-code",),
            "fastmcp": ("fastmcp list harbor",),
            "claude": ("claude mcp get harbor",),
            "codex": ("codex mcp get harbor",),
        },
        lambda world, program: world.configure_with_token(program, "harbor", "HARBOR_TOKEN"),
    ),
    Job(
        "repository",
        "Use a server that a repository brings along",
        "It is in the repository's `.mcp.json`, `.cursor/mcp.json` and `.codex/config.toml`; nobody has approved it.",
        (
            STARTS_NOTHING,
            shows("that it waits for approval", r"approv"),
            shows("the command that decides", r"run `claude`|mooring mcp approve"),
        ),
        {
            "mooring": ("mooring tools repo",),
            "mcporter": ("mcporter list repo",),
            "fastmcp": ("fastmcp list repo",),
            "claude": ("claude mcp get repo",),
            "codex": ("codex mcp get repo",),
        },
        lambda world, program: world.configure_repository("repo"),
    ),
    Job(
        "resource",
        "Find a resource and read it",
        "",
        (prints("its text alone on stdout", r"# Everything Server - Features.*"),),
        {
            "mooring": ("mooring resources everything", f"mooring read everything {RESOURCE}"),
            "mcporter": ("mcporter resource everything", f"mcporter resource everything {RESOURCE}"),
            "fastmcp": ("fastmcp list everything --resources", f"fastmcp call everything {RESOURCE}"),
        },
        _own(),
    ),
    Job(
        "dead",
        "Find out why a server does not work",
        "It writes `DATABASE_URL is not set` and exits with 3.",
        (
            shows("its last words", r"DATABASE_URL is not set"),
            shows("its exit code", r"exit code 3|exited with (code )?3|status 3"),
            shows("how far it came", r"handshake|initialize|before it answered"),
            FAILS,
            NO_TRACE,
        ),
        {
            "mooring": ("mooring mcp test chart",),
            "mcporter": ("mcporter list chart --exit-code",),
            "fastmcp": ("fastmcp list chart",),
            "claude": ("claude mcp get chart",),
            "codex": ("codex mcp get chart",),
        },
        _own(chart={"command": "chart-mcp"}),
    ),
    Job(
        "once",
        "Call a tool of a server that is configured nowhere",
        "",
        (prints("the result alone on stdout", r"The sum of 2 and 40 is 42\."),),
        {
            "mooring": ("mooring call --server server-everything get-sum a=2 b=40",),
            "mcporter": ("mcporter call --stdio server-everything get-sum a=2 b=40",),
            "fastmcp": (
                """fastmcp call --command server-everything --target get-sum --input-json '{"a": 2, "b": 40}'""",
            ),
        },
        lambda world, program: None,
    ),
    Job(
        "paste",
        "Add the server that a README shows",
        "The README has a block of JSON with a comment in it; the server has an argument and a variable.",
        (
            shows("the command is configured", r"server-everything"),
            shows("its argument", r"server-everything\W+(args\W+)?stdio|args\W+stdio"),
            shows("its variable", r"LOUDNESS"),
            WHOLE,
        ),
        {
            "mooring": ("sh -c 'mooring mcp import --from - -y <README.md'", "mooring mcp get everything"),
            "mcporter": (
                "mcporter config add everything --command server-everything --arg stdio --env LOUDNESS=11",
                "mcporter config get everything",
            ),
            "claude": (
                "claude mcp add-json everything '"
                '{"command": "server-everything", "args": ["stdio"], "env": {"LOUDNESS": "11"}}'
                "'",
                "claude mcp list",
            ),
            "codex": (
                "codex mcp add everything --env LOUDNESS=11 -- server-everything stdio",
                "codex mcp get everything",
            ),
        },
        lambda world, program: world.put_readme(),
        anew=True,
    ),
    Job(
        "allow",
        "Let agents call a tool without being asked",
        "",
        (
            shows("that calls are allowed", r"allow"),
            shows("the rule", r"everything\.echo"),
            shows("where it is kept", r"settings"),
        ),
        {"mooring": ("mooring allow everything.echo", "mooring rules everything.echo")},
        _own(),
        anew=True,
    ),
    Job(
        "setting",
        "Set a setting",
        "How calls are decided, for every conversation from now on.",
        (shows("the value", r"plan"), shows("the file that has it", r"settings\.json")),
        {"mooring": ("mooring settings permissionMode plan", "mooring settings permissionMode")},
        lambda world, program: None,
        anew=True,
    ),
    Job(
        "resume",
        "Go on with a conversation",
        "A first message was answered; a second one goes on where it ended.",
        (REMEMBERS, prints("the reply alone on stdout", REPLY)),
        {
            "mooring": (
                f"mooring chat -m anthropic:claude-sonnet-5 -p '{SAID}'",
                f"mooring chat --continue -p '{ASKED}'",
            ),
            "claude": (f"claude -p '{SAID}'", f"claude --continue -p '{ASKED}'"),
            "codex": (
                f"codex exec --skip-git-repo-check '{SAID}'",
                f"codex exec resume --last --skip-git-repo-check '{ASKED}'",
            ),
        },
        lambda world, program: world.configure_model(program),
    ),
    Job(
        "switch",
        "Go on with another agent",
        "A conversation with a model of Anthropic goes on with OpenCode.",
        (REMEMBERS, prints("the reply alone on stdout", REPLY)),
        {
            "mooring": (
                f"mooring chat -m anthropic:claude-sonnet-5 -p '{SAID}'",
                f"mooring chat --continue -b opencode -m fake/scripted -p '{ASKED}'",
            ),
        },
        lambda world, program: world.configure_model(program),
    ),
)
