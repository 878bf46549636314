"""YAML into documents, from a parser's events: its own way to build data has no bounds."""

import re
from collections.abc import Iterator
from copy import deepcopy
from math import inf
from typing import Any

import yaml

from mooring.errors import ParseError
from mooring.syntax.document import (
    DEPTH,
    Document,
    Offsets,
    Path,
    check_count,
    count_values,
    first_duplicates,
    path_so_far,
)

MOST_NODES = 20_000

# Plain words mean what YAML 1.2 says, as they do to the tools that write these files: `yes` is a text.
_NULLS = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_WORDS = {**_NULLS, **_TRUTHS}
# Longer numbers stay texts: to convert one takes quadratic time.
_LONGEST_NUMBER = 400
_INT = r"[-+]?[0-9]{1,400}"
_ODD_INT = r"0(?:o[0-7]{1,400}|x[0-9a-fA-F]{1,400})"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"


def parse_yaml(text: str, most_values: float = inf) -> Document:
    """Read a YAML text of one document.

    Raises:
        ParseError: it is none, or holds more than its bounds; says why and on which line.
    """
    tree = _build_tree(text, min(most_values, MOST_NODES))
    return Document(tree.data, text, "yaml", first_duplicates(tree.duplicates), tree.nodes, find_offsets)


def find_offsets(text: str) -> Offsets:
    """Where each key and list element begins."""
    return _build_tree(text).offsets


def _build_tree(text: str, most: float = MOST_NODES) -> "_Tree":
    tree = _Tree(most)
    for event in read_events(text):
        tree.take(event)
    return tree


def read_events(text: str) -> Iterator[yaml.Event]:
    """What a parser meets in a text, with positions.

    Raises:
        ParseError: it is not YAML.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # Lone surrogates cannot be handed to the C parser.
        parser = loader(text.encode("utf-8", "replace").decode())
        while not isinstance(event := parser.get_event(), yaml.StreamEndEvent):
            yield event
        return
    except yaml.MarkedYAMLError as error:
        reason = f"is not valid YAML: {_without_names(error.problem)}"
        line = _find_line(error, text)
    except yaml.YAMLError:
        reason, line = "is not valid YAML", None
    raise ParseError(reason, line)


def _without_names(problem: str | None) -> str:
    return re.sub(r"['\"].*['\"]", "a name", problem or "it cannot be read", flags=re.S)


def _find_line(error: yaml.MarkedYAMLError, text: str) -> int | None:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return None
    # A text that ends too early is marked behind its last line.
    return int(min(mark.line, text.count("\n"))) + 1


class _Tree:
    """Data made of a parser's events, one by one: no depth, alias or repetition makes it larger than its bounds.

    `_open` holds the containers that have begun, and their anchors. `_path` holds the step inside each: a list's
    index, or a mapping's key, `None` until one is met.
    """

    def __init__(self, most: float) -> None:
        self.nodes = 0
        self.data: Any = {}
        self.duplicates: list[Path] = []
        self.offsets: Offsets = {}
        self._open: list[tuple[Any, str | None]] = []
        self._path: list[str | int | None] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._most = most
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self._begin_document(event)
            case yaml.ScalarEvent():
                self._add_scalar(event)
            case yaml.AliasEvent():
                self._add_leaf(self._copy_anchored(event), event)
            case yaml.MappingStartEvent():
                self._begin({}, event)
            case yaml.SequenceStartEvent():
                self._begin([], event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._end()
            case _:
                pass

    def _begin_document(self, event: yaml.DocumentStartEvent) -> None:
        self._documents += 1
        if self._documents > 1:
            raise ParseError("holds more than one document", _line(event))

    def _add_scalar(self, event: yaml.ScalarEvent) -> None:
        self._count(1)
        value = _resolve_scalar(event)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._add_leaf(value, event)

    def _add_leaf(self, value: Any, event: yaml.Event) -> None:
        if self._awaits_key():
            self._add_key(value, event)
            return
        self._put(value, event)
        self._advance()

    def _begin(self, container: Any, event: yaml.NodeEvent) -> None:
        self._count(1)
        if len(self._open) >= DEPTH:
            raise ParseError(f"is nested more than {DEPTH} levels deep", _line(event))
        if self._awaits_key():
            raise ParseError("has a key that is not text", _line(event))
        self._put(container, event)
        self._open.append((container, event.anchor))
        self._path.append(0 if isinstance(container, list) else None)

    def _end(self) -> None:
        container, anchor = self._open.pop()
        self._path.pop()
        if anchor:
            self._anchors[anchor] = (container, 1 + count_values(container))
        self._advance()

    def _awaits_key(self) -> bool:
        # A list's step is its index, so that only a mapping's can be missing.
        return bool(self._path) and self._path[-1] is None

    def _add_key(self, value: Any, event: yaml.Event) -> None:
        if isinstance(value, dict | list):
            raise ParseError("has a key that is not text", _line(event))
        # A key is what is written, whatever it would mean as a value: `1:` is named "1".
        key = event.value if isinstance(event, yaml.ScalarEvent) else str(value)
        self._path[-1] = key
        path = path_so_far(self._path)
        if key in self._open[-1][0]:
            self.duplicates.append(path)
        self.offsets[path] = _offset(event)

    def _put(self, value: Any, event: yaml.Event) -> None:
        """Put a value where the path says, or make it the whole data if nothing is open."""
        if not self._open:
            self.data = value
            return
        container = self._open[-1][0]
        if isinstance(container, list):
            container.append(value)
            self.offsets.setdefault(path_so_far(self._path), _offset(event))
        else:
            container[self._path[-1]] = value

    def _advance(self) -> None:
        """Go on to the next element of a list, or await the next key of a mapping."""
        if self._path:
            step = self._path[-1]
            self._path[-1] = step + 1 if isinstance(step, int) else None

    def _copy_anchored(self, event: yaml.AliasEvent) -> Any:
        if event.anchor not in self._anchors:
            raise ParseError("refers to an anchor that does not exist", _line(event))
        value, size = self._anchors[event.anchor]
        # Counted before it is copied: nine aliases of nine aliases, nine levels deep, are a billion values.
        self._count(size)
        copied = deepcopy(value)
        count_values(copied)  # an alias may be nested too deep where it is repeated
        return copied

    def _count(self, nodes: int) -> None:
        self.nodes += nodes
        check_count(self.nodes, self._most)


def _line(event: yaml.Event) -> int:
    mark: Any = event.start_mark  # a parser's own events always have one
    return int(mark.line) + 1


def _offset(event: yaml.Event) -> int:
    mark: Any = event.start_mark
    return int(mark.index)


def _resolve_scalar(event: yaml.ScalarEvent) -> Any:
    text: str = event.value
    is_plain = event.implicit[0]
    if not is_plain:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(_INT, text):
        return int(text)
    if re.fullmatch(_ODD_INT, text):
        return int(text, 0)
    if len(text) < _LONGEST_NUMBER and re.fullmatch(_FLOAT, text):
        return float(text)
    return text
