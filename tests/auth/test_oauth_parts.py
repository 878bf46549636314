"""The parts of a login that send nothing: what is looked for where, what is refused, what is sent."""

import json
from random import Random
from urllib.parse import parse_qs, urlsplit

import pytest

from mooring.auth.oauth.authorization import (
    check_callback,
    make_authorization,
    make_authorization_url,
    read_pasted,
)
from mooring.auth.oauth.client import OAuthClient, authenticate, make_registration, read_registration
from mooring.auth.oauth.exchange import LoginReply, LoginRequest
from mooring.auth.oauth.flow import refresh
from mooring.auth.oauth.jwt import Prover, SigningKey, encode_digest, make_key
from mooring.auth.oauth.metadata import (
    IssuerMetadata,
    ResourceMetadata,
    check_issuer,
    check_resource,
    check_url,
    choose_scopes,
    find_origin,
    list_issuer_documents,
    list_resource_documents,
)
from mooring.auth.oauth.token import Token, fill_token, read_token_reply
from mooring.errors import GrantRefused, LoginFailed

ISSUER = IssuerMetadata(issuer="https://as.example")
CLIENT = OAuthClient("https://as.example", "client")
QUESTION = make_authorization(ISSUER, CLIENT, "http://127.0.0.1:1/callback", "https://rs.example/mcp", ("a",))


# --- where metadata is looked for ---------------------------------------------------------------------------------


def test_the_document_of_the_path_comes_before_that_of_the_host() -> None:
    assert list_resource_documents("https://rs.example/one/mcp?x=1") == (
        "https://rs.example/.well-known/oauth-protected-resource/one/mcp",
        "https://rs.example/.well-known/oauth-protected-resource",
    )


def test_what_the_challenge_announces_comes_first_but_only_on_the_same_origin() -> None:
    announced = "https://rs.example/elsewhere"
    assert list_resource_documents("https://rs.example/mcp", announced)[0] == announced
    for other in ("https://other.example/x", "http://rs.example/x", "https://rs.example:8443/x"):
        with pytest.raises(LoginFailed, match="another host"):
            list_resource_documents("https://rs.example/mcp", other)


def test_an_issuer_with_a_path_is_looked_for_in_the_order_of_the_specification() -> None:
    assert list_issuer_documents("https://as.example/tenant/1") == (
        "https://as.example/.well-known/oauth-authorization-server/tenant/1",
        "https://as.example/.well-known/openid-configuration/tenant/1",
        "https://as.example/tenant/1/.well-known/openid-configuration",
    )
    assert list_issuer_documents("https://as.example/") == (
        "https://as.example/.well-known/oauth-authorization-server",
        "https://as.example/.well-known/openid-configuration",
    )


def test_origins_are_compared_as_browsers_do() -> None:
    assert find_origin("HTTPS://Example.COM:443/x") == find_origin("https://example.com") == "https://example.com"
    assert find_origin("https://[::1]:80") == "https://[::1]:80"


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "resource",
    ["https://rs.example", "https://rs.example/", "https://rs.example/one", "https://rs.example/one/mcp"],
)
def test_a_resource_speaks_for_its_own_path_and_what_is_below(resource: str) -> None:
    check_resource(ResourceMetadata(resource=resource), "https://rs.example/one/mcp")


@pytest.mark.parametrize(
    "resource",
    ["https://evil.example/one/mcp", "http://rs.example/one/mcp", "https://rs.example/one/mc", "https://rs.example/two",
     "https://rs.example:444/one/mcp", "https://rs.example/one/mcp?tenant=2", "rs.example/one/mcp", "\nhttps://rs.example"],
)  # fmt: skip
def test_a_resource_that_is_another_one_is_refused(resource: str) -> None:
    with pytest.raises(LoginFailed):
        check_resource(ResourceMetadata(resource=resource), "https://rs.example/one/mcp")


def test_an_issuer_is_exact_but_for_one_slash() -> None:
    assert check_issuer(ISSUER, "https://as.example") == ""
    assert "slash" in check_issuer(ISSUER, "https://as.example/")
    for other in ("https://as.example//", "https://AS.example", "https://as.example/x", "https://as.example:443", ""):
        with pytest.raises(LoginFailed, match="belongs to another issuer"):
            check_issuer(ISSUER, other)


@pytest.mark.parametrize(
    "url",
    ["http://as.example", "file:///etc/passwd", "javascript:alert(1)", "--flag", "$(touch x)", "https://a b", "https://a\nb",
     "http://127.0.0.1/x", "http://localhost", "ftp://as.example", "https://", "", "https://a:99999/", "http://[::1]/"],
)  # fmt: skip
def test_only_https_is_gone_to_from_a_server_on_the_internet(url: str) -> None:
    with pytest.raises(LoginFailed):
        check_url(url, "https://rs.example/mcp")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "http://localhost:2", "http://[::1]/", "https://as.example/x"])
