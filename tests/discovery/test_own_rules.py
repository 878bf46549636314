"""The rarer rules of single tools: what they say in other files, in plugins, on other platforms."""

import json
import plistlib
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mooring.core.definitions.config import Http, ServerConfig, Stdio
from mooring.core.definitions.paths import Platform
from mooring.core.definitions.template import SecretPart, TextPart, VariablePart
from mooring.discovery.choose import choose, explain
from mooring.discovery.formats import FORMATS
from mooring.discovery.policy import AddressPattern
from mooring.discovery.scan import RankedDefinition, Scan, make_context, scan
from support import Home


def find(home: Home, platform: Platform = "linux", **env: str) -> Scan:
    where = replace(home.where, platform=platform, env={**home.env, **env})
    return scan(make_context(where, str(home.cwd)), FORMATS)


def found(home: Home, platform: Platform = "linux", **env: str) -> dict[str, RankedDefinition]:
    return {each.name: each for each in reversed(find(home, platform, **env).definitions)}


def config(definition: RankedDefinition) -> ServerConfig:
    assert isinstance(definition.config, ServerConfig)
    return definition.config


def env_of(definition: RankedDefinition, name: str) -> Any:
    connection = config(definition).connection
    assert isinstance(connection, Stdio)
    return connection.env[name].parts


# --- placeholders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["gemini", "qwen"])
def test_a_percent_sign_makes_a_variable_in_env_on_windows_alone(tool: str, home: Home) -> None:
    entry = {"command": "a", "args": ["%HOME%"], "env": {"K": "x%TOKEN%", "L": "$TOKEN"}}
    home.write(f"home/.{tool}/settings.json", {"mcpServers": {"a": entry}})
    there, here = found(home, "win32")["a"], found(home)["a"]
    assert env_of(there, "K") == (TextPart("x"), VariablePart("TOKEN", unset="empty"))
    assert env_of(there, "L") == (VariablePart("TOKEN", unset="empty"),)
    assert env_of(here, "K") == (TextPart("x%TOKEN%"),)
    connection = config(there).connection
    assert isinstance(connection, Stdio)
    assert connection.args[0].plain == "%HOME%"


def test_goose_keeps_the_secrets_that_it_names(home: Home) -> None:
    local = {"type": "stdio", "enabled": True, "cmd": "a", "args": [], "env_keys": ["TOKEN"]}
    web = {
        "type": "streamable_http", "enabled": True, "uri": "https://web.example",
        "env_keys": ["TOKEN"], "envs": {"ORG": "us"}, "headers": {"A": "$TOKEN", "B": "${ORG}", "C": "$OTHER"},
    }  # fmt: skip
    home.write("home/.config/goose/config.yaml", {"extensions": {"local": local, "web": web}})
    kept = SecretPart("TOKEN", "goose", variable=True)
    assert env_of(found(home)["local"], "TOKEN") == (kept,)
    connection = config(found(home)["web"]).connection
    assert isinstance(connection, Http)
    assert [connection.headers[name].parts for name in "ABC"] == [(kept,), (TextPart("us"),), (VariablePart("OTHER"),)]


@pytest.mark.parametrize(("key", "value"), [("env_keys", [1]), ("envs", {"TOKEN": []})])
def test_a_secret_of_goose_that_cannot_be_read_costs_its_own_entry_alone(key: str, value: Any, home: Home) -> None:
    web = {"type": "streamable_http", "enabled": True, "uri": "https://web.example"}
    home.write("home/.config/goose/config.yaml", {"extensions": {"bad": {**web, key: value}, "good": web}})
    scanned = find(home)
    (problem,) = scanned.problems
    assert (problem.server, problem.message.split()[0]) == ("bad", f"`{key}`")
    assert [type(each.config).__name__ for each in scanned.definitions] == ["Broken", "ServerConfig"]


