"""Which definition counts: the rules of precedence, shadowing, aliases and approval, as a table."""

from collections.abc import Mapping

import pytest
from msgspec import Struct

from mooring.core.definitions.approved import Standing
from mooring.core.definitions.config import Broken, Http, Origin, Scope, ServerConfig, Stdio
from mooring.core.definitions.problem import Problem
from mooring.core.definitions.template import Template, TextPart, VariablePart, literal
from mooring.discovery.choose import Choice, choose, explain
from mooring.discovery.formats import FORMATS
from mooring.discovery.scan import SCOPES, RankedDefinition


class Given(Struct, frozen=True):
    """One definition in a case: where it stands and what is the matter with it."""

    place: str
    standing: Standing = "own"
    off: bool = False
    broken: bool = False
    name: str = "x"
    command: str | None = None


def define(given: Given, order: int = 0) -> RankedDefinition:
    scope: Scope
    tool, _, level = given.place.partition("@")
    scope = level.rstrip("0123456789")  # type: ignore[assignment]
    ranks = {format.tool: index for index, format in reversed(list(enumerate(FORMATS)))} | {".mcp.json": len(FORMATS)}
    origin = Origin(tool, scope, f"/{tool}/{scope}/{order}")
    off = "a list" if given.off else None
    rank = (SCOPES.index(scope), ranks[tool], order)
    if given.broken:
        problem = Problem(origin.path, "is broken")
        return RankedDefinition(Broken(name=given.name, origin=origin, problem=problem, disabled_by=off), rank)
    connection = Stdio(literal(given.command or f"{given.place}-{order}"))
    return RankedDefinition(ServerConfig(name=given.name, origin=origin, connection=connection, disabled_by=off), rank)


def decide(*given: Given) -> tuple[Mapping[Given, RankedDefinition], dict[str, Choice]]:
    made = {one: define(one, order) for order, one in enumerate(given)}
    standings = {id(definition): one.standing for one, definition in made.items()}
    ranked = sorted(made.values(), key=lambda definition: definition.rank)
    choices = choose(ranked, lambda definition: standings[id(definition)])
    return made, {choice.name: choice for choice in choices}


