"""A schema as a graph: which schemas apply to the same value as another one, which to the values within it.

References are edges, so a schema of two kilobytes that comes to millions of schemas when it is written out is still a
small graph. What cannot be told apart is counted in full: the graph never says less than a check would do.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mooring.tools.schema.shape import as_list, resolve_reference

MAX_NODES = 1000
"""How many schemas one may hold; of 1,500 tools of published servers the largest has 543."""
MAX_VALUES = 40_000
"""How many values of any kind it may hold."""
MAX_DEPTH = 100
"""How deep they may be nested, in the text or by references; the library would overflow the stack, and we would die."""
MAX_STATES = 20_000
"""How many states all patterns may have together: half a microsecond each to compile."""

_MAX_TARGETS = 16
"""How many places a reference may lead to; all of them are followed."""
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_SAME_VALUE = ("allOf", "not", "if", "then", "else")
_UNIONS = ("anyOf", "oneOf")
_WITHIN = (
    "items", "prefixItems", "additionalItems", "contains", "unevaluatedItems",
    "additionalProperties", "unevaluatedProperties",
)  # fmt: skip
_MAPS_OF_SAME_VALUE = ("dependentSchemas", "dependencies")
_VALUES = ("enum", "const")
_LISTS_OF_NAMES = ("dependentRequired", "dependencies")
_SILENT = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "$schema", "$id"}
    | {"$comment", "$defs", "definitions", "$anchor", "$ref", "allOf", "if", "then", "else", "properties", "items"}
    | {"prefixItems", "patternProperties", "required", "dependentRequired", "dependentSchemas"}
)
"""Keywords that report no error of their own; names that are missing are counted one by one."""
_PUBLIC = "json-schema.org/"
_WEIGHT_OF_PUBLIC = 500
"""How many schemas the published meta-schemas have together; the library knows them without fetching."""


class SchemaTooLarge(Exception):
    """The schema is larger than can be checked in time; the message says in what way."""


class SchemaNode:
    """One schema: its own work, and the numbers of the nodes that it applies besides."""

    def __init__(self) -> None:
        self.work = 1
        """How many comparisons its own keywords make with one value."""
        self.errors = 0
        """How many errors they can report of one value."""
        self.repeats = 0
        """How many values of the schema each of those errors repeats."""
        self.matching = 0
        """What its patterns take at most for each character."""
        self.same: list[int] = []
        """Applied to the same value."""
        self.unions: list[int] = []
        """Applied to the same value as alternatives: their errors are kept within one error."""
        self.named: list[tuple[str, int]] = []
        """Applied to the property of that name."""
        self.within: list[int] = []
        """Applied to every item or property."""
        self.names: list[int] = []
        """Applied to the name of every property."""
        self.applied: list[int] = []
        """All that may apply to the same value."""
        self.descended: list[int] = []
        """All that may apply to a value within."""


class SchemaGraph:
    """The nodes of one schema; the root comes first.

    Raises:
        SchemaTooLarge: it has too many schemas, or they are nested too deeply.
    """

    def __init__(self, root: Any) -> None:
        self.nodes: list[SchemaNode] = []
        self._root = root
        self._numbers: dict[int, int] = {}
        """The number of each schema's node, by the schema's identity."""
        self._waiting: list[tuple[Any, SchemaNode]] = []
        self._resources = [root]
        """The schemas that references may start from."""
        self._anchors: dict[str, list[Any]] = {}
        self._targets: dict[str, list[int]] = {}
        """The numbers of the nodes that each reference may lead to."""
        self._states = 0
        """How many states all patterns have."""
        self._find_anchors()
        self._add(root)
        while self._waiting:
            self._read(*self._waiting.pop())

    def _find_anchors(self) -> None:
        for part in _walk_objects(self._root):
            for key in ("$anchor", "$dynamicAnchor", "$id", "id"):
                name = part.get(key)
                if not isinstance(name, str):
                    continue
                self._anchors.setdefault(name.removeprefix("#"), []).append(part)
                if key in ("$id", "id") and part is not self._root:
                    self._resources.append(part)
        most_alike = max(map(len, self._anchors.values()), default=0)
        if max(most_alike, len(self._resources)) > _MAX_TARGETS:
            raise SchemaTooLarge("too many parts of it go by names of their own")

    def _add(self, schema: Any) -> int:
        number = self._numbers.get(id(schema))
        if number is not None and isinstance(schema, dict):
            return number
        if len(self.nodes) == MAX_NODES:
            raise SchemaTooLarge(f"it comes to more than {MAX_NODES} schemas")
        number = self._numbers[id(schema)] = len(self.nodes)
        self.nodes.append(SchemaNode())
        if isinstance(schema, dict):
            self._waiting.append((schema, self.nodes[number]))
        else:
            self.nodes[number].errors = 1  # `false` refuses everything
        return number

    def _read(self, schema: dict[str, Any], node: SchemaNode) -> None:
        node.work += len(schema)
        node.errors = len(schema.keys() - _SILENT)
        self._read_values(schema, node)
        for key, value in schema.items():
            read = _READERS.get(key)
            if read is not None:
                read(self, value, node)
        self._read_patterns(schema, node)
        node.applied = node.same + node.unions
        node.descended = [number for _, number in node.named] + node.within + node.names

    def _read_same_value(self, value: Any, node: SchemaNode) -> None:
        node.same += map(self._add, _as_schemas(value))

    def _read_union(self, value: Any, node: SchemaNode) -> None:
        node.unions += map(self._add, as_list(value))

    def _read_within(self, value: Any, node: SchemaNode) -> None:
        node.within += map(self._add, _as_schemas(value))

    def _read_properties(self, value: Any, node: SchemaNode) -> None:
        node.named += [(name, self._add(each)) for name, each in _as_map(value).items()]

    def _read_property_names(self, value: Any, node: SchemaNode) -> None:
        node.names.append(self._add(value))

    def _read_dependent(self, value: Any, node: SchemaNode) -> None:
        # A list is one of names: `_read_values` counts them.
        node.same += [self._add(each) for each in _as_map(value).values() if not isinstance(each, list)]

    def _read_values(self, schema: dict[str, Any], node: SchemaNode) -> None:
        """Count what the keywords that list values or names compare, and what their errors repeat."""
        required = len(as_list(schema.get("required")))
        for key in _LISTS_OF_NAMES:
            required += sum(len(as_list(names)) for names in _as_map(schema.get(key)).values())
        node.work += required
        node.errors += required
        node.repeats = sum(_count_values(schema[key]) for key in _VALUES if key in schema)
        node.work += node.repeats

    def _read_patterns(self, schema: dict[str, Any], node: SchemaNode) -> None:
        if "pattern" not in schema and "patternProperties" not in schema:
            return
        by_pattern = _as_map(schema.get("patternProperties"))
        node.within += map(self._add, by_pattern.values())
        patterns = list(by_pattern)
        if isinstance(schema.get("pattern"), str):
            patterns.append(schema["pattern"])
        for each in patterns:
            weight = weigh_pattern(each)
            node.matching += weight.matching
            self._states += weight.states
        if self._states > MAX_STATES:
            raise SchemaTooLarge("its patterns are too large")

    def _read_reference(self, ref: Any, node: SchemaNode) -> None:
        if not isinstance(ref, str):
            return
        if _PUBLIC in ref:
            node.work += _WEIGHT_OF_PUBLIC
        if ref not in self._targets:
            # Where it leads may depend on how it was reached: all places that it can lead to are counted.
            targets = {id(target): target for target in self._find_targets(ref)}
            self._targets[ref] = list(map(self._add, targets.values()))
        node.same += self._targets[ref]

    def _find_targets(self, ref: str) -> Iterator[Any]:
        address, _, fragment = ref.partition("#")
        is_anchor = fragment and not fragment.startswith("/")
        if is_anchor:
            yield from self._anchors.get(fragment, ())
            return
        for resource in self._resources:
            found = resolve_reference(resource, f"#{fragment}")
            if isinstance(found, dict):
                yield found
        if address:
            yield from self._anchors.get(address, ())


_READERS: Mapping[str, Callable[[SchemaGraph, Any, SchemaNode], None]] = {
    **dict.fromkeys(_SAME_VALUE, SchemaGraph._read_same_value),
    **dict.fromkeys(_UNIONS, SchemaGraph._read_union),
    **dict.fromkeys(_WITHIN, SchemaGraph._read_within),
    "properties": SchemaGraph._read_properties,
    "propertyNames": SchemaGraph._read_property_names,
    **dict.fromkeys(_MAPS_OF_SAME_VALUE, SchemaGraph._read_dependent),
    **dict.fromkeys(_REFERENCES, SchemaGraph._read_reference),
}


def _walk_objects(root: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema, wherever it is.

    Raises: SchemaTooLarge if there are too many, or they are nested too deeply.
    """
    level = [root]
    depth = count = 0
    while level:
        depth += 1
        count += len(level)
        if count > MAX_VALUES:
            raise SchemaTooLarge(f"it holds more than {MAX_VALUES} values")
        # A schema within a schema takes two levels of JSON, as in `{"properties": {"a": …}}`.
        if depth > 2 * MAX_DEPTH:
            raise SchemaTooLarge("it is nested too deeply")
        deeper: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                yield part
            deeper += _inner_values(part)
        level = deeper


