"""The command line: words go in, data comes out on stdout and everything else on stderr."""

import gc
import os
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit code of a command that Ctrl+C ended."""
GC_THRESHOLD = 100_000
"""How many new objects trigger the garbage collector: while modules load, there is no garbage to find."""
STARTERS = (
    "chat",
    "call",
    "read",
    "prompt",
    "watch",
    "serve",
    "resources",
    "prompts",
    "mcp test",
    "mcp reload",
    "mcp reconnect",
)
"""Commands that start servers: their guard starts while the rest is loaded."""
LISTINGS = ("tools", "mcp list", "mcp ls", "mcp doctor")
"""Commands that may answer from the cache."""
CONNECTING = ("--server", "--url", "--refresh", "--check")
"""Options with which a listing starts servers."""
ASKING = ("-p", "--prompt", "-m", "--model")
"""Options of `chat` with which a model behind an API answers, unless one of `OTHERS` names somebody else."""
OTHERS = ("-b", "--backend")
VALUED = ("--cwd", "--config")
"""Global options whose value is the next word."""
NO_CHAT = ("-h", "--help", "--version", "--json")
"""Options with which `mooring` alone opens no chat."""


def main() -> None:
    """The command `mooring`."""
    gc.set_threshold(GC_THRESHOLD)
    try:
        code = _run_command()
    except KeyboardInterrupt:
        code = INTERRUPTED
    _exit(code)


def _run_command() -> int:
    starts_servers = _will_start_servers(sys.argv[1:])
    is_http = "--url" in sys.argv
    guard = _start_guard() if starts_servers and not is_http else None
    _import_msgspec()
    if starts_servers:
        _import_http() if is_http else _import_asyncio()
    if _will_ask_a_model(sys.argv[1:]):
        _import_http()
    # Loaded only now: it takes longer than the guard needs to start.
    from mooring.cli.app import run
    from mooring.cli.interrupts import end_command

    return end_command(run(sys.argv[1:], guard))


def _exit(code: int) -> NoReturn:
    """End at once: everything is closed by now, and unloading hundreds of modules takes a sixth of a short command."""
    threading = sys.modules.get("threading")
    # The thread that imports aiohttp is waited for: OpenSSL must not be cleaned up under it.
    if code != INTERRUPTED and threading is not None and threading.active_count() > 1:
        sys.exit(code)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        # The interpreter reports what it could not write.
        sys.exit(code)
    os._exit(code)


def _will_start_servers(words: list[str]) -> bool:
    """A guess from the bare words, before there is anything to parse them with; a wrong one costs time, no more."""
    command = _find_command(words)
    is_typed = sys.stdin is not None and sys.stdin.isatty()
    if not command and is_typed:
        return not _any_of(NO_CHAT, words)
    if command in LISTINGS:
        return _any_of(CONNECTING, words)
    return command in STARTERS


def _will_ask_a_model(words: list[str]) -> bool:
    """The same kind of guess."""
    return _find_command(words) == "chat" and _any_of(ASKING, words) and not _any_of(OTHERS, words)


def _any_of(options: tuple[str, ...], words: list[str]) -> bool:
    return not set(options).isdisjoint(words)


def _find_command(words: list[str]) -> str:
    """The first word that is neither an option nor the value of one; after `mcp`, the next such word, too."""
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in VALUED:
            next(rest, None)
        elif not word.startswith("-"):
            found.append(word)
            if found != ["mcp"]:
                break
    return " ".join(found)


def _start_guard() -> object:
    """Start a guard while the rest is loaded."""
    if sys.platform == "win32":
        return None
    from mooring.process.guard.boot import start_guard  # standard library only, so it is loaded in an instant

    try:
        return start_guard()
    except OSError:
        # It is tried again later, where the failure can be reported.
        return None


def _import_msgspec() -> None:
    """Import msgspec without what it needs next to nothing of, which takes a tenth of a short command.

    It prefers `typing_extensions` to `typing`, and does without it where it is not installed: of what msgspec takes
    from there, each Python that we support has the same in `typing`. It also imports `uuid`, which asks `platform` for
    the name of the system, and `platform` compiles a dozen patterns first. `msgspec.inspect` is for making JSON
    schemas.
    """
    stand_ins = {"typing_extensions": None, **_load_on_use("msgspec.inspect")}
    if sys.platform != "win32" and "uuid" not in sys.modules:
        stand_ins["platform"] = _name_system_only()
    _import_with("msgspec", stand_ins)


def _name_system_only() -> ModuleType:
    """A module with the two functions of `platform` that are called while others are imported."""
    module = LoadedOnUse("platform")
    module.system = lambda: os.uname().sysname  # type: ignore[attr-defined]
    module.python_implementation = lambda: "PyPy" if sys.implementation.name == "pypy" else "CPython"  # type: ignore[attr-defined]
    return module


def _import_asyncio() -> None:
    """Import asyncio without what it needs for TLS and for describing objects: an eighth of a short command."""
    _import_with("asyncio", _load_on_use("asyncio.sslproto", "ssl", "inspect", "locale"))


def _load_on_use(*names: str) -> dict[str, ModuleType | None]:
    return {name: LoadedOnUse(name) for name in names}


class LoadedOnUse(ModuleType):
    """Stands for a module, and loads it when something in it is first asked for."""

    def __getattr__(self, name: str) -> object:
        if name == "__path__":  # Python asks each module from which something is imported whether it is a package
            raise AttributeError(name)
        own = self.__name__
        if sys.modules.get(own) is self:
            del sys.modules[own]
        __import__(own)
        return getattr(sys.modules[own], name)


class UsedLater:
    """Stands for something in a module, which is loaded when it is called or asked for anything."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def __call__(self, *args: object) -> object:
        return self._find()(*args)

    def __getattr__(self, name: str) -> object:
        return getattr(self._find(), name)

    def _find(self) -> Any:
        __import__(self._module)
        return getattr(sys.modules[self._module], self._name)