CASES = {
    # Seed 001: a project's entry of the same name replaces the person's, once it is approved.
    "an approved project counts before the user": (
        (Given("vscode@project", "approved"), Given("mooring@user")), 0, [1], None,
    ),
    # Seed 002: the list of files there, in our order: scope first, then tool.
    "opencode counts before copilot in one scope": ((Given("copilot-cli@user"), Given("opencode@user")), 1, [0], None),
    "copilot counts before claude": ((Given("claude-code@user"), Given("copilot-cli@user")), 1, [0], None),
    ".mcp.json counts last": ((Given(".mcp.json@user"), Given("generic@user")), 1, [0], None),
    # Seed 003: project over user, whatever the tool.
    "scope counts before tool": ((Given("mooring@user"), Given("generic@project", "approved")), 1, [0], None),
    "managed counts before an approved project": (
        (Given("mooring@project", "approved"), Given("claude-code@managed")), 1, [0], None,
    ),
    "the command line counts before everything": ((Given("claude-code@managed"), Given("mooring@cli")), 1, [0], None),
    # Seed 004: one owner per name; a disabled or invalid owner keeps the others out.
    "mooring's own counts before omp": ((Given("omp@user"), Given("mooring@user")), 1, [0], None),
    "a disabled winner still owns its name": ((Given("mooring@user", off=True), Given("omp@user")), 0, [1], None),
    "a broken winner still owns its name": ((Given("mooring@user", broken=True), Given("omp@user")), 0, [1], None),
    "an approved but disabled project owns its name": (
        (Given("omp@project", "approved", off=True), Given("omp@user")), 0, [1], None,
    ),
    # Ours: a project that is not approved displaces nothing.
    "an unapproved project only proposes": ((Given("mooring@project", "unseen"), Given("generic@user")), 1, [], 0),
    "a changed project only proposes": ((Given("mooring@project", "changed"), Given("generic@user")), 1, [], 0),
    "an unapproved disabled project only proposes": (
        (Given("mooring@project", "unseen", off=True), Given("generic@user")), 1, [], 0,
    ),
    "an unapproved broken project only proposes": (
        (Given("mooring@project", "unseen", broken=True), Given("generic@user")), 1, [], 0,
    ),
    "a rejected project proposes nothing": (
        (Given("mooring@project", "rejected"), Given("generic@user")), 1, [0], None,
    ),
    "the second of two proposals is shadowed": (
        (Given("mooring@project", "unseen"), Given("omp@project", "unseen"), Given("generic@user")), 2, [1], 0,
    ),
    "alone, an unapproved project is the row": (
        (Given("mooring@project", "unseen"), Given("omp@project", "unseen")), 0, [1], None,
    ),
    "alone, a rejected project gives way to one not yet judged": (
        (Given("mooring@project", "rejected"), Given("omp@project", "unseen")), 1, [0], None,
    ),
    "alone, a rejected project is still shown": ((Given("mooring@project", "rejected"),), 0, [], None),
    "an approved project below an unapproved one counts": (
        (Given("mooring@project", "unseen"), Given("omp@project", "approved"), Given("omp@user")), 1, [2], 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_one_definition_counts(case: str) -> None:
    given, winner, shadowed, proposed = CASES[case]
    made, choices = decide(*given)
    choice = choices["x"]
    assert choice.definition is made[given[winner]]
    assert [id(other) for other in choice.shadowed] == [id(made[given[index]]) for index in shadowed]
    assert choice.proposed is (None if proposed is None else made[given[proposed]])


def test_every_definition_is_accounted_for_exactly_once() -> None:
    for given, *_ in CASES.values():
        made, choices = decide(*given)
        choice = choices["x"]
        seen = [choice.definition, *choice.shadowed, *([choice.proposed] if choice.proposed else [])]
        assert sorted(map(id, seen)) == sorted(map(id, made.values()))


def test_two_names_for_the_same_connection_are_aliases_and_keep_their_rows() -> None:
    _, choices = decide(Given("omp@user", name="a", command="same"), Given("codex@user", name="b", command="same"))
    assert choices["a"].aliases == ("b",)
    assert choices["b"].aliases == ("a",)


def test_a_disabled_twin_is_no_alias() -> None:
    _, choices = decide(
        Given("omp@user", name="a", command="same", off=True), Given("codex@user", name="b", command="same")
    )
    assert choices["a"].aliases == choices["b"].aliases == ()


def test_aliases_go_by_meaning_not_by_spelling() -> None:
    def remote(name: str, text: str, order: int) -> RankedDefinition:
        url = Template(text, (TextPart("https://x/"), VariablePart("HOST", unset="empty")))
        origin = Origin("opencode", "user", f"/{order}")
        return RankedDefinition(ServerConfig(name=name, origin=origin, connection=Http(url)), (3, 2, order))

    choices = choose([remote("a", "https://x/{env:HOST}", 0), remote("b", "https://x/${env:HOST}", 1)], lambda _: "own")
    assert [choice.aliases for choice in choices] == [("b",), ("a",)]


def test_choices_are_sorted_by_name_without_regard_to_case() -> None:
    _, choices = decide(*(Given("omp@user", name=name) for name in ("b", "C", "a")))
    assert list(choices) == ["a", "b", "C"]


@pytest.mark.parametrize(
    ("winner", "loser", "words"),
    [
        (Given("omp@project", "approved"), Given("mooring@user"), "the project wins over the user's own"),
        (Given("mooring@user"), Given("omp@user"), "mooring wins over omp"),
        (Given("omp@user"), Given("omp@user", command="second"), "another file of the same tool"),
        (Given("omp@user"), Given("omp@project", "unseen"), "not approved"),
        (Given("omp@user"), Given("omp@project", "rejected"), "you rejected it"),
        (Given("omp@user"), Given("omp@project", "changed"), "changed since you decided"),
    ],
)
def test_the_rule_that_decided_is_said_in_words(winner: Given, loser: Given, words: str) -> None:
    assert words in explain(define(winner, 0), define(loser, 1), loser.standing)
