"""The programs and commands in the documents work, the files they point to exist, and the pages made from code are new."""

import ast
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.models import FakeModel, Say

import mooring
from support import Cli, Home

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ADAPTERS = ROOT / "docs" / "guides" / "adapters.md"  # its programs need frameworks, and are run by `make adapters`
PROGRAMS = [
    (str(page.relative_to(ROOT)), number, program)
    for page in PAGES
    if page != ADAPTERS
    for number, program in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S))
]


IDS = [f"{page}-{number}" for page, number, _ in PROGRAMS]
CELL = """
import ast, asyncio, sys
cell = compile(sys.argv[1], "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
asyncio.run(eval(cell))
"""
"""Runs a program as a notebook does, where a cell may await."""
PUBLIC = re.compile(r"mooring|mooring\.testing|mooring\.adapters\.\w+")


def read_program(program: str) -> ast.Module:
    return compile(program, "page", "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # type: ignore[no-any-return]


def list_imports(program: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(read_program(program)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def choose_command(program: str) -> list[str]:
    """How a reader would run it: as a program, as tests, or in a notebook."""
    names = [node.name for node in read_program(program).body if isinstance(node, ast.FunctionDef)]
    if any(name.startswith("test_") for name in names):
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_page.py"]
    try:
        compile(program, "page", "exec")
    except SyntaxError:
        return [sys.executable, "-c", CELL, program]
    return [sys.executable, "-c", program]


# The package of a provider is installed for tests/peers, which runs those programs.
OWN_PROGRAMS = [each for each in PROGRAMS if "anthropic" not in list_imports(each[2])]


@pytest.mark.parametrize(
    ("page", "number", "program"), OWN_PROGRAMS, ids=[f"{page}-{number}" for page, number, _ in OWN_PROGRAMS]
)
def test_a_program_in_a_document_runs(page: str, number: int, program: str, home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"x": {"command": "y"}}})
    (home.cwd / "test_page.py").write_text(program)
    # Some of them talk to a model: it is on loopback, and says the same to all.
    with FakeModel(lambda request: [Say("It is the first one.")]) as model:
        env = {**home.env, "ANTHROPIC_BASE_URL": model.anthropic_url, "ANTHROPIC_API_KEY": "none"}
        done = subprocess.run(
            choose_command(program), cwd=home.cwd, env=env, capture_output=True, text=True, timeout=60
        )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout


@pytest.mark.parametrize(("page", "number", "program"), PROGRAMS, ids=IDS)
def test_a_program_in_a_document_imports_public_modules_alone(page: str, number: int, program: str) -> None:
    imported = {name for name in list_imports(program) if name.split(".")[0] == "mooring"}
    assert [name for name in imported if not PUBLIC.fullmatch(name)] == []
    assert "mooring" in imported
    used = set(re.findall(r"\bmooring\.((?!testing|adapters)\w+)", re.sub(r'"[^"]*"', "", program)))
    assert used <= set(mooring.__all__)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_a_document_for_programs_names_no_inner_module(page: Path) -> None:
    if page.parent.name == "library" or page.stem in ("library", "README"):
        named = re.findall(r"`(mooring\.[a-z_]+\.[A-Za-z_.]+)", page.read_text())
        assert [name for name in named if not name.startswith(("mooring.testing.", "mooring.adapters."))] == []


def test_there_are_programs_to_run() -> None:
    assert len(PROGRAMS) >= 2


WRITTEN = [*PAGES, ROOT / "CHANGELOG.md"]


@pytest.mark.parametrize("page", WRITTEN, ids=[str(page.relative_to(ROOT)) for page in WRITTEN])
def test_the_commands_in_a_document_exist_with_their_options(page: Path, cli: Cli) -> None:
    # The chat's own first line is no command.
    examples = re.findall(r"^(mooring (?!·)[^|#\n]+)", page.read_text(), re.M)
    spans = re.findall(r"`(mooring [^`]+)`", page.read_text())
    for line in {*examples, *spans}:
        words = shlex.split(line)[1:]
        # An option may be named without its value.
        value = ["1"] if words[-1].startswith("--") else []
        # With --help, a command and its options are looked up, and nothing is done. Behind the words of a server's own
        # command, it would be one of them.
        at = 2 if words[:2] in (["mcp", "add"], ["mcp", "edit"]) else len(words) + len(value)
        typed = [*words, *value]
        seen = cli(*typed[:at], "--help", *typed[at:])
        assert seen.code == 0, (line, seen.err)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        assert (page.parent / target).exists(), target


def list_anchors(page: Path) -> set[str]:
    """What a link to a heading of the page can say behind `#`, as GitHub makes it."""
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    headings = re.findall(r"^#+ (.+)$", prose, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_a_link_to_a_heading_leads_to_one(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target, anchor in re.findall(r"\]\(([^)#:]*\.md)?#([^)]+)\)", prose):
        assert anchor in list_anchors((page.parent / target) if target else page), (target, anchor)


def test_nothing_is_installed_under_a_name_that_belongs_to_another_program() -> None:
    published = re.compile(r"(?:pipx? install|uv tool install|uvx(?: --from)?) '?mooring\b(?!-host)|\bmooring\[")
    schemas = (ROOT / "docs").rglob("*.json")
    pages = [*PAGES, ROOT / "CHANGELOG.md", *schemas, *(ROOT / "src").rglob("*.py")]
    assert [str(page) for page in pages if published.search(page.read_text())] == []


def test_the_readme_leads_to_every_page() -> None:
    """Directly, or by the page of a group that it names."""
    readme = (ROOT / "README.md").read_text() + (ROOT / "docs/guides/library.md").read_text()
    assert [page.name for page in PAGES[2:] if f"{page.parent.name}/{page.name})" not in readme] == []


def test_the_readme_names_every_dependency() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    table = (ROOT / "README.md").read_text()
    for wanted in (*project["dependencies"], *project["optional-dependencies"]["dev"]):
        name = re.split(r"[<>=\[]", wanted)[0]
        assert name.removeprefix("types-") in table, name


def test_the_page_of_formats_is_the_one_that_the_formats_make() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "formats.py"))["page"]()
    assert (ROOT / "docs" / "reference" / "formats.md").read_text() == made, "run: make docs"


def test_the_page_that_compares_programs_has_every_job() -> None:
    from bench.jobs.table import JOBS

    page = (ROOT / "docs" / "results" / "comparison.md").read_text()
    for job in JOBS:
        assert f"\n## {job.title}\n" in page, "run: make jobs"
        assert all(f"\n$ {command}\n" in page for typed in job.commands.values() for command in typed), job.key
    assert len(JOBS) == 15


def test_the_page_that_compares_clients_has_every_case() -> None:
    from bench.failures.cases import CASES, RIVALS

    page = (ROOT / "docs" / "results" / "clients.md").read_text()
    for case in CASES:
        assert f"\n## {case.title}\n" in page, "run: make failures"
    assert all(page.count(f"\n| {rival.name} |") == len(CASES) for rival in RIVALS), "run: make failures"


def test_every_adapter_has_a_program_an_extra_and_an_environment() -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    modules = {path.stem for path in (ROOT / "src/mooring/adapters").glob("[!_]*.py")}
    assert modules == set(re.findall(r"^from mooring\.adapters\.(\w+) import", ADAPTERS.read_text(), re.M))
    for extra in (module.replace("_", "-") for module in modules):
        assert extra in extras
        assert f"| `{extra}` |" in ADAPTERS.read_text()
        assert (ROOT / f"tests/adapters/locks/adapter-{extra}.lock").exists()


def test_the_page_of_commands_is_the_one_that_the_commands_make() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "commands.py"))["page"]()
    assert (ROOT / "docs" / "reference" / "commands.md").read_text() == made, "run: make docs"