def test_what_one_plugin_asked_is_no_answer_for_another(home: Home) -> None:
    for name in ("one", "two"):
        folder = home.home / f".claude/plugins/cache/{name}"
        entry = {"command": "x", "env": {"K": "${user_config.token}", "R": "${user_config.region}"}}
        home.write(f"home/.claude/plugins/cache/{name}/.mcp.json", {name: entry})
        register(home, f"{name}@m", str(folder))
    home.write("home/.claude/settings.json", {"pluginConfigs": {"one@m": {"options": {"region": "eu"}}}})
    plugins = found(home)
    assert env_of(plugins["plugin:one:one"], "K") == (SecretPart("user_config.token", "one@m"),)
    assert env_of(plugins["plugin:two:two"], "K") == (SecretPart("user_config.token", "two@m"),)
    assert env_of(plugins["plugin:one:one"], "R") == (TextPart("eu"),)
    assert env_of(plugins["plugin:two:two"], "R") == (SecretPart("user_config.region", "two@m"),)


def test_a_plugins_programs_are_told_where_it_lies_and_may_set_that_otherwise(home: Home) -> None:
    servers = {"a": {"command": "x"}, "b": {"command": "x", "env": {"CLAUDE_PLUGIN_DATA": "mine"}}}
    home.write("home/.claude/plugins/cache/p/.mcp.json", servers)
    register(home, "p@m", str(home.home / ".claude/plugins/cache/p"))
    plugins = found(home)
    assert env_of(plugins["plugin:p:a"], "CLAUDE_PLUGIN_ROOT") == (TextPart(f"{home.home}/.claude/plugins/cache/p"),)
    assert env_of(plugins["plugin:p:a"], "CLAUDE_PLUGIN_DATA") == (TextPart(f"{home.home}/.claude/plugins/data/p-m"),)
    assert env_of(plugins["plugin:p:b"], "CLAUDE_PLUGIN_DATA") == (TextPart("mine"),)


def test_mcp_remote_in_a_plugin_is_reached_natively(home: Home) -> None:
    entry = {"command": "npx", "args": ["-y", "mcp-remote", "https://a.example/mcp"]}
    home.write("home/.claude/plugins/cache/p/.mcp.json", {"a": entry, "b": {**entry, "env": {"K": "v"}}})
    register(home, "p@m", str(home.home / ".claude/plugins/cache/p"))
    assert {name: config(each).transport for name, each in found(home).items()} == {
        "plugin:p:a": "auto",
        "plugin:p:b": "stdio",
    }


def register(home: Home, id: str, folder: str) -> None:
    path = home.home / ".claude/plugins/installed_plugins.json"
    known = json.loads(path.read_text())["plugins"] if path.exists() else {}
    home.write(
        "home/.claude/plugins/installed_plugins.json",
        {"plugins": {**known, id: [{"installPath": folder}]}, "version": 2},
    )


# --- places -------------------------------------------------------------------------------------------------


def goose(name: str) -> dict[str, Any]:
    return {"extensions": {"shared": {"type": "stdio", "enabled": True, "cmd": name}, name: {"type": "stdio", "enabled": True, "cmd": name}}}  # fmt: skip


def test_goose_reads_several_more_files_under_the_persons_own_and_the_last_of_them_first(home: Home) -> None:
    one, two = home.write("home/one.yaml", goose("one")), home.write("home/two.yaml", goose("two"))
    more = {"GOOSE_ADDITIONAL_CONFIG_FILES": f"{one}:relative.yaml:{two}"}
    assert str(config(found(home, **more)["shared"]).origin.path) == str(two)
    assert {"one", "two"} <= found(home, **more).keys()
    home.write("home/.config/goose/config.yaml", goose("mine"))
    assert config(found(home, **more)["shared"]).origin.path == str(home.home / ".config/goose/config.yaml")


