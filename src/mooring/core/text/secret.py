"""What looks like a secret, and how secrets are removed from whatever is shown: the one place that decides both.

A name decides for variables, headers, parameters, options and query strings alike. So does a value: by the prefix of a
known kind of token, by a password in an address, or because it is as random as only a key is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, starmap
from typing import Any, NamedTuple

from mooring.errors import RpcError, ServerError

HIDDEN = "•••"
"""Replaces a secret."""
SHORTEST = 4
"""A shorter secret looks like ordinary text, so removing it would garble the rest."""

# --- names ----------------------------------------------------------------------------------------------------------

# Patterns stay strings until they are first used: a listing loads this module and rarely needs one of them.
# Names are compared in capitals, because a pattern that ignores case takes twice as long to compile.
_SECRET_NAME = (
    r"TOKEN(?!IZ)|SECRET|AUTHORI[SZ]ATION|PASSW|PASSPHRASE|PASSCODE|(?<!ASK)PASS(?:$|_)|CREDENTIAL|COOKIE|PRIVATE|PRIVKEY"
    r"|BEARER|MNEMONIC|SALT|WEBHOOK|BASICAUTH|CONNECTION_STRING|CONN_?STR"
    r"|(?:^|_)(?:PWD?|PSW|PAT|DSN|JWT|SK|SAS|PSK|OTP|TOTP|SEED|CREDS?|HMAC)(?:_|$)"
    r"|(?:DB|SQL|ROOT|ADMIN|USER|FTP|LDAP|SMTP|MAIL|REDIS)PWD?$"
    r"|(?<!PUBLIC_)(?<!PUBLISHABLE_)(?:^|(?<=_))(?:API)?KEYS?(?:$|_)"
    r"|(?:API|SIGNING|ENCRYPTION|MASTER|ACCESS|AUTH|ACCOUNT|STORAGE|SERVICE|SESSION|SSH|APP|ADMIN|DEPLOY|LICENSE)KEY$"
    r"|(?:DB|SQL|DATABASE|MQ|KAFKA|ELASTIC|CLICKHOUSE|REDIS|MONGO|POSTGRES|AMQP)\w*_UR[IL]$"
    # GITHUB_API_URL and AUTH_TYPE say where and how, not what with.
    r"|(?:^|_)(?:API|ACCESS|AUTH)(?:_|$)(?!.*(?:UR[IL]|HOST|PORT|VERSION|ENDPOINT|BASE|TYPE|METHOD|REGION|SERVER|ADDR)$)"
)
# The last four mark processes and sessions, and the key of Python's images is the public one that signs its releases.
_PUBLIC_NAMES = frozenset(
    {
        "SSH_AUTH_SOCK", "PWD", "OLDPWD", "XAUTHORITY", "PASSWORD_STORE_DIR", "GPG_KEY", "STARSHIP_SESSION_KEY",
        "MEMORY_PRESSURE_WRITE", "HUDSON_COOKIE", "JENKINS_NODE_COOKIE", "JENKINS_SERVER_COOKIE", "XDG_SESSION_COOKIE",
    }
)  # fmt: skip
_PROXY_NAMES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY"})
# A switch is not a secret, whatever its name.
_SWITCHES = frozenset({"", "0", "1", "true", "false", "yes", "no", "on", "off", "none"})
# In an address, `?code=` and `?sig=` grant access; a variable such as EXIT_CODE does not.
_SECRET_IN_QUERY = r"(?i)key|token|secret|auth|pass|pwd|sig|credential|code"


def is_secret(name: str, value: str) -> bool:
    """Whether a variable or a header may hold a secret, so that it is neither passed on unasked nor shown."""
    capitals = name.upper()
    # A proxy's address often has a password in it, but without it no program would reach anything.
    is_public = name in _PUBLIC_NAMES or capitals in _PROXY_NAMES
    is_switch = value.lower() in _SWITCHES
    # `CLAUDE_CODE_MAX_OUTPUT_TOKENS` is a number of them.
    is_count = "TOKENS" in capitals and value.isdecimal()
    if is_public or is_switch or is_count:
        return False
    return is_secret_name(name) or is_secret_value(value)


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


# --- values ---------------------------------------------------------------------------------------------------------

_URL_WITH_PASSWORD = r"\w[\w+.-]*://[^/\s:@]*:[^/\s@]+@"
# What services put before the tokens they give out, so that scanners find them.
_TOKEN_PREFIXES = (
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-",
    "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-",
    "xoxr-", "xoxs-", "xapp-", "AIza", "ya29.", "GOCSPX-", "pypi-AgE", "lin_api_", "dop_v1_", "doo_v1_", "dor_v1_",
    "shpat_", "shpss_", "shpca_", "shppa_", "sq0atp-", "sq0csp-", "dckr_pat_", "dp.pt.", "hvs.", "hvb.", "ATATT3",
    "ATCTT3", "PMAK-", "sntrys_", "sntryu_", "NRAK-", "tskey-", "CFPAT-", "ops_eyJ", "eyJ", "AGE-SECRET-KEY-1",
)  # fmt: skip
_SHORTEST_TOKEN = 12
# Other things begin like this too (`sk-learn-2024`), so that a long word has to follow.
_COMMON_PREFIXES = (
    "sk-", "sk-ant-", "sk-proj-", "npm_", "pypi-", "hf_", "r8_", "gsk_", "xai-", "pplx-", "nvapi-", "ntn_", "secret_",
    "SG.", "figd_", "rubygems_", "glc_", "glsa_", "bkua_", "sbp_", "tvly-", "fly_",
)  # fmt: skip
_LONG_WORD = r"[A-Za-z0-9]{16}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{12}"
_AMAZON_PREFIXES = ("AKIA", "ASIA")
_AMAZON_TOKEN = r"[A-Z0-9]{20}"
_LOGIN_WORDS = ("bearer ", "basic ", "token ", "digest ")
_IN_CONNECTION_STRING = (
    r"(?i)(?:^|[;?&\s])(?:password|pwd|accountkey|sharedaccesskey|sharedaccesssignature)\s*=\s*[^;\s]"
)
_PRIVATE_KEY = ("-----BEGIN", '"private_key"', "PuTTY-User-Key-File")

_SHORTEST_RANDOM = 20
_NEVER_RANDOM = frozenset("/:, \t\n'\"();|&<>{}@%$")
_DIGEST = r"[0-9a-fA-F-]{12,}"
_EVERY_KIND = r"(?s)(?=.*[a-z])(?=.*[A-Z]).*[0-9]"
_CHANGE = r"[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])"
_LEAST_BITS = 3.5
"""For each character; 20 random letters and digits have 4.0."""
_LEAST_CHANGES = 0.4
"""From small letters to capitals or digits and back, for each character; random texts have 0.6, joined words 0.2."""


@lru_cache(1024)
def is_secret_value(value: str) -> bool:
    """Whether a value looks like a secret whatever its name. Answers are kept: each server inherits the same values."""
    return any(looks_secret(value) for looks_secret in _SIGNS)


# No pattern before it is needed: to compile these takes longer than to look at a whole environment.


def _is_url_with_password(value: str) -> bool:
    may_be_one = "://" in value and "@" in value
    return may_be_one and re.match(_URL_WITH_PASSWORD, value) is not None


def _is_connection_string(value: str) -> bool:
    return "=" in value and re.search(_IN_CONNECTION_STRING, value) is not None


def _is_login(value: str) -> bool:
    return len(value) >= _SHORTEST_TOKEN and value[:7].lower().startswith(_LOGIN_WORDS)


def _holds_private_key(value: str) -> bool:
    return any(mark in value for mark in _PRIVATE_KEY)


def is_token(text: str) -> bool:
    """Whether a text begins as a known kind of token does, or is as random as a key."""
    if text.startswith(_TOKEN_PREFIXES):
        return len(text) >= _SHORTEST_TOKEN and not re.search(r"[\s/:]", text)
    if text.startswith(_COMMON_PREFIXES) and re.search(_LONG_WORD, text):
        return True
    if text.startswith(_AMAZON_PREFIXES):
        return re.fullmatch(_AMAZON_TOKEN, text) is not None
    return _is_random(text)


_SIGNS = (_is_url_with_password, _is_connection_string, _is_login, is_token, _holds_private_key)


def shorten_token(text: str) -> str:
    """A token of a well-known kind as its prefix and its length; any other text as it is."""
    found = _find_token(text)
    return text if found is None else found.shortened


class _Token(NamedTuple):
    """A token of a well-known kind, with the word for a login before it."""

    scheme: str
    prefix: str
    rest: str

    @property
    def shortened(self) -> str:
        return f"{self.scheme}{self.prefix}… ({len(self.prefix + self.rest)} characters)"


def _find_token(text: str) -> _Token | None:
    # The longest first: a token of Anthropic's begins with `sk-ant-`, which says more than `sk-`.
    prefixes = sorted((*_TOKEN_PREFIXES, *_COMMON_PREFIXES, *_AMAZON_PREFIXES), key=len, reverse=True)
    known = "|".join(map(re.escape, prefixes))
    found = re.fullmatch(rf"((?:Bearer|Basic|token) |)({known})([\w-]{{16,}})", text, re.ASCII)
    if found is None:
        return None
    token = _Token(*found.groups())
    # A person who approves a server sees the full text if it only begins like a token.
    return token if is_token(token.prefix + token.rest) else None


def _is_random(text: str) -> bool:
    is_long_word = len(text) >= _SHORTEST_RANDOM and text.isascii()
    # Paths, addresses and sentences are long without being secret, and so are digests and UUIDs, which are hexadecimal.
    if not is_long_word or not _NEVER_RANDOM.isdisjoint(text):
        return False
    text = re.sub(_DIGEST, "", text)
    # The names of containers have letters and digits at random too, but no capitals.
    if len(text) < _SHORTEST_RANDOM or not re.match(_EVERY_KIND, text):
        return False
    changes = len(re.findall(_CHANGE, text))
    is_mixed = changes >= _LEAST_CHANGES * len(text)
    return is_mixed and _bits_per_character(text) >= _LEAST_BITS


def _bits_per_character(text: str) -> float:
    """Shannon's entropy."""
    from math import log2  # only for what is long enough

    shares = [text.count(character) / len(text) for character in set(text)]
    return -sum(share * log2(share) for share in shares)


