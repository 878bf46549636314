"""The schema of a tool in the form that a model's provider takes, and what it no longer says there.

Anthropic, OpenAI and Gemini refuse a whole request, with all its tools, over one keyword of one schema. Whatever the
provider takes stays as it is. The rest is said in other words if possible, and dropped and reported if not. The
arguments that a model then sends are still checked against the tool's own schema (`mooring.tools.arguments.form`).

- anthropic: an object without alternatives at the root; parameter names from a short alphabet.
- openai: likewise, and each list says what it holds. `openai-strict`: the form that OpenAI holds the model to, or that
  of `openai`, with the reason, if there is none.
- gemini: the subset of OpenAPI of its `parameters`.
- ollama: references, `allOf` and `oneOf` are not understood.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from msgspec import Struct

from mooring.tools.schema.bound import SchemaBound, SchemaTooLarge
from mooring.tools.schema.flatten import Flattener
from mooring.tools.schema.narrow import NEVER, GeminiConverter, NotExpressible, StrictConverter, check_strict_limits
from mooring.tools.schema.shape import list_types, resolve_reference, without
from mooring.tools.schema.tidy import Loss, Losses, change_inner, join_path, path_to, tidy

MAX_NAME = 64


class NameRule(NamedTuple):
    """The names that are taken, and the characters to replace in others."""

    valid: re.Pattern[str]
    invalid_characters: str


TOOL_NAMES = NameRule(re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"), r"[^a-zA-Z0-9_-]")
"""Names of tools that all providers take: Anthropic and OpenAI refuse dots, Gemini a digit at the beginning."""


def choose_names(names: Iterable[str], rule: NameRule) -> dict[str, str]:
    """The new name of each; valid ones keep theirs, and no two are the same."""
    names = tuple(names)
    taken = set(filter(rule.valid.fullmatch, names))
    chosen: dict[str, str] = {}
    for name in names:
        chosen[name] = name if name in taken else _find_free_name(name, rule, taken)
        taken.add(chosen[name])
    return chosen


def _find_free_name(name: str, rule: NameRule, taken: set[str]) -> str:
    base = re.sub(rule.invalid_characters, "_", name)
    if not rule.valid.fullmatch(base[:1]):
        base = f"_{base}"
    free = base[:MAX_NAME]
    number = 2
    while free in taken:
        free = f"{base[: MAX_NAME - 5]}_{number}"
        number += 1
    return free


Provider: TypeAlias = Literal["anthropic", "openai", "openai-strict", "gemini", "ollama"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)

_NAME_RULES: Mapping[str, NameRule] = {
    # Anthropic: "Property keys should match pattern".
    "anthropic": NameRule(re.compile(r"[a-zA-Z0-9_.-]{1,64}"), r"[^a-zA-Z0-9_.-]"),
    "gemini": NameRule(re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"), r"[^a-zA-Z0-9_]"),
}
# Every provider refuses `anyOf`, `oneOf` and `allOf` at the root; these are refused besides.
_REFUSED_AT_ROOT: Mapping[str, tuple[str, ...]] = {
    "anthropic": (),
    "openai": ("enum", "const", "not"),
    "openai-strict": ("enum", "const", "not"),
    "gemini": ("enum", "const", "not"),
    "ollama": ("enum", "const"),
}


class AdaptedSchema(Struct, frozen=True):
    """A schema as one provider takes it."""

    schema: dict[str, Any]
    losses: tuple[Loss, ...] = ()
    names: Mapping[str, str] = {}
    """The parameters that had to be renamed: their new names, and their own."""
    omissible: frozenset[str] = frozenset()
    """The paths of parameters that are null where a model means to leave them out."""
    strict: bool = False
    reason: str = ""
    """Why it could not be strict, if that was wanted."""

    def restore(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that a model sent, as the tool's own schema has them."""
        named = {self.names.get(name, name): value for name, value in arguments.items()}
        if not self.omissible:
            return named
        try:
            return _omit_nulls(named, "", self.omissible)
        except RecursionError:
            return named  # nested far deeper than the schema: checking them says so