@pytest.mark.parametrize(
    ("usual", "moved", "variable", "value", "content"),
    [
        ("home/.cline/data/settings/cline_mcp_settings.json", "home/c.json", "CLINE_MCP_SETTINGS_PATH", "{home}/c.json", "mcpServers"),
        ("home/.cline/data/settings/cline_mcp_settings.json", "home/c/settings/cline_mcp_settings.json", "CLINE_DATA_DIR", "{home}/c", "mcpServers"),
        ("home/.config/goose/config.yaml", "home/g/config/config.yaml", "GOOSE_PATH_ROOT", "{home}/g", "extensions"),
        ("home/.mcporter/mcporter.json", "home/m.json", "MCPORTER_CONFIG", "{home}/m.json", "mcpServers"),
        ("home/.qwen/settings.json", "home/q/settings.json", "QWEN_HOME", "{home}/q", "mcpServers"),
        ("system/etc/gemini-cli/settings.json", "home/s.json", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "{home}/s.json", "mcpServers"),
        ("system/etc/qwen-code/system-defaults.json", "home/d.json", "QWEN_CODE_SYSTEM_DEFAULTS_PATH", "{home}/d.json", "mcpServers"),
    ],
)  # fmt: skip
def test_a_variable_that_moves_a_file_leaves_the_usual_one_unread(
    usual: str, moved: str, variable: str, value: str, content: str, home: Home
) -> None:
    entry = {"type": "stdio", "enabled": True, "command": "x", "cmd": "x"}
    home.write(usual, {content: {"usual": entry}})
    home.write(moved, {content: {"moved": entry}})
    assert found(home).keys() == {"usual"}
    assert found(home, **{variable: value.format(home=home.home)}).keys() == {"moved"}


def test_the_managed_preferences_of_a_mac_are_the_highest_layer_of_opencode(home: Home) -> None:
    folder = "system/Library/Managed Preferences"
    low = {"mcp": {"corp": {"type": "remote", "url": "https://low.example", "headers": {"A": "b"}}}}
    home.write("system/Library/Application Support/opencode/opencode.json", low)
    high = {"PayloadUUID": "x", "mcp": {"corp": {"url": "https://high.example"}}}
    home.write(f"{folder}/ai.opencode.managed.plist", plistlib.dumps(high, fmt=plistlib.FMT_BINARY))
    mine = {"mcp": {"mine": {"type": "local", "command": ["x"]}}}
    home.write(f"{folder}/me/ai.opencode.managed.plist", plistlib.dumps(mine))
    there = found(home, "darwin", USER="me")
    connection = config(there["corp"]).connection
    assert isinstance(connection, Http)
    assert connection.url.text == "https://high.example"
    assert connection.headers["A"].text == "b"
    assert there["mine"].origin.scope == "managed"


@pytest.mark.parametrize(
    "data", [b"bplist00 nonsense", b"<plist><dict>", b"\xff\xfe\x00", b"<!DOCTYPE x [<!ENTITY a 'b'>]>"]
)
def test_a_damaged_property_list_is_a_problem(data: bytes, home: Home) -> None:
    home.write("system/Library/Managed Preferences/ai.opencode.managed.plist", data)
    assert ["property list" in problem.message for problem in find(home, "darwin").problems] == [True]


# --- what is said elsewhere ---------------------------------------------------------------------------------


def test_what_qwen_excludes_without_regard_to_case_stays_off_beside_its_decisions(home: Home) -> None:
    servers = {"GitHub": {"command": "a"}, "Other": {"command": "b"}, "other": {"command": "c"}}
    home.write("home/.qwen/settings.json", {"mcpServers": servers, "mcp": {"excluded": ["GITHUB"]}})
    home.write("home/.qwen/mcpApprovals.json", {str(home.project): {"other": {"status": "rejected"}}})
    assert {name: found(home)[name].config.enabled for name in servers} == {
        "GitHub": False,
        "Other": True,
        "other": False,
    }


@pytest.mark.parametrize(
    ("levels", "trusted"),
    [
        ({"{project}": "TRUST_FOLDER"}, True),
        ({"{project}": "DO_NOT_TRUST"}, False),
        ({"{project}/sub": "TRUST_FOLDER"}, False),
        ({"{folder}": "TRUST_FOLDER"}, True),
        ({"{folder}": "TRUST_FOLDER", "{project}": "DO_NOT_TRUST"}, False),
        ({"{folder}": "DO_NOT_TRUST", "{project}": "TRUST_FOLDER"}, True),
        ({"{folder}/other": "TRUST_PARENT"}, True),
        ({"{project}-more": "TRUST_FOLDER"}, False),
        (["{project}"], False),
        ({"{project}": True}, False),
        ({"{project}": True, "{folder}/another": "TRUST_PARENT"}, True),
    ],
)
def test_gemini_trusts_a_project_as_the_nearest_word_on_its_folders_says(
    levels: Any, trusted: bool, home: Home
) -> None:
    home.write("project/.gemini/settings.json", {"mcpServers": {"a": {"command": "a"}}})
    filled = {path.format(project=home.project, folder=home.folder): level for path, level in dict(levels).items()} if isinstance(levels, dict) else [1]  # fmt: skip
    home.write("home/.gemini/trustedFolders.json", filled)
    assert (found(home)["a"].marked_by is not None) is trusted


