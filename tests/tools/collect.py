"""Writes data/tools.json.gz: what real servers of npm and PyPI list, asked by our own client.

`python tests/tools/collect.py [NAME …]` asks those named, or all, and keeps what it has of the others. Needs npx and
uvx. No server needs an account: each is given made-up credentials, and lists its tools without using them.
"""

import gzip
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

KEPT = Path(__file__).parent / "data" / "tools.json.gz"
CACHE = Path(__file__).parents[2] / ".cache" / "collect"
PATIENCE = 120


class Npm(NamedTuple):
    """A package of npm, the words after it, and what it must find in its environment."""

    package: str
    words: str = ""
    env: str = ""

    @property
    def command(self) -> str:
        return f"npx -y {self.package} {self.words}"


class Pypi(NamedTuple):
    """A package of PyPI, its command where that is not its name, and what it must find in its environment."""

    package: str
    words: str = ""
    env: str = ""

    @property
    def command(self) -> str:
        return f"uvx --from {self.package} {self.words or self.package.partition('==')[0]}"


SERVERS: Mapping[str, Npm | Pypi] = {
    "airtable": Npm("airtable-mcp-server@1.14.0", env="AIRTABLE_API_KEY=pat123.abc"),
    "arxiv": Pypi("arxiv-mcp-server==0.8.2"),
    "aws-docs": Pypi("awslabs.aws-documentation-mcp-server==1.2.3"),
    "brave": Npm("@brave/brave-search-mcp-server@2.1.4", env="BRAVE_API_KEY=x"),
    "browserbase": Npm(
        "@browserbasehq/mcp-server-browserbase@2.4.3", env="BROWSERBASE_API_KEY=x BROWSERBASE_PROJECT_ID=x"
    ),
    "chrome-devtools": Npm("chrome-devtools-mcp@1.11.0"),
    "circleci": Npm("@circleci/mcp-server-circleci@0.20.0", env="CIRCLECI_TOKEN=x"),
    "clickhouse": Pypi(
        "mcp-clickhouse==0.7.0", env="CLICKHOUSE_HOST=localhost CLICKHOUSE_USER=x CLICKHOUSE_PASSWORD=x"
    ),
    "cloudwatch": Pypi("awslabs.cloudwatch-mcp-server==0.3.1", env="AWS_REGION=us-east-1"),
    "context7": Npm("@upstash/context7-mcp@4.1.1"),
    "discord": Npm("mcp-discord@1.3.4", "--config x"),
    "dynamodb": Pypi("awslabs.dynamodb-mcp-server==2.1.8", env="AWS_REGION=us-east-1"),
    "elasticsearch": Npm("@elastic/mcp-server-elasticsearch@0.3.1", env="ES_URL=http://localhost:9200 ES_API_KEY=x"),
    "elevenlabs": Pypi("elevenlabs-mcp==0.12.2", env="ELEVENLABS_API_KEY=x"),
    "email": Pypi("mcp-email-server==1.13.3", "mcp-email-server stdio"),
    "everything": Npm("@modelcontextprotocol/server-everything@2026.8.31"),
    "exa": Npm("exa-mcp-server@3.4.1", env="EXA_API_KEY=x"),
    "excel": Pypi("excel-mcp-server==2.2.2", "excel-mcp-server stdio"),
    "fetch": Pypi("mcp-server-fetch==2026.10.24"),
    "figma": Npm("figma-developer-mcp@0.13.2", "--stdio", "FIGMA_API_KEY=x"),
    "filesystem": Npm("@modelcontextprotocol/server-filesystem@2026.8.31", "/tmp"),
    "firecrawl": Npm("firecrawl-mcp@3.26.0", env="FIRECRAWL_API_KEY=fc-x"),
    "git": Pypi("mcp-server-git==2026.10.19"),
    "github": Npm("@modelcontextprotocol/server-github@2025.4.8", env="GITHUB_PERSONAL_ACCESS_TOKEN=x"),
    "gitlab": Npm("@zereight/mcp-gitlab@2.1.64", env="GITLAB_PERSONAL_ACCESS_TOKEN=x"),
    "google-maps": Npm("@modelcontextprotocol/server-google-maps@0.6.2", env="GOOGLE_MAPS_API_KEY=x"),
    "grafana": Pypi("mcp-grafana==2.1.1", env="GRAFANA_URL=http://localhost:3000 GRAFANA_API_KEY=x"),
    "home-assistant": Pypi("ha-mcp==3.5.1", env="HOMEASSISTANT_URL=http://localhost:8123 HOMEASSISTANT_TOKEN=x"),
    "hubspot": Npm("@hubspot/mcp-server@0.4.0", env="PRIVATE_APP_ACCESS_TOKEN=pat-x"),
    "jira": Pypi(
        "mcp-atlassian==0.23.1",
        env="JIRA_URL=https://x.atlassian.net JIRA_USERNAME=x JIRA_API_TOKEN=x CONFLUENCE_URL=https://x.atlassian.net/wiki CONFLUENCE_USERNAME=x CONFLUENCE_API_TOKEN=x",
    ),
    "kubernetes": Npm("mcp-server-kubernetes@4.1.7"),
    "launchdarkly": Npm("@launchdarkly/mcp-server@0.6.2", "start --api-key x"),
    "linear": Npm("mcp-server-linear@1.6.0", env="LINEAR_API_KEY=lin_api_x LINEAR_ACCESS_TOKEN=x"),
    "memory": Npm("@modelcontextprotocol/server-memory@2026.8.31"),
    "mobile": Npm("@mobilenext/mobile-mcp@1.0.4"),
    "mongodb": Npm("mongodb-mcp-server@3.0.4", env="MDB_MCP_CONNECTION_STRING=mongodb://localhost:27017/x"),
    "neo4j": Pypi("mcp-neo4j-cypher==0.6.0", env="NEO4J_URI=bolt://localhost:7687 NEO4J_USERNAME=x NEO4J_PASSWORD=x"),
    "netlify": Npm("@netlify/mcp@1.15.1"),
    "notion": Npm("@notionhq/notion-mcp-server@2.5.2", env="NOTION_TOKEN=ntn_x"),
    "obsidian": Pypi("mcp-obsidian==0.2.3", env="OBSIDIAN_API_KEY=x"),
    "playwright": Npm("@playwright/mcp@0.0.83"),
    "postgres": Npm("@modelcontextprotocol/server-postgres@0.6.2", "postgresql://localhost/x"),
    "postman": Npm("@postman/postman-mcp-server@2.13.0", env="POSTMAN_API_KEY=x"),
    "powerpoint": Pypi("office-powerpoint-mcp-server==2.0.7 --with mcp<2", "ppt_mcp_server"),
    "redis": Pypi("redis-mcp-server==0.5.1"),
    "sentry": Npm("@sentry/mcp-server@0.39.0", "--access-token=x", "SENTRY_ACCESS_TOKEN=x"),
    "sequential-thinking": Npm("@modelcontextprotocol/server-sequential-thinking@2026.8.31"),
    "slack": Npm("@modelcontextprotocol/server-slack@2025.4.25", env="SLACK_BOT_TOKEN=xoxb-x SLACK_TEAM_ID=T1"),
    "tavily": Npm("tavily-mcp@0.2.22", env="TAVILY_API_KEY=x"),
    "time": Pypi("mcp-server-time==2026.10.19"),
    "trello": Npm("@delorenj/mcp-server-trello@1.8.1", env="TRELLO_API_KEY=x TRELLO_TOKEN=x"),
    "word": Pypi("office-word-mcp-server==1.1.11", "word_mcp_server"),
    "wikipedia": Pypi("wikipedia-mcp==2.0.1"),
    "workspace": Pypi(
        "workspace-mcp==2.2.1",
        "workspace-mcp --tools calendar drive",
        "GOOGLE_OAUTH_CLIENT_ID=x GOOGLE_OAUTH_CLIENT_SECRET=x",
    ),
    "youtube": Pypi("mcp-youtube-transcript==0.3.5 --with mcp<2", "mcp-youtube-transcript"),
    "zotero": Pypi("zotero-mcp-server==0.15.1", "zotero-mcp", "ZOTERO_LOCAL=true"),
}


