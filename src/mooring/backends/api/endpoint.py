"""Where the requests for a model go, with which key, and how to get there."""

from msgspec import Struct

from mooring.auth.oauth.metadata import is_loopback
from mooring.backends.api.choice import ModelChoice
from mooring.backends.api.providers import ApiKey, ModelProvider, find_key, find_url, find_url_name
from mooring.core.conversation.effort import EffortWish
from mooring.core.definitions.paths import Paths
from mooring.errors import ConfigError, NoModel
from mooring.settings import Settings
from mooring.wire.http.address import Address, parse_address
from mooring.wire.http.network import Network, Options


class ModelEndpoint(Struct, frozen=True):
    """A provider as this person reaches it."""

    provider: ModelProvider
    url: str
    key: ApiKey | None
    network: Network
    options: Options
    effort: EffortWish
    """How much its models are asked to think."""
    url_name: str = ""
    """The variable that its address is from, if it is from one."""

    @property
    def address(self) -> Address:
        return Address(self.url)


async def find_endpoint(choice: ModelChoice, where: Paths, settings: Settings, effort: EffortWish) -> ModelEndpoint:
    """The endpoint of a chosen model, which is to think this much.

    Raises:
        NoModel: it needs a key that the person doesn't have, or the key would be readable on its way.
        ConfigError: its address is none, or its key cannot be sent.
        StoreUnavailable, FileError: the secrets cannot be read.
    """
    provider = choice.provider
    url_name = find_url_name(provider, where)
    url = _read_address(find_url(provider, where))
    key = await find_key(provider, where)
    if key is None and provider.needs_key:
        raise NoModel(f"{choice.name} ({choice.origin}) needs a key.", _suggest_key(provider))
    _check_plain(url, key)
    _check_sendable(key)
    options = Options(**settings["network"])
    return ModelEndpoint(provider, url, key, Network(where.env), options, effort, url_name)


def _read_address(written: str) -> str:
    address = parse_address(written)
    if address.socket:
        raise ConfigError("The address of a model begins with http:// or https://, not with unix://.")
    if not address.url.isascii() or " " in address.url:
        raise ConfigError(f"{address.name!r} is not a valid URL: it holds a character that has to be escaped there.")
    return address.url


def _suggest_key(provider: ModelProvider) -> str:
    name = provider.key_names[0]
    return f"Store it with `mooring secret set {name}`, or set the variable {name}."


def _check_sendable(key: ApiKey | None) -> None:
    if key is not None and not (key.value.isascii() and key.value.isprintable()):
        # Not quoted, because it is a secret.
        raise NoModel(
            f"The key {key.name} holds a line break, or another character that no key has.",
            f"`mooring secret set {key.name}` stores another; a variable of that name wins over it.",
        )


def _check_plain(url: str, key: ApiKey | None) -> None:
    if key is None or url.startswith("https:") or is_loopback(url):
        return
    raise NoModel(
        f"The key {key.name} is not sent to {Address(url).name}: without https:// everybody on the way could read it.",
        "Use an https:// address, or one on this machine.",
    )
