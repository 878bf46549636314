"""Adapted schemas through the libraries of those who take them."""

import json
import subprocess
from pathlib import Path

import pytest
from install import python

from mooring.tools.schema.adapt import PROVIDERS, Provider, adapt
from schemas import ALL_REAL, odd

ASKING = Path(__file__).parent / "asking.py"


@pytest.mark.timeout(180)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_real_and_200_odd_schemas_are_sent_as_they_were_adapted(provider: Provider) -> None:
    adapted = [adapt(schema, provider) for schema in [*ALL_REAL, *odd(200)]]
    schemas = [made.schema for made in adapted if made.strict or provider != "openai-strict"]
    done = subprocess.run(
        [python("providers"), str(ASKING)], input=json.dumps({provider: schemas}), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == {provider: []}
    assert len(schemas) > 200


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "ollama"])
def test_a_library_does_refuse_what_was_not_adapted(provider: Provider) -> None:
    """Else the test above would show nothing."""
    schema = {"type": ["object", "null"], "properties": {"a": True}, "$schema": "x", "x-own": 1}
    done = subprocess.run(
        [python("providers"), str(ASKING)], input=json.dumps({provider: [schema]}), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(json.loads(done.stdout)[provider]) == 1
