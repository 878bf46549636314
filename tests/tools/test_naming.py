"""Names for a provider: valid, all different, and those that are valid already stay as they are."""

from hypothesis import given
from hypothesis import strategies as st

from mooring.tools.schema.adapt import TOOL_NAMES, choose_names

NAMES = st.lists(st.text(st.sampled_from("aZ09_-. /é"), max_size=80) | st.text(max_size=70), unique=True, max_size=20)


@given(NAMES)
def test_every_name_is_made_valid_and_none_is_given_twice(names: list[str]) -> None:
    chosen = choose_names(names, TOOL_NAMES)
    assert list(chosen) == names
    assert len(set(chosen.values())) == len(names)
    for name, new in chosen.items():
        assert TOOL_NAMES.valid.fullmatch(new)
        if TOOL_NAMES.valid.fullmatch(name):
            assert new == name


def test_names_that_come_to_the_same_are_numbered() -> None:
    assert choose_names(["a.b", "a_b", "a b"], TOOL_NAMES) == {"a.b": "a_b_2", "a_b": "a_b", "a b": "a_b_3"}
