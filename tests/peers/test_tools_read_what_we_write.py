"""The tools' own programs read what `mooring mcp add --to` wrote, and we read and remove what they added themselves.

A program is compared by everything it prints: some print a whole definition, some only what is started.
"""

import json
import re
import runpy
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import install
import pytest
from coding_tools import ADDRESS, PROGRAM, ask, ask_mooring, lay_out

Printed = Mapping[str, Mapping[str, Any]]
"""What a program says of each server, in the words of `SERVERS`."""

SERVERS: dict[str, dict[str, Any]] = {
    "program": {"command": PROGRAM, "args": ["-y", "a b"], "env": {"TOKEN": "${TOKEN}", "PLAIN": "x"}, "cwd": "/srv"},
    "web": {"type": "http", "url": ADDRESS, "headers": {"X-Key": "${KEY}"}},
    "stream": {"type": "sse", "url": "http://127.0.0.1:9/sse"},
    "off": {"command": PROGRAM, "enabled": False},
}
VALUES = {"TOKEN": "value-of-TOKEN", "KEY": "value-of-KEY"}


def expect(server: Mapping[str, Any]) -> dict[str, Any]:
    """All that a program could print of a server."""
    line = [server["command"], *server.get("args", ())] if "command" in server else [server["url"]]
    return {
        "transport": server.get("type", "stdio"),
        "starts": line,
        "env": server.get("env", {}),
        "headers": server.get("headers", {}),
        "cwd": server.get("cwd"),
        "enabled": server.get("enabled", True),
    }


# --- what the programs print --------------------------------------------------------------------------------


def list_codex(cwd: Path, env: Mapping[str, str]) -> Printed:
    rows = json.loads(ask([install.tool("codex"), "mcp", "list", "--json"], cwd, env))
    return {row["name"]: {**read_codex(row["transport"]), "enabled": row["enabled"]} for row in rows}


def read_codex(transport: Mapping[str, Any]) -> dict[str, Any]:
    if transport["type"] == "streamable_http":
        headers = {name: f"${{{variable}}}" for name, variable in (transport["env_http_headers"] or {}).items()}
        return {"transport": "http", "starts": [transport["url"]], "headers": headers}
    passed = {name: f"${{{name}}}" for name in transport["env_vars"]}
    return {
        "transport": "stdio",
        "starts": [transport["command"], *transport["args"]],
        "env": {**passed, **(transport["env"] or {})},
        "cwd": transport["cwd"],
    }


def list_opencode(cwd: Path, env: Mapping[str, str]) -> Printed:
    text = ask([install.tool("opencode"), "debug", "config"], cwd, {**env, **VALUES})
    for name, value in VALUES.items():
        text = text.replace(value, f"${{{name}}}")
    return {name: read_opencode(entry) for name, entry in json.loads(text)["mcp"].items()}


def read_opencode(entry: Mapping[str, Any]) -> dict[str, Any]:
    enabled = entry.get("enabled", True)
    # Which transport an address has, OpenCode finds out for itself.
    if entry["type"] == "remote":
        return {"starts": [entry["url"]], "headers": entry.get("headers", {}), "enabled": enabled}
    given = {"env": entry.get("environment", {}), "cwd": entry.get("cwd")}
    return {"transport": "stdio", "starts": entry["command"], **given, "enabled": enabled}


def list_copilot(cwd: Path, env: Mapping[str, str]) -> Printed:
    servers = json.loads(ask([install.tool("copilot"), "mcp", "list", "--json"], cwd, env))["mcpServers"]
    return {name: read_copilot(entry) for name, entry in servers.items()}


def read_copilot(entry: Mapping[str, Any]) -> dict[str, Any]:
    kind = "stdio" if entry["type"] == "local" else entry["type"]
    starts = [entry["command"], *entry["args"]] if kind == "stdio" else [entry["url"]]
    given = {"env": entry.get("env", {}), "headers": entry.get("headers", {}), "cwd": entry.get("cwd")}
    return {"transport": kind, "starts": starts, **given}


