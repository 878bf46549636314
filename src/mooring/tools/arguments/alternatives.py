"""The alternatives of `anyOf` and `oneOf` that a value failed, as jsonschema-rs reports them."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

Branch: TypeAlias = "list[ValidationError]"
"""What one alternative found wrong with the value."""


def failed_branches(error: "ValidationError") -> list[Branch]:
    """The alternatives behind an error; empty unless it comes from `anyOf` or `oneOf`."""
    branches: list[Branch] = getattr(error.kind, "context", [])
    return branches


def likely_branches(error: "ValidationError") -> list[Branch]:
    """The alternatives that are meant for a value of this type at all."""
    return [branch for branch in failed_branches(error) if not _rejects_type(branch, error)]


def _rejects_type(branch: Branch, error: "ValidationError") -> bool:
    return any(inner.kind.name == "type" and inner.instance_path == error.instance_path for inner in branch)
