"""Names that look like another one are told from names in another language."""

import pytest

from mooring.core.text.confusable import crude_skeleton, describe_oddities, is_disguised, reads_as_ascii, skeleton


@pytest.mark.parametrize(
    ("name", "oddity"),
    [
        ("g\u0456thub", "U+0456 for i"),
        ("gith\u03c5b", "U+03C5 for u"),
        ("GITHU\u0412", "U+0412 for b"),
        ("git\u200bhub", "U+200B which is invisible"),
        ("github\u00ad", "U+00AD which is invisible"),
        ("\ufff9github", "U+FFF9 which is invisible"),
        ("git\U000e0068hub", "U+E0068 which is invisible"),
        ("github\ufe0f", "U+FE0F which is invisible"),
        ("github\0", "U+0000 which is invisible"),
        ("\uff47ithub", "U+FF47 for g"),
        ("\U0001d420ithub", "U+1D420 for g"),
        ("g\u0131thub", "U+0131 for i"),
    ],
)
def test_a_name_that_passes_for_github_is_told_by_its_odd_character(name: str, oddity: str) -> None:
    assert skeleton(name) == "github"
    assert is_disguised(name)
    assert describe_oddities(name) == oddity


@pytest.mark.parametrize(
    "name",
    ["github", "GitHub", "my server", "caf\u00e9", "\u0441\u0435\u0440\u0432\u0435\u0440", "\u6771\u4eac", "x\u00b2",
     "\u26a1\ufe0fx", "na\u00efve", "\u0441\u0430\u0445\u0430\u0440"],
)  # fmt: skip
def test_a_name_in_any_language_is_not_disguised(name: str) -> None:
    assert not is_disguised(name)


def test_a_word_of_lookalikes_only_reads_as_ascii_without_being_made_for_it() -> None:
    assert reads_as_ascii("\u0441\u0430\u0445\u0430\u0440")
    assert skeleton("\u0441\u0430\u0445\u0430\u0440") == "caxap"


@pytest.mark.parametrize("name", ["gitIab", "git1ab", "git\u04cfab"])
def test_a_crude_eye_sees_gitlab(name: str) -> None:
    assert crude_skeleton(name) == crude_skeleton("gitlab")
