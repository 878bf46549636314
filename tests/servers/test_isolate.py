"""A person's own server starts so that its launcher takes nothing from the project, and is in the project all the same."""

import json
import os
import shlex
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from prepared import CURSOR, SHARED, context, defined, started

from mooring.errors import Unresolved
from mooring.servers.launch.environment import make_launch
from mooring.servers.launch.isolate import isolate
from mooring.servers.launch.prepare import Launch
from mooring.servers.launch.runners import FolderRun, NpxRun, PythonRun, UvxRun, find_runner
from support import Cli, Home

FOLDER = [
    "npm start", "npm run mcp", "npm --prefix /abs run mcp", "npx -y tsx /abs/x.ts", "npx -y tsx@4 /abs/x.ts",
    "npx -y mcp-proxy npx -y x", "uv run x", "uv run --with mcp mcp run /abs/s.py", "uv --directory /abs run x", "uvx nox",
    "bunx x", "bun x x.js", "bun /abs/x.ts", "pnpm dlx x", "pnpx x", "yarn dlx x", "pipx run x", "deno run -A npm:x",
    "deno run jsr:@a/b", "py -m x", "make mcp", "go run example.com/x@latest", "cargo run --manifest-path /abs/Cargo.toml",
    "dotnet run", "dnx x", "docker compose run x", "node -r dotenv/config /abs/x.js", "node --import=tsx /abs/x.ts",
    "node -e x", "sh -c 'python -m x'", "bash -lc 'cd /abs && exec env A=b python3 -um x'", "op run -- bunx x",
    "Rscript -e x", "sh -c 'uvx --with x python -m x'", "timeout -s KILL 30 make",
]  # fmt: skip
NPM = [
    "npx x", "npx -y @a/server .", "npx -y -p x y", "npx --package=x y", "/usr/bin/npx -y x", "npm exec -- x", "npm x x",
    "npm --loglevel silent exec x", "node /lib/npm/bin/npx-cli.js -y x", "node /lib/npm/bin/npm-cli.js exec x",
    "env A=b npx -y x", "env -S 'npx -y x'", "sh -c 'npx -y x'", "bash -lc 'nvm use 20; A=b exec npx -y x .'",
    "op run --env-file=/abs/x -- npx -y x", "mise exec node@20 -- npx -y x", "npx -y tsx server.ts",
]  # fmt: skip
PYTHON = [
    "python -m x", "python3 -um x", "/usr/bin/python3.11 -mx -P", "python3 -W ignore -X dev -m x", "python3.12 -c x",
    "env A=b python3 -m x", "pypy3 -m x", "uv run --project /abs python -m x", "mise x python@3.11 -- python -m x",
]  # fmt: skip
UNCHANGED = [
    "./server", "bin/server", "/abs/server", ".venv/bin/python -m x", "python server.py -m x", "python", "python -I -m x",
    "python3 -uPm x", "npx ./x", "npx -p ../x y", "npx x@file:../x", "npx x.tgz", "npx -y file:x", "npm --prefix tools exec x",
    "node server.js", "node /abs/server.js", "node -r ./hook /abs/x.js", "node --import /abs/x.mjs /abs/y.js", "uv run server.py",
    "uv run ./x", "uv run --directory sub x", "uv run --project /abs x", "uv sync", "bun run server.ts", "deno run main.ts",
    "go run .", "go run ./cmd/x", "dotnet run --project src/x", "dotnet /abs/x.dll", "docker run -i --rm mcp/time",
    "docker run node npx -y x", "sh -c 'cd sub && npx x'", "sh -c '. ./env && npx x'", "sh -c 'echo make; /abs/x --mode task'",
    "sh run.sh", "sh -c 'uvx x'", "make -C sub", "mcp-server-time", "env A=b server",
]  # fmt: skip


# --- commands -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "kind"), [(FOLDER, FolderRun), (NPM, NpxRun), (PYTHON, PythonRun), (UNCHANGED, type(None))]
)
def test_a_command_is_understood_by_its_words(lines: list[str], kind: type) -> None:
    assert [line for line in lines if not isinstance(find_runner(shlex.split(line)), kind)] == []