def list_gemini(cwd: Path, env: Mapping[str, str]) -> Printed:
    text = ask([install.tool("gemini"), "mcp", "list"], cwd, env)
    rows = re.findall(r"^\S (\S+): (.*?) *\((stdio|http|sse)\) - \w+", text, re.M)
    return {name: {"transport": kind, "line": line} for name, line, kind in rows}


def list_claude(cwd: Path, env: Mapping[str, str]) -> Printed:
    text = ask([install.tool("claude"), "mcp", "list"], cwd, env)
    rows = re.findall(r"^(\S+): (.*?) +(?:\((HTTP|SSE)\) )?- ", text, re.M)
    listed = {name: {"transport": (kind or "stdio").lower(), "line": line} for name, line, kind in rows}
    # Each answer takes two seconds: one of each kind is looked at closely.
    closely = [name for name in ("program-user", "web-user", "program-project") if name in listed]
    return {**listed, **{name: {**listed[name], **get_claude(name, cwd, env)} for name in closely}}


def get_claude(name: str, cwd: Path, env: Mapping[str, str]) -> dict[str, Any]:
    text = ask([install.tool("claude"), "mcp", "get", name], cwd, env)
    pairs = dict(re.findall(r"^    ([\w-]+)(?:=|: )(.*)$", text, re.M))
    return {"headers" if "  Headers:" in text else "env": pairs}


def list_mcporter(cwd: Path, env: Mapping[str, str]) -> Printed:
    rows = json.loads(ask([install.tool("mcporter", "readers"), "config", "list", "--json"], cwd, env))["servers"]
    return {row["name"]: read_mcporter(row) for row in rows}


def read_mcporter(row: Mapping[str, Any]) -> dict[str, Any]:
    if row["transport"] == "http":
        # It adds a header of its own.
        headers = {name: value for name, value in row.get("headers", {}).items() if name != "accept"}
        return {"transport": "http", "starts": [row["baseUrl"]], "headers": headers}
    folder = {"cwd": row["cwd"]} if row["cwd"] != str(Path(row["source"]["path"]).parent) else {}
    return {"transport": "stdio", "starts": [row["command"], *row["args"]], "env": row.get("env", {}), **folder}


READ_CONTINUE = """
const { parseConfigYaml } = await import(load.resolve("@continuedev/config-yaml"));
const { readFileSync } = await import("node:fs");
console.log(JSON.stringify(parseConfigYaml(readFileSync(process.argv[1], "utf8"))));
"""


def list_continue(cwd: Path, env: Mapping[str, str]) -> Printed:
    path = Path(env["HOME"], ".continue/config.yaml")
    rows = json.loads(ask(install.node_script(READ_CONTINUE, str(path)), cwd, env))["mcpServers"]
    return {row["name"]: read_continue(row) for row in rows}


def read_continue(row: Mapping[str, Any]) -> dict[str, Any]:
    if "url" in row:
        return {"transport": row["type"].removeprefix("streamable-"), "starts": [row["url"]]}
    given = {"env": row.get("env", {}), "cwd": row.get("cwd")}
    return {"transport": "stdio", "starts": [row["command"], *row.get("args", ())], **given}


# --- what we write ------------------------------------------------------------------------------------------

KEPT = {"command": PROGRAM, "args": []}


class Tool(NamedTuple):
    """A coding tool: how its program is asked, its files with one server in each, and what it cannot express."""

    id: str
    list: Callable[[Path, Mapping[str, str]], Printed]
    files: Mapping[str, Any]
    """The person's file, the project's if there is one, and whatever else makes the tool read that."""
    lost: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()


