"""The schema of a tool as a model's provider takes it, and what it no longer says there.

A provider refuses a whole request for one keyword of one tool. What it takes is left as it is; the rest is said in
other words where that is possible, and otherwise dropped and reported. Whatever a model then sends is still held to
the schema itself (`mooring.tools.arguments.form`).

- anthropic: an object without alternatives at its root; names of parameters from a short alphabet.
- openai: likewise, and each list says what it holds. `openai-strict`: in the form that the model is held to, or, where
  there is none, that of `openai` with the reason.
- gemini: the subset of OpenAPI of its `parameters`.
- ollama: references, `allOf` and `oneOf` are not understood.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct

from mooring.tools.schema.flatten import Flat
from mooring.tools.schema.gemini import Gemini
from mooring.tools.schema.loss import Loss, Losses
from mooring.tools.schema.narrow import NEVER, Impossible
from mooring.tools.schema.shape import resolve_reference
from mooring.tools.schema.strict import Strict
from mooring.tools.schema.tidy import LISTS, MAPS, SINGLES, tidy, where

Provider: TypeAlias = Literal["anthropic", "openai", "openai-strict", "gemini", "ollama"]
Form: TypeAlias = Callable[[Mapping[str, Any], Provider, Losses], dict[str, Any]]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)

STRICT_DEPTH, STRICT_PROPERTIES, STRICT_VALUES, STRICT_TEXT = 10, 5000, 1000, 120_000
"""What OpenAI's strict form may have at most: objects within objects, properties, values to choose from, text."""
_NAMES: Mapping[str, tuple[re.Pattern[str], str]] = {
    "anthropic": (re.compile(r"[a-zA-Z0-9_.-]{1,64}"), r"[^a-zA-Z0-9_.-]"),
    "gemini": (re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"), r"[^a-zA-Z0-9_]"),
}
"""The names that parameters may have, and what has to be replaced in others."""
_NOT_AT_THE_ROOT: Mapping[str, tuple[str, ...]] = {
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
    """The parameters that go by another name there, with their own."""
    strict: bool = False
    reason: str = ""
    """Why it could not be strict, where that was wanted."""

    def restored(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What a model sent, under the tool's own names."""
        return {self.names.get(name, name): value for name, value in arguments.items()}


def adapt(schema: Mapping[str, Any], provider: Provider) -> AdaptedSchema:
    """`schema` as `provider` takes it: the same object where there is nothing to change."""
    match provider:
        case "anthropic" | "openai":
            return _adapted(schema, provider, _loose)
        case "ollama":
            return _adapted(schema, provider, _flat)
        case "gemini":
            return _adapted(schema, provider, _gemini)
        case "openai-strict":
            return _strictly(schema)


def _adapted(schema: Mapping[str, Any], provider: Provider, form: Form) -> AdaptedSchema:
    losses = Losses()
    made, names = _renamed(form(schema, provider, losses), provider)
    same = isinstance(schema, dict) and made == schema
    return AdaptedSchema(schema if same else made, losses.found, names)  # type: ignore[arg-type]


def _strictly(schema: Mapping[str, Any]) -> AdaptedSchema:
    try:
        made = _adapted(schema, "openai-strict", _strict)
    except Impossible as error:
        loose = adapt(schema, "openai")
        return AdaptedSchema(loose.schema, loose.losses, loose.names, reason=str(error))
    return AdaptedSchema(made.schema, made.losses, made.names, strict=True)


# --- forms --------------------------------------------------------------------------------------------------


def _loose(schema: Mapping[str, Any], provider: Provider, losses: Losses) -> dict[str, Any]:
    made = _rooted(tidy(schema, losses, booleans=provider == "anthropic"), provider, losses)
    made = _referring(made, made, "", losses)
    return made if provider == "anthropic" else _listed(made)


def _flat(schema: Mapping[str, Any], provider: Provider, losses: Losses) -> dict[str, Any]:
    made = tidy(schema, losses, booleans=False)
    return _plain(_rooted(Flat(made, losses).node(made), provider, losses), "", losses)


def _gemini(schema: Mapping[str, Any], provider: Provider, losses: Losses) -> dict[str, Any]:
    flat, made = _flattened(schema, provider, losses)
    return Gemini(flat, losses).node(made, "")


def _strict(schema: Mapping[str, Any], provider: Provider, losses: Losses) -> dict[str, Any]:
    flat, made = _flattened(schema, provider, losses)
    if any("contains itself" in loss.what for loss in losses.found):
        raise Impossible("it contains itself")
    made = Strict(flat, losses).node(made, "")
    _within_limits(made)
    return made


def _flattened(schema: Mapping[str, Any], provider: Provider, losses: Losses) -> tuple[Flat, dict[str, Any]]:
    made = tidy(schema, losses, booleans=False)
    flat = Flat(made, losses)
    return flat, _rooted(flat.node(made), provider, losses)


# --- the root -----------------------------------------------------------------------------------------------


def _rooted(schema: dict[str, Any], provider: Provider, losses: Losses) -> dict[str, Any]:
    """The same as one object, without alternatives of its own."""
    made = schema
    if schema.keys() & {"$ref", "allOf", "oneOf", "anyOf"}:
        flat = Flat(schema, losses)
        made, _ = flat.alone(schema, "", frozenset())
        while "anyOf" in made:
            made = _united(made, flat, losses)
        made |= {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    for key in _NOT_AT_THE_ROOT[provider]:
        if key in made:
            made = {name: value for name, value in made.items() if name != key}
            losses.add("", f"{key} is not taken at the root")
    kind = made.get("type", "object")
    if kind != "object" and "object" not in kind:
        losses.add("", "the arguments are an object, which it does not allow")
    return {**made, "type": "object", "properties": made.get("properties", {})}


def _united(schema: dict[str, Any], flat: Flat, losses: Losses) -> dict[str, Any]:
    """Alternatives in one: every property that any of them has, needed only if all of them need it."""
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    branches = [flat.alone(branch, "", frozenset())[0] for branch in schema["anyOf"] if branch not in (False, NEVER)]
    losses.add("", "its alternatives were put together into one object")
    several: dict[str, list[Any]] = {}
    for branch in branches:
        for name, part in branch.get("properties", {}).items():
            known = several.setdefault(name, [])
            known += [part] if part not in known else []
    properties = {name: parts[0] if len(parts) == 1 else {"anyOf": parts} for name, parts in several.items()}
    needed = [set(branch.get("required", ())) for branch in branches]
    shared = [name for name in _every(branches) if all(name in names for names in needed)]
    made = {**rest, "properties": {**properties, **rest.get("properties", {})}}
    required = list(dict.fromkeys([*rest.get("required", ()), *shared]))
    made |= {"required": required} if required else {}
    inner = [branch["anyOf"] for branch in branches if "anyOf" in branch]
    return {**made, "anyOf": [each for part in inner for each in part]} if inner else made


def _every(branches: list[dict[str, Any]]) -> dict[str, None]:
    return {name: None for branch in branches for name in branch.get("required", ())}


def _renamed(schema: dict[str, Any], provider: Provider) -> tuple[dict[str, Any], dict[str, str]]:
    """Parameters under names that the provider takes."""
    if provider not in _NAMES or all(map(_NAMES[provider][0].fullmatch, schema["properties"])):
        return schema, {}
    good, bad = _NAMES[provider]
    taken = set(filter(good.fullmatch, schema["properties"]))
    given: dict[str, str] = {}
    for name in schema["properties"]:
        given[name] = name if good.fullmatch(name) else _free(re.sub(bad, "_", name), good, taken)
        taken.add(given[name])
    made = {**schema, "properties": {given[name]: part for name, part in schema["properties"].items()}}
    if "required" in schema:
        made["required"] = [given.get(name, name) for name in schema["required"]]
    return made, {new: name for name, new in given.items() if new != name}


def _free(name: str, good: re.Pattern[str], taken: set[str]) -> str:
    base = name if good.fullmatch(name[:1]) else f"_{name}"
    tries = (base[:64], *(f"{base[:59]}_{number}" for number in range(2, len(taken) + 3)))
    return next(each for each in tries if each not in taken)


# --- the rest -----------------------------------------------------------------------------------------------


def _referring(schema: dict[str, Any], root: Any, path: str, losses: Losses) -> dict[str, Any]:
    """The same without references that lead nowhere."""
    made = {
        key: _each(key, value, path, lambda part, at: _referring(part, root, at, losses))
        for key, value in schema.items()
    }
    if "$ref" in made and resolve_reference(root, made["$ref"]) is True:
        del made["$ref"]
        losses.add(path, "it refers to what is not in the schema")
    return made


def _listed(schema: dict[str, Any]) -> dict[str, Any]:
    """The same with each list saying what it holds."""
    made = {key: _each(key, value, "", lambda part, _: _listed(part)) for key, value in schema.items()}
    kinds = made.get("type")
    if "array" in ([kinds] if isinstance(kinds, str) else kinds or ()):
        made.setdefault("items", {})
    return made


def _plain(schema: dict[str, Any], path: str, losses: Losses) -> dict[str, Any]:
    """The same with constants as a choice of one, and without properties that may not be given."""
    schema = {**schema, "properties": schema.get("properties", {})} if schema.get("type") == "object" else schema
    made = {key: _each(key, value, path, lambda part, at: _plain(part, at, losses)) for key, value in schema.items()}
    if "const" in made:
        made["enum"] = [made.pop("const")]
    for name, part in list(made.get("properties", {}).items()):
        if part == NEVER:
            del made["properties"][name]
            losses.add(where(path, "properties", name), "it may not be given")
    return made


def _each(key: str, value: Any, path: str, change: Callable[[dict[str, Any], str], Any]) -> Any:
    def changed(part: Any, name: str | int) -> Any:
        return part if isinstance(part, bool) else change(part, where(path, key, name))

    if key in MAPS:
        return {name: changed(part, name) for name, part in value.items()}
    if key in LISTS:
        return [changed(part, index) for index, part in enumerate(value)]
    return changed(value, 0) if key in SINGLES else value


def _within_limits(schema: dict[str, Any]) -> None:
    waiting, properties, values, text = [(schema, 0)], 0, 0, 0
    while waiting:
        part, depth = waiting.pop()
        depth += part.get("type") == "object"
        names, choices = part.get("properties", {}), part.get("enum", ())
        properties, values = properties + len(names), values + len(choices)
        text += sum(map(len, names)) + sum(len(value) for value in choices if isinstance(value, str))
        if depth > STRICT_DEPTH:
            raise Impossible(f"it is nested deeper than {STRICT_DEPTH} objects")
        waiting += [(inner, depth) for inner in (*names.values(), *part.get("anyOf", ()), part.get("items")) if inner]
    if properties > STRICT_PROPERTIES or values > STRICT_VALUES or text > STRICT_TEXT:
        raise Impossible("it is larger than the strict form may be")