def adapt(schema: Mapping[str, Any], provider: Provider) -> AdaptedSchema:
    """`schema` as `provider` takes it: the same object if there is nothing to change.

    One that is too large to be worked through in time becomes one that allows any object.
    """
    try:
        SchemaBound(schema)
    except SchemaTooLarge as error:
        return AdaptedSchema({"type": "object", "properties": {}}, (Loss("", f"all of it: {error}"),))
    losses = Losses()
    match provider:
        case "anthropic" | "openai":
            made = _convert_loosely(schema, provider, losses)
        case "ollama":
            _, made = _flatten(schema, provider, losses)
            made = _simplify(made, "", losses)
        case "gemini":
            flattener, made = _flatten(schema, provider, losses)
            made = GeminiConverter(flattener, losses).convert(made, "")
        case "openai-strict":
            return _adapt_strictly(schema)
    made, names = _rename_parameters(made, provider)
    return AdaptedSchema(_keep_if_same(schema, made), losses.found, names)


def _adapt_strictly(schema: Mapping[str, Any]) -> AdaptedSchema:
    losses = Losses()
    flattener, made = _flatten(schema, "openai-strict", losses)
    converter = StrictConverter(flattener, losses)
    try:
        if any("contains itself" in loss.what for loss in losses.found):
            raise NotExpressible("it contains itself")
        # The arguments as a whole are never null, and to allow it would take an `anyOf` at the root.
        made = converter.convert(without(made, "nullable"), "")
        check_strict_limits(made)
    except NotExpressible as error:
        loose = adapt(schema, "openai")
        return AdaptedSchema(loose.schema, loose.losses, loose.names, reason=str(error))
    return AdaptedSchema(_keep_if_same(schema, made), losses.found, omissible=converter.omissible, strict=True)