# --- secrets in addresses and arguments -----------------------------------------------------------------------------


def hide_in_url(url: str) -> str:
    """An address without its password, the secrets in its query and fragment, and tokens in its path."""
    without_password = re.sub(r"(?<=://)([^/?#@:]*):[^/?#@]*@", rf"\1:{HIDDEN}@", url)
    without_parameters = re.sub(r"([?&#])([^=&#]*)=([^&#]+)", _hide_parameter, without_password)
    return re.sub(r"(?<=[/#])[^/?#&=]+", lambda found: _hide_token(found[0]), without_parameters)


def _hide_parameter(found: re.Match[str]) -> str:
    start, name, value = found.groups()
    shown = HIDDEN if is_secret_in_query(name) else _hide_token(value)
    return f"{start}{name}={shown}"


def _hide_token(text: str) -> str:
    return HIDDEN if is_token(text) else text


def find_in_url(url: str) -> Iterator[str]:
    """The secrets in an address, as they are written there."""
    yield from re.findall(r"(?<=://)[^/?#@:]*:([^/?#@]*)@", url)
    for name, value in re.findall(r"[?&#]([^=&#]*)=([^&#]+)", url):
        if is_secret_in_query(name) or is_token(value):
            yield value
    yield from filter(is_token, re.findall(r"(?<=[/#])[^/?#&=]+", url))


