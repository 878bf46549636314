"""Reading every tool's files: whatever they hold, what is good is found and what is bad is said."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mooring.core.definitions.config import Broken, ServerConfig
from mooring.discovery.formats import FORMATS
from mooring.discovery.scan import Scan, make_context, scan
from support import Home

GOOD = {"command": "good", "args": ["a"]}


def find(home: Home) -> Scan:
    return scan(make_context(home.where, str(home.cwd)), FORMATS)


def names(found: Scan) -> dict[str, ServerConfig | Broken]:
    return {definition.name: definition.config for definition in found.definitions}


FILES = {
    "mooring": ("home/.config/mooring/mcp.json", lambda servers: {"mcpServers": servers}),
    "omp": ("project/.omp/mcp.json", lambda servers: {"mcpServers": servers}),
    "opencode": ("project/opencode.json", lambda servers: {"mcp": servers}),
    "copilot": ("project/.github/mcp-config.json", lambda servers: {"mcpServers": servers}),
    "claude": ("home/.claude.json", lambda servers: {"mcpServers": servers}),
    "vscode": ("project/.vscode/mcp.json", lambda servers: {"servers": servers}),
    "generic": ("project/mcp.json", lambda servers: {"mcpServers": servers}),
    "dot_mcp": ("project/.mcp.json", lambda servers: {"mcpServers": servers}),
    "codex": ("home/.codex/config.toml", None),
    "gemini": ("project/.gemini/settings.json", lambda servers: {"mcpServers": servers}),
    "qwen": ("home/.qwen/settings.json", lambda servers: {"mcpServers": servers}),
    "cursor": ("home/.cursor/mcp.json", lambda servers: {"mcpServers": servers}),
    "windsurf": ("home/.codeium/windsurf/mcp_config.json", lambda servers: {"mcpServers": servers}),
    "claude_desktop": ("home/.config/Claude/claude_desktop_config.json", lambda servers: {"mcpServers": servers}),
    "zed": ("project/.zed/settings.json", lambda servers: {"context_servers": servers}),
    "cline": (
        "home/.cline/data/settings/cline_mcp_settings.json",
        lambda servers: {"mcpServers": {**servers, "good": {"transport": {**GOOD, "type": "stdio"}}}},
    ),
    "roo": ("project/.roo/mcp.json", lambda servers: {"mcpServers": servers}),
    "amp": ("home/.config/amp/settings.json", lambda servers: {"amp.mcpServers": servers}),
    "amazonq": ("project/.amazonq/cli-agents/a.json", lambda servers: {"mcpServers": servers}),
    "kiro": ("home/.kiro/settings/mcp.json", lambda servers: {"mcpServers": servers}),
    "junie": ("project/.junie/mcp/mcp.json", lambda servers: {"mcpServers": servers}),
    "warp": ("home/.warp/.mcp.json", lambda servers: {"mcp": {"servers": servers}}),
    "crush": ("project/.crush.json", lambda servers: {"mcp": {**servers, "good": {**GOOD, "type": "stdio"}}}),
    "factory": ("home/.factory/mcp.json", lambda servers: {"mcpServers": servers}),
    "lmstudio": ("home/.lmstudio/mcp.json", lambda servers: {"mcpServers": servers}),
    "atomic": ("home/.atomic/agent/mcp.json", lambda servers: {"mcp-servers": servers}),
    "mcporter": ("project/config/mcporter.json", lambda servers: {"mcpServers": servers}),
    "mcpm": ("home/.config/mcpm/servers.json", lambda servers: servers),
    "magenta": ("home/.magenta/options.json", lambda servers: {"mcpServers": servers}),
    "shared": ("home/.agents/mcp.json", lambda servers: {"mcpServers": servers}),
    "goose": ("home/.config/goose/config.yaml", None),
    "continue": ("home/.continue/mcpServers/a.json", lambda servers: {"mcpServers": servers}),
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
keys = st.sampled_from(
    ["command", "args", "env", "url", "headers", "type", "enabled", "disabled", "timeout", "cwd", "oauth", "tools",
     "cmd", "uri", "envs", "env_keys", "socket", "httpUrl", "serverUrl", "tcp", "settings", "requestOptions", "apiKey",
     "requestInit", "timeoutMs", "bearerToken", "lifecycle", "oauthClient", "oauth_token", "disabledTools",
     "environment", "envFile", "auth", "alwaysLoad", "lifecycle", "transport", "trust", "headersHelper", "required"]
)  # fmt: skip
entries = st.dictionaries(keys, json_values, max_size=5) | json_values


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bad=entries)
def test_a_bad_entry_never_removes_a_good_neighbour(bad: Any, home: Home) -> None:
    files = {str(home.write(path, wrap({"good": GOOD, "bad": bad}))) for path, wrap in FILES.values() if wrap}
    good = [definition for definition in find(home).definitions if definition.name == "good"]
    assert {definition.config.origin.path for definition in good} == files
    for definition in good:
        assert isinstance(definition.config, ServerConfig), definition.config.origin.path
        assert definition.config.connection.command.text == "good"  # type: ignore[union-attr]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=300)
    | st.text(alphabet='{}[]":,/*\\ \n\t="\'#.ab0-mcpServers', max_size=300).map(str.encode)
)
def test_no_bytes_make_a_scan_raise(data: bytes, home: Home) -> None:
    files = {str(home.write(path, data)) for path, _ in FILES.values()}
    assert {*find(home).files} <= files


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=json_values)
def test_no_shape_makes_a_scan_raise(document: Any, home: Home) -> None:
    for path, wrap in FILES.values():
        if wrap:
            home.write(path, json.dumps(document))
    find(home)


@pytest.mark.parametrize("format", FILES)
def test_a_file_that_is_no_file_is_a_problem_and_no_hang(format: str, home: Home) -> None:
    path = home.folder / FILES[format][0]
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    found = find(home)
    assert [(problem.path, "named pipe" in problem.message) for problem in found.problems] == [(str(path), True)]


def test_a_broken_file_says_where_and_costs_no_other_file(home: Home) -> None:
    home.write("project/.mcp.json", '{\n  "mcpServers": {\n    "a": oops\n  }\n}')
    home.write("project/mcp.json", {"mcpServers": {"b": GOOD}})
    found = find(home)
    assert list(names(found)) == ["b"]
    assert [(problem.line, problem.path) for problem in found.problems] == [(3, str(home.project / ".mcp.json"))]


def test_a_claude_file_of_many_megabytes_is_read_in_parts(home: Home) -> None:
    filler = {"history": [{"display": "x" * 1000, "n": n} for n in range(30_000)]}
    project = {"mcpServers": {"private": GOOD}, "disabledMcpServers": ["off"], **filler}
    projects = {str(home.project): project, "/else": {"mcpServers": {"other": GOOD}}}
    body = json.dumps({"tips": filler, "mcpServers": {"mine": GOOD, "off": GOOD}, "projects": projects})
    assert len(body) > 50 * 1024 * 1024
    home.write("home/.claude.json", body)
    started = time.process_time()
    found = find(home)
    assert time.process_time() - started < 2.5
    assert sorted(names(found)) == ["mine", "off", "private"]
    assert not names(found)["off"].enabled
    assert found.problems == ()


def test_any_other_file_of_that_size_is_a_problem(home: Home) -> None:
    home.write("project/.mcp.json", b" " * (1024 * 1024 + 1))
    assert "larger than 1 MiB" in find(home).problems[0].message


def test_a_thousand_servers_are_read_and_the_rest_is_left_out_aloud(home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {f"s{n}": GOOD for n in range(1001)}})
    found = find(home)
    assert len(found.definitions) == 1000
    assert "more than 1000" in found.problems[0].message


def test_a_thousand_bad_entries_are_each_said_with_their_line_in_linear_time(home: Home) -> None:
    text = json.dumps(
        {"mcpServers": {f"s{n}": {"command": "x", "url": "y", "pad": "z" * 900} for n in range(1000)}}, indent=1
    )
    home.write("project/.mcp.json", text)
    started = time.process_time()
    found = find(home)
    assert time.process_time() - started < 5
    lines = text.splitlines()
    assert all(f'"{problem.server}"' in lines[(problem.line or 0) - 3] for problem in found.problems)
    assert len(found.problems) == 1000


@pytest.mark.parametrize("value", [["x"] * 257, ["y" * 70_000], ["nul\0"]])
def test_arguments_beyond_reason_break_the_entry(value: list[str], home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"a": {"command": "x", "args": value}}})
    assert isinstance(names(find(home))["a"], Broken)


def test_a_person_standing_at_home_has_no_project_there(home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"mine": GOOD}})
    home.write("home/.copilot/mcp-config.json", {"mcpServers": {"also": GOOD}})
    found = scan(make_context(home.where, str(home.home)), FORMATS)
    assert [definition.origin.scope for definition in found.definitions] == ["user", "user"]


def test_the_project_ends_at_the_nearest_git_folder(home: Home) -> None:
    deep = home.project / "a" / "b"
    deep.mkdir(parents=True)
    for folder in (deep, home.project, home.folder):
        (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {folder.name: GOOD}}))
    found = scan(make_context(home.where, str(deep)), FORMATS)
    assert [definition.name for definition in found.definitions] == ["b", "project"]


def test_without_git_the_project_is_the_folder_alone(tmp_path: Path, home: Home) -> None:
    outer = tmp_path / "outer" / "inner"
    outer.mkdir(parents=True)
    (outer.parent / ".mcp.json").write_text(json.dumps({"mcpServers": {"outer": GOOD}}))
    (outer / ".mcp.json").write_text(json.dumps({"mcpServers": {"inner": GOOD}}))
    found = scan(make_context(home.where, str(outer)), FORMATS)
    assert list(names(found)) == ["inner"]


@pytest.mark.parametrize("name", ["", " ", "a b", "über", "x" * 300, "__proto__", "a/b", "\x1b[2J"])
def test_any_name_is_read_but_the_empty_one(name: str, home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {name: GOOD, "good": GOOD}})
    assert set(names(find(home))) == ({"good", name} if name else {"good"})


@pytest.mark.parametrize(
    ("platform", "env", "expected"),
    [
        ("linux", {}, "home/.config/Code/User/mcp.json"),
        ("linux", {"XDG_CONFIG_HOME": "{home}/xdg"}, "home/xdg/Code/User/mcp.json"),
        ("darwin", {}, "home/Library/Application Support/Code/User/mcp.json"),
        ("win32", {"APPDATA": "{home}/AppData/Roaming"}, "home/AppData/Roaming/Code/User/mcp.json"),
    ],
)
def test_editors_keep_their_files_where_the_platform_says(
    platform: Any, env: dict[str, str], expected: str, home: Home
) -> None:
    from msgspec.structs import replace

    home.write(expected, {"servers": {"x": GOOD}})
    values = {key: value.format(home=home.home) for key, value in env.items()}
    where = replace(home.where, platform=platform, env=values)
    assert list(names(scan(make_context(where, str(home.cwd)), FORMATS))) == ["x"]


@pytest.mark.parametrize(
    ("variable", "value", "file"),
    [
        ("CODEX_HOME", "{home}/c", "home/c/config.toml"),
        ("CLAUDE_CONFIG_DIR", "{home}/cl", "home/cl/.claude.json"),
        ("COPILOT_HOME", "{home}/co", "home/co/mcp-config.json"),
        ("OPENCODE_CONFIG", "{home}/oc.json", "home/oc.json"),
        ("OPENCODE_CONFIG_DIR", "{home}/ocd", "home/ocd/opencode.json"),
        ("XDG_CONFIG_HOME", "{home}/x", "home/x/mooring/mcp.json"),
    ],
)
def test_a_tools_own_variables_move_its_files(variable: str, value: str, file: str, home: Home) -> None:
    from msgspec.structs import replace

    container = "mcp" if "oc" in file else "mcpServers"
    body = '[mcp_servers.x]\ncommand = "good"\n' if file.endswith("toml") else json.dumps({container: {"x": GOOD}})
    home.write(file, body)
    where = replace(home.where, env={variable: value.format(home=home.home)})
    assert list(names(scan(make_context(where, str(home.cwd)), FORMATS))) == ["x"]


def test_a_relative_variable_does_not_move_our_own_folders(home: Home) -> None:
    from msgspec.structs import replace

    where = replace(home.where, env={"XDG_CONFIG_HOME": "x", "XDG_STATE_HOME": "./state", "XDG_CACHE_HOME": "c"})
    assert where.config == f"{home.home}/.config/mooring"
    assert where.state == f"{home.home}/.local/state/mooring"
    assert where.cache == f"{home.home}/.cache/mooring"


def test_a_large_claude_file_with_a_bad_project_keeps_the_others(home: Home) -> None:
    projects = {"/a": None, str(home.project): {"mcpServers": {"private": GOOD}}, "pad": "x" * (2 << 20)}
    home.write(
        "home/.claude.json", b"\xef\xbb\xbf" + json.dumps({"mcpServers": {"mine": GOOD}, "projects": projects}).encode()
    )
    assert sorted(names(find(home))) == ["mine", "private"]


def test_only_claudes_own_state_may_be_large(home: Home) -> None:
    home.write("project/.claude/mcp.json", json.dumps({"mcpServers": {"x": GOOD}, "pad": "x" * (2 << 20)}))
    assert "larger than 1 MiB" in find(home).problems[0].message


def test_a_bare_map_with_one_bad_entry_keeps_the_good_one(home: Home) -> None:
    home.write("project/.mcp.json", {"x": GOOD, "y": {"type": "http"}})
    found = names(find(home))
    assert isinstance(found["x"], ServerConfig)
    assert isinstance(found["y"], Broken)


def test_a_farther_project_of_claude_still_counts_beside_a_nearer_one(home: Home) -> None:
    sub = home.project / "sub"
    sub.mkdir()
    projects = {
        str(home.project): {"mcpServers": {"db": GOOD}, "disabledMcpServers": ["fs"]},
        str(sub): {"mcpServers": {}},
    }
    home.write("home/.claude.json", {"mcpServers": {"fs": GOOD}, "projects": projects})
    found = names(find(home))
    assert sorted(found) == ["db", "fs"]
    assert not found["fs"].enabled


def test_claudes_project_is_found_through_a_link(home: Home) -> None:
    link = home.folder / "link"
    link.symlink_to(home.project)
    home.write("home/.claude.json", {"projects": {str(home.project): {"mcpServers": {"db": GOOD}}}})
    assert list(names(scan(make_context(home.where, str(link)), FORMATS))) == ["db"]


def test_a_linked_home_is_still_no_project(home: Home) -> None:
    from msgspec.structs import replace

    link = home.folder / "hlink"
    link.symlink_to(home.home)
    home.write("home/.mcp.json", {"mcpServers": {"mine": GOOD}})
    home.write("home/.claude/.mcp.json", {"mcpServers": {"also": GOOD}})
    for where in (replace(home.where, home=str(link)), replace(home.where, env={"CLAUDE_CONFIG_DIR": "/elsewhere"})):
        found = scan(make_context(where, str(home.home)), FORMATS)
        assert [d.origin.scope for d in found.definitions if d.origin.scope == "project"] == []


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("project/.vscode/mcp.json", {"mcpServers": {"x": GOOD}}, "rename it to `servers`"),
        ("project/.mcp.json", {"mcp_servers": {"x": GOOD}}, "rename it to `mcpServers`"),
        ("home/.codex/config.toml", '[mcpServers.x]\ncommand = "y"\n', "rename it to `mcp_servers`"),
        ("project/opencode.json", {"mcpServers": {"x": GOOD}}, "rename it to `mcp`"),
    ],
)
def test_another_tools_word_for_the_map_is_noticed(path: str, content: Any, expected: str, home: Home) -> None:
    home.write(path, content)
    found = find(home)
    assert found.definitions == ()
    assert [problem.hint for problem in found.problems] == [expected]


@pytest.mark.parametrize("entry", [{"url": "ftp://x"}, {"url": "javascript:1"}, {"url": "no url"}, {"command": "  "}])
def test_what_could_never_be_reached_is_refused(entry: dict[str, str], home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"x": entry}})
    assert isinstance(names(find(home))["x"], Broken)


def test_an_address_may_begin_with_a_placeholder(home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"x": {"type": "http", "url": "${BASE}/mcp"}}})
    assert isinstance(names(find(home))["x"], ServerConfig)


def test_codex_does_not_mix_a_program_and_an_address(home: Home) -> None:
    home.write("home/.codex/config.toml", '[mcp_servers.x]\ncommand = "y"\nhttp_headers = { A = "b" }\n')
    assert isinstance(names(find(home))["x"], Broken)


def test_opencode_leaves_projects_out_when_told_to(home: Home) -> None:
    from msgspec.structs import replace

    home.write("project/opencode.json", {"mcp": {"x": {"type": "local", "command": ["y"]}}})
    where = replace(home.where, env={"OPENCODE_DISABLE_PROJECT_CONFIG": "1"})
    assert scan(make_context(where, str(home.cwd)), FORMATS).definitions == ()


def found_on(home: Home, platform: Any, env: dict[str, str], file: str, content: Any, tool: str) -> list[str]:
    from msgspec.structs import replace

    home.write(file, content)
    where = replace(home.where, platform=platform, env={k: v.format(home=home.home) for k, v in env.items()})
    found = scan(make_context(where, str(home.cwd)), FORMATS)
    return [definition.name for definition in found.definitions if definition.origin.tool == tool]


MAP = {"mcpServers": {"x": {**GOOD, "type": "stdio"}}}
GOOSE = "extensions: {x: {type: stdio, cmd: good, enabled: true}}"
APPDATA = {"APPDATA": "{home}/AppData/Roaming", "LOCALAPPDATA": "{home}/AppData/Local"}
STORAGE = "Code/User/globalStorage"


@pytest.mark.parametrize(
    ("tool", "platform", "env", "file", "content"),
    [
        ("claude-desktop", "darwin", {}, "home/Library/Application Support/Claude/claude_desktop_config.json", MAP),
        ("claude-desktop", "win32", APPDATA, "home/AppData/Roaming/Claude/claude_desktop_config.json", MAP),
        (
            "claude-desktop", "win32", APPDATA,
            "home/AppData/Local/Packages/Claude_abc/LocalCache/Roaming/Claude/claude_desktop_config.json", MAP,
        ),
        ("zed", "darwin", {}, "home/.config/zed/settings.json", {"context_servers": {"x": GOOD}}),
        ("zed", "win32", APPDATA, "home/AppData/Roaming/Zed/settings.json", {"context_servers": {"x": GOOD}}),
        ("goose", "darwin", {}, "home/.config/goose/config.yaml", GOOSE),
        ("goose", "win32", APPDATA, "home/AppData/Roaming/Block/goose/config/config.yaml", GOOSE),
        ("goose", "linux", {"GOOSE_ADDITIONAL_CONFIG_FILES": "{home}/g.yaml"}, "home/g.yaml", GOOSE),
        ("crush", "win32", APPDATA, "home/AppData/Local/crush/crush.json", {"mcp": {"x": {**GOOD, "type": "stdio"}}}),
        ("crush", "linux", {"CRUSH_GLOBAL_CONFIG": "{home}/c"}, "home/c/crush.json", {"mcp": MAP["mcpServers"]}),
        ("crush", "linux", {"CRUSH_GLOBAL_DATA": "{home}/d"}, "home/d/crush.json", {"mcp": MAP["mcpServers"]}),
        (
            "roo", "win32", APPDATA,
            f"home/AppData/Roaming/{STORAGE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json", MAP,
        ),
        (
            "cline", "darwin", {},
            f"home/Library/Application Support/{STORAGE}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", MAP,
        ),
        ("cline", "linux", {"CLINE_MCP_SETTINGS_PATH": "{home}/c.json"}, "home/c.json", MAP),
        ("cline", "linux", {"CLINE_DATA_DIR": "{home}/d"}, "home/d/settings/cline_mcp_settings.json", MAP),
        ("cline", "linux", {"CLINE_DIR": "{home}/e"}, "home/e/data/settings/cline_mcp_settings.json", MAP),
        ("gemini", "linux", {"GEMINI_CLI_HOME": "{home}/g"}, "home/g/.gemini/settings.json", MAP),
        ("gemini", "darwin", {}, "system/Library/Application Support/GeminiCli/settings.json", MAP),
        ("gemini", "win32", {}, "system/C:/ProgramData/gemini-cli/settings.json", MAP),
        ("continue", "linux", {"CONTINUE_GLOBAL_DIR": "{home}/c"}, "home/c/mcpServers/x.json", MAP),
        ("atomic", "linux", {"ATOMIC_CODING_AGENT_DIR": "{home}/a"}, "home/a/mcp.json", MAP),
        ("mcporter", "linux", {"MCPORTER_CONFIG": "{home}/m.json"}, "home/m.json", MAP),
        ("mcpm", "win32", APPDATA, "home/.config/mcpm/servers.json", {"x": GOOD}),
        ("factory", "darwin", {}, "home/Library/Application Support/Factory Bridge/mcp.json", MAP),
        ("omp", "linux", {"OMP_PROFILE": "work"}, "home/.omp/profiles/work/agent/mcp.json", MAP),
        ("opencode", "win32", {}, "home/.config/opencode/opencode.json", {"mcp": {"x": GOOD}}),
        ("codex", "win32", {}, "system/C:/ProgramData/OpenAI/Codex/config.toml", '[mcp_servers.x]\ncommand = "x"\n'),
        ("amp", "darwin", {}, "system/Library/Application Support/ampcode/managed-settings.json",
         {"amp.mcpServers": {"x": GOOD}}),
    ],
)  # fmt: skip
def test_a_tool_is_found_where_its_platform_and_its_variables_put_it(
    tool: str, platform: Any, env: dict[str, str], file: str, content: Any, home: Home
) -> None:
    assert found_on(home, platform, env, file, content, tool) == ["x"]


def test_opencode_takes_a_last_layer_and_a_timeout_for_all_from_its_variables_and_files(home: Home) -> None:
    from msgspec.structs import replace

    home.write("home/.config/opencode/opencode.json", {"experimental": {"mcp_timeout": 7000}, "mcp": {"x": GOOD}})
    layer = json.dumps({"mcp": {"x": {"environment": {"A": "b"}}, "y": {**GOOD, "timeout": 1000}}})
    where = replace(home.where, env={"OPENCODE_CONFIG_CONTENT": layer})
    found = scan(make_context(where, str(home.cwd)), FORMATS)
    assert {d.name: d.config.call_timeout for d in found.definitions} == {"x": 7.0, "y": 1.0}  # type: ignore[union-attr]
    assert {d.origin.path for d in found.definitions} == {"$OPENCODE_CONFIG_CONTENT"}
    assert found.files == (f"{home.home}/.config/opencode/opencode.json",)


def test_a_person_decides_before_a_project_in_factory_even_when_the_project_is_approved(home: Home) -> None:
    home.write("home/.factory/mcp.json", {"mcpServers": {"x": {"command": "mine"}}})
    home.write("project/.factory/mcp.json", {"mcpServers": {"x": {"command": "theirs"}, "y": {"command": "y"}}})
    home.write("project/.kiro/settings/mcp.json", {"mcpServers": {"x": {"command": "kiro"}}})
    ranked = [(d.name, d.config.connection.command.text) for d in find(home).definitions]  # type: ignore[union-attr]
    assert ranked == [("x", "kiro"), ("y", "y"), ("x", "mine"), ("x", "theirs")]


@pytest.mark.parametrize(
    ("command", "args", "native"),
    [
        ("npx", ["mcp-remote", "https://a/b"], True),
        ("npx", ["-y", "mcp-remote@0.1.29", "https://a/b"], True),
        ("npx", ["--yes", "mcp-remote@latest", "http://a/b"], True),
        ("npx.cmd", ["-y", "mcp-remote", "https://a/${B}"], True),
        ("npx", ["mcp-remote", "-y", "https://a/b"], False),
        ("npx", ["-y", "-y", "mcp-remote", "https://a/b"], False),
        ("npx", ["mcp-remote", "https://a/b", "3334"], False),
        ("npx", ["mcp-remote", "https://a/b", "--header", "A: b"], False),
        ("npx", ["mcp-remote-client", "https://a/b"], False),
        ("npx", ["@x/mcp-remote", "https://a/b"], False),
        ("npx", ["mcp-remote", "${URL}"], False),
        ("npx", ["mcp-remote", "ftp://a/b"], False),
        ("npx", ["https://a/b"], False),
        ("bunx", ["mcp-remote", "https://a/b"], False),
    ],
)
def test_mcp_remote_is_reached_natively_in_exactly_one_form(
    command: str, args: list[str], native: bool, home: Home
) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"x": {"command": command, "args": args}}})
    config = names(find(home))["x"]
    assert isinstance(config, ServerConfig)
    assert (config.transport == "auto") == native
    assert config.connection.transport == ("auto" if native else "stdio")


@pytest.mark.parametrize("extra", [{"env": {"A": "b"}}, {"cwd": "/x"}, {"envFile": "x"}])
def test_mcp_remote_that_is_given_something_stays_a_program(extra: dict[str, Any], home: Home) -> None:
    home.write(
        "home/.mcp.json", {"mcpServers": {"x": {"command": "npx", "args": ["mcp-remote", "https://a"], **extra}}}
    )
    assert names(find(home))["x"].transport == "stdio"


def test_mcp_remote_stays_a_program_where_the_person_says_so_and_its_approval_is_of_the_text(home: Home) -> None:
    from mooring.permissions.trust import digest

    home.write("home/.mcp.json", {"mcpServers": {"x": {"command": "npx", "args": ["mcp-remote", "https://a/b"]}}})
    native = home.inventory().find("x").definition.config
    home.write("home/.config/mooring/settings.json", {"mcpRemote": "keep"})
    kept = home.inventory().find("x").definition.config
    assert isinstance(native, ServerConfig)
    assert isinstance(kept, ServerConfig)
    assert (native.transport, kept.transport) == ("auto", "stdio")
    assert digest(native) == digest(kept)


@pytest.mark.parametrize("path", [path for path, wrap in FILES.values() if wrap and "crush" not in path])
@pytest.mark.parametrize(
    ("command", "args"),
    [("mooring", ["serve"]), ("/opt/bin/mooring", ["--cwd", "x", "serve"]), ("python3.12", ["-m", "mooring", "serve"])],
)
def test_mooring_never_starts_itself(path: str, command: str, args: list[str], home: Home) -> None:
    wrap = next(wrap for file, wrap in FILES.values() if file == path and wrap)
    home.write(path, wrap({"me": {"command": command, "args": args}, "good": GOOD}))
    found = find(home)
    assert "me" not in names(found)
    assert [(p.server, p.level) for p in found.problems] == [("me", "note")]


@pytest.mark.parametrize("args", [[], ["mcp", "list"], ["-m", "mooring.demo"]])
def test_other_uses_of_mooring_are_programs_like_any_other(args: list[str], home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"x": {"command": "mooring", "args": args}}})
    assert isinstance(names(find(home))["x"], ServerConfig)


HOSTILE = {
    "a TOML string of escaped quotes": ("home/.codex/config.toml", 'x = "' + '\\"' * 500_000),
    "a JSON string of escaped quotes": ("project/.mcp.json", '{"' + '\\"' * 500_000),
    "a key of many parts": ("home/.codex/config.toml", "a." * 500_000 + "a = 1"),
    "placeholders without end": (
        "project/.mcp.json",
        json.dumps({"mcpServers": {"x": {"command": "c", "args": ["${A:-" * 13_000] * 15}}}),
    ),
    "comments without end": ("project/.mcp.json", "/*" * 500_000),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_no_mebibyte_holds_up_a_scan(what: str, home: Home) -> None:
    path, text = HOSTILE[what]
    home.write(path, text[: 1 << 20])
    started = time.process_time()
    find(home)
    assert time.process_time() - started < 5