def test_only_packages_that_nobody_said_may_be_downloaded_are_held_back() -> None:
    assert find_runner(shlex.split("npx foo .")) == NpxRun(("foo",))
    assert find_runner(shlex.split("npm exec -p foo -p @a/b -- c")) == NpxRun(("foo", "@a/b"))
    for line in ("npx -y foo", "npx --yes foo", "npx foo@1", "npx @a/b@latest", "npx -p foo@2 c", "npx /abs/x"):
        assert find_runner(shlex.split(line)) == NpxRun()


@given(
    st.lists(
        st.sampled_from([*shlex.split(" ".join(FOLDER + NPM + UNCHANGED)), "", "-", "--", "'", "$(", "="]), max_size=9
    )
)
def test_any_words_are_understood_somehow(words: list[str]) -> None:
    find_runner(words)
    find_runner(["sh", "-c", " ".join(words)])


# --- Python ---------------------------------------------------------------------------------------------------

CODES = {
    "-m": ["-m", "gauge", "a b", "-m"],
    "-um": ["-um", "gauge", "a b", "-m"],
    "-c": ["-c", "from __future__ import annotations\nimport gauge", "a b", "-m"],
}
GAUGE = "import json, os, sys; print(json.dumps([__file__, os.getcwd(), sys.argv[1:], __name__]))"


def launch(home: Home, command: str, *args: str, cwd: str = "", **env: str) -> Launch:
    """The launch of an own server, as `prepare` makes it."""
    entry: dict[str, Any] = {"command": command, "args": args}
    approved = defined(home, CURSOR, {**entry, **({"cwd": cwd} if cwd else {})})
    given = context(home, env)
    made = make_launch((command, *args), given.where, str(home.project), own=True)
    return isolate(made, approved, given.where)


def run(made: Launch) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(made.argv, env=made.env, cwd=made.cwd, capture_output=True, text=True, timeout=100)


@pytest.fixture
def installed(home: Home) -> str:
    home.write("site/gauge.py", GAUGE)
    home.write("project/gauge.py", "print('planted')")
    home.write("project/runpy.py", "print('planted')")
    return str(home.folder / "site")


