"""What looks like a secret, and how secrets are struck out of whatever is shown: the one place that decides both.

A name decides for variables, headers, parameters and query strings alike; a value decides where it holds a password.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from mooring.errors import RpcError, ServerError

HIDDEN = "•••"
"""Stands where a secret stood."""
SHORTEST = 4
"""A secret shorter than this cannot be told apart from ordinary text, so striking it out would garble the rest."""

# Patterns stay strings until they are first used: a listing loads this module and rarely needs one of them.
# Names are compared in capitals, because a pattern that ignores case takes twice as long to compile.
_SECRET_NAME = (
    r"TOKEN|SECRET|AUTHORI[SZ]ATION|PASSW|PASSPHRASE|PASS(?:$|_)|CREDENTIAL|COOKIE|PRIVATE|BEARER|MNEMONIC|SALT|WEBHOOK|BASICAUTH"
    r"|(?:^|_)(?:API|ACCESS|AUTH|PWD|PAT|DSN|JWT|SK|SAS)(?:_|$)|(?:^|_)(?:API)?KEYS?(?:$|_)|(?:API|SIGNING|ENCRYPTION)KEY$"
    r"|CONNECTION_STRING|(?:DB|SQL|DATABASE|MQ|KAFKA|ELASTIC|CLICKHOUSE|REDIS|MONGO|POSTGRES|AMQP)\w*_UR[IL]$"
)
_PUBLIC_NAMES = frozenset({"SSH_AUTH_SOCK", "PWD", "OLDPWD", "XAUTHORITY"})
_PROXY_NAME = r"(?i)(?:HTTPS?|ALL|FTP)_PROXY$"
_URL_WITH_PASSWORD = r"\w+://[^/\s:@]*:[^/\s@]+@"
# In an address, `?code=` and `?sig=` grant access; a variable such as EXIT_CODE does not.
_SECRET_IN_QUERY = r"(?i)key|token|secret|auth|pass|pwd|sig|credential|code"

# What the tokens of well-known services begin with, up to where the secret itself begins.
_TOKEN_PREFIX = (
    r"gh[pousr]_|github_pat_|glpat-|sk-ant-|sk-proj-|sk_live_|sk_test_|rk_live_|sk-|xox[abeoprs]-|xapp-|AKIA|ASIA|AIza"
    r"|npm_|pypi-|hf_|dop_v1_|shpat_|lin_api_|ntn_|figd_|tvly-"
)


def shorten_token(text: str) -> str:
    """A token of a well-known kind as its prefix and its length; any other text as it is."""
    token = re.fullmatch(rf"(?P<scheme>(?:Bearer|Basic|token) )?(?P<prefix>{_TOKEN_PREFIX})[\w-]{{16,}}", text, re.A)
    if token is None:
        return text
    length = len(text) - len(token["scheme"] or "")
    return f"{token['scheme'] or ''}{token['prefix']}… ({length} characters)"


def is_secret(name: str, value: str) -> bool:
    """Whether a variable or a header may hold a secret, so that it is neither passed on unasked nor shown."""
    # A proxy's address often has a password in it, but without it no program would reach anything.
    if name in _PUBLIC_NAMES or re.match(_PROXY_NAME, name):
        return False
    return is_secret_name(name) or re.match(_URL_WITH_PASSWORD, value) is not None


@lru_cache(1024)
def is_secret_name(name: str) -> bool:
    """Whether a name looks like a secret's: `GITHUB_TOKEN`, `X-Api-Key` and `apiKey` alike.

    Answers are kept: the same names are looked at for every server.
    """
    spelled = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", name)
    return re.search(_SECRET_NAME, spelled.casefold().upper()) is not None


def is_secret_in_query(name: str) -> bool:
    """Whether a parameter of an address may hold a secret."""
    return re.search(_SECRET_IN_QUERY, name) is not None or is_secret_name(name)


def hide_in_url(url: str) -> str:
    """An address without its password and without the secrets in its query."""
    without_password = re.sub(r"(?<=://)([^/?#@:]*):[^/?#@]*@", rf"\1:{HIDDEN}@", url)
    return re.sub(r"([?&])([^=&#]*)=([^&#]+)", _hide_parameter, without_password)


def _hide_parameter(found: re.Match[str]) -> str:
    start, name, value = found.groups()
    shown = HIDDEN if is_secret_in_query(name) else value
    return f"{start}{name}={shown}"


def list_secrets(values: Iterable[str]) -> tuple[str, ...]:
    """What to look for so that none of these values is shown."""
    texts = {text for value in values for text in _forms(value) if len(text) >= SHORTEST}
    # The longest first: one secret may be part of another, and its rest would stay.
    return tuple(sorted(texts, key=lambda text: (-len(text), text)))


def _forms(value: str) -> Iterator[str]:
    """The ways in which a value can show up: whole, or line by line, as a program repeats a private key."""
    yield value
    yield value.strip()
    if "\n" in value:
        yield from (line.strip() for line in value.splitlines())


def redact(text: str, secrets: Sequence[str]) -> str:
    """The text with every secret struck out; `secrets` is what `list_secrets` made."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def redact_error(error: ServerError, secrets: Sequence[str]) -> None:
    """Strike secrets out of an error that may repeat them: servers quote tokens that they refuse."""
    error.args = (redact(str(error), secrets), *error.args[1:])
    if isinstance(error, RpcError):
        error.message = redact(error.message, secrets)
