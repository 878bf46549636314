"""An authorization server on a loopback port, and a person whose browser always agrees: logins without a network.

    async with Issuer() as issuer, Site(issuer=issuer) as site:
        ...  # open a host with `ask=log_in` and the server {"url": site.url}, then `await host.login(…)`

It checks what a strict server checks: PKCE, the redirect, the resource, and that a code or a rotated refresh token is
used once. A refresh token that is shown twice revokes all tokens of its login.
"""

from base64 import b64decode
from collections.abc import Awaitable, Callable
from secrets import token_urlsafe
from time import time
from typing import Any, Self, TypeAlias
from urllib.parse import unquote_plus, urlencode

from aiohttp import ClientSession, web
from msgspec import Struct

from mooring.auth.oauth.jwt import encode_digest
from mooring.core.conversation.question import Answer, Login, Question, Yes

Fields: TypeAlias = dict[str, str]
Answering: TypeAlias = Callable[[Fields], web.Response | Awaitable[web.Response]]
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


async def log_in(question: Question) -> Answer:
    """An `ask` for tests: opens the page of a login as a browser would, and agrees to everything."""
    if isinstance(question, Login):
        async with ClientSession() as browser, browser.get(question.url) as page:
            await page.read()
    return Yes()


class LoopbackServer:
    """Serves HTTP on a loopback port, or at a socket, while it is used with `async with`."""

    def __init__(self, socket: str = "") -> None:
        self._socket = socket
        self._port = 0
        self._runner: web.ServerRunner | None = None

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        self._runner = web.ServerRunner(web.Server(self._receive), shutdown_timeout=0.1)
        await self._runner.setup()
        if self._socket:
            await web.UnixSite(self._runner, self._socket).start()
        else:
            await web.TCPSite(self._runner, "127.0.0.1", 0).start()
            self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _receive(self, request: web.BaseRequest) -> web.StreamResponse:
        raise NotImplementedError


class IssuedToken(Struct):
    """A token as its issuer knows it."""

    family: str
    """The login that it comes from."""
    client_id: str
    resource: str
    scope: str
    expires_at: float