def test_no_file_of_a_project_marks_the_project_as_trusted(home: Home) -> None:
    home.write("project/.gemini/settings.json", {"mcpServers": {"a": {"command": "a"}}})
    home.write("project/.gemini/trustedFolders.json", {str(home.project): "TRUST_FOLDER"})
    home.write("project/.qwen/settings.json", {"mcpServers": {"b": {"command": "b"}}})
    home.write("project/.qwen/mcpApprovals.json", {str(home.project): {"b": {"status": "approved"}}})
    home.write("project/.amp/settings.json", {
        "amp.mcpServers": {"c": {"command": "c"}},
        "amp.mcpTrustedServers": [{"serverName": "c", "allow": True}],
    })  # fmt: skip
    assert {name: each.marked_by for name, each in found(home).items()} == {"a": None, "b": None, "c": None}


@pytest.mark.parametrize(
    ("said", "marked"),
    [
        ([{"serverName": "c", "specHash": "x", "allow": True}], True),
        ([{"serverName": "c", "specHash": "x", "allow": False}], False),
        ([{"serverName": "d", "specHash": "x", "allow": True}], False),
        ([{"path": "{project}", "allowAllMcpServers": True}], True),
        ([{"path": "/elsewhere", "allowAllMcpServers": True}], False),
        ({"c": True}, False),
    ],
)
def test_amps_own_record_of_trust_is_shown(said: Any, marked: bool, home: Home) -> None:
    home.write("project/.amp/settings.json", {"amp.mcpServers": {"c": {"command": "c"}}})
    text = f'{{"amp.mcpTrustedServers": {said!r}}}'.replace("'", '"').replace("True", "true").replace("False", "false")
    home.write("home/.config/amp/settings.json", text.replace("{project}", str(home.project)))
    assert (found(home)["c"].marked_by is not None) is marked


@pytest.mark.parametrize(
    ("overrides", "on"),
    [
        ([], True),
        (["!/*"], False),
        (["!/*", "{project}/*"], True),
        (["{project}/*", "!/*"], False),
        (["!{project}/"], False),
        (["!{project}/sub/*"], True),
        (["!{folder}/*"], False),
        (["!{project}x/*"], True),
        (["![a-z/]*"], True),
    ],
)
def test_the_last_rule_that_fits_a_folder_switches_an_extension_of_gemini(
    overrides: list[str], on: bool, home: Home
) -> None:
    home.write("home/.gemini/extensions/kit/gemini-extension.json", {"mcpServers": {"a": {"command": "a"}}})
    rules = [text.format(project=home.project, folder=home.folder) for text in overrides]
    home.write("home/.gemini/extensions/extension-enablement.json", {"kit": {"overrides": rules}})
    assert config(found(home)["a"]).enabled is on


def test_what_lies_in_a_plugin_that_is_off_keeps_nothing_out(home: Home) -> None:
    home.write("home/.codex/config.toml", '[plugins."p@m"]\nenabled = false\n')
    home.write("home/.codex/plugins/cache/m/p/local/.mcp.json", {"a": {"command": "of-the-plugin"}})
    home.write("home/.kiro/settings/mcp.json", {"mcpServers": {"a": {"command": "mine"}}})
    (choice,) = choose(find(home).definitions, lambda definition: "own")
    assert choice.definition.origin.tool == "kiro"
    assert explain(choice.definition, choice.shadowed[0], "own") == "its plugin is turned off"


@pytest.mark.parametrize(
    ("tools", "denied"),
    [
        ({"wiki_delete": False}, ("delete",)),
        ({"wiki_*": False}, ("*",)),
        ({"wi*": False}, ("*",)),
        ({"*": False, "wiki_*": True}, ()),
        ({"wiki_delete": False, "wiki_delete_all": True}, ("delete",)),
        ({"wiki_delete": True}, ()),
        ({"wikipedia_*": False, "other": False}, ()),
    ],
)
def test_opencode_switches_tools_off_by_their_whole_names(tools: Any, denied: tuple[str, ...], home: Home) -> None:
    entry = {"type": "local", "command": ["x"]}
    home.write("home/.config/opencode/opencode.json", {"mcp": {"wiki": entry}, "tools": tools})
    assert config(found(home)["wiki"]).tools_deny == denied


