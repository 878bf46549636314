"""Who answers: one row for each word before the colon of a model's name, and the key of each provider."""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.auth.oauth.metadata import is_loopback
from mooring.auth.store import SecretStore, read_stored
from mooring.core.definitions.paths import Paths
from mooring.errors import FileError, LoginFailed

ModelKind: TypeAlias = Literal["anthropic", "google", "openai", "openai-chat"]
"""What an endpoint speaks. `openai` is OpenAI's Responses API, `openai-chat` what most others imitate."""


class ModelProvider(Struct, frozen=True):
    """An endpoint that has models."""

    word: str
    kind: ModelKind
    url: str
    key_names: tuple[str, ...] = ()
    """The variables, or stored secrets, that can hold its key. The first that is set wins."""
    url_names: tuple[str, ...] = ()
    """The variables that can hold another address for it."""
    schemas: str = "openai"
    """Whose rules the schemas of tools have to follow: a `provider` of `Host.conversation`."""
    needs_key: bool = True
    example: str = "MODEL"
    """One of its models, for messages."""
    prices: str | None = None
    """What the table of prices calls it; `None` to look it up by its address."""


_SCHEMAS: Mapping[ModelKind, str] = {
    "anthropic": "anthropic",
    "google": "gemini",
    "openai": "openai",
    "openai-chat": "openai",
}

_ROWS = (
    ModelProvider(
        "anthropic", "anthropic", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), ("ANTHROPIC_BASE_URL",),
        "anthropic", example="claude-sonnet-5-5", prices="anthropic",
    ),
    ModelProvider(
        "openai", "openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",), ("OPENAI_BASE_URL",),
        example="gpt-6.1-sol", prices="openai",
    ),
    ModelProvider(
        "openai-chat", "openai-chat", "https://api.openai.com/v1", ("OPENAI_API_KEY",), ("OPENAI_BASE_URL",),
        example="gpt-6.1-sol", prices="openai",
    ),
    ModelProvider(
        # Both keys are Google's own names. The one that can mean nothing else comes first.
        "google", "google", "https://generativelanguage.googleapis.com", ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"), "gemini", example="gemini-3.8-flash", prices="google",
    ),
    ModelProvider(
        "openrouter", "openai-chat", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), ("OPENROUTER_BASE_URL",),
        example="anthropic/claude-sonnet-5.5", prices="openrouter",
    ),
    ModelProvider(
        "ollama", "openai-chat", "http://127.0.0.1:11434/v1", ("OLLAMA_API_KEY",), ("OLLAMA_BASE_URL",),
        "ollama", needs_key=False,
    ),
    ModelProvider(
        "lmstudio", "openai-chat", "http://127.0.0.1:1234/v1", ("LMSTUDIO_API_KEY",), ("LMSTUDIO_BASE_URL",),
        needs_key=False,
    ),
    ModelProvider(
        "vllm", "openai-chat", "http://127.0.0.1:8000/v1", ("VLLM_API_KEY",), ("VLLM_BASE_URL",),
        needs_key=False,
    ),
)  # fmt: skip


def list_providers(named: Mapping[str, Mapping[str, Any]]) -> dict[str, ModelProvider]:
    """Every provider by its word; `named` is the setting `models`, which can replace one of ours."""
    providers = {row.word: row for row in _ROWS}
    return providers | {word: _read_endpoint(word, entry) for word, entry in named.items()}


def find_url(provider: ModelProvider, where: Paths) -> str:
    """The address of a provider: its own, or the one that a variable of the environment names."""
    name = find_url_name(provider, where)
    return where.env[name].strip() if name else provider.url


def find_url_name(provider: ModelProvider, where: Paths) -> str:
    """The variable that names another address for a provider; empty if none does."""
    return next((name for name in provider.url_names if where.env.get(name, "").strip()), "")


def is_local(provider: ModelProvider, where: Paths) -> bool:
    """Whether a provider is on this machine."""
    try:
        return is_loopback(find_url(provider, where))
    except LoginFailed:
        # Its address is none, which is said when it is used.
        return False


def _read_endpoint(word: str, entry: Mapping[str, Any]) -> ModelProvider:
    kind: ModelKind = entry["kind"]
    key = entry.get("key")
    return ModelProvider(
        word, kind, entry["baseUrl"], (key,) if key else (), schemas=_SCHEMAS[kind], needs_key=bool(key)
    )


class ApiKey(Struct, frozen=True):
    """A key and the variable, or the secret, that it is in."""

    name: str
    value: str

    def __repr__(self) -> str:
        return f"<ApiKey {self.name}>"


async def find_key(provider: ModelProvider, where: Paths) -> ApiKey | None:
    """The key of a provider, if the person has one. Raises: StoreUnavailable; FileError."""
    for name in provider.key_names:
        if value := where.env.get(name, "").strip():
            return ApiKey(name, value)
    store = SecretStore(where)
    for name in provider.key_names:
        stored = await store.get("secret", name)
        if stored is not None:
            return ApiKey(name, stored.strip())
    return None


def has_key(provider: ModelProvider, where: Paths) -> bool:
    """Whether the person has a key for a provider, without reading it: no keyring is asked."""
    names = provider.key_names
    return any(where.env.get(name, "").strip() for name in names) or not _list_stored(where).isdisjoint(names)


def _list_stored(where: Paths) -> frozenset[str]:
    try:
        return frozenset(stored.name for stored in read_stored(where) if stored.kind == "secret")
    except FileError:
        # It is only asked to give advice, and whoever needs the key is told.
        return frozenset()


def make_headers(kind: ModelKind, key: ApiKey | None) -> dict[str, str]:
    """The headers of every request to an endpoint: those that show it a key, and the version of the API."""
    version = {"anthropic-version": "2023-06-01"} if kind == "anthropic" else {}
    return version if key is None else version | _show_key(kind, key)


def _show_key(kind: ModelKind, key: ApiKey) -> dict[str, str]:
    match kind:
        case "anthropic":
            return {"x-api-key": key.value}
        case "google":
            return {"x-goog-api-key": key.value}
        case "openai" | "openai-chat":
            return {"Authorization": f"Bearer {key.value}"}


_VERSION = r"/v[0-9]+(?:(?:alpha|beta)[0-9]*)?"


def join_address(url: str, path: str) -> str:
    """A path behind the address of an endpoint. An address that ends in a version of the API keeps its own.

    So does one with a query, such as Azure's `?api-version=preview`.
    """
    url, _, query = url.partition("?")
    if query:
        path += f"&{query}" if "?" in path else f"?{query}"
    url = url.rstrip("/")
    # Behind a single slash: a host can be called v1.
    has_version = re.search(f"(?<!/){_VERSION}$", url) is not None
    return url + (re.sub(f"^{_VERSION}(?=/)", "", path) if has_version else path)
