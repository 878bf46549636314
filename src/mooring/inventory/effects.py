"""The words for what a definition does when its server starts: what an approval question names.

A placeholder such as `$(…)` or `{file:~/.ssh/id_rsa}` does its work before there is any server, with the person's own
rights. So it is named on its own, beside the text that it stands in.
"""

from collections.abc import Mapping

from msgspec import Struct

from mooring.core.definitions.config import ServerConfig
from mooring.servers.launch.act import OWN_ADDRESS, Act, Use, UseKind
from mooring.servers.launch.target import UNRESOLVED


class Effect(Struct, frozen=True, rename="camel"):
    """A command that would run, something that would be read, or a question, and where the value would go."""

    kind: UseKind
    what: str
    """The command's line, the file's path as written, or a name."""
    goes_to: str
    """What receives the value, in words."""
    path: str | None = None
    """For a file, where its path leads."""
    default: str | None = None
    """For a question, what an empty answer means."""


def describe_effects(
    act: Act, config: ServerConfig, target: str | None, paths: Mapping[str, str]
) -> tuple[Effect, ...]:
    """Everything that a start would run, read or ask for, in words.

    `target` is what the definition resolves to; `paths` are the files it names, as written, and where they lead. The
    login at the server's own address is not among them: the question names it beside the address.
    """
    host = "the server's address" if target in (None, UNRESOLVED) else str(target)
    uses = [use for use in act.uses if use.slot != OWN_ADDRESS]
    return tuple(_describe_use(use, config, host, paths) for use in uses)


def _describe_use(use: Use, config: ServerConfig, host: str, paths: Mapping[str, str]) -> Effect:
    path = paths.get(use.what) if use.kind == "file" else None
    return Effect(use.kind, use.what, _describe_receiver(use.slot, config, host), path, use.default)


def _describe_receiver(slot: str, config: ServerConfig, host: str) -> str:
    kind, _, name = slot.partition(".")
    oauth = config.oauth
    # Whom the client's secret goes to is up to the server, or to the document that the definition names.
    names_issuer = (oauth and oauth.metadata_url) or host
    exchange = (oauth and oauth.idp_token_endpoint) or "nobody, as there is no idpTokenEndpoint"
    words = _RECEIVERS.get(slot) or _RECEIVERS[kind]
    return words.format(host=host, name=name, issuer=f"the login server that {names_issuer} names", exchange=exchange)


_RECEIVERS = {
    "env": "the program, as its variable {name}",
    "passEnv": "the program, as its variable {name}",
    "headers": "{host}, in the header {name}",
    "headers.": "{host}, as headers",
    "oauth.clientSecret": "{issuer}, as the client's secret",
    "oauth.privateKey": "signatures for {issuer}",
    "oauth.assertion": "{issuer}, as a statement about you",
    "oauth.idToken": "{exchange}, as your login at the identity provider",
    "command": "the command line, as the program to run",
    "args": "the program, as an argument",
    "cwd": "the folder that the program starts in",
    "envFile": "the path of the file with variables",
    "variables": "the program, as variables",
    "url": "{host}, in the URL",
    "headersHelper": "the command that prints headers",
    "shell": "the command {name}",
}