def test_a_projects_list_of_tools_leaves_the_persons_own_server_alone(home: Home) -> None:
    home.write("home/.config/opencode/opencode.json", {"mcp": {"wiki": {"type": "local", "command": ["x"]}}})
    home.write("project/opencode.json", {"tools": {"wiki_*": False}})
    assert config(found(home)["wiki"]).tools_deny == ()


# --- policies -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "pattern", "fits"),
    [
        ("https://a.example/mcp", "*", True),
        ("https://a.example/mcp", "https://a.example/*", True),
        ("https://a.example/mcp", "https://a.example", True),
        ("https://a.example/mcp", "https://a.example/", False),
        ("https://a.example", "https://a.example/", True),
        ("https://A.Example./mcp", "https://a.example/mcp", True),
        ("https://x.a.example/mcp", "https://*.a.example/*", True),
        ("https://a.example/mcp", "https://*.a.example/*", False),
        ("https://evil.example/.a.example/mcp", "https://*.a.example/*", False),
        ("https://me@a.example/mcp", "https://a.example/*", True),
        ("https://a.example@evil.example/mcp", "https://a.example/*", False),
        ("https://a.example:8443/mcp", "https://a.example/*", False),
        ("https://a.example:443/mcp", "https://a.example/*", True),
        ("https://a.example:8443/mcp", "https://a.example:*/*", True),
        ("https://x.example:8443/mcp", "https://*.example/*", True),
        ("http://a.example/mcp", "https://a.example/*", False),
        ("http://a.example/mcp", "*://a.example/*", True),
        ("https://a.example/mcp/deep?q=1", "https://a.example/mcp/*", True),
        ("https://a.example/mcp", "https://a.example/*/deep", False),
        ("https://a.example/mcp", "a.example", False),
    ],
)
def test_an_address_fits_a_pattern_of_claudes_policies(url: str, pattern: str, fits: bool) -> None:
    assert AddressPattern(pattern).matches(url) is fits


def test_lists_of_what_is_allowed_are_one_list_and_hold_for_managed_servers(home: Home) -> None:
    home.write("home/.claude.json", {"mcpServers": {name: {"command": name} for name in ("a", "b", "c")}})
    home.write("home/.claude/settings.json", {"allowedMcpServers": [{"serverName": "a"}]})
    home.write("system/etc/claude-code/managed-settings.json", {
        "allowedMcpServers": [{"serverName": "b"}],
        "managedMcpServers": {"d": {"type": "http", "url": "https://d.example"}},
    })  # fmt: skip
    assert {name: config(each).enabled for name, each in found(home).items()} == {
        "a": True,
        "b": True,
        "c": False,
        "d": False,
    }


def test_a_list_of_what_is_allowed_that_is_no_list_allows_nothing(home: Home) -> None:
    home.write("home/.claude.json", {"mcpServers": {"a": {"command": "a"}}})
    home.write("home/.claude/settings.json", {"allowedMcpServers": "a"})
    assert not config(found(home)["a"]).enabled


def test_a_project_denies_its_own_servers_and_allows_none(home: Home) -> None:
    home.write("home/.claude.json", {"mcpServers": {"mine": {"command": "a"}}})
    home.write("project/.mcp.json", {"mcpServers": {"theirs": {"command": "a"}}})
    home.write("home/.claude/settings.json", {"allowedMcpServers": [{"serverName": "mine"}]})
    command = [{"serverCommand": ["a"]}]
    home.write("project/.claude/settings.json", {"deniedMcpServers": command, "allowedMcpServers": command})
    assert {name: config(each).enabled for name, each in found(home).items()} == {"mine": True, "theirs": False}


