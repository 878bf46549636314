"""Logins through the host: an issuer and a server on loopback, a browser that agrees, and everything that may go wrong."""

import asyncio
import json
import time
from typing import Any

import pytest
from aiohttp import web

import mooring
from mooring.core.conversation.status import Connected, NeedsAuth
from mooring.host.host import Host
from mooring.testing import Issuer, Site, log_in
from support import Home


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")


def opened(home: Home, site: Site, ask: Any = log_in, **oauth: Any) -> Host:
    entry: dict[str, Any] = {"type": "http", "url": site.url}
    if oauth:
        entry["oauth"] = oauth
    return mooring.open(request=home.request(), policy="allow", servers={"web": entry}, ask=ask)


async def say(host: Host, text: str = "hi") -> str:
    return (await host.call("web.echo", {"text": text})).text


def stored(home: Home) -> dict[str, Any]:
    """What the store holds, by name."""
    path = home.home / ".local/state/mooring/secrets/values.json"
    if not path.exists():
        return {}
    return json.loads(path.read_text())["values"].get("oauth", {})


def stored_token(home: Home) -> Any:
    return next(json.loads(text) for name, text in stored(home).items() if name.startswith("token "))


# --- logging in ---------------------------------------------------------------------------------------------------


async def test_a_server_that_wants_a_login_says_which_command_logs_in(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        with pytest.raises(mooring.NeedsLogin, match="Log in with: mooring mcp login web"):
            await say(host)
        assert isinstance(host.status()["web"], NeedsAuth)


async def test_one_login_serves_this_host_and_the_next(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        async with opened(home, site) as host:
            done = await host.login("web")
            assert (done.issuer, done.refreshes) == (issuer.url, True)
            assert await say(host) == "hi"
        async with opened(home, site, ask=None) as host:
            assert await say(host, "again") == "again"
            assert isinstance(host.status()["web"], Connected)
        assert issuer.count("authorization_code") == 1


async def test_another_person_has_to_log_in_for_themselves(home: Home, tmp_path: Any) -> None:
    other = Home(tmp_path / "other")
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        async with opened(home, site) as host:
            await host.login("web")
        async with opened(other, site) as host:
            with pytest.raises(mooring.NeedsLogin):
                await say(host)


async def test_a_stateless_server_is_logged_in_to_just_so(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer, stateless=True) as site, opened(home, site) as host:
        await host.login("web")
        assert await say(host) == "hi"


class Lenient(Site):
    """Offers something to everybody, and more to those who are logged in."""

    def _check_token(self, heard: Any, issuer: Issuer) -> Any:
        refusal = super()._check_token(heard, issuer)
        is_known = refusal is None
        names = ["echo", "secret"] if is_known else ["echo"]
        self.tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
        return refusal if heard.request.path.startswith("/.well-known") else None


async def test_a_server_that_is_used_without_a_login_offers_more_after_one(home: Home) -> None:
    async with Issuer() as issuer, Lenient(issuer=issuer) as site, opened(home, site) as host:
        assert await say(host) == "hi"
        assert [tool.tool for tool in host.tools] == ["echo"]
        await host.login("web")
        await host.ready(servers=["web"], refresh=True)
        assert [tool.tool for tool in host.tools] == ["echo", "secret"]


async def test_a_second_login_keeps_the_connection_and_its_session(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer, session="one") as site, opened(home, site) as host:
        await host.login("web")
        await say(host)
        await host.login("web")
        assert await say(host) == "hi"
        assert len([heard for heard in site.said("initialize") if "Authorization" in heard.headers]) == 1


async def test_the_question_names_the_issuer_and_a_no_ends_the_login(home: Home) -> None:
    asked: list[mooring.Question] = []

    async def refuse(question: mooring.Question) -> mooring.Answer:
        asked.append(question)
        return mooring.No()

    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site, refuse) as host:
        with pytest.raises(mooring.Denied, match="canceled"):
            await host.login("web")
        assert isinstance(asked[0], mooring.Login)
        assert (asked[0].server, asked[0].issuer) == ("web", issuer.url)
        assert stored(home) == {}


async def test_a_login_that_nobody_completes_times_out_in_the_agreed_words(home: Home) -> None:
    async def wait(question: mooring.Question) -> mooring.Answer:
        await asyncio.sleep(60)
        return mooring.Yes()

    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site, wait) as host:
        with pytest.raises(mooring.LoginTimedOut) as caught:
            await host.login("web", timeout=0.3)
        assert str(caught.value) == "OAuth flow timed out. Please try again."


