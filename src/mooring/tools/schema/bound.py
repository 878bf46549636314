"""How long a check against a schema may take at most, known before it is made.

A schema comes from a server, and a check cannot be interrupted: 28 definitions that each refer twice to the next are
two kilobytes, and would keep everybody waiting for 48 seconds. The bound is what the schema comes to when all of its
references are written out, times the size of the arguments. That is far too high for some large arguments; those are
compared with the schema step by step, which is exact and stops at a limit.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import islice, product
from typing import Any, NamedTuple

from mooring.tools.schema.shape import as_list, as_map, resolve_reference

MAX_WORK = 400_000
"""How many comparisons a check may make, at 15 to 50 ns each."""
MAX_UNROLLED = 20_000
"""How many of them one value may take: the library compiles some of what it needs for each when it first needs it."""
MAX_ARGUMENT_DEPTH = 100
MAX_STEPS = 3000
"""How many schemas and values are compared step by step, at 4 microseconds each."""
MAX_COPIED = 20_000
"""How many values arguments may hold if their errors are to be explained."""
MAX_ERROR_COST = 12_000
"""How much errors may cost, in microseconds."""

_CHARACTERS_PER_STATE = 4
"""A state looks at four characters in the time of one comparison, if the pattern is the worst there is (13 ns)."""
_COST_OF_ERROR = 20.0
_COST_OF_VALUE = 0.2
_CHARACTERS_PER_COST = 500
_LEVELS_OF_WORK = 15_000
"""How many nodes are looked at to find out what a schema that contains itself comes to at each depth."""
_ENDLESS = 1 << 62


class SchemaTooLarge(Exception):
    """The schema is larger than can be checked in time; the message says in what way."""


class Size(NamedTuple):
    """How large arguments are."""

    values: int
    characters: int
    depth: int


class ErrorCost(NamedTuple):
    """What it costs at most, in microseconds, to have all errors reported, or the first one alone."""

    every: float
    first: float


class SchemaBound:
    """What checks against one schema cost at most.

    Raises:
        SchemaTooLarge: it cannot be checked against, whatever the arguments are.
    """

    def __init__(self, schema: Any) -> None:
        self._nodes = SchemaGraph(schema).nodes
        everything = _sort_by_dependence([[*node.applied, *node.descended] for node in self._nodes])
        self._order = everything or _sort_by_dependence([node.applied for node in self._nodes])
        if self._order is None:
            raise SchemaTooLarge("it contains itself in a circle")
        if _longest_chain(self._nodes, self._order) > MAX_DEPTH:
            raise SchemaTooLarge("it is nested too deeply")
        self._is_recursive = everything is None
        self._work = self._unroll([node.work for node in self._nodes])
        self._matching = self._unroll([node.matching for node in self._nodes])
        if self._work[0] > MAX_UNROLLED:
            raise SchemaTooLarge(f"it comes to more than {MAX_UNROLLED} comparisons for one value")

    def may_check(self, arguments: Any) -> bool:
        """Whether a check of these arguments ends in time."""
        most_values = MAX_WORK // self._work[0]
        size = measure(arguments, most_values)
        if size is not None and self._estimate(size) <= MAX_WORK:
            return True
        return self.estimate_errors(arguments) is not None

    def estimate_errors(self, arguments: Any) -> ErrorCost | None:
        """What errors in these arguments cost at most; `None` if even that takes too long to find out."""
        if measure(arguments, MAX_COPIED) is None:
            return None
        return _Walk(self._nodes).run(arguments)

    def _estimate(self, size: Size) -> int:
        if self._is_recursive and size.depth >= len(self._work):
            return _ENDLESS
        level = min(size.depth, len(self._work) - 1)
        if self._work[level] > MAX_UNROLLED:
            return _ENDLESS
        characters = -(-size.characters // _CHARACTERS_PER_STATE)
        return self._work[level] * size.values + self._matching[level] * characters

    def _unroll(self, own: list[int]) -> list[int]:
        """What the root comes to with everything written out; for a schema that contains itself, at each depth."""
        if not self._is_recursive:
            return [self._unroll_level(own)[0]]
        found: list[int] = []
        deeper = [0] * len(own)
        # Arguments that are nested deeper than this are compared step by step, or not at all.
        levels = min(MAX_ARGUMENT_DEPTH, max(2, _LEVELS_OF_WORK // len(own)))
        for _ in range(levels):
            deeper = self._unroll_level(own, deeper)
            found.append(deeper[0])
        return found

    def _unroll_level(self, own: list[int], deeper: list[int] | None = None) -> list[int]:
        """What each node comes to; `deeper` is that for values within, if it is not found out along with it."""
        totals = list(own)
        within = totals if deeper is None else deeper
        for number in self._order or ():
            node = self._nodes[number]
            total = own[number] + sum(totals[other] for other in node.applied)
            total += sum(within[other] for other in node.descended)
            totals[number] = min(total, _ENDLESS)
        return totals


def measure(arguments: Any, most_values: int) -> Size | None:
    """How large arguments are; `None` if they hold more than so many values, or are nested too deeply."""
    values = characters = depth = 0
    level = [arguments]
    while level:
        values += len(level)
        if values > most_values or depth > MAX_ARGUMENT_DEPTH:
            return None
        depth += 1
        deeper: list[Any] = []
        for value in level:
            if isinstance(value, str):
                characters += len(value)
            elif isinstance(value, dict):
                characters += sum(map(len, value))
                deeper += value.values()
            elif isinstance(value, list | tuple):
                deeper += value
        level = deeper
    return Size(values, characters, depth - 1)


class _Walk:
    """Compares a schema with arguments step by step, and adds up what a check would do."""

    def __init__(self, nodes: "list[SchemaNode]") -> None:
        self._nodes = nodes
        self._copies: dict[int, float] = {}
        self._waiting: list[tuple[int, Any, int]] = []
        """A node, the value that it applies to, and the number of the union that it is in, or 0."""
        self._in_unions = [0.0]
        self._every = 0.0
        self._work = 0

    def run(self, arguments: Any) -> ErrorCost | None:
        self._waiting.append((0, arguments, 0))
        steps = 0
        while self._waiting:
            steps += 1
            self._apply_step(*self._waiting.pop())
            if self._work > MAX_WORK or steps + len(self._waiting) > MAX_STEPS:
                return None
        return ErrorCost(self._every, max(self._in_unions))

    def _apply_step(self, number: int, value: Any, union: int) -> None:
        node = self._nodes[number]
        self._work += node.work + node.matching * _count_characters(value) // _CHARACTERS_PER_STATE
        cost = node.errors * (_COST_OF_ERROR + _COST_OF_VALUE * node.repeats + self._copy_cost(value))
        self._every += cost
        if union:
            self._in_unions[union] += cost
        self._waiting += [(other, value, union) for other in node.same]
        if node.unions:
            self._enter_unions(node, value, union)
        if isinstance(value, dict):
            self._waiting += [(other, value[name], union) for name, other in node.named if name in value]
            self._descend(node.names, value, union)
            self._descend(node.within, value.values(), union)
        elif isinstance(value, list | tuple):
            self._descend(node.within, value, union)

    def _descend(self, numbers: list[int], parts: Collection[Any], union: int) -> None:
        # No more than it takes to exceed the limit: a list of thousands may meet a list of thousands.
        steps = product(numbers, parts, (union,))
        self._waiting += islice(steps, MAX_STEPS)

    def _enter_unions(self, node: "SchemaNode", value: Any, union: int) -> None:
        if not union:
            union = len(self._in_unions)
            self._in_unions.append(0.0)
        self._waiting += [(other, value, union) for other in node.unions]

    def _copy_cost(self, value: Any) -> float:
        """Each error has a copy of the value that it is about."""
        if not isinstance(value, dict | list | tuple):
            return _COST_OF_VALUE + _count_characters(value) / _CHARACTERS_PER_COST
        if id(value) not in self._copies:
            parts = value.values() if isinstance(value, dict) else value
            self._copies[id(value)] = _COST_OF_VALUE + sum(map(self._copy_cost, parts))
        return self._copies[id(value)]


def _count_characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return sum(map(len, value)) if isinstance(value, dict) else 0


def _sort_by_dependence(needed: list[list[int]]) -> list[int] | None:
    """The nodes in an order in which each comes after those that it needs; `None` if there is a circle."""
    try:
        return list(TopologicalSorter(dict(enumerate(needed))).static_order())
    except CycleError:
        return None


def _longest_chain(nodes: "list[SchemaNode]", order: list[int]) -> int:
    lengths = [1] * len(nodes)
    for number in order:
        lengths[number] += max((lengths[other] for other in nodes[number].applied), default=0)
    return max(lengths)


# --- the schema as a graph ------------------------------------------------------------------------------------------

# References are edges, so a schema of two kilobytes that comes to millions of schemas when it is written out is still a
# small graph. What cannot be told apart is counted in full: the graph never says less than a check would do.

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
            if key in _SAME_VALUE:
                node.same += map(self._add, _as_schemas(value))
            elif key in _UNIONS:
                node.unions += map(self._add, as_list(value))
            elif key in _WITHIN:
                node.within += map(self._add, _as_schemas(value))
            elif key == "properties":
                node.named += [(name, self._add(each)) for name, each in as_map(value).items()]
            elif key == "propertyNames":
                node.names.append(self._add(value))
            elif key in _MAPS_OF_SAME_VALUE:
                # A list is one of names: `_read_values` counts them.
                node.same += [self._add(each) for each in as_map(value).values() if not isinstance(each, list)]
            elif key in _REFERENCES and isinstance(value, str):
                self._read_reference(value, node)
        self._read_patterns(schema, node)
        node.applied = node.same + node.unions
        node.descended = [number for _, number in node.named] + node.within + node.names

    def _read_values(self, schema: dict[str, Any], node: SchemaNode) -> None:
        """Count what the keywords that list values or names compare, and what their errors repeat."""
        required = len(as_list(schema.get("required")))
        for key in _LISTS_OF_NAMES:
            required += sum(len(as_list(names)) for names in as_map(schema.get(key)).values())
        node.work += required
        node.errors += required
        node.repeats = sum(_count_values(schema[key]) for key in _VALUES if key in schema)
        node.work += node.repeats

    def _read_patterns(self, schema: dict[str, Any], node: SchemaNode) -> None:
        if "pattern" not in schema and "patternProperties" not in schema:
            return
        by_pattern = as_map(schema.get("patternProperties"))
        node.within += map(self._add, by_pattern.values())
        patterns = list(by_pattern)
        if isinstance(schema.get("pattern"), str):
            patterns.append(schema["pattern"])
        for each in patterns:
            states, matching = _weigh_pattern(each)
            node.matching += matching
            self._states += states
        if self._states > MAX_STATES:
            raise SchemaTooLarge("its patterns are too large")

    def _read_reference(self, ref: str, node: SchemaNode) -> None:
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


def _weigh_pattern(pattern: str) -> tuple[int, int]:
    """How many states the automaton of a pattern has, and what it takes at most for each character."""
    states = _count_states(pattern)
    is_linear = _NOT_LINEAR.search(pattern) is None
    return states, states if is_linear else states * _RETRIES


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