def _as_schemas(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _as_map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count_values(value: Any) -> int:
    count = 0
    waiting = [value]
    while waiting:
        count += 1
        waiting += _inner_values(waiting.pop())
    return count


def _inner_values(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else as_list(value)


_NOT_LINEAR = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9k]")
"""Look-around, atomic groups and back-references: no engine that takes them is fast on every text."""
_RETRIES = 100
"""How many times as long these take at most, with the limit that `mooring.tools.arguments.form` sets: the worst of
thirteen patterns made for it took 7 ms for what is reckoned as 20."""
_TOKEN = re.compile(
    r"""\\[pP]\{?[^}]*\}?           # a class of Unicode: thousands of ranges
      | \\.                         # an escape
      | \[\^?\]?(?:\\.|[^\]\\])*\]  # a class
      | \{\d*,?\d*\}                # a counted repetition
      | \((?:\?[^:)]*:?)?           # the start of a group
      | .                           # anything else
    """,
    re.VERBOSE | re.DOTALL,
)
_REPETITION = r"\{.."
_WIDE = r"\.|\[\^|.*\\[WDS]"
_UNICODE_CLASS = 500
_WIDE_CLASS = 10
"""What matches most characters is a small automaton of its own, over the bytes of UTF-8."""
_LARGEST_COUNT = 10_000


class PatternWeight(NamedTuple):
    """How many states the automaton of a pattern has, and what it takes at most for each character."""

    states: int
    matching: int


def weigh_pattern(pattern: str) -> PatternWeight:
    """What a pattern costs to compile and to match."""
    states = _count_states(pattern)
    is_linear = _NOT_LINEAR.search(pattern) is None
    return PatternWeight(states, states if is_linear else states * _RETRIES)


def _count_states(pattern: str) -> int:
    """About how many states the pattern's automaton has: in the worst case all of them look at every character."""
    groups: list[list[int]] = [[]]
    for token in _TOKEN.findall(pattern):
        items = groups[-1]
        if token.startswith("("):
            groups.append([])
        elif token == ")" and len(groups) > 1:
            groups[-2].append(sum(groups.pop()) + 1)
        elif items and re.match(_REPETITION, token):
            items[-1] *= _largest_count(token)
        elif token not in ("*", "+", "?"):
            items.append(_size_of(token))
    return 1 + sum(map(sum, groups))


def _largest_count(token: str) -> int:
    counts = [int(count[:6]) for count in re.findall(r"\d+", token)]
    return min(max([1, *counts]), _LARGEST_COUNT)


def _size_of(token: str) -> int:
    if re.search(r"\\[pP]", token):
        return _UNICODE_CLASS
    is_wide = re.match(_WIDE, token, re.DOTALL) is not None
    return _WIDE_CLASS if is_wide else 1