@pytest.mark.parametrize("how", CODES)
@pytest.mark.parametrize("named", [True, False], ids=["a name with its version", "a shim"])
def test_python_runs_the_installed_module_in_the_project(home: Home, installed: str, how: str, named: bool) -> None:
    shim = home.write("bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    shim.chmod(0o755)
    made = launch(home, sys.executable if named else str(shim), *CODES[how], PYTHONPATH=installed)
    assert ("-P" in made.argv) is (named and sys.version_info >= (3, 11))
    file, cwd, argv, name = json.loads(run(made).stdout)
    assert (file, cwd) == (f"{installed}/gauge.py", str(home.project))
    assert (argv, name) == (["a b", "-m"], "gauge" if how == "-c" else "__main__")


def test_a_script_finds_the_modules_beside_it(home: Home, installed: str) -> None:
    home.write("tools/server.py", "import sibling")
    home.write("tools/sibling.py", "print('found')")
    assert run(launch(home, sys.executable, str(home.folder / "tools/server.py"))).stdout == "found\n"
    assert run(launch(home, sys.executable, "gauge.py")).stdout == "planted\n"


# --- npm ------------------------------------------------------------------------------------------------------


@pytest.fixture
def npx(home: Home) -> dict[str, str]:
    home.write("bin/npx", '#!/bin/sh\n"$npm_config_script_shell" -c "$LINE"\n').chmod(0o755)
    return {"PATH": f"{home.folder}/bin:/usr/bin:/bin"}


def test_npx_starts_in_a_folder_of_ours_and_its_package_in_the_project(home: Home, npx: dict[str, str]) -> None:
    report = f'exec {sys.executable} -c "import os; print(os.getcwd()); print(dict(os.environ))" # $PPID'
    made = launch(home, "npx", "-y", "x", **npx, LINE=report, OLDPWD="/", NPM_CONFIG_SCRIPT_SHELL="/bin/bash")
    assert Path(made.cwd, "package.json").exists()
    done = run(made)
    cwd, variables = done.stdout.splitlines()
    seen = eval(variables)
    assert (cwd, seen["PWD"], seen["INIT_CWD"]) == (str(home.project),) * 3
    assert [name for name in seen if "MOORING" in name or "script_shell" in name.lower() or name == "OLDPWD"] == []
    assert run(launch(home, "npx", "-y", "x", **npx, LINE="exit 7")).returncode == 7


def test_the_scripts_of_packages_that_npm_installs_stay_in_their_folder(home: Home, npx: dict[str, str]) -> None:
    made = launch(home, "npx", "-y", "x", **npx)
    shell = made.env["npm_config_script_shell"]
    done = subprocess.run([shell, "-c", "pwd"], env=made.env, cwd=home.home, capture_output=True, text=True)
    assert done.stdout == f"{home.home}\n"


def test_a_project_whose_path_is_odd_is_found(tmp_path: Path) -> None:
    home = Home(tmp_path / 'a b"c$HOME')
    home.write("bin/npx", '#!/bin/sh\n"$npm_config_script_shell" -c "$LINE"\n').chmod(0o755)
    made = launch(home, "npx", "-y", "x", PATH=f"{home.folder}/bin:/usr/bin:/bin", LINE="pwd")
    assert run(made).stdout == f"{home.project}\n"


def test_a_package_that_only_the_project_has_is_refused(cli: Cli) -> None:
    home = cli.home
    home.write("project/node_modules/.bin/foo", "")
    home.write(CURSOR, {"mcpServers": {"x": {"command": "npx", "args": ["foo"]}}})
    result = cli("call", "x.y")
    assert result.code == 1
    assert f"x cannot be started: args name foo, which is in {home.project}/node_modules" in result.err
    assert "add -y to download it from your registry" in result.err
    assert "add -y" in cli("mcp", "doctor").out


def test_a_package_that_is_installed_for_all_projects_is_not_refused(home: Home, npx: dict[str, str]) -> None:
    home.write("project/node_modules/.bin/foo", "")
    home.write("bin/foo", "").chmod(0o755)
    assert launch(home, "npx", "foo", **npx).cwd != str(home.project)


# --- uv -------------------------------------------------------------------------------------------------------


def test_uvx_reads_the_persons_configuration_or_none(home: Home) -> None:
    none = launch(home, "uvx", "--from", "x", "y").argv
    assert none[:2] == ("uvx", "--config-file")
    assert Path(none[2]).read_text() == ""
    own = str(home.write("home/.config/uv/uv.toml", ""))
    assert launch(home, "uv", "tool", "run", "y").argv == ("uv", "tool", "run", "--config-file", own, "y")
    assert launch(home, "uvx", "y", UV_CONFIG_FILE="/x").argv == ("uvx", "y")
    assert launch(home, "uvx", "--no-config", "y").argv == ("uvx", "--no-config", "y")
    home.write("system/etc/uv/uv.toml", "")
    assert launch(home, "uvx", "y").argv == ("uvx", "y")


def test_python_behind_uvx_leaves_the_project_out(home: Home) -> None:
    run = find_runner(shlex.split("uvx --with x python -m x"))
    assert isinstance(run, UvxRun)
    assert run.python is not None
    assert "-c" in launch(home, "uvx", "--with", "x", "python", "-m", "x").argv


# --- whose servers, and where ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cwd", ["", ".", "sub", "PROJECT/sub"])
async def test_a_folder_inside_the_project_is_the_project(home: Home, cwd: str) -> None:
    (home.project / "sub").mkdir()
    entry = {"command": "bunx", "args": ["x"], "cwd": cwd.replace("PROJECT", str(home.project))}
    made = await started(defined(home, CURSOR, entry), context(home))
    assert not made.cwd.startswith(str(home.project))


@pytest.mark.parametrize("command", [["bunx", "x"], ["npx", "-y", "x"], ["python3", "-m", "x"], ["uvx", "x"]])
async def test_nothing_changes_elsewhere(home: Home, command: list[str], tmp_path: Path) -> None:
    entry = {"command": command[0], "args": command[1:]}
    elsewhere = await started(defined(home, CURSOR, {**entry, "cwd": str(tmp_path)}), context(home))
    assert (elsewhere.argv, elsewhere.cwd) == (tuple(command), str(tmp_path))
    (home.folder / CURSOR).unlink()
    of_project = await started(defined(home, SHARED, entry), context(home))
    assert (of_project.argv, of_project.cwd) == (tuple(command), str(home.project))
    (home.folder / SHARED).unlink()
    inside = await started(defined(home, CURSOR, {**entry, "command": f"{home.project}/bin/bunx"}), context(home))
    assert inside.cwd == str(home.project)


async def test_a_relative_search_path_finds_no_program_of_the_project(home: Home) -> None:
    given = context(home, {"PATH": "node_modules/.bin::./bin:/usr/bin"})
    made = await started(defined(home, CURSOR, {"command": "x"}), given)
    assert made.env["PATH"].split(":")[0] == "/usr/bin"
    assert not [folder for folder in made.env["PATH"].split(":") if not folder.startswith("/")]


def test_a_command_that_is_typed_runs_as_at_the_prompt(cli: Cli) -> None:
    server = Path(__file__).parents[2] / "src/mooring/demo.py"
    cli.home.write("project/local_server.py", server.read_text())
    assert cli("tools", "--server", f"{sys.executable} -m local_server").code == 0


# --- our folders ----------------------------------------------------------------------------------------------


def test_our_folders_are_the_persons_own_whatever_the_umask(home: Home) -> None:
    before = os.umask(0)
    try:
        cwd = launch(home, "npx", "-y", "x").cwd
    finally:
        os.umask(before)
    for path in (Path(cwd), Path(cwd).parent, Path(cwd).parent.parent, Path(cwd, "package.json"), Path(cwd, "shell")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_folder_that_others_can_write_to_is_refused_with_the_command_that_repairs_it(home: Home) -> None:
    cwd = launch(home, "npx", "-y", "x").cwd
    Path(cwd).chmod(0o777)
    with pytest.raises(Unresolved, match=f"chmod 700 {cwd}"):
        launch(home, "npx", "-y", "x")
    Path(cwd).chmod(0o700)
    Path(cwd, "shell").write_text("changed")
    assert Path(launch(home, "npx", "-y", "x").cwd, "shell").read_text().startswith("#!/bin/sh")


def test_many_hosts_may_start_at_once(home: Home) -> None:
    approved = defined(home, CURSOR, {"command": "npx", "args": ["-y", "x"]})
    given = context(home)
    made = make_launch(("npx", "-y", "x"), given.where, str(home.project), own=True)
    with ThreadPoolExecutor(16) as workers:
        cwds = list(workers.map(lambda _: isolate(made, approved, given.where).cwd, range(200)))
    assert len(set(cwds)) == 1
    assert sorted(os.listdir(cwds[0])) == ["package.json", "shell"]


def test_servers_share_no_folder_in_which_one_could_leave_code_for_another(home: Home) -> None:
    given = context(home)
    made = make_launch(("bunx", "x"), given.where, str(home.project), own=True)
    approved = defined(home, CURSOR, {"command": "bunx", "args": ["x"]})
    beside = replace(approved, config=replace(approved.config, name="y"))
    above = replace(approved, folder=str(home.folder))
    folders = {isolate(made, each, given.where).cwd for each in (approved, beside, above)}
    assert len(folders) == 3


# --- what the person is told ----------------------------------------------------------------------------------


def test_doctor_names_servers_that_start_elsewhere_and_modules_that_are_left_out(cli: Cli) -> None:
    cli.home.write("project/sh_time.py", "")
    cli.home.write("bin/bunx", "").chmod(0o755)
    servers = {
        "a": {"command": f"{cli.home.folder}/bin/bunx", "args": ["x"]},
        "b": {"command": sys.executable, "args": ["-m", "sh_time"]},
        "c": {"command": sys.executable, "args": ["-m", "json.tool"]},
    }
    cli.home.write(CURSOR, {"mcpServers": servers})
    result = cli("mcp", "doctor")
    assert result.code == 0
    assert "a: It starts in an empty folder, because bunx takes code or settings from the folder" in result.out
    assert f"b: It runs the installed module sh_time, not {cli.home.project}/sh_time.py" in result.out
    assert "c: " not in result.out