async def test_without_anybody_to_ask_no_login_is_begun(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site, None) as host:
        with pytest.raises(mooring.Denied):
            await host.login("web")


async def test_pitfall_headless_a_redirect_can_be_pasted_where_the_browser_is_on_another_machine(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:

        async def paste(question: mooring.Question) -> mooring.Answer:
            assert isinstance(question, mooring.Login)
            query = question.url.partition("?")[2]
            fields = dict(pair.split("=") for pair in query.split("&"))
            from urllib.parse import unquote

            answer = issuer._authorize({key: unquote(value) for key, value in fields.items()})
            return mooring.Yes(answer.headers["Location"])

        async with opened(home, site, paste) as host:
            await host.login("web")
            assert await say(host) == "hi"


async def test_something_else_that_is_pasted_is_refused(home: Home) -> None:
    async def paste(question: mooring.Question) -> mooring.Answer:
        return mooring.Yes("http://127.0.0.1:1/elsewhere?code=1")

    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site, paste) as host:
        with pytest.raises(mooring.LoginFailed, match="the pasted text is not the address"):
            await host.login("web")


async def test_the_client_of_the_definition_is_used_and_nobody_registers(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        issuer.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_basic"]}
        async with opened(home, site, clientId="mine", clientSecret="canary-secret", scopes=["a", "b"]) as host:
            done = await host.login("web")
            assert await say(host) == "hi"
        paths = [path for path, _ in issuer.heard]
        asked = dict(issuer.heard)["/token"]
    assert "/register" not in paths
    assert (asked["client_id"], asked["client_secret"], asked["by"]) == ("mine", "canary-secret", "basic")
    assert done.scopes == ("a", "b")


async def test_a_pinned_port_is_where_the_browser_comes_back_to(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        async with Site() as free:
            port = int(free.origin.rpartition(":")[2])
        async with opened(home, site, callbackPort=port) as host:
            await host.login("web")
        assert dict(issuer.heard)["/authorize"]["redirect_uri"] == f"http://127.0.0.1:{port}/callback"


async def test_a_definition_that_forbids_logins_is_not_logged_in_to(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site, enabled=False) as host:
        with pytest.raises(mooring.LoginFailed, match="oauth: false"):
            await host.login("web")


async def test_a_token_in_the_definition_is_sent_and_no_login_instead(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        async with opened(home, site) as host:
            await host.login("web")
        entry = {"type": "http", "url": site.url, "headers": {"Authorization": "Bearer mine"}}
        async with mooring.open(request=home.request(), policy="allow", servers={"web": entry}) as host:
            with pytest.raises(mooring.NeedsLogin) as caught:
                await say(host)
            assert "mooring mcp login" not in str(caught.value)
        assert site.heard[-1].headers["Authorization"] == "Bearer mine"


async def test_a_program_is_nothing_to_log_in_to(home: Home) -> None:
    servers = {"program": {"command": "true"}}
    async with mooring.open(request=home.request(), servers=servers, ask=log_in) as host:
        with pytest.raises(mooring.ConfigError, match="program is not behind a URL, so there is nothing to log in to"):
            await host.login("program")


async def test_pitfall_headless_a_code_for_another_device_is_used_where_no_browser_can_come_back(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        shown: list[str] = []

        async def enter(question: mooring.Question) -> mooring.Answer:
            assert isinstance(question, mooring.Login)
            shown.append(question.code)
            issuer.device_is_approved = True
            return mooring.Yes()

        async with opened(home, site, enter) as host:
            await host.login("web", browser=False)
            assert await say(host) == "hi"
    assert shown == ["ABCD-EFGH"]


async def test_a_client_can_log_in_for_itself_and_again_when_its_token_has_ended(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        oauth = {"clientId": "mine", "clientSecret": "canary-secret", "grantType": "client_credentials"}
        async with opened(home, site, None, **oauth) as host:
            await host.login("web")
            assert await say(host) == "hi"
            issuer.expire()
            assert await say(host) == "hi"
        assert issuer.count("client_credentials") == 2
        assert issuer.count("refresh_token") == 0


async def test_a_logout_revokes_removes_and_disconnects(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        await say(host)
        done = await host.logout("web")
        assert (done.issuer, done.revoked, done.problem) == (issuer.url, True, "")
        assert len(issuer.revoked) == 1
        assert [name for name in stored(home) if not name.startswith("client ")] == []
        with pytest.raises(mooring.NeedsLogin):
            await say(host)
        assert (await host.logout("web")).issuer == ""


async def test_a_logout_removes_the_token_even_if_its_issuer_does_not_answer(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        issuer.answers["/revoke"] = lambda _: web.Response(status=500)
        done = await host.logout("web")
        assert (done.revoked, done.problem) == (False, f"{issuer.url} did not revoke it")
        assert [name for name in stored(home) if name.startswith("token ")] == []


# --- what goes wrong, each in one sentence ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metadata", "resource", "reason"),
    [
        ({"issuer": "https://elsewhere.example"}, {}, "belongs to another issuer, https://elsewhere.example"),
        ({"code_challenge_methods_supported": None}, {}, "does not say that it supports PKCE with S256"),
        ({"code_challenge_methods_supported": ["plain"]}, {}, "does not say that it supports PKCE with S256"),
        ({}, {"resource": "https://evil.example/mcp"}, "says that it is another resource, https://evil.example/mcp"),
        ({"token_endpoint": "file:///etc/passwd"}, {}, "'file:///etc/passwd' is not an https:// URL"),
        ({"token_endpoint": "http://192.0.2.1/token"}, {}, "'http://192.0.2.1/token' is not an https:// URL"),
        ({"authorization_endpoint": "javascript:alert(1)"}, {}, "'javascript:alert(1)' is not an https:// URL"),
        ({"registration_endpoint": None}, {}, "registers no clients by itself"),
        ({"token_endpoint": None}, {}, "names no token endpoint"),
    ],
)  # fmt: skip
async def test_what_must_not_be_trusted_is_refused_before_anybody_is_asked(
    home: Home, metadata: dict[str, Any], resource: dict[str, Any], reason: str
) -> None:
    async def never(question: mooring.Question) -> mooring.Answer:
        raise AssertionError("nobody should be asked")

    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site, never) as host:
        issuer.metadata, site.resource = metadata, resource
        with pytest.raises(mooring.LoginFailed) as caught:
            await host.login("web")
        assert str(caught.value).startswith("OAuth authentication failed: ")
        assert reason in str(caught.value)
        assert stored(home) == {}


async def test_metadata_on_another_host_is_not_read(home: Home) -> None:
    async with Issuer() as issuer, Site() as site, Site() as other, opened(home, site) as host:
        challenge = f'Bearer resource_metadata="{other.origin}/metadata"'
        headers = {"WWW-Authenticate": challenge}
        site.answers["initialize"] = lambda heard: web.Response(status=401, headers=headers)
        with pytest.raises(mooring.LoginFailed, match="keeps its login metadata on another host"):
            await host.login("web")
        assert other.heard == []
        assert issuer.heard == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"state": "another"}, "another state"),
        ({"iss": "https://evil.example"}, "comes from another issuer"),
        ({"iss": None}, "does not name its issuer"),
        ({"code": ""}, "sent no code"),
        ({"code": None, "error": "access_denied", "error_description": "no way"}, "refused: no way"),
        ({"state": "another", "error": "x", "error_description": "canary words"}, "another state"),
    ],
)
async def test_an_answer_that_is_not_the_answer_is_refused(home: Home, change: dict[str, Any], reason: str) -> None:
    from urllib.parse import urlencode

    def answer(fields: dict[str, str]) -> web.Response:
        back = {"code": "code", "state": fields["state"], "iss": issuer.url, **change}
        query = urlencode({key: value for key, value in back.items() if value is not None})
        return web.Response(status=302, headers={"Location": f"{fields['redirect_uri']}?{query}"})

    async def click(question: mooring.Question) -> mooring.Answer:
        await log_in(question)
        await asyncio.sleep(30)
        return mooring.Yes()

    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site, click) as host:
        issuer.answers["/authorize"] = answer
        with pytest.raises(mooring.LoginFailed) as caught:
            await host.login("web")
        assert reason in str(caught.value)
        assert "canary" not in str(caught.value)
        assert issuer.count("authorization_code") == 0