def test_plain_http_is_fine_between_two_programs_of_this_machine(url: str) -> None:
    check_url(url, "http://localhost:3000/mcp")


def test_plain_http_elsewhere_is_refused_for_a_server_of_this_machine_too() -> None:
    with pytest.raises(LoginFailed):
        check_url("http://10.0.0.1/", "http://localhost:3000/mcp")
    with pytest.raises(LoginFailed):
        check_url("http://localhost.evil.example/", "http://localhost:3000/mcp")


# --- scopes -------------------------------------------------------------------------------------------------------


def test_scopes_come_from_the_definition_then_the_challenge_then_the_metadata() -> None:
    resource = ResourceMetadata(scopes_supported=("listed",))
    assert choose_scopes((), (), resource, ISSUER) == ("listed",)
    assert choose_scopes((), ("asked",), resource, ISSUER) == ("asked",)
    assert choose_scopes(("mine",), (), resource, ISSUER) == ("mine",)
    assert choose_scopes(("mine",), ("asked",), resource, ISSUER) == ("mine", "asked")
    assert choose_scopes((), (), None, ISSUER) == ()
    assert choose_scopes((), ("new",), resource, ISSUER, held=("old",)) == ("old", "new")


# --- the browser's part -------------------------------------------------------------------------------------------


def test_the_page_is_asked_for_with_pkce_state_and_the_resource() -> None:
    url = make_authorization_url(QUESTION, "https://as.example/authorize?tenant=1")
    fields = {key: values[0] for key, values in parse_qs(urlsplit(url).query).items()}
    assert fields["tenant"] == "1"
    assert fields["code_challenge"] == encode_digest(QUESTION.verifier)
    assert (fields["code_challenge_method"], fields["response_type"]) == ("S256", "code")
    assert (fields["state"], fields["resource"]) == (QUESTION.state, "https://rs.example/mcp")
    assert len(QUESTION.state) >= 43
    assert len(QUESTION.verifier) >= 43
    assert QUESTION.verifier not in url


def test_every_question_is_a_new_one() -> None:
    other = make_authorization(ISSUER, CLIENT, QUESTION.redirect_uri, QUESTION.resource, ())
    assert (other.state, other.verifier) != (QUESTION.state, QUESTION.verifier)


def test_the_right_answer_is_taken() -> None:
    assert check_callback(QUESTION, f"code=abc&state={QUESTION.state}") == "abc"
    assert check_callback(QUESTION, f"state={QUESTION.state}&iss=https%3A%2F%2Fas.example&code=a%2Bc") == "a+c"


@pytest.mark.parametrize(
    "query",
    [
        "code=abc&state={state}&state={state}", "code=abc&code=def&state={state}", "code=abc&state={state}x",
        "code=abc&state={state}&iss=https://as.example/", "code=abc&state={state}&iss=", "code=abc&state=",
        "code=abc", "", "state={state}", "code=&state={state}", "code=abc&State={state}", "code=%ff&state={state}",
        "error=x&state={state}", "code=abc&error=x&state={state}",
    ],
)  # fmt: skip
def test_every_other_answer_is_refused(query: str) -> None:
    with pytest.raises(LoginFailed):
        check_callback(QUESTION, query.format(state=QUESTION.state))


def make_up_answer(chance: Random) -> str:
    """An answer that is nearly right, or nothing at all: made of the right one's parts, but never with its state."""
    state = QUESTION.state
    near = [state[:-1], state[1:], state.swapcase(), f"{state} ", f"%00{state}", state[::-1], "", "\u00e9", "null"]
    names = ["state", "code", "iss", "error", "State", "state[]", "%73tate ", "error_description", ""]
    values = [*near, "abc", "https://as.example", "https://as.example/", chance.randbytes(8).hex(), "%", "%zz"]
    fields = [f"{chance.choice(names)}={chance.choice(values)}" for _ in range(chance.randrange(8))]
    text = chance.choice("&&&&;,\n").join(fields)
    if chance.random() < 0.3 and text:
        cut = chance.randrange(len(text))
        text = text[:cut] + chr(chance.randrange(0x3000)) + text[cut:]
    return text


def test_none_of_twenty_thousand_made_up_answers_is_taken() -> None:
    chance = Random(17)
    for _ in range(20_000):
        with pytest.raises(LoginFailed):
            check_callback(QUESTION, make_up_answer(chance))