def _name_later(module: str, *names: str) -> ModuleType:
    """A module with these names, for whoever imports them from it and may never use them."""
    made = LoadedOnUse(module)
    for name in names:
        setattr(made, name, UsedLater(module, name))
    return made


def _import_with(name: str, stand_ins: Mapping[str, ModuleType | None]) -> None:
    """Import a module with others in place of some that it imports. Whoever imports those later gets the real ones."""
    modules: dict[str, ModuleType | None] = sys.modules  # type: ignore[assignment]
    placed = {key: module for key, module in stand_ins.items() if key not in modules}
    modules.update(placed)
    try:
        __import__(name)
    finally:
        for key, module in placed.items():
            if key in modules and modules[key] is module:
                del modules[key]


def _import_http() -> None:
    """Import aiohttp in a thread: half of a call by URL is this import, and reading certificates lets others run."""
    from threading import Thread

    Thread(target=_import_aiohttp, args=(_is_in_the_open(sys.argv[1:], os.environ),)).start()


def _import_aiohttp(is_in_the_open: bool) -> None:
    """Import aiohttp without reading certificates twice, and without what a request rarely needs.

    aiohttp makes two contexts for TLS when it is imported, and reads all of the system's certificates for each, 42 ms
    of CPU every time. Mooring never uses the one that verifies nothing. For the other, they are read here if a
    connection will need them, and otherwise when one does. The validators of attrs and `idna` are 7 ms; the policies of
    `email`, for the parameters of a content type, and `urllib.request`, for the proxies of the system, are 15 ms. So
    are the eighteen classes for tracing requests, which attrs writes code for.
    """
    from mooring.cli.certificates import put_off_certificates, read_certificates  # loads ssl, which only HTTP needs

    with put_off_certificates() as contexts:
        stand_ins: dict[str, ModuleType | None] = {
            **_load_on_use("attr.validators", "idna", "inspect"),
            "typing_extensions": _name_type_variables(),
            "email.policy": _name_later("email.policy", "HTTP"),
            "urllib.request": _name_later("urllib.request", "getproxies", "proxy_bypass"),
            "aiohttp.tracing": _name_later("aiohttp.tracing", "Trace", "TraceConfig", *_TRACES),
        }
        if sys.platform != "win32":
            stand_ins["platform"] = _name_system_only()
        _import_with("aiohttp", stand_ins)
    if not is_in_the_open:
        for context in contexts:
            read_certificates(context)


def _name_type_variables() -> ModuleType:
    """A module with the one thing of `typing_extensions` that aiohttp uses: type variables that may have a default."""

    def make(name: str, *bounds: Any, default: object = None, **options: Any) -> object:
        return typing.TypeVar(name, *bounds, **options)

    import typing

    module = LoadedOnUse("typing_extensions")
    module.TypeVar = make  # type: ignore[attr-defined]
    return module


_TRACES = [
    "TraceConnectionCreateEndParams", "TraceConnectionCreateStartParams", "TraceConnectionQueuedEndParams",
    "TraceConnectionQueuedStartParams", "TraceConnectionReuseconnParams", "TraceDnsCacheHitParams",
    "TraceDnsCacheMissParams", "TraceDnsResolveHostEndParams", "TraceDnsResolveHostStartParams",
    "TraceRequestChunkSentParams", "TraceRequestEndParams", "TraceRequestExceptionParams",
    "TraceRequestHeadersSentParams", "TraceRequestRedirectParams", "TraceRequestStartParams",
    "TraceResponseChunkReceivedParams",
]  # fmt: skip


def _is_in_the_open(words: list[str], env: Mapping[str, str]) -> bool:
    """Whether the address to connect to is without TLS: another guess that costs no more than time."""
    if "--url" in words:
        return "".join(words[words.index("--url") + 1 :][:1]).startswith("http://")
    return any(name.endswith("_BASE_URL") and value.startswith("http://") for name, value in env.items())