@pytest.mark.parametrize(("settings", "enabled"), [({}, True), ({"deniedMcpServers": [{"serverName": "a"}]}, False)])
def test_what_is_switched_on_for_a_session_is_on_unless_a_policy_refuses_it(
    home: Home, settings: dict[str, Any], enabled: bool
) -> None:
    home.write("home/.claude.json", {"mcpServers": {"a": {"command": "a", "disabled": True}}})
    home.write("home/.claude/settings.json", settings)
    assert not home.inventory().find("a").definition.config.enabled
    assert home.inventory(switched_on=frozenset({"a"})).find("a").definition.config.enabled is enabled


@pytest.mark.parametrize(
    ("rules", "enabled"),
    [
        ([{"matches": {"url": "*"}, "action": "reject"}], {"program": True, "remote": False}),
        ([{"matches": {"command": "*"}, "action": "reject"}], {"program": False, "remote": True}),
        (
            [{"matches": {"url": "*"}, "action": "allow"}, {"matches": {"command": "*"}, "action": "reject"}],
            {"program": False, "remote": True},
        ),
    ],
)
def test_a_rule_of_amp_about_addresses_says_nothing_about_programs(
    rules: list[Any], enabled: dict[str, bool], home: Home
) -> None:
    servers = {"program": {"command": "a"}, "remote": {"url": "https://a.example"}}
    home.write("home/.config/amp/settings.json", {"amp.mcpServers": servers, "amp.mcpPermissions": rules})
    assert {name: config(each).enabled for name, each in found(home).items()} == enabled


def test_no_pattern_of_a_project_holds_up_a_scan(home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"a": {"type": "http", "url": "https://a.example/" + "a" * 60_000}}})
    rules = [{"serverUrl": "https://a.example/" + "*a" * 20_000 + "*b"}]
    home.write("project/.claude/settings.json", {"deniedMcpServers": rules})
    began = time.process_time()
    assert config(found(home)["a"]).enabled
    assert time.process_time() - began < 1


# --- single keys --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("written", "port", "uri"), [
    ("127.0.0.1:7778", 7778, None),
    (":7778", 7778, None),
    ("http://127.0.0.1:7778/cb", None, "http://127.0.0.1:7778/cb"),
])  # fmt: skip
def test_where_to_return_to_after_a_login_is_an_address_or_a_port(
    written: str, port: int | None, uri: str | None, home: Home
) -> None:
    entry = {"url": "https://a.example", "oauth": {"redirectUri": written}}
    home.write("home/.kiro/settings/mcp.json", {"mcpServers": {"a": entry}})
    oauth = config(found(home)["a"]).oauth
    assert oauth is not None
    assert (oauth.callback_port, oauth.redirect_uri) == (port, uri)


def test_policies_of_tools_that_cannot_be_read_are_reported_once(home: Home) -> None:
    home.write("home/.claude.json", {"mcpServers": {"a": {"command": "a", "tools": "all"}}})
    assert [problem.message.split()[0] for problem in find(home).problems] == ["`tools`"]


def test_atomic_lets_a_server_rest_for_minutes(home: Home) -> None:
    servers = {"own": {"command": "x", "idleTimeout": 2}, "common": {"command": "x"}}
    home.write("home/.atomic/agent/mcp.json", {"settings": {"idleTimeout": 10}, "mcpServers": servers})
    assert {name: config(each).idle_timeout for name, each in found(home).items()} == {"own": 120.0, "common": 600.0}


def test_gemini_may_forbid_a_login(home: Home) -> None:
    entry = {"url": "https://a.example", "oauth": {"enabled": False, "clientId": "x"}}
    home.write("home/.gemini/settings.json", {"mcpServers": {"a": entry}})
    oauth = config(found(home)["a"]).oauth
    assert oauth is not None
    assert not oauth.enabled