def test_only_the_redirect_itself_can_be_pasted() -> None:
    assert read_pasted(" http://127.0.0.1:1/callback?code=1#x\n", QUESTION.redirect_uri) == "code=1"
    for text in (
        "code=1",
        "http://127.0.0.1:2/callback?code=1",
        "http://127.0.0.1:1/callback",
        "",
        "http://evil/?code",
    ):
        with pytest.raises(LoginFailed, match="pasted"):
            read_pasted(text, QUESTION.redirect_uri)


# --- who we are ---------------------------------------------------------------------------------------------------


def test_a_registration_is_that_of_a_public_program_on_the_persons_machine() -> None:
    request = make_registration(ISSUER, "https://as.example/register", "http://127.0.0.1:1/callback", ("a", "b"))
    content = json.loads(request.body or b"")
    assert content["application_type"] == "native"
    assert content["token_endpoint_auth_method"] == "none"
    assert content["grant_types"] == ["authorization_code", "refresh_token"]
    assert content["scope"] == "a b"


def test_a_registration_may_bring_a_secret_that_ends() -> None:
    body = b'{"client_id": "x", "client_secret": "s", "client_secret_expires_at": 100}'
    client = read_registration(LoginReply(201, {}, body), ISSUER, "https://as.example/register", "http://127.0.0.1:1/c")
    assert client.method == "client_secret_basic"
    assert client.is_usable("https://as.example", "http://127.0.0.1:1/c", 99)
    assert not client.is_usable("https://as.example", "http://127.0.0.1:1/c", 100)
    assert not client.is_usable("https://other.example", "http://127.0.0.1:1/c", 99)
    assert not client.is_usable("https://as.example", "http://127.0.0.1:2/c", 99)


def test_a_refused_registration_names_the_endpoint_the_status_and_what_to_do() -> None:
    reply = LoginReply(403, {}, b'{"error": "invalid_client_metadata", "error_description": "not\\nhere."}')
    with pytest.raises(LoginFailed) as caught:
        read_registration(reply, ISSUER, "https://as.example/register", "")
    assert "https://as.example/register did not register" in str(caught.value)
    assert "HTTP status 403, not here" in str(caught.value)
    assert "oauth.clientId" in str(caught.value)


def test_each_way_to_authenticate_shows_what_it_should_and_no_more() -> None:
    secret = OAuthClient("https://as.example", "me & you", "s/+=", "client_secret_basic")
    assert authenticate(CLIENT, {"a": "b"}, None, 0) == ({}, {"a": "b", "client_id": "client"})
    headers, fields = authenticate(secret, {"a": "b"}, None, 0)
    assert headers == {"Authorization": "Basic bWUrJTI2K3lvdTpzJTJGJTJCJTNE"}
    assert fields == {"a": "b"}
    posted = OAuthClient("https://as.example", "me", "s", "client_secret_post")
    assert authenticate(posted, {}, None, 0) == ({}, {"client_id": "me", "client_secret": "s"})


def test_a_client_with_a_key_signs_for_its_issuer_alone() -> None:
    from joserfc import jwt
    from joserfc.jwk import ECKey

    key = make_key()
    client = OAuthClient("https://as.example", "me", "", "private_key_jwt")
    _, fields = authenticate(client, {}, key, 1000)
    claims = jwt.decode(fields["client_assertion"], ECKey.import_key(key.public), algorithms=["ES256"]).claims
    assert (claims["iss"], claims["sub"], claims["aud"]) == ("me", "me", "https://as.example")
    assert (claims["iat"], claims["exp"]) == (1000, 1300)


def test_a_text_that_is_no_private_key_is_refused_without_being_repeated() -> None:
    for text in ("canary", "{}", '{"kty": "EC"}', json.dumps(make_key().public)):
        with pytest.raises(LoginFailed) as caught:
            SigningKey(text)
        assert "canary" not in str(caught.value)


# --- tokens -------------------------------------------------------------------------------------------------------


def read(body: bytes, *, key: str = "") -> Token:
    asked = Token("", "Bearer", CLIENT, "r", "https://as.example/token", ("asked",), key=key)
    return fill_token(asked, read_token_reply(LoginReply(200, {}, body), asked.endpoint), 1000.0)


def test_a_token_knows_when_it_ends_and_is_refreshed_before() -> None:
    token = read(b'{"access_token": "a", "token_type": "bearer", "expires_in": 3600, "scope": "x y"}')
    assert (token.expires_at, token.scopes, token.type) == (4600.0, ("x", "y"), "Bearer")
    assert [token.is_stale(now) for now in (1000, 4539, 4540)] == [False, False, True]
    assert [token.is_expired(now) for now in (4599, 4600)] == [False, True]
    assert "a" not in repr(token).replace("Token of https://as.example for r", "")