# `--api-key=x`, `GITHUB_TOKEN=x` after `-e`, `Authorization: x` after `--header`.
_ASSIGNMENT = r"(?s)(?P<name>-{0,2}[A-Za-z_][\w.-]*)\s*[=:]\s*(?P<value>.+)"
_LOGIN_OPTIONS = ("-u", "--user", "--login", "--basic-auth")


def find_in_arguments(arguments: Sequence[str]) -> Iterator[str]:
    """The secrets among a program's arguments, by the options they belong to or by what they look like."""
    for before, argument in pairwise(("", *arguments)):
        yield from _find_in_argument(before, argument)


def hide_in_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments without the secrets among them."""
    return tuple(starmap(_hide_argument, pairwise(("", *arguments))))


# What takes a variable or a header: `-e GITHUB_TOKEN=x`, `--header=Authorization: x`.
_CARRIERS = ("-e", "--env", "-H", "--header")


def shorten_in_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments, with tokens of a well-known kind shortened where an option, variable or header with a secret's
    name takes them; everything else as it is."""
    return tuple(starmap(_shorten_argument, pairwise(("", *arguments))))


def _shorten_argument(before: str, argument: str) -> str:
    if before.startswith("--") and _is_secret_option(before):
        return _shorten_random_token(argument)
    name, value = _split_assignment(argument)
    start = argument.removesuffix(value)
    if name in _CARRIERS:
        return start + _shorten_argument(name, value)
    may_be_secret = name.startswith("--") or before in _CARRIERS
    if may_be_secret and is_secret_name(name.lstrip("-")):
        return start + _shorten_random_token(value)
    return argument