def _keep_if_same(schema: Mapping[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    return schema if isinstance(schema, dict) and made == schema else made


def _convert_loosely(schema: Mapping[str, Any], provider: Provider, losses: Losses) -> dict[str, Any]:
    is_anthropic = provider == "anthropic"
    made = _make_root(tidy(schema, losses, booleans=is_anthropic), provider, losses)
    made = _drop_dead_references(made, made, "", losses)
    return made if is_anthropic else _add_items(made)


def _flatten(schema: Mapping[str, Any], provider: Provider, losses: Losses) -> tuple[Flattener, dict[str, Any]]:
    tidied = tidy(schema, losses, booleans=False)
    flattener = Flattener(tidied, losses)
    return flattener, _make_root(flattener.flatten(tidied), provider, losses)


# --- the root -----------------------------------------------------------------------------------------------


def _make_root(schema: dict[str, Any], provider: Provider, losses: Losses) -> dict[str, Any]:
    """The schema as one object without alternatives of its own, which is all that any provider takes at the root."""
    made = schema
    if schema.keys() & {"$ref", "allOf", "oneOf", "anyOf"}:
        made = _flatten_root(schema, losses)
    for key in _REFUSED_AT_ROOT[provider]:
        if key in made:
            made = without(made, key)
            losses.add("", f"{key} is not taken at the root")
    types = made.get("type", "object")
    if types != "object" and "object" not in types:
        losses.add("", "the arguments are an object, which it does not allow")
    return {**made, "type": "object", "properties": made.get("properties", {})}


def _flatten_root(schema: dict[str, Any], losses: Losses) -> dict[str, Any]:
    flattener = Flattener(schema, losses)
    made, _ = flattener.flatten_top(schema, "", frozenset())
    # Each pass may bring up the alternatives of the alternatives.
    while "anyOf" in made:
        made = _unite_alternatives(made, flattener, losses)
    return made | {key: schema[key] for key in ("$defs", "definitions") if key in schema}


def _unite_alternatives(schema: dict[str, Any], flattener: Flattener, losses: Losses) -> dict[str, Any]:
    """One object for all alternatives: with every property that any has, required only if all require it."""
    possible = [branch for branch in schema["anyOf"] if branch not in (False, NEVER)]
    branches = [flattener.flatten_top(branch, "", frozenset())[0] for branch in possible]
    losses.add("", "its alternatives were put together into one object")
    made = without(schema, "anyOf")
    made["properties"] = {**_unite_properties(branches), **schema.get("properties", {})}
    # What only some alternatives require stays optional: the tool's own schema is checked before the call anyway.
    required = [*schema.get("required", ()), *_shared_required(branches)]
    if required:
        made["required"] = list(dict.fromkeys(required))
    nested = list(chain.from_iterable(branch.get("anyOf", ()) for branch in branches))
    if nested:
        made["anyOf"] = nested
    return made


def _unite_properties(branches: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The properties of all branches; one that differs between them may be any of its versions."""
    versions: dict[str, list[Any]] = {}
    for branch in branches:
        for name, schema in branch.get("properties", {}).items():
            known = versions.setdefault(name, [])
            if schema not in known:
                known.append(schema)
    return {name: found[0] if len(found) == 1 else {"anyOf": found} for name, found in versions.items()}


def _shared_required(branches: list[dict[str, Any]]) -> list[str]:
    required = [branch.get("required", ()) for branch in branches]
    every = dict.fromkeys(chain.from_iterable(required))
    shared = set(every).intersection(*required)
    return [name for name in every if name in shared]


# --- the way back -------------------------------------------------------------------------------------------


def _omit_nulls(values: Mapping[str, Any], path: str, omissible: frozenset[str]) -> dict[str, Any]:
    """An object without the nulls that stand for properties that were left out."""
    made: dict[str, Any] = {}
    for name, value in values.items():
        inner = join_path(path, name)
        if value is not None or inner not in omissible:
            made[name] = _omit_nulls_within(value, inner, omissible)
    return made


def _omit_nulls_within(value: Any, path: str, omissible: frozenset[str]) -> Any:
    if isinstance(value, Mapping):
        return _omit_nulls(value, path, omissible)
    if isinstance(value, list):
        return [_omit_nulls_within(item, join_path(path, "[]"), omissible) for item in value]
    return value


# --- names of parameters ------------------------------------------------------------------------------------


def _rename_parameters(schema: dict[str, Any], provider: Provider) -> tuple[dict[str, Any], dict[str, str]]:
    """The schema with names that the provider takes, and the own name of each that was renamed."""
    rule = _NAME_RULES.get(provider)
    if rule is None:
        return schema, {}
    properties = schema["properties"]
    if all(map(rule.valid.fullmatch, properties)):
        return schema, {}
    new_names = choose_names(properties, rule)
    made = {**schema, "properties": {new_names[name]: part for name, part in properties.items()}}
    if "required" in schema:
        made["required"] = [new_names.get(name, name) for name in schema["required"]]
    return made, {new: name for name, new in new_names.items() if new != name}


# --- everything below the root ------------------------------------------------------------------------------


def _drop_dead_references(schema: dict[str, Any], root: Any, path: str, losses: Losses) -> dict[str, Any]:
    """The schema without references that lead nowhere."""
    made = _change_inner(schema, path, lambda part, at: _drop_dead_references(part, root, at, losses))
    if "$ref" in made and resolve_reference(root, made["$ref"]) is True:
        del made["$ref"]
        losses.add(path, "it refers to what is not in the schema")
    return made


def _add_items(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with each list saying what it holds. OpenAI: "array schema missing items"."""
    made = _change_inner(schema, "", lambda part, _: _add_items(part))
    if "array" in list_types(made.get("type", [])):
        made.setdefault("items", {})
    return made


def _simplify(schema: dict[str, Any], path: str, losses: Losses) -> dict[str, Any]:
    """The schema for Ollama: with `enum` for `const`, and without properties that may not be given."""
    if schema.get("type") == "object":
        schema = {**schema, "properties": schema.get("properties", {})}
    made = _change_inner(schema, path, lambda part, at: _simplify(part, at, losses))
    if "const" in made:
        made["enum"] = [made.pop("const")]
    for name, part in list(made.get("properties", {}).items()):
        if part == NEVER:
            del made["properties"][name]
            losses.add(path_to(path, "properties", name), "it may not be given")
    return made


def _change_inner(schema: dict[str, Any], path: str, change: Callable[[dict[str, Any], str], Any]) -> dict[str, Any]:
    """The schema with each one directly within it replaced by what `change` makes of it and its path."""

    def change_part(key: str, name: str | int, part: Any) -> Any:
        return part if isinstance(part, bool) else change(part, path_to(path, key, name))

    return change_inner(schema, change_part)