class Issuer(LoopbackServer):
    """Gives out tokens. `heard` holds every request, as the path and the fields; `answers` replaces an endpoint.

    `seconds` is how long a token holds. Change `metadata` before a login to make it say something else; `None` leaves a
    field out.
    """

    def __init__(self, *, seconds: float = 3600, rotates: bool = True, path: str = "") -> None:
        super().__init__()
        self.seconds = seconds
        self.rotates = rotates
        self.path = path
        self.heard: list[tuple[str, Fields]] = []
        self.answers: dict[str, Answering] = {}
        self.metadata: dict[str, Any] = {}
        self.tokens: dict[str, IssuedToken] = {}
        self.refresh_tokens: dict[str, IssuedToken] = {}
        self.revoked: set[str] = set()
        """The logins whose tokens are no longer valid."""
        self.device_is_approved = False
        self._codes: dict[str, Fields] = {}
        self._used: dict[str, str] = {}

    @property
    def url(self) -> str:
        """Its name, and where it is."""
        return f"{self.origin}{self.path}"

    def count(self, grant: str) -> int:
        """How many tokens were asked for in this way, such as `refresh_token`."""
        return sum(path == "/token" and fields.get("grant_type") == grant for path, fields in self.heard)

    def is_valid(self, token: str, resource: str) -> bool:
        """Whether a server that is this resource should take the token."""
        found = self.tokens.get(token)
        if found is None or found.family in self.revoked:
            return False
        return found.resource == resource and found.expires_at > time()

    def expire(self) -> None:
        """Let every access token end now."""
        for token in self.tokens.values():
            token.expires_at = 0.0

    def describe(self) -> dict[str, Any]:
        """What it publishes about itself."""
        usual = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "revocation_endpoint": f"{self.url}/revoke",
            "device_authorization_endpoint": f"{self.url}/device",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials", DEVICE_GRANT],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "authorization_response_iss_parameter_supported": True,
        }
        return {key: value for key, value in {**usual, **self.metadata}.items() if value is not None}

    # --- its endpoints ------------------------------------------------------------------------------------------------

    async def _receive(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path.removeprefix(self.path) or "/"
        fields = await _read_fields(request)
        self.heard.append((path, fields))
        if path.startswith("/.well-known/"):
            path = "/metadata"
        endpoints: dict[str, Answering] = {
            "/metadata": lambda _: web.json_response(self.describe()),
            "/authorize": self._authorize,
            "/token": self._give_token,
            "/register": self._register,
            "/revoke": self._revoke,
            "/device": self._start_device,
        }
        respond = self.answers.get(path) or endpoints.get(path)
        if respond is None:
            return web.Response(status=404)
        answer = respond(fields)
        return answer if isinstance(answer, web.Response) else await answer

    def _register(self, fields: Fields) -> web.Response:
        return web.json_response({"client_id": token_urlsafe(8), "token_endpoint_auth_method": "none"}, status=201)

    def _authorize(self, fields: Fields) -> web.Response:
        code = token_urlsafe(16)
        self._codes[code] = fields
        back = urlencode({"code": code, "state": fields.get("state", ""), "iss": self.url})
        return web.Response(status=302, headers={"Location": f"{fields['redirect_uri']}?{back}"})

    def _start_device(self, fields: Fields) -> web.Response:
        code = token_urlsafe(16)
        self._codes[code] = fields
        page = f"{self.url}/enter"
        answer = {"device_code": code, "user_code": "ABCD-EFGH", "verification_uri": page, "interval": 0.01}
        return web.json_response({**answer, "expires_in": 60})

    def _give_token(self, fields: Fields) -> web.Response:
        match fields.get("grant_type"):
            case "authorization_code":
                return self._redeem_code(fields)
            case "refresh_token":
                return self._redeem_refresh(fields)
            case "client_credentials":
                return self._issue(token_urlsafe(8), fields)
            case grant if grant == DEVICE_GRANT:
                return self._redeem_device(fields)
            case _:
                return _refuse("unsupported_grant_type")

    def _redeem_code(self, fields: Fields) -> web.Response:
        asked = self._codes.pop(fields.get("code", ""), None)
        if asked is None:
            return _refuse("invalid_grant")
        is_proven = encode_digest(fields.get("code_verifier", "")) == asked.get("code_challenge")
        same = all(fields.get(key) == asked.get(key) for key in ("redirect_uri", "resource"))
        if not is_proven or not same:
            return _refuse("invalid_grant")
        return self._issue(token_urlsafe(8), {**asked, **fields})

    def _redeem_device(self, fields: Fields) -> web.Response:
        asked = self._codes.get(fields.get("device_code", ""))
        if asked is None:
            return _refuse("expired_token")
        if not self.device_is_approved:
            return _refuse("authorization_pending")
        return self._issue(token_urlsafe(8), {**asked, **fields})

    def _redeem_refresh(self, fields: Fields) -> web.Response:
        shown = fields.get("refresh_token", "")
        if family := self._used.get(shown):
            # Shown twice: one of the two who did has stolen it, and nobody knows which.
            self.revoked.add(family)
        held = self.refresh_tokens.get(shown)
        if held is None or held.family in self.revoked or held.resource != fields.get("resource"):
            return _refuse("invalid_grant")
        if self.rotates:
            del self.refresh_tokens[shown]
            self._used[shown] = held.family
        return self._issue(held.family, {**fields, "scope": held.scope, "resource": held.resource})

    def _revoke(self, fields: Fields) -> web.Response:
        shown = fields.get("token", "")
        found = self.tokens.get(shown) or self.refresh_tokens.get(shown)
        if found is not None:
            self.revoked.add(found.family)
        return web.Response(status=200)

    def _issue(self, family: str, fields: Fields) -> web.Response:
        access, refresh = token_urlsafe(24), token_urlsafe(24)
        expires_at = time() + self.seconds
        client_id, resource, scope = (fields.get(key, "") for key in ("client_id", "resource", "scope"))
        token = IssuedToken(family, client_id, resource, scope, expires_at)
        self.tokens[access] = token
        answer = {"access_token": access, "token_type": "Bearer", "expires_in": self.seconds, "scope": token.scope}
        may_refresh = fields.get("grant_type") != "client_credentials"
        if may_refresh and (self.rotates or fields.get("grant_type") != "refresh_token"):
            self.refresh_tokens[refresh] = token
            answer["refresh_token"] = refresh
        return web.json_response(answer)


def _refuse(error: str) -> web.Response:
    return web.json_response({"error": error}, status=400)


async def _read_fields(request: web.BaseRequest) -> Fields:
    """The fields of a request, wherever they are: in its query, its form, its JSON or its Basic login."""
    fields = dict(request.query)
    if request.content_type == "application/json":
        content = await request.json()
        fields |= {key: str(value) for key, value in content.items()}
    elif request.method == "POST":
        fields |= {key: str(value) for key, value in (await request.post()).items()}
    scheme, _, login = request.headers.get("Authorization", "").partition(" ")
    if scheme == "Basic":
        client_id, _, secret = b64decode(login).decode().partition(":")
        fields |= {"client_id": unquote_plus(client_id), "client_secret": unquote_plus(secret), "by": "basic"}
    return fields
