"""What a change does to a file, as a diff: it leads from the old text to the new one, and hides every secret."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.core.text.secret import HIDDEN
from mooring.discovery.dialect import MOORING, PLAIN
from mooring.syntax.document import Kind
from mooring.syntax.edit import put_value
from mooring.verbs.config.file_diff import diff_file, mask_entry

LINES = st.lists(st.sampled_from(["a: 1", "b: 2", "c: 3", "# x", "", "- d", "- e"]), max_size=12)


def apply(old: list[str], diff: str) -> list[str]:
    """What a program that patches files makes of a text."""
    made: list[str] = []
    at = 0
    for line in diff.split("\n")[2:]:
        header = re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", line)
        if header is not None:
            start = int(header[1]) - (int(header[2]) > 0)
            made += old[at:start]
            at = start
            assert len(made) == int(header[3]) - (int(header[4]) > 0)
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert old[at] == line[1:]
            made += [line[1:]] if line.startswith(" ") else []
            at += 1
    return made + old[at:]


@settings(max_examples=200)
@given(old=LINES, middle=LINES, new=LINES, tail=LINES)
def test_a_diff_leads_from_the_old_text_to_the_new_one(
    old: list[str], middle: list[str], new: list[str], tail: list[str]
) -> None:
    # Comments alone, so that any text is one.
    before, after = ([f"# {line}" for line in part] for part in ([*old, *middle, *tail], [*new, *middle, *tail]))
    texts = ["".join(f"{line}\n" for line in part).encode() for part in (before, after)]
    assert apply(before, diff_file("x.yaml", "yaml", texts[0], texts[1], PLAIN)) == after


SECRETS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=4, max_size=30
).map(lambda text: f"canary{text}canary")


@pytest.mark.parametrize("kind", ["json", "toml", "yaml"])
@settings(max_examples=60)
@given(secret=SECRETS, other=SECRETS)
def test_no_secret_of_the_file_or_of_an_entry_shows_in_any_syntax(kind: Kind, secret: str, other: str) -> None:
    entry: dict[str, Any] = {"command": "npx", "env": {"A": secret}, "headers": {"X": f"{secret} {other}"}}
    text = put_value("", kind, ("servers", "old"), {**entry, "apiKey": other})
    masked = mask_entry(entry, MOORING)
    assert "canary" not in json.dumps(masked)
    after = put_value(text, kind, ("servers", "new"), masked)
    shown = diff_file("x", kind, text.encode(), after.encode(), MOORING)
    assert "canary" not in shown
    assert HIDDEN in shown


def test_what_decides_is_shown_and_what_is_secret_is_not() -> None:
    entry = {
        "command": "npx", "args": ["--token", "${TOKEN}", "--api-key", "canary-key", "-v"], "timeout": 5,
        "env": {"A": "${A}", "B": "!op read x", "C": "canary", "D": "${D:-canary}", "DEBUG": "DEBUG"},
        "url": "https://me:canary@a.example/?key=canary&x=1", "env_vars": ["TOKEN"], "bearer_token_env_var": "TOKEN",
    }  # fmt: skip
    assert mask_entry(entry, MOORING) == {
        "command": "npx", "args": ["--token", "${TOKEN}", "--api-key", HIDDEN, "-v"], "timeout": 5,
        "env": {"A": "${A}", "B": "!op read x", "C": HIDDEN, "D": f"${{D:-{HIDDEN}}}", "DEBUG": HIDDEN},
        "url": f"https://me:{HIDDEN}@a.example/?key={HIDDEN}&x=1", "env_vars": ["TOKEN"], "bearer_token_env_var": "TOKEN",
    }  # fmt: skip


def test_letters_that_are_escaped_for_no_reason_hide_nothing_from_us() -> None:
    text = r'{"servers": {"a": {"env": {"A": "\u0063anary-\u0031", "B": "x"}, "path": "c:\\users"}}}'
    after = text.replace("}}}", '}, "b": {"command": "npx"}}}')
    shown = diff_file("x", "json", text.encode(), after.encode(), MOORING)
    assert "anary" not in shown
    assert r'"path": "c:\\users"' in shown