def _shorten_random_token(text: str) -> str:
    # `npm exec --api-key ghp_x` runs the package `ghp_x`, since npm takes an option that it does not know as a switch.
    # So only a text at random is shortened: nobody could have read anything in it.
    token = _find_token(text)
    return text if token is None or not _is_random(token.rest) else token.shortened


def _hide_argument(before: str, argument: str) -> str:
    for secret in sorted(set(_find_in_argument(before, argument)), key=len, reverse=True):
        argument = argument.replace(secret, HIDDEN)
    return argument


_QUOTED_OR_WORD = r"""\"[^"]*\"|'[^']*'|[^\s"'`;|&()<>,]+"""
_JSON_PAIR = r"""\"([^"\\]{1,200})\"\s*+:\s*+\"((?>(?:[^"\\]|\\.)*))\""""
_REFERENCE = r"\$|\{\w+:"
"""How `$TOKEN` and `{env:TOKEN}` begin: what is written there is only a name."""
_DEEPEST = 3
"""How often a line may be quoted inside another."""


def _find_in_argument(before: str, argument: str, depth: int = _DEEPEST) -> Iterator[str]:
    yield from _find_in_word(before, argument)
    holds_words = " " in argument or "\n" in argument or '"' in argument
    if holds_words and depth:
        # What is shorter is not struck out inside a line: it may be part of any other word.
        yield from (secret for secret in _find_in_line(argument, depth) if len(secret) >= SHORTEST)


def _find_in_line(line: str, depth: int) -> Iterator[str]:
    """The secrets in the line of a `sh -c`, or in JSON: those among its words, and the texts under names of secrets."""
    for name, value in re.findall(_JSON_PAIR, line.replace('\\"', '"')):
        if is_secret(name, value):
            yield value
    words = [word.strip("\"'") for word in re.findall(_QUOTED_OR_WORD, line)]
    for before, word in pairwise(("", *words)):
        if word.lower() not in _SWITCHES:
            # `TOKEN='x'` is a name, and a text in quotes.
            whole = before + word if before.endswith("=") else word
            found = _find_in_argument(before, whole, depth - 1)
            yield from (secret for secret in found if not re.match(_REFERENCE, secret))


def _find_in_word(before: str, argument: str, depth: int = _DEEPEST) -> Iterator[str]:
    if "://" in argument:
        yield from find_in_url(argument)
    elif _is_secret_option(before) and not argument.startswith("-"):
        yield argument
    elif before in _LOGIN_OPTIONS and ":" in argument:
        yield argument.partition(":")[2]
    else:
        yield from _find_in_assignment(argument, depth)


def _find_in_assignment(argument: str, depth: int) -> Iterator[str]:
    name, value = _split_assignment(argument)
    if name and is_secret(name.lstrip("-"), value):
        yield value
    elif is_secret_value(argument):
        yield argument
    elif name and depth:
        yield from _find_in_word(name, value, depth - 1)  # `--header=Authorization: …`


def _split_assignment(argument: str) -> tuple[str, str]:
    """The name and the value of an argument that assigns one; two empty texts for any other."""
    # Ordinary arguments need no pattern: a listing would compile it for nothing.
    if "=" not in argument and ":" not in argument:
        return "", ""
    found = re.fullmatch(_ASSIGNMENT, argument)
    if found is None:
        return "", ""
    return found["name"], found["value"]


def _is_secret_option(word: str) -> bool:
    is_word = word.startswith("-") and len(word) > len("-x") and "=" not in word
    return is_word and is_secret_name(word.lstrip("-"))


# --- striking out ---------------------------------------------------------------------------------------------------

