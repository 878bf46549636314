"""Logins side by side: two people on one machine, many calls at once, and connections that go on while tokens change."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import mooring
from mooring.host.host import Host
from mooring.testing import Issuer, Site, log_in
from support import Home

CALLS = 100


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")


def opened(home: Home, site: Site) -> Host:
    servers = {"web": {"type": "http", "url": site.url}}
    return mooring.open(request=home.request(), policy="allow", servers=servers, ask=log_in)


async def say(host: Host, text: str) -> str:
    return (await host.call("web.echo", {"text": text})).text


async def say_often(host: Host, name: str) -> None:
    """Call many times at once, each with a text of its own, and get each of them back."""
    texts = [f"{name} {number}" for number in range(CALLS)]
    assert await asyncio.gather(*(say(host, text) for text in texts)) == texts


def list_calls(site: Site) -> list[tuple[str, str]]:
    """The token and the text of every call that the server has heard."""
    return [
        (heard.headers.get("Authorization", "").removeprefix("Bearer "), heard.params["arguments"]["text"])
        for heard in site.said("tools/call")
    ]


def read_store(home: Home) -> str:
    return (home.home / ".local/state/mooring/secrets/values.json").read_text()


async def test_two_people_who_refresh_at_the_same_moment_never_get_each_others_tokens(
    home: Home, tmp_path: Path
) -> None:
    other = Home(tmp_path / "other")
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as anna, opened(other, site) as bert:
        families: dict[str, str] = {}
        for name, host in {"anna": anna, "bert": bert}.items():
            await host.login("web")
            families[name] = list(issuer.tokens.values())[-1].family
            await say(host, f"{name} first")
        issuer.expire()
        await asyncio.gather(say_often(anna, "anna"), say_often(bert, "bert"))
        assert issuer.count("refresh_token") == 2
        assert issuer.revoked == set()
        senders = {(issuer.tokens[token].family, text.split()[0]) for token, text in list_calls(site)}
        assert senders == {(family, name) for name, family in families.items()}
        secrets = {**issuer.tokens, **issuer.refresh_tokens}
        for name, store in {"anna": read_store(home), "bert": read_store(other)}.items():
            kept = {token.family for secret, token in secrets.items() if secret in store}
            assert kept == {families[name]}


async def test_a_logout_of_one_person_leaves_the_other_logged_in(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as anna, opened(other, site) as bert:
        for host in (anna, bert):
            await host.login("web")
        await anna.logout("web")
        with pytest.raises(mooring.NeedsLogin):
            await say(anna, "anna")
        issuer.expire()
        assert await say(bert, "bert") == "bert"


async def test_a_hundred_refused_calls_wait_for_one_refresh_and_are_each_sent_once_more(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        await say(host, "first")
        issuer.expire()
        await say_often(host, "call")
        sent = [text for _, text in list_calls(site) if text != "first"]
        # Whoever comes after the refresh is not refused at all.
        assert {sent.count(text) for text in sent} in ({2}, {1, 2})
        assert issuer.count("refresh_token") == 1


async def test_calls_that_are_refused_again_after_a_refresh_end_there(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        await say(host, "first")
        issuer.expire()
        issuer.seconds = -1
        outcomes = await asyncio.gather(*(say(host, str(number)) for number in range(CALLS)), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {mooring.NeedsLogin}
        sent = [text for _, text in list_calls(site) if text != "first"]
        assert max(sent.count(text) for text in sent) <= 2


async def test_a_live_connection_takes_up_the_login_of_another_host_without_starting_anew(home: Home) -> None:
    async with (
        Issuer() as issuer,
        Site(issuer=issuer) as site,
        opened(home, site) as living,
        opened(home, site) as other,
    ):
        await living.login("web")
        await say(living, "before")
        hellos = len(site.said("initialize"))
        old = next(iter(issuer.tokens))
        issuer.revoked.add(issuer.tokens[old].family)
        await other.login("web")
        assert await say(living, "after") == "after"
        # The hello of the login itself aside: the connection that lived on did not begin anew.
        assert len(site.said("initialize")) <= hellos + 1
        assert list_calls(site)[-1] == (list(issuer.tokens)[-1], "after")


async def test_a_call_of_one_conversation_goes_on_while_another_refreshes(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site, opened(home, site) as host:
        await host.login("web")
        await say(host, "first")
        arrived, released = asyncio.Event(), asyncio.Event()
        usual = site.answers["tools/call"]

        async def answer(heard: Any) -> Any:
            if heard.params["arguments"]["text"] == "slow":
                arrived.set()
                await released.wait()
            return usual(heard)

        site.answers["tools/call"] = answer
        async with host.conversation() as one, host.conversation() as two:
            [name] = [tool.name for tool in one.definitions if tool.name.endswith("echo")]
            slow = asyncio.create_task(two.call(name, {"text": "slow"}))
            await arrived.wait()
            hellos = len(site.said("initialize"))
            issuer.expire()
            assert (await one.call(name, {"text": "quick"})).text == "quick"
            released.set()
            assert (await slow).text == "slow"
            assert len(site.said("initialize")) == hellos
        assert [text for _, text in list_calls(site)].count("slow") == 1
        assert issuer.count("refresh_token") == 1


async def test_a_host_that_is_closed_while_it_refreshes_stores_what_it_is_given(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        async with opened(home, site) as host:
            await host.login("web")
        issuer.expire()
        async with opened(home, site) as host:
            call = asyncio.create_task(say(host, "given up"))

            async def give_up(fields: dict[str, str]) -> web.Response:
                answer = issuer._give_token(fields)
                call.cancel()
                # Long enough for a host that does not wait to be closed meanwhile.
                await asyncio.sleep(1)
                return answer

            issuer.answers["/token"] = give_up
            await asyncio.wait({call})
            assert call.cancelled()
        # The old one is used up: shown again, it would cost the login.
        [newest] = issuer.refresh_tokens
        assert newest in read_store(home)