async def test_a_replayed_answer_is_refused(home: Home) -> None:
    pages: list[str] = []

    def remember(fields: dict[str, str]) -> web.Response:
        response = issuer._authorize(fields)
        if pages:
            old = pages[0].partition("?")[2]
            return web.Response(status=302, headers={"Location": f"{fields['redirect_uri']}?{old}"})
        pages.append(response.headers["Location"])
        return response

    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        issuer.answers["/authorize"] = remember
        await host.login("web")
        with pytest.raises(mooring.LoginFailed, match="another state"):
            await host.login("web")
        # What was there before is still there.
        assert await say(host) == "hi"


async def test_a_server_without_any_metadata_is_reported_in_the_agreed_words(home: Home) -> None:
    async with Site() as site, opened(home, site) as host:
        site.answers["initialize"] = lambda heard: web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})
        with pytest.raises(mooring.LoginFailed) as caught:
            await host.login("web")
    assert str(caught.value).startswith("Authentication required for web")
    assert "OAuth endpoints could not be discovered" in str(caught.value)


async def test_pkce_can_be_assumed_for_one_server_that_does_not_announce_it(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site, pkce="assume") as host:
        issuer.metadata = {"code_challenge_methods_supported": None}
        await host.login("web")
        assert await say(host) == "hi"