_SHORTEST_BASE64 = 8
_LETTERS_AND_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def list_secrets(values: Iterable[str]) -> tuple[str, ...]:
    """What to look for so that none of these values is shown, in whatever form."""
    found: set[str] = set()
    for value in values:
        for part in _list_parts(value):
            found.update(_list_forms(part))
    texts = [text for text in found if len(text) >= SHORTEST]
    # The longest first: one secret may be part of another, and its rest would stay.
    return tuple(sorted(texts, key=lambda text: (-len(text), text)))


def _list_parts(value: str) -> Iterator[str]:
    """A value, and what in it is a secret by itself: a program may repeat a login without the word before it."""
    yield value
    yield value.strip()
    login = re.fullmatch(r"(?i)\s*(?:bearer|basic|token|digest)\s+(\S+)\s*", value)
    if login is not None:
        yield login[1]
        yield from _decode_login(login[1])
    if re.match(_URL_WITH_PASSWORD, value):
        yield from find_in_url(value)


def _decode_login(text: str) -> Iterator[str]:
    """The name and the password in the header of a basic login, and the password alone."""
    from binascii import Error, a2b_base64  # only for headers

    try:
        decoded = a2b_base64(text).decode()
    except (Error, ValueError):
        return
    if ":" in decoded:
        yield decoded
        yield decoded.partition(":")[2]


def _list_forms(secret: str) -> Iterator[str]:
    """The ways in which a secret can show up: as it is, line by line, escaped for JSON or an address, or in Base64."""
    yield secret
    if "\n" in secret:
        # As programs repeat a private key. A line of it is as long as a token.
        yield from (line.strip() for line in secret.splitlines())
    if len(secret) < SHORTEST:
        return
    yield from _list_json_forms(secret)
    yield from _list_url_forms(secret)
    yield from _list_base64_forms(secret.encode(errors="surrogateescape"))


def _list_json_forms(secret: str) -> Iterator[str]:
    from json import dumps  # not for a listing

    for escaped in (dumps(secret)[1:-1], dumps(secret, ensure_ascii=False)[1:-1]):
        yield escaped
        # JSON inside of JSON, as servers return it in a text.
        yield dumps(escaped)[1:-1]
        # PHP escapes slashes, Go what could end a script in a page.
        yield escaped.replace("/", "\\/")
        yield escaped.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _list_url_forms(secret: str) -> Iterator[str]:
    data = secret.encode(errors="surrogateescape")
    for marks in (b"-._~", b"-._~/", b"-._~!$&'()*+,;=:@/"):
        plain = _LETTERS_AND_DIGITS + marks
        encoded = "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in data)
        yield encoded
        yield re.sub("%..", lambda found: found[0].lower(), encoded)
        yield encoded.replace("%20", "+")


def _list_base64_forms(data: bytes) -> Iterator[str]:
    """What of a secret shows in Base64, wherever in the encoded text it begins, and whatever comes after it."""
    from binascii import b2a_base64  # not for a listing

    for shift, unknown in ((0, 0), (1, 2), (2, 3)):
        encoded = b2a_base64(bytes(shift) + data, newline=False).decode().rstrip("=")[unknown:]
        is_cut = (shift + len(data)) % 3 != 0
        # The last character holds bits of what follows, unless nothing does.
        certain = encoded[:-1] if is_cut else encoded
        for form in (encoded, certain):
            if len(form) >= _SHORTEST_BASE64:
                yield form
                yield form.replace("+", "-").replace("/", "_")


def redact(text: str, secrets: Sequence[str]) -> str:
    """The text without secrets; `secrets` is what `list_secrets` made."""
    # One pass for each form: a single pattern of all of them takes three times as long for a megabyte without a secret.
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def redact_data(value: Any, secrets: Sequence[str]) -> Any:
    """Plain data without secrets in its texts and keys."""
    match value:
        case str():
            return redact(value, secrets)
        case list():
            return [redact_data(inner, secrets) for inner in value]
        case dict():
            return {redact(key, secrets): redact_data(inner, secrets) for key, inner in value.items()}
        case _:
            return value


def redact_error(error: ServerError, secrets: Sequence[str]) -> None:
    """Remove secrets from an error that may repeat them: servers quote tokens that they refuse."""
    error.args = (redact(str(error), secrets), *error.args[1:])
    if isinstance(error, RpcError):
        error.message = redact(error.message, secrets)