def test_a_token_that_holds_for_seconds_is_refreshed_at_half_its_life() -> None:
    token = read(b'{"access_token": "a", "expires_in": "10"}')
    assert [token.is_stale(now) for now in (1004, 1005)] == [False, True]


@pytest.mark.parametrize("lifetime", ["null", "-1", "1e99", '"soon"'])
def test_a_token_without_a_sensible_end_holds_until_it_is_refused(lifetime: str) -> None:
    token = read(f'{{"access_token": "a", "expires_in": {lifetime}}}'.encode())
    assert token.expires_at is None
    assert token.scopes == ("asked",)
    assert not token.is_stale(1e12)


@pytest.mark.parametrize(
    "body", [b"{}", b"", b"[]", b'{"access_token": ""}', b'{"access_token": "a\\r\\nb"}', b'{"access_token": 1}']
)
def test_an_answer_without_a_usable_token_is_refused(body: bytes) -> None:
    with pytest.raises(LoginFailed):
        read(body)


def test_a_token_of_another_kind_is_refused() -> None:
    with pytest.raises(LoginFailed, match="unknown type, 'mac'"):
        read(b'{"access_token": "a", "token_type": "mac"}')
    with pytest.raises(LoginFailed, match="unknown type, 'dpop'"):
        read(b'{"access_token": "a", "token_type": "DPoP"}')


def test_a_refused_grant_says_why_and_keeps_the_code_of_the_reason() -> None:
    with pytest.raises(GrantRefused) as caught:
        read_token_reply(LoginReply(400, {}, b'{"error": "invalid_grant"}'), "https://as.example/token")
    assert caught.value.error == "invalid_grant"
    assert "HTTP status 400, invalid_grant" in str(caught.value)


# --- proofs -------------------------------------------------------------------------------------------------------


def test_a_proof_is_for_one_request_one_token_and_one_nonce() -> None:
    from joserfc import jwt
    from joserfc.jwk import ECKey

    prover = Prover(make_key())
    key = ECKey.import_key(prover.key.public)
    assert prover.store_nonce("https://rs.example/mcp", "nonce")
    assert not prover.store_nonce("https://rs.example/other", "nonce")
    assert not prover.store_nonce("https://rs.example/mcp", "a\nb")
    proof = jwt.decode(prover.prove("POST", "https://rs.example/mcp?x=1#y", 1000.5, "token"), key, algorithms=["ES256"])
    again = jwt.decode(prover.prove("POST", "https://as.example/token", 1001), key, algorithms=["ES256"])
    assert proof.header["typ"] == "dpop+jwt"
    assert "d" not in proof.header["jwk"]
    assert (proof.claims["htm"], proof.claims["htu"]) == ("POST", "https://rs.example/mcp")
    assert (proof.claims["iat"], proof.claims["nonce"]) == (1000, "nonce")
    assert proof.claims["ath"] == encode_digest("token")
    assert proof.claims["jti"] != again.claims["jti"]
    assert not {"nonce", "ath"} & again.claims.keys()


def test_a_bound_token_is_refreshed_with_a_proof_of_the_same_key_and_the_servers_nonce() -> None:
    from joserfc import jwt
    from joserfc.jwk import ECKey

    key = make_key()
    public = ECKey.import_key(key.public)
    client = OAuthClient("https://as.example", "mine")
    stale = Token(
        "old", "DPoP", client, "https://rs.example/mcp", "https://as.example/token", refresh="r1", key=key.text
    )
    flow = refresh(stale, "", lambda: 1000.0)
    first = next(flow)
    assert isinstance(first, LoginRequest)
    assert jwt.decode(first.headers["DPoP"], public, algorithms=["ES256"]).claims["htu"] == "https://as.example/token"
    second = flow.send(LoginReply(400, {"dpop-nonce": "n1"}, b'{"error": "use_dpop_nonce"}'))
    assert isinstance(second, LoginRequest)
    assert jwt.decode(second.headers["DPoP"], public, algorithms=["ES256"]).claims["nonce"] == "n1"
    with pytest.raises(StopIteration) as end:
        flow.send(LoginReply(200, {}, b'{"access_token": "new", "token_type": "DPoP", "refresh_token": "r2"}'))
    fresh = end.value.value
    assert (fresh.access, fresh.type, fresh.refresh, fresh.key) == ("new", "DPoP", "r2", key.text)
