"""Attacks on the rules that a person applied to a project's server: another definition, project, name or rule uses them."""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.attacks.policy import Servant
from tests.attacks.table import Attack, Tally, Victim

RULE = {"tool": "github.*", "action": "allow"}


def _allow(victim: Victim, *rules: dict[str, str]) -> None:
    victim.write(victim.home / ".config/mooring/settings.json", {"permissions": list(rules)})


def _define(victim: Victim, project: Path | None = None, **servers: Any) -> None:
    victim.write((project or victim.project) / ".mcp.json", {"mcpServers": servers})


def _find_digest(victim: Victim, name: str, *words: str) -> str:
    printed = victim.run(*words, "mcp", "approve", name, "--json")
    [question] = json.loads(printed.stdout)["waiting"]
    digest: str = question["digest"]
    return digest


def _approve(victim: Victim, *words: str, name: str = "github", at: tuple[str, ...] = ()) -> None:
    """The person has seen the question, and answers it."""
    decided = victim.run(*at, "mcp", "approve", name, "--digest", _find_digest(victim, name, *at), *words)
    if decided.returncode != 0:
        raise AssertionError(f"the person could not approve: {decided.stderr[:200]}")


def _runs_unasked(victim: Victim, servant: Servant, *at: str, tool: str = "github.count") -> bool:
    """Whether a call is made that nobody can be asked about."""
    victim.run(*at, "call", "--permission-mode", "ask", tool)
    return servant.was_hit()


def _prepare(folder: Path) -> tuple[Victim, Servant]:
    """A person who applied their rule to a project's server; it has to hold, or the attacks would show nothing."""
    victim, servant = Victim(folder), Servant(folder / "servant.json")
    _allow(victim, RULE)
    _define(victim, github=servant.entry)
    _approve(victim, "--apply-rules")
    _check_control(victim, servant)
    return victim, servant


def _check_control(victim: Victim, servant: Servant) -> None:
    if not _runs_unasked(victim, servant):
        raise AssertionError("the rule that the person applied does not hold")


def change_the_definition(folder: Path, tally: Tally) -> None:
    """The project changes its definition after the yes; even the person's approval of that brings no rule along."""
    victim, servant = _prepare(folder)
    entry = servant.entry
    changes: dict[str, Any] = {
        "one more argument": {**entry, "args": [*entry["args"], "more"]},
        "a variable": {**entry, "env": {"A": "a"}},
        "another folder": {**entry, "cwd": ".git"},
        "another spelling of the program": {**entry, "command": entry["command"].replace("/bin/", "/bin/./")},
        "an env file": {**entry, "envFile": ".env"},
    }
    for what, change in changes.items():
        _define(victim, github=change)
        tally.count(f"{what}, not approved", _runs_unasked(victim, servant))
        _approve(victim)
        tally.count(f"{what}, approved", _runs_unasked(victim, servant))
    victim.write(victim.project / ".omp/mcp.json", {"mcpServers": {"github": entry}})
    (victim.project / ".mcp.json").unlink()
    _approve(victim)
    tally.count("the same text in another tool's file", _runs_unasked(victim, servant))
    (victim.project / ".omp/mcp.json").unlink()
    _define(victim, github=entry)
    _check_control(victim, servant)


def use_it_elsewhere(folder: Path, tally: Tally) -> None:
    """The same name and the same definition, in another project or beside another name of the program."""
    victim, servant = _prepare(folder)
    copy, inner, above = folder / "copy", victim.project / "vendor/inner", folder
    shutil.copytree(victim.project, copy)
    for project in (copy, inner, above):
        (project / ".git").mkdir(parents=True, exist_ok=True)
        _define(victim, project, github=servant.entry)
        at = ("--cwd", str(project))
        tally.count(f"{project.name}, not approved", _runs_unasked(victim, servant, *at))
        _approve(victim, at=at)
        tally.count(f"{project.name}, approved", _runs_unasked(victim, servant, *at))
    _check_control(victim, servant)
    _define(victim, github=servant.entry, other=servant.entry, **{"github.x": servant.entry})
    for name in ("other", "github.x"):
        _approve(victim, name=name)
        tally.count(f"another name of the program, {name}", _runs_unasked(victim, servant, tool=f"{name}/count"))
    _check_control(victim, servant)


