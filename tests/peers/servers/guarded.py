"""A server that takes no request without a token: it asks the issuer about each one, and believes nothing else.

`guarded.py PORT ISSUER RESOURCE SECRET`; the resource is what it says it is, and the secret lets it ask.
"""

import sys

import httpx2
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer

port, issuer, resource, secret = sys.argv[1:]


class Introspection:
    """Asks the issuer whether a token holds, and whose it is (RFC 7662)."""

    async def verify_token(self, token: str) -> AccessToken | None:
        async with httpx2.AsyncClient(auth=("guard", secret)) as client:
            reply = await client.post(f"{issuer}/token/introspection", data={"token": token})
        found = reply.raise_for_status().json()
        if not found["active"]:
            return None
        return AccessToken(
            token=token,
            client_id=found["client_id"],
            scopes=found["scope"].split(),
            expires_at=found["exp"],
            resource=found["aud"],
            subject=found["sub"],
            claims={"iss": found["iss"]},
        )


server = MCPServer(
    "guarded",
    auth=AuthSettings(
        issuer_url=issuer, resource_server_url=resource, required_scopes=["tides"], validate_token_resource=True
    ),
    token_verifier=Introspection(),
)


@server.tool()
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool()
def whoami() -> str:
    """Says whose token came with this request."""
    return get_access_token().subject


server.run("streamable-http", port=int(port))