def main(wanted: Iterable[str]) -> None:
    kept: dict[str, Any] = json.loads(gzip.decompress(KEPT.read_bytes())) if KEPT.exists() else {}
    with ThreadPoolExecutor(2) as pool:
        for name, found in pool.map(_ask, wanted):
            if isinstance(found, str):
                _say(f"{name}: {found}")
            else:
                kept[name] = {"package": SERVERS[name].package, "tools": found}
                _say(f"{name}: {len(found)} tools")
    _keep({name: kept[name] for name in SERVERS if name in kept})


def _ask(name: str) -> tuple[str, list[dict[str, Any]] | str]:
    with tempfile.TemporaryDirectory() as home:
        asked = subprocess.run(
            _command(SERVERS[name]), capture_output=True, text=True, env=_environment(home), cwd=home
        )
    if asked.returncode:
        return name, " ".join(asked.stderr.split())[-300:]
    return name, [_kept(tool) for tool in json.loads(asked.stdout)["tools"]]


def _kept(tool: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool["tool"], "description": tool["description"], "inputSchema": tool["inputSchema"]}


def _command(server: Npm | Pypi) -> list[str]:
    given = [word for pair in shlex.split(server.env) for word in ("-e", pair)]
    kept = [f"npm_config_cache={CACHE / 'npm'}", f"UV_CACHE_DIR={CACHE / 'uv'}"]
    given += [word for pair in kept for word in ("-e", pair)]
    mooring = [sys.executable, "-m", "mooring", "tools", "--json", "--timeout", str(PATIENCE)]
    return [*mooring, *given, "--server", server.command]


def _environment(home: str) -> dict[str, str]:
    return {**os.environ, "HOME": home, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def _keep(kept: Mapping[str, Any]) -> None:
    data = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()
    KEPT.write_bytes(gzip.compress(data, 9, mtime=0))
    tools = sum(len(server["tools"]) for server in kept.values())
    _say(f"{tools} tools of {len(kept)} servers, {KEPT.stat().st_size // 1024} KB")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1:] or SERVERS)
