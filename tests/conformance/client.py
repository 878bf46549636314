"""The client under test in the official conformance suite: everything it says is said by the library.

It uses all that a server offers, once: it calls every tool, reads every resource, fills in every prompt. Where the
scenario is about logging in, it does so through a host, and logs in when it is refused.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp

import mooring

SAMPLES: dict[str, Any] = {"string": "text", "integer": 2, "number": 3, "boolean": True, "array": [], "object": {}}
MOST_LOGINS = 3
"""How often one request is worth a login: a server may refuse for ever."""
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""Where the scenarios expect the document that describes the client."""
KEYS = {
    "client_id": "clientId",
    "client_secret": "clientSecret",
    "private_key_pem": "privateKey",
    "valid_jwt": "assertion",
    "idp_id_token": "idToken",
    "idp_token_endpoint": "idpTokenEndpoint",
    "idp_client_id": "idpClientId",
}
"""The keys of a scenario's context, and those of a definition."""


async def main(url: str) -> None:
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    if scenario.startswith("auth/"):
        await use_with_login(url, scenario, context)
    else:
        await use_freely(url, context)


async def use_freely(url: str, context: Mapping[str, Any]) -> None:
    async with mooring.connect(url, client=mooring.Client(elicit=accept)) as session:
        for name, arguments in calls(session, context):
            await tolerate(session.call_tool(name, arguments))
        for resource in (await session.list_resources()).items:
            await tolerate(session.read_resource(resource.uri))
        for prompt in (await session.list_prompts()).items:
            await tolerate(session.get_prompt(prompt.name, {each.name: "text" for each in prompt.arguments or ()}))


async def use_with_login(url: str, scenario: str, context: Mapping[str, Any]) -> None:
    entry = {"type": "http", "url": url, "oauth": login_block(scenario, context)}
    async with mooring.open(servers={"it": entry}, ask=log_in, policy="allow", remember=False) as host:
        await with_logins(host, lambda: connect(host))
        for tool in host.tools:
            await with_logins(host, lambda tool=tool: tolerate(host.call(tool, needed(tool.schema))))


def login_block(scenario: str, context: Mapping[str, Any]) -> dict[str, Any]:
    block = {KEYS[key]: value for key, value in context.items() if key in KEYS}
    return {**block, "grantType": "client_credentials"} if "client-credentials" in scenario else block


async def connect(host: mooring.Host) -> None:
    errors = await host.ready(servers=["it"], refresh=True)
    for error in errors.values():
        raise error


async def with_logins(host: mooring.Host, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work; log in each time that it is refused, as a person would."""
    for _ in range(MOST_LOGINS):
        try:
            return await work()
        except mooring.NeedsLogin as refusal:
            await host.login("it", scopes=refusal.scope.split() if refusal.status == 403 else ())
    return await work()


async def log_in(question: mooring.Question) -> mooring.Answer:
    """A person whose browser shows the page and comes back."""
    if isinstance(question, mooring.Login):
        async with aiohttp.ClientSession() as browser, browser.get(question.url) as page:
            await page.read()
    return mooring.Yes()


def calls(session: mooring.Session, context: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The calls a scenario asks for, or each tool with the arguments it cannot do without."""
    if wanted := context.get("toolCalls"):
        return [(call["name"], call["arguments"]) for call in wanted]
    return [(tool.name, needed(tool.schema)) for tool in session.tools.items]


def needed(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {name: SAMPLES.get(properties.get(name, {}).get("type"), "text") for name in schema.get("required", ())}


async def accept(params: dict[str, Any]) -> Mapping[str, Any]:
    """A person who sends every form as it was shown to them."""
    fields = params.get("requestedSchema", {}).get("properties", {})
    content = {name: field["default"] for name, field in fields.items() if "default" in field}
    return {"action": "accept", "content": content}


async def tolerate(work: Any) -> None:
    """A server may well refuse; the connection must not suffer from it."""
    try:
        await work
    except mooring.RpcError as error:
        sys.stderr.write(f"{error}\n")


def settle_in(home: str) -> None:
    """Keep what is stored in a folder of its own, and away from the keyring of whoever runs this."""
    for name, folder in {"HOME": "", "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "s", "XDG_CACHE_HOME": "k"}.items():
        os.environ[name] = str(Path(home, folder))
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    settings = Path(home, "c", "mooring", "settings.json")
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"clientMetadataUrl": DOCUMENT}))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        settle_in(folder)
        asyncio.run(main(sys.argv[-1]))