TOOLS = {
    "codex": Tool(
        "codex", list_codex,
        {
            "home/.codex/config.toml": '# mine\nmodel = "x"\n\n[projects."$PROJECT"]\ntrust_level = "trusted"\n\n'
            f'[mcp_servers.kept-user]\ncommand = "{PROGRAM}" # why\n',
            "project/.codex/config.toml": f'[mcp_servers]\nkept-project = {{ command = "{PROGRAM}" }}\n',
        },
        refused=frozenset({"stream"}),
    ),
    "opencode": Tool(
        "opencode", list_opencode,
        {
            "home/.config/opencode/opencode.json": {
                "$schema": "https://opencode.ai/config.json", "mcp": {"kept-user": {"type": "local", "command": [PROGRAM]}},
            },
            "project/opencode.jsonc": '{ // ours\n\t"mcp": {\n\t\t"kept-project": {"type": "local", "command": ["true"]},\n\t},\n}\n',
        },
    ),
    "claude": Tool(
        "claude-code", list_claude,
        {
            "home/.claude.json": {"theme": "dark", "mcpServers": {"kept-user": KEPT}},
            "project/.mcp.json": '{\n  "mcpServers": {"kept-project": {"command": "true", "args": []}}\n}',
        },
        lost=frozenset({"cwd", "disabled"}),
    ),
    "copilot": Tool(
        "copilot-cli", list_copilot,
        {
            "home/.copilot/mcp-config.json": {"mcpServers": {"kept-user": {"type": "local", **KEPT, "tools": ["*"]}}},
            "project/.github/mcp.json": {"mcpServers": {"kept-project": {"type": "local", **KEPT, "tools": ["*"]}}},
            "home/.copilot/config.json": {"trustedFolders": ["$PROJECT"]},
        },
        lost=frozenset({"disabled"}),
    ),
    "gemini": Tool(
        "gemini", list_gemini,
        {
            "home/.gemini/settings.json": '// mine\n{\n    "mcpServers": {\n        "kept-user": {"command": "true"}\n    }\n}\n',
            "project/.gemini/settings.json": {"mcpServers": {"kept-project": {"command": PROGRAM}}},
            "home/.gemini/trustedFolders.json": {"$PROJECT": "TRUST_FOLDER"},
        },
        lost=frozenset({"disabled"}),
    ),
    "mcporter": Tool(
        "mcporter", list_mcporter,
        {
            "home/.mcporter/mcporter.json": '{\n  // mine\n  "mcpServers": {\n    "kept-user": {"command": "true"},\n  },\n}\n',
            "project/config/mcporter.json": {"mcpServers": {"kept-project": KEPT}, "imports": []},
        },
        lost=frozenset({"disabled"}),
        refused=frozenset({"stream"}),
    ),
    "continue": Tool(
        "continue", list_continue,
        {
            "home/.continue/config.yaml": "name: Mine # ours\nversion: 1.0.0\nschema: v1\nmcpServers:\n"
            '- name: kept-user\n  command: "true"\nrules: []\n',
        },
        # Continue fills in secrets of its own, and no variables.
        lost=frozenset({"disabled", "env.TOKEN", "headers.X-Key"}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOOLS)
def test_the_tools_own_program_reads_what_we_wrote_and_our_removal_gives_back_the_files(
    name: str, tmp_path: Path
) -> None:
    tool = TOOLS[name]
    cwd, env = lay_out(tmp_path, tool.files)
    scopes = ("user", "project")[: len(tool.files)]
    paths = [tmp_path / path for path in list(tool.files)[: len(scopes)]]
    before = [path.read_bytes() for path in paths]
    kinds = [kind for kind in SERVERS if kind not in tool.refused]
    added = {f"{kind}-{scope}": (kind, scope) for scope in scopes for kind in kinds}
    for server, (kind, scope) in added.items():
        words = ("mcp", "add-json", server, json.dumps(SERVERS[kind]), "--to", tool.id, "-s", scope, "--no-test")
        done = ask_mooring(cwd, env, *words)["added"]
        assert set(done["notExpressed"]) - {"transport"} <= tool.lost
    written = [path.read_bytes() for path in paths]

    printed = tool.list(cwd, env)
    assert set(printed) == {*added, *(f"kept-{scope}" for scope in scopes)}
    for server, (kind, _) in added.items():
        assert printed[server] == pick(printed[server], describe(SERVERS[kind], tool.lost))

    # Some of the programs keep other things in the same files, and write them when they are asked.
    for path, data in zip(paths, written, strict=True):
        path.write_bytes(data)
    for server, (_, scope) in added.items():
        ask_mooring(cwd, env, "mcp", "remove", server, "--from", tool.id, "-s", scope)
    assert [path.read_bytes() for path in paths] == before


def describe(server: Mapping[str, Any], lost: frozenset[str]) -> dict[str, Any]:
    """What a tool should print of a server, if it cannot express everything."""
    whole = expect(server)
    if "disabled" in lost:
        whole["enabled"] = True
    for group in ("env", "headers"):
        whole[group] = {name: value for name, value in whole[group].items() if f"{group}.{name}" not in lost}
    return {**whole, "line": " ".join(whole["starts"])}


def pick(printed: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the words that a program prints."""
    return {word: whole[word] for word in printed}


@pytest.mark.parametrize("scope", ["user", "project"])
def test_codex_has_no_sse_so_such_a_server_is_not_written_for_it(scope: str, tmp_path: Path) -> None:
    cwd, env = lay_out(tmp_path, TOOLS["codex"].files)
    before = {path: path.read_bytes() for path in tmp_path.rglob("config.toml")}
    words = ["mcp", "add-json", "x", json.dumps(SERVERS["stream"]), "--to", "codex", "-s", scope, "--no-test"]
    with pytest.raises(pytest.fail.Exception, match="OpenAI Codex cannot express the `transport`"):
        ask_mooring(cwd, env, *words)
    assert {path: path.read_bytes() for path in tmp_path.rglob("config.toml")} == before


EDITORS = {"vscode": ("user", "project"), "cursor": ("user", "project"), "windsurf": ("user",)}
"""Editors that mcporter imports servers from, and the files of theirs that it reads."""


@pytest.mark.parametrize("tool", EDITORS)
def test_mcporter_imports_what_we_wrote_for_an_editor(tool: str, tmp_path: Path) -> None:
    cwd, env = lay_out(tmp_path, {})
    added = {f"{kind}-{scope}": (kind, scope) for scope in EDITORS[tool] for kind in ("program", "web", "stream")}
    for server, (kind, scope) in added.items():
        ask_mooring(
            cwd, env, "mcp", "add-json", server, json.dumps(SERVERS[kind]), "--to", tool, "-s", scope, "--no-test"
        )
    text = ask([install.tool("mcporter", "readers"), "config", "import", tool, "--json"], cwd, env)
    # Behind the data it says how to go on.
    rows = json.JSONDecoder().raw_decode(text)[0]["entries"]
    imported = {row["name"]: row["entry"] for row in rows}
    assert set(imported) == set(added)
    for server, (kind, _) in added.items():
        entry, wanted = imported[server], SERVERS[kind]
        if kind == "program":
            assert (entry["command"], entry["args"]) == (wanted["command"], wanted["args"])
            assert set(entry["env"]) == set(wanted["env"])
        else:
            assert entry["baseUrl"] == wanted["url"]
            assert set(entry.get("headers", {})) == set(wanted.get("headers", {}))


def test_a_server_of_ours_that_copilot_switches_off_is_off_here_too(tmp_path: Path) -> None:
    cwd, env = lay_out(tmp_path, {})
    ask_mooring(cwd, env, "mcp", "add-json", "x", json.dumps(KEPT), "--to", "copilot-cli", "--no-test")
    ask([install.tool("copilot"), "mcp", "disable", "x"], cwd, env)
    [row] = ask_mooring(cwd, env, "mcp", "list")["servers"]
    assert (row["name"], row["source"]["tool"], row["enabled"]) == ("x", "copilot-cli", False)


def test_the_page_of_formats_says_who_reads_what_we_write() -> None:
    page = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "formats.py"))
    assert set(page["READERS"]) == {*(tool.id for tool in TOOLS.values()), *EDITORS}


# --- what they write ----------------------------------------------------------------------------------------


class Adding(NamedTuple):
    """How a program adds a server of its own to one of its files: one that is started, and one with an address."""

    tool: str
    scope: str
    path: str
    program: str
    address: str
    header: str = "X-Key"
    transport: str = "http"
    is_shared: bool = False
    """The program keeps other things in the file, which change whenever it runs."""


ADDING = {
    "claude user": Adding(
        "claude-code", "user", "home/.claude.json",
        "claude mcp add -s user NAME -e PLAIN=x -- true -y 'a b'",
        f"claude mcp add -s user -t http NAME {ADDRESS} -H 'X-Key: k'",
        is_shared=True,
    ),
    "claude project": Adding(
        "claude-code", "project", "project/.mcp.json",
        "claude mcp add -s project NAME -e PLAIN=x -- true -y 'a b'",
        f"claude mcp add -s project -t sse NAME {ADDRESS} -H 'X-Key: k'",
        transport="sse",
    ),
    "codex": Adding(
        "codex", "user", "home/.codex/config.toml",
        "codex mcp add NAME --env PLAIN=x -- true -y 'a b'",
        f"codex mcp add NAME --url {ADDRESS} --bearer-token-env-var KEY",
        header="Authorization",
    ),
    "opencode": Adding(
        "opencode", "user", "home/.config/opencode/opencode.jsonc",
        "opencode mcp add NAME --env PLAIN=x -- true -y 'a b'",
        f"opencode mcp add NAME --url {ADDRESS} --header X-Key=k",
        transport="auto",
    ),
    "copilot": Adding(
        "copilot-cli", "user", "home/.copilot/mcp-config.json",
        "copilot mcp add NAME --env PLAIN=x -- true -y 'a b'",
        f"copilot mcp add --transport http NAME {ADDRESS} --header 'X-Key: k'",
    ),
    "gemini user": Adding(
        "gemini", "user", "home/.gemini/settings.json",
        "gemini mcp add -s user -e PLAIN=x NAME true -- -y 'a b'",
        f"gemini mcp add -s user -t http NAME {ADDRESS} -H 'X-Key: k'",
    ),
    "gemini project": Adding(
        "gemini", "project", "project/.gemini/settings.json",
        "gemini mcp add -s project -e PLAIN=x NAME true -- -y 'a b'",
        f"gemini mcp add -s project -t sse NAME {ADDRESS} -H 'X-Key: k'",
        transport="sse",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ADDING)
def test_what_the_tools_own_program_adds_is_read_and_our_removal_gives_back_the_file(name: str, tmp_path: Path) -> None:
    adding = ADDING[name]
    cwd, env = lay_out(tmp_path, {"home/.gemini/trustedFolders.json": {"$PROJECT": "TRUST_FOLDER"}})

    def run(line: str, server: str) -> bytes:
        program, *words = shlex.split(line.replace("NAME", server))
        ask([install.tool(program), *words], cwd, env)
        return (tmp_path / adding.path).read_bytes()

    before = run(adding.address, "first")
    after = run(adding.program, "second")
    rows = {row["name"]: row for row in ask_mooring(cwd, env, "mcp", "list")["servers"]}
    assert set(rows) == {"first", "second"}
    assert {row["source"]["tool"] for row in rows.values()} == {adding.tool}
    assert {row["source"]["path"] for row in rows.values()} == {str(tmp_path / adding.path)}
    first, second = rows["first"], rows["second"]
    assert (first["transport"], first["url"]) == (adding.transport, ADDRESS)
    assert (second["transport"], second["command"], second["args"]) == ("stdio", "true", ["-y", "a b"])
    assert set(ask_mooring(cwd, env, "mcp", "get", "first")["headers"]) == {adding.header}
    assert set(ask_mooring(cwd, env, "mcp", "get", "second")["env"]) == {"PLAIN"}

    ask_mooring(cwd, env, "mcp", "remove", "second", "--from", adding.tool, "-s", adding.scope)
    left = (tmp_path / adding.path).read_bytes()
    if adding.is_shared:
        assert json.loads(left)["mcpServers"] == json.loads(before)["mcpServers"]
        before = drop(after, "second")
    assert left == before


def drop(data: bytes, server: str) -> bytes:
    """The file as its tool writes it, without one of its servers."""
    content = json.loads(data)
    del content["mcpServers"][server]
    return json.dumps(content, indent=2, ensure_ascii=False).encode()