def test_the_page_of_settings_is_the_one_that_the_settings_make() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "settings.py"))["page"]()
    assert (ROOT / "docs" / "reference" / "settings.md").read_text() == made, "run: make docs"


def test_the_first_page_shows_what_its_commands_print() -> None:
    page = (ROOT / "docs" / "start" / "first-five-minutes.md").read_text()
    filled_in = runpy.run_path(str(ROOT / "docs" / "session.py"))["fill_in_outputs"](page)
    assert page == filled_in, "run: make docs"
    assert page.count("```console\n$ mooring ") >= 5


def test_the_guide_of_the_chat_has_its_keys() -> None:
    guide = (ROOT / "docs" / "guides" / "chat.md").read_text()
    assert runpy.run_path(str(ROOT / "docs" / "chat_picture.py"))["fill_in_keys"](guide) == guide, "run: make docs"


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")
def test_the_picture_of_the_chat_shows_a_turn_as_it_looks_today() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "chat_picture.py"))["draw"]()
    assert (ROOT / "docs" / "start" / "chat.svg").read_text() == made, "run: make docs"


def test_the_readme_and_its_picture_show_what_the_commands_print() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "session.py"))
    session = made["run_session"]()
    readme = (ROOT / "README.md").read_text()
    assert readme == made["fill_in"](readme, session), "run: make docs"
    assert (ROOT / "docs" / "start" / "session.svg").read_text() == made["draw"](session), "run: make docs"
