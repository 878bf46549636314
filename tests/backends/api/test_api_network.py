"""The way to a model: proxies, authorities and certificates as for servers, and what is said where it ends."""

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.models import FakeModel, Say, Think

from backends.asking import KEY, MODELS, ask, hear, hear_end, opened
from certificates import Authority, make_certificate
from mooring.errors import ConfigError, ModelError, ModelOverloaded, NoModel
from support import Home
from tunnels import tunneled

APIS = {
    "anthropic": ("ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY"),
    "openai": ("OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY"),
    "openai-chat": ("OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY"),
    "google": ("GEMINI_BASE_URL", "", "GEMINI_API_KEY"),
}
"""Of each API, the variable for its address, what that ends in, and the variable for its key."""
FAR = "https://far.example"
"""Nothing on this machine is called so: only a proxy can lead there."""
PASSWORD = "canary-password"
every_api = pytest.mark.parametrize("word", APIS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for far.example and 127.0.0.1 that vouches for itself, with its key."""
    made = tmp_path_factory.mktemp("tls")
    make_certificate(made, "far.example", "127.0.0.1")
    return made


def shown(folder: Path, *, ask_for_client: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    if ask_for_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(folder / "cert.pem")
    return context


def leading(word: str, url: str) -> dict[str, str]:
    address, version, key = APIS[word]
    return {address: f"{url}{version}", key: KEY}


def port_of(fake: FakeModel) -> int:
    return int(fake.url.rpartition(":")[2])


async def fail(home: Home, env: Mapping[str, str], spec: str = MODELS["anthropic"], **network: Any) -> ModelError:
    async with opened(home, spec, env, network=network) as model:
        with pytest.raises(ModelError) as caught:
            await hear(model, ask("Hi"))
    assert KEY not in str(caught.value)
    assert PASSWORD not in str(caught.value)
    return caught.value


@every_api
@pytest.mark.parametrize("named", ["settings", "variables"])
async def test_a_proxy_and_an_authority_lead_to_a_model_and_the_key_stays_inside_the_tunnel(
    word: str, named: str, folder: Path, home: Home
) -> None:
    async with FakeModel([Say("Hello.")]) as fake, tunneled(port_of(fake), shown(folder)) as (proxy, at, _):
        env, network = leading(word, FAR), {"proxy": f"http://me:{PASSWORD}@{at}", "ca": str(folder / "cert.pem")}
        if named == "variables":
            env |= {"HTTPS_PROXY": network["proxy"], "NODE_EXTRA_CA_CERTS": network["ca"]}
            network = {}
        async with opened(home, MODELS[word], env, network=network) as model:
            assert (await hear_end(model, ask("Hi"))).message.text == "Hello."
    assert [head.partition("\r\n")[0] for head in proxy.heard] == ["CONNECT far.example:443 HTTP/1.1"]
    assert KEY not in "".join(proxy.heard)
    assert KEY.encode() not in proxy.carried
    assert fake.requests[0].key == KEY
    assert "proxy-authorization" not in fake.requests[0].headers
    assert proxy.logins == [f"me:{PASSWORD}"]


async def test_a_host_that_is_spared_is_not_asked_for_at_the_proxy(folder: Path, home: Home) -> None:
    async with FakeModel([]) as fake, tunneled(port_of(fake), shown(folder)) as (proxy, at, _):
        await fail(home, {**leading("anthropic", FAR), "HTTPS_PROXY": at, "NO_PROXY": "far.example"})
    assert proxy.heard == []


@every_api
async def test_a_certificate_that_nobody_vouches_for_gets_no_key_and_no_second_try(
    word: str, folder: Path, home: Home
) -> None:
    async with FakeModel([]) as fake, tunneled(port_of(fake), shown(folder)) as (_, _, port):
        error = await fail(home, leading(word, f"https://127.0.0.1:{port}"), MODELS[word])
    assert not isinstance(error, ModelOverloaded)
    assert f"https://127.0.0.1:{port}" in error.reason
    assert "certificate that is not trusted" in error.reason
    assert error.hint == '"network": {"ca": "FILE"} in your settings names an authority to trust.'
    assert fake.requests == []


async def test_a_certificate_of_another_name_is_no_matter_of_authorities(folder: Path, home: Home) -> None:
    async with FakeModel([]) as fake, tunneled(port_of(fake), shown(folder)) as (_, at, _):
        network = {"proxy": f"http://{at}", "ca": str(folder / "cert.pem")}
        error = await fail(home, leading("anthropic", "https://other.example"), **network)
    assert "not valid for 'other.example'" in error.reason
    assert error.hint == "Check the address in ANTHROPIC_BASE_URL."


async def test_a_certificate_that_has_expired_is_said_to_be_so(tmp_path: Path, home: Home) -> None:
    authority = Authority(tmp_path)
    context = authority.sign("127.0.0.1", days=-1)
    async with FakeModel([]) as fake, tunneled(port_of(fake), context) as (_, _, port):
        error = await fail(home, leading("anthropic", f"https://127.0.0.1:{port}"), ca=str(authority.path))
    assert str(error).endswith("certificate has expired.")


async def test_a_certificate_of_the_client_is_shown_to_a_model(folder: Path, home: Home) -> None:
    client = {"ca": str(folder / "cert.pem"), "certificate": str(folder / "cert.pem"), "key": str(folder / "key.pem")}
    async with (
        FakeModel([Say("Known.")]) as fake,
        tunneled(port_of(fake), shown(folder, ask_for_client=True)) as (_, _, port),
        opened(home, MODELS["anthropic"], leading("anthropic", f"https://127.0.0.1:{port}"), network=client) as model,
    ):
        assert (await hear_end(model, ask("Hi"))).message.text == "Known."


@pytest.mark.parametrize(
    ("refusal", "words", "may_pass"),
    [
        ("403 Forbidden", "its proxy answered with HTTP status 403", False),
        ("407 Proxy Authentication Required", "its proxy requires a login", False),
        ("502 Bad Gateway", "its proxy answered with HTTP status 502", True),
    ],
)
async def test_a_proxy_that_refuses_is_told_of_without_its_password(
    refusal: str, words: str, may_pass: bool, folder: Path, home: Home
) -> None:
    async with FakeModel([]) as fake, tunneled(port_of(fake), shown(folder), refusal) as (_, at, _):
        error = await fail(home, leading("anthropic", FAR), proxy=f"http://me:{PASSWORD}@{at}")
    assert error.reason.startswith(f"{FAR} cannot be reached: {words}")
    assert isinstance(error, ModelOverloaded) is may_pass
    assert error.hint == "Check the proxy in the setting `network`."


async def test_a_proxy_that_is_not_there_is_named_and_not_the_model(home: Home) -> None:
    error = await fail(home, {**leading("anthropic", FAR), "HTTPS_PROXY": f"http://me:{PASSWORD}@127.0.0.1:9"})
    assert not isinstance(error, ModelOverloaded)
    assert str(error) == (
        f"{MODELS['anthropic']}: the proxy http://127.0.0.1:9 cannot be reached: Connection refused. "
        "Check the proxy in HTTPS_PROXY or ALL_PROXY."
    )


async def test_a_proxy_without_an_address_may_have_one_later(home: Home) -> None:
    error = await fail(home, leading("anthropic", FAR), proxy=f"http://me:{PASSWORD}@nowhere.invalid:9")
    assert isinstance(error, ModelOverloaded)
    assert error.reason.startswith("the proxy http://nowhere.invalid:9 cannot be reached: ")


@pytest.mark.parametrize("proxy", ["http://[::1", f"http://me:{PASSWORD}@host:99999999", "http://", "http://:80"])
async def test_a_proxy_that_is_no_address_is_refused_in_one_sentence(proxy: str, home: Home) -> None:
    with pytest.raises(ConfigError, match="A proxy URL looks like http://HOST:PORT") as caught:
        async with opened(home, MODELS["anthropic"], leading("anthropic", FAR), network={"proxy": proxy}):
            pass
    assert PASSWORD not in str(caught.value)


async def test_an_address_that_speaks_no_tls_is_not_asked_again(home: Home) -> None:
    async with FakeModel([]) as fake:
        error = await fail(home, leading("anthropic", fake.url.replace("http:", "https:")))
    assert not isinstance(error, ModelOverloaded)
    assert str(error).endswith(
        "it speaks no TLS; write http:// in its URL. Check the address in ANTHROPIC_BASE_URL."
    )  # fmt: skip


@every_api
async def test_nothing_at_the_address_of_a_provider_names_the_variable_that_leads_there(word: str, home: Home) -> None:
    error = await fail(home, leading(word, "http://127.0.0.1:9"), MODELS[word])
    assert not isinstance(error, ModelOverloaded)
    address, version, _ = APIS[word]
    assert error.reason == f"nothing answers at http://127.0.0.1:9{version}."
    assert error.hint == f"Check the address in {address}."


async def test_a_socket_is_no_address_of_a_model_and_gets_no_key(home: Home) -> None:
    env = leading("anthropic", f"unix://{home.home}/model.sock#")
    with pytest.raises(ConfigError, match="not with unix://"):
        async with opened(home, MODELS["anthropic"], env):
            pass


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/a b", "https://b\N{LATIN SMALL LETTER U WITH DIAERESIS}cher.example"]
)
async def test_an_address_with_what_has_to_be_escaped_is_refused_as_one(url: str, home: Home) -> None:
    with pytest.raises(ConfigError, match="is not a valid URL: it holds a character"):
        async with opened(home, MODELS["anthropic"], leading("anthropic", url)):
            pass
    env = {"OLLAMA_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
    with pytest.raises(NoModel, match="No model is chosen"):
        async with opened(home, None, env):
            pass


@every_api
async def test_an_address_keeps_its_query(word: str, home: Home) -> None:
    address, version, key = APIS[word]
    async with FakeModel([Say("Hello.")]) as fake:
        env = {address: f"{fake.url}{version}?api-version=preview", key: KEY}
        async with opened(home, MODELS[word], env) as model:
            await hear_end(model, ask("Hi"))
    assert fake.requests[0].path.endswith("api-version=preview")
    assert fake.strays == []


@every_api
@pytest.mark.parametrize(
    "key", ["two\r\nX-Evil: 1", "two\nlines", "n\0l", "k\udcff", "k\N{LATIN SMALL LETTER A WITH DIAERESIS}se"]
)
async def test_a_key_that_no_header_can_hold_is_refused_before_anything_is_sent(
    word: str, key: str, home: Home
) -> None:
    async with FakeModel([]) as fake:
        with pytest.raises(NoModel) as caught:
            async with opened(home, MODELS[word], {**leading(word, fake.url), APIS[word][2]: key}):
                pass
    assert str(caught.value).startswith(f"The key {APIS[word][2]} holds a line break")
    assert key not in str(caught.value)


async def test_what_a_reply_leaves_in_the_record_has_no_password_of_its_address(home: Home) -> None:
    """Where an opaque part is from stands in the record, so that only its maker gets it back."""
    async with FakeModel([[Think("Hm."), Say("Yes.")]]) as fake:
        url = fake.url.replace("http://", f"http://me:{PASSWORD}@") + f"?key={PASSWORD}"
        async with opened(home, MODELS["anthropic"], leading("anthropic", url)) as model:
            last = await hear_end(model, ask("Hi"))
    assert any(block.opaque for block in last.message.blocks)
    assert PASSWORD not in repr(last.message)


@every_api
async def test_only_what_can_be_read_is_offered_as_a_compression(word: str, home: Home) -> None:
    async with FakeModel([Say("Hello.")]) as fake, opened(home, MODELS[word], leading(word, fake.url)) as model:
        await hear_end(model, ask("Hi"))
    headers = fake.requests[0].headers
    assert (headers["accept-encoding"], headers["user-agent"]) == ("gzip, deflate", "mooring")