@pytest.mark.parametrize(
    ("tools", "allowed"),
    [(["*"], None), (["@git"], None), (["@git/log", "fs_read"], ("log",)), (["fs_read"], ()), ("@git", None)],
)
def test_an_agent_of_amazon_q_offers_the_tools_that_it_lists(tools: Any, allowed: Any, home: Home) -> None:
    home.write("home/.aws/amazonq/cli-agents/dev.json", {"mcpServers": {"git": {"command": "git"}}, "tools": tools})
    assert config(found(home)["git"]).tools_allow == allowed


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=12,
    )
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_tool_keeps_about_trust_and_plugins_a_scan_does_not_raise(value: Any, home: Home) -> None:
    for path in (
        "home/.gemini/trustedFolders.json",
        "home/.gemini/extensions/extension-enablement.json",
    ):
        home.write(path, {"kit": value, str(home.project): value})
    home.write("home/.gemini/extensions/kit/gemini-extension.json", {"mcpServers": {"a": {"command": "a"}}})
    home.write("home/.qwen/mcpApprovals.json", {str(home.project): value})
    home.write("home/.config/amp/settings.json", {"amp.mcpTrustedServers": value})
    home.write("project/.qwen/settings.json", {"mcpServers": {"b": {"command": "b"}}})
    for registry in (".claude", ".omp", ".factory"):
        home.write(f"home/{registry}/plugins/installed_plugins.json", {"plugins": {"p@m": value}})
        home.write(f"home/{registry}/settings.json", {"enabledPlugins": value, "pluginConfigs": value})
    home.write("home/.copilot/config.json", {"installedPlugins": value, "trusted_folders": value})
    home.write("home/.claude/plugins/p/.claude-plugin/plugin.json", {"mcpServers": value})
    home.write("home/.claude/settings.json", {"allowedMcpServers": value, "deniedMcpServers": value})
    register(home, "q@m", str(home.home / ".claude/plugins/p"))
    assert "a" in found(home)


AMP_PROGRAM = {"command": "npx", "args": ["-y", "evil-server"]}


@pytest.mark.parametrize(
    ("rules", "refused"),
    [
        ([{"matches": {"command": "npx -y evil-*"}, "action": "reject"}], True),
        ([{"matches": {"command": "*evil*"}, "action": "reject"}], True),
        ([{"matches": {"command": ["uvx*", "npx*"]}, "action": "reject"}], True),
        ([{"matches": {"command": ["uvx*", "docker*"]}, "action": "reject"}], False),
        ([{"matches": {"command": "/evil-.*/"}, "action": "reject"}], True),
        ([{"matches": {"command": "/^npx -y evil-server$/"}, "action": "reject"}], True),
        ([{"matches": {"command": "/EVIL/i"}, "action": "reject"}], True),
        ([{"matches": {"command": "/good-.*/"}, "action": "reject"}], False),
        ([{"matches": {"command": "/(good|fine)-server/"}, "action": "reject"}], True),  # not told, so it applies
        ([{"matches": {"command": "/(evil|bad)/"}, "action": "allow"}, {"action": "reject"}], True),
        ([{"matches": {"args": {"contains": "x"}}, "action": "reject"}], True),
        ([{"matches": {"command": 7}, "action": "reject"}], True),
        ([{"matches": {"signature": "*"}, "action": "reject"}], True),
        ([{"matches": {"url": "*"}, "action": "reject"}], False),
        ([{"matches": {"url": ["/(a|b)/"]}, "action": "reject"}], False),
        ([{"action": "reject"}], True),
        (["reject"], True),
        ({"matches": {"command": "*"}, "action": "reject"}, True),
        ([{"matches": {"command": "*"}, "action": "ask"}], True),
        ([{"matches": {"command": "npx"}, "action": "allow"}, {"matches": {"command": "*"}, "action": "reject"}], True),
        ([{"matches": {"command": "npx", "args": "*evil*"}, "action": "allow"}, {"action": "reject"}], False),
        ([{"matches": {"command": "npx -y *"}, "action": "allow"}, {"action": "reject"}], False),
        ([{"matches": {"command": "NPX -y *"}, "action": "allow"}, {"action": "reject"}], True),
        ([{"matches": {"command": "N\u200bPX*"}, "action": "reject"}], True),
        ([{"matches": {"command": "*"}, "action": "allow"}, {"action": "reject"}], False),
        ([], False),
        (None, False),
    ],
)
def test_a_rule_of_amps_that_cannot_be_read_in_full_rejects(rules: Any, refused: bool, home: Home) -> None:
    home.write("home/.config/amp/settings.json", {"amp.mcpServers": {"x": AMP_PROGRAM}, "amp.mcpPermissions": rules})
    assert (found(home)["x"].config.disabled_by is not None) == refused