def bring_the_rule_along(folder: Path, tally: Tally) -> None:
    """The project's own files have the rule, or a record that says it was applied."""
    victim, servant = Victim(folder), Servant(folder / "servant.json")
    _define(victim, github=servant.entry)
    record = folder / "record.json"
    _allow(victim, RULE)
    _approve(victim, "--apply-rules")
    _check_control(victim, servant)
    shutil.copy(victim.home / ".local/state/mooring/approvals.json", record)
    victim.run("mcp", "reset", "github")
    for what, path, content in (
        ("Mooring's settings", ".mooring/settings.json", {"permissions": [RULE], "trustedServers": ["github"]}),
        ("Claude's settings", ".claude/settings.json", {"permissions": {"allow": ["mcp__github", "mcp__github__*"]}}),
        ("a record", ".mooring/approvals.json", record.read_text()),
        ("a state folder", ".local/state/mooring/approvals.json", record.read_text()),
    ):
        for rules in ([], [RULE]):
            _allow(victim, *rules)
            written = victim.write(victim.project / path, content)
            # Without a rule of the person's own, there is nothing to apply; with one, they don't.
            _approve(victim, *([] if rules else ["--apply-rules"]))
            tally.count(f"{what}, with {len(rules)} rules of the person", _runs_unasked(victim, servant))
            written.unlink()
            victim.run("mcp", "reset", "github")
    _allow(victim, RULE)
    _approve(victim, "--apply-rules")
    _check_control(victim, servant)


def use_a_rule_that_was_not_named(folder: Path, tally: Tally) -> None:
    """A rule that the person adds or changes for their own servers, after they approved the project's."""
    victim, servant = _prepare(folder)
    _allow(victim, {"tool": "github.nap", "action": "allow"})
    _approve(victim, "--apply-rules")
    named = {"tool": "github.nap", "action": "allow"}
    for rule in ("github.*", "github.count", "mcp__github", "mcp__github__*", "github/count", "git*.*", "*", "mcp__*"):
        _allow(victim, named, {"tool": rule, "action": "allow"})
        tally.count(f"{rule} was added", _runs_unasked(victim, servant))
    _allow(victim, {"tool": "github.count", "action": "allow", "pattern": "n=1"})
    _approve(victim, "--apply-rules")
    for pattern in ("", "*", "n=*"):
        _allow(victim, {"tool": "github.count", "action": "allow", "pattern": pattern})
        victim.run("call", "--permission-mode", "ask", "github.count", "n=2")
        tally.count(f"its pattern became {pattern!r}", servant.was_hit())
    _allow(victim, RULE)
    _approve(victim, "--apply-rules")
    _check_control(victim, servant)


def answer_with_a_wrong_digest(folder: Path, tally: Tally) -> None:
    """`--apply-rules` with a digest that was printed for something else."""
    victim, servant = Victim(folder), Servant(folder / "servant.json")
    _allow(victim, {"tool": "github.count", "action": "allow", "pattern": "n=1"})
    _define(victim, github=servant.entry, other=servant.entry)
    narrow = _find_digest(victim, "github")
    _allow(victim, RULE)
    _define(victim, github={**servant.entry, "env": {"A": "a"}}, other=servant.entry)
    harmless = _find_digest(victim, "github")
    _define(victim, github=servant.entry, other=servant.entry)
    right = _find_digest(victim, "github")
    for what, digest in {
        "of a narrower rule": narrow,
        "of another definition": harmless,
        "of another server": _find_digest(victim, "other"),
        "the first half": right[:32],
        "nothing": "",
    }.items():
        done = victim.run("mcp", "approve", "github", "--digest", digest, "--apply-rules")
        tally.count(what, done.returncode == 0 or _runs_unasked(victim, servant))
    _approve(victim)
    tally.count("what was refused applies after a later yes", _runs_unasked(victim, servant))
    _approve(victim, "--apply-rules")
    _check_control(victim, servant)


ATTACKS = (
    Attack("A24", "change the definition that a rule was applied to", change_the_definition),
    Attack("A24", "use an applied rule in another project, or by another name", use_it_elsewhere),
    Attack("A24", "bring the rule, or the record of a yes, along", bring_the_rule_along),
    Attack("A24", "use a rule that was not named at the approval", use_a_rule_that_was_not_named),
    Attack("A24", "apply rules with a digest of something else", answer_with_a_wrong_digest),
)