# --- the pitfalls of the field ------------------------------------------------------------------------------------


async def test_pitfall_reuse_detection_a_hundred_calls_at_expiry_refresh_once(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        await say(host)
        issuer.expire()
        answers = await asyncio.gather(*(say(host, str(number)) for number in range(100)))
        assert answers == [str(number) for number in range(100)]
        assert issuer.count("refresh_token") == 1
        assert issuer.revoked == set()


async def test_pitfall_reuse_detection_two_hosts_at_expiry_refresh_once(home: Home) -> None:
    async with (
        Issuer() as issuer,
        Site(issuer=issuer) as site,
        opened(home, site) as first,
        opened(home, site) as second,
    ):
        await first.login("web")
        await say(first)
        await say(second)
        issuer.expire()
        assert await asyncio.gather(say(first), say(second)) == ["hi", "hi"]
        assert issuer.count("refresh_token") == 1
        assert issuer.revoked == set()


async def test_pitfall_the_loser_deletes_the_winner_only_what_was_sent_is_removed(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        await say(host)
        old = stored_token(home)

        def log_in_elsewhere_then_refuse(fields: dict[str, str]) -> web.Response:
            # Another program logs in while this refresh is under way.
            path = home.home / ".local/state/mooring/secrets/values.json"
            data = json.loads(path.read_text().replace(old["refresh"], "the-winners"))
            del data["checksum"]
            path.write_text(json.dumps(data))
            return web.json_response({"error": "invalid_grant"}, status=400)

        issuer.expire()
        issuer.answers["/token"] = log_in_elsewhere_then_refuse
        with pytest.raises(mooring.NeedsLogin):
            await say(host)
        assert stored_token(home)["refresh"] == "the-winners"


async def test_pitfall_invalid_grant_removes_the_token_and_wants_a_login(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        await say(host)
        issuer.expire()
        issuer.refresh_tokens.clear()
        with pytest.raises(mooring.NeedsLogin, match="mooring mcp login web"):
            await say(host)
        assert [name for name in stored(home) if name.startswith("token ")] == []
        await host.login("web")
        assert await say(host) == "hi"


async def test_pitfall_forgotten_expiry_a_stored_token_is_refreshed_before_it_ends(home: Home) -> None:
    async with Issuer(seconds=2) as issuer, Site(issuer=issuer) as site:
        async with opened(home, site) as host:
            await host.login("web")
        token = stored_token(home)
        assert token["expires_at"] - token["obtained_at"] == pytest.approx(2)
        assert (token["endpoint"], token["resource"]) == (f"{issuer.url}/token", site.url)
        await asyncio.sleep(max(0.0, token["obtained_at"] + 1.1 - time.time()))
        refused = len(site.heard)
        async with opened(home, site, None) as host:
            assert await say(host) == "hi"
        assert issuer.count("refresh_token") == 1
        # Ahead of its end: the server never had to refuse it.
        assert all("Authorization" in heard.headers for heard in site.heard[refused:])


async def test_pitfall_resource_is_sent_byte_for_byte(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer, path="/MCP/") as site, opened(home, site) as host:
        site.resource = {"resource": f"{site.origin}/MCP"}
        await host.login("web")
    sent = [fields["resource"] for path, fields in issuer.heard if path in ("/authorize", "/token")]
    assert sent == [f"{site.origin}/MCP"] * 2


async def test_pitfall_two_resources_on_one_host_have_tokens_of_their_own(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer, path="/a") as site:
        async with opened(home, site) as host:
            await host.login("web")
        site.path = "/b"
        async with opened(home, site, None) as host:
            with pytest.raises(mooring.NeedsLogin):
                await say(host)
            assert all("Authorization" not in heard.headers for heard in site.heard if heard.request.path == "/b")


@pytest.mark.parametrize(("listed", "own"), [("/", ""), ("", "/")])
async def test_pitfall_one_slash_at_the_end_of_an_issuer_is_overlooked_and_noted(
    home: Home, listed: str, own: str
) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        site.resource = {"authorization_servers": [f"{issuer.url}{listed}"]}
        issuer.metadata = {"issuer": f"{issuer.url}{own}", "authorization_response_iss_parameter_supported": None}
        issuer.answers["/authorize"] = lambda fields: web.Response(
            status=302,
            headers={"Location": issuer._authorize(fields).headers["Location"].partition("&iss=")[0]},
        )
        done = await host.login("web")
        assert "the slash at the end was overlooked" in done.notes[0]
        assert await say(host) == "hi"


async def test_pitfall_a_gateway_that_passes_on_metadata_has_to_name_itself(home: Home) -> None:
    async with Issuer() as behind, Issuer() as gateway, Site(issuer=gateway) as site, opened(home, site) as host:
        gateway.metadata = {"issuer": behind.url}
        with pytest.raises(mooring.LoginFailed, match=f"the metadata of {gateway.url} belongs to another issuer"):
            await host.login("web")
        assert all(path.startswith("/.well-known/") for path, _ in gateway.heard)
        assert behind.heard == []
        gateway.metadata = {}
        await host.login("web")
        assert await say(host) == "hi"


async def test_pitfall_a_public_client_refreshes_with_its_id_in_the_body_and_the_same_resource(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        issuer.expire()
        await say(host)
        refresh = issuer.heard[-1][1]
    assert refresh["grant_type"] == "refresh_token"
    assert refresh["client_id"] == stored_token(home)["client"]["id"]
    assert refresh["resource"] == site.url
    assert "by" not in refresh


async def test_pitfall_offline_access_is_asked_for_where_it_is_offered_and_nowhere_else(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        assert (await host.login("web")).scopes == ()
        issuer.metadata = {"scopes_supported": ["offline_access"]}
        assert (await host.login("web")).scopes == ("offline_access",)


async def test_pitfall_a_registration_is_kept_with_its_issuer_and_used_again(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        await host.login("web")
        assert [path for path, _ in issuer.heard].count("/register") == 1


async def test_pitfall_another_issuer_gets_a_registration_of_its_own_and_the_person_is_asked(home: Home) -> None:
    asked: list[mooring.Question] = []

    async def agree(question: mooring.Question) -> mooring.Answer:
        asked.append(question)
        return await log_in(question)

    async with Issuer() as issuer, Issuer() as newer, Site(issuer=issuer) as site, opened(home, site, agree) as host:
        await host.login("web")
        site.issuer = newer
        with pytest.raises(mooring.NeedsLogin):
            await say(host)
        await host.login("web")
        assert await say(host) == "hi"
        changed = [question for question in asked if isinstance(question, mooring.ChangedIssuer)]
        assert changed == [mooring.ChangedIssuer("web", newer.url, issuer.url)]
        first, second = (dict(each.heard)["/authorize"]["client_id"] for each in (issuer, newer))
        assert first != second


async def test_pitfall_another_issuer_is_not_logged_in_to_unless_the_person_agrees(home: Home) -> None:
    async def doubt(question: mooring.Question) -> mooring.Answer:
        return mooring.No() if isinstance(question, mooring.ChangedIssuer) else await log_in(question)

    async with Issuer() as issuer, Issuer() as newer, Site(issuer=issuer) as site, opened(home, site, doubt) as host:
        await host.login("web")
        site.issuer = newer
        with pytest.raises(mooring.Denied):
            await host.login("web")
        assert [path for path, _ in newer.heard if not path.startswith("/.well-known")] == []


async def test_pitfall_step_up_keeps_the_scopes_that_the_login_has(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        site.resource = {"scopes_supported": ["read"]}
        await host.login("web")

        def want_more(heard: Any) -> Any:
            token = issuer.tokens[heard.headers["Authorization"].partition(" ")[2]]
            if "write" in token.scope.split():
                return {"content": [{"type": "text", "text": token.scope}]}
            challenge = 'Bearer error="insufficient_scope", scope="write"'
            return web.Response(status=403, headers={"WWW-Authenticate": challenge})

        site.answers["tools/call"] = want_more
        with pytest.raises(mooring.NeedsLogin, match="mooring mcp login web --scope write") as caught:
            await say(host)
        await host.login("web", scopes=caught.value.scope.split())
        assert await say(host) == "read write"


@pytest.mark.parametrize("method", ["resources/list", "prompts/list"])
async def test_pitfall_resources_and_prompts_are_sent_the_token_too(home: Home, method: str) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        site.capabilities = {"tools": {}, "resources": {}, "prompts": {}}
        site.answers["resources/list"] = lambda heard: {"resources": []}
        site.answers["prompts/list"] = lambda heard: {"prompts": []}
        site.answers["resources/templates/list"] = lambda heard: {"resourceTemplates": []}
        await host.login("web")
        await (host.resources("web") if method == "resources/list" else host.prompts("web"))
        assert [issuer.is_valid(each.headers["Authorization"][7:], site.url) for each in site.said(method)] == [True]


# --- where tokens go, and where they don't ------------------------------------------------------------------------


async def test_a_token_is_not_sent_to_another_address_of_the_same_name(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, Site() as other:
        async with opened(home, site) as host:
            await host.login("web")
        async with opened(home, other, None) as host:
            await say(host)
        assert all("Authorization" not in heard.headers for heard in other.heard)


async def test_a_call_with_a_login_of_its_own_is_sent_that_and_nothing_else(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        await say(host)
        with pytest.raises(mooring.NeedsLogin):
            await host.call("web.echo", {"text": "hi"}, headers={"authorization": "Bearer another"})
        assert site.heard[-1].headers["Authorization"] == "Bearer another"
        assert await say(host) == "hi"
        assert issuer.count("refresh_token") == 0


async def test_no_token_is_in_an_error_a_log_or_a_result_that_repeats_it(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        token = stored_token(home)["access"]

        def repeat(heard: Any) -> Any:
            text = heard.headers["Authorization"]
            return {"content": [{"type": "text", "text": text}], "isError": True}

        site.answers["tools/call"] = repeat
        assert token not in await say(host)
        site.answers["tools/call"] = lambda heard: web.Response(status=500, text=heard.headers["Authorization"])
        with pytest.raises(mooring.HttpError) as caught:
            await say(host)
        assert token not in str(caught.value)
    for path in home.folder.rglob("*"):
        if path.is_file() and path.name != "values.json":
            assert token not in path.read_text(errors="replace")


async def test_an_issuer_that_is_away_costs_no_login(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        await say(host)
        issuer.expire()
        issuer.answers["/token"] = lambda _: web.Response(status=503)
        with pytest.raises(mooring.NeedsLogin):
            await say(host)
        assert stored_token(home)["refresh"]
        del issuer.answers["/token"]
        assert await say(host) == "hi"
