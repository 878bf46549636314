"""Themes: every role can be read on its background, and no theme has colors that it should not have."""

from typing import get_args

import pytest
from rich.color import Color, ColorType
from rich.style import Style

from mooring.chat.screen.line import Role
from mooring.chat.screen.styles import THEME_NAMES, ThemeName, choose_theme, find_looks


def find_contrast(first: Color, second: Color) -> float:
    """How far two colors differ, from 1 to 21, as WCAG measures it."""
    lighter, darker = sorted((find_luminance(first), find_luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def find_luminance(color: Color) -> float:
    parts = [part / 255 for part in color.get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def list_styles(theme: ThemeName) -> list[Style]:
    looks = find_looks(theme)
    own = [looks.base, looks.selected, looks.found, looks.scroll_bar, looks.scroll_thumb]
    return [*own, *(looks.find(role) for role in get_args(Role))]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_every_role_can_be_read(theme: ThemeName) -> None:
    looks = find_looks(theme)
    background = looks.base.bgcolor
    assert background is not None
    for role in set(get_args(Role)) - {"rule"}:
        color = (looks.base + looks.find(role)).color
        assert color is not None
        assert find_contrast(color, background) >= 4.5, role
    for decoration in (looks.find("rule"), looks.scroll_bar, looks.scroll_thumb):
        assert decoration.color is not None
        assert find_contrast(decoration.color, background) >= 3


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_frame_can_be_seen_and_what_stands_in_it_read(theme: ThemeName) -> None:
    frame = find_looks(theme).frame
    assert frame.background is not None
    page = Color.parse(frame.background)
    foreground = Color.parse(str(frame.foreground))
    for share, least in ((1.0, 4.5), (0.7, 4.5), (0.5, 3)):  # text, hints, and the lines between
        assert find_contrast(mix(foreground, page, share), page) >= least
    for name in (frame.primary, frame.accent, frame.warning, frame.error, frame.success):
        assert find_contrast(Color.parse(str(name)), page) >= 4.5, name


def mix(color: Color, page: Color, share: float) -> Color:
    """What so much of a color on a page makes."""
    pairs = zip(color.get_truecolor(), page.get_truecolor(), strict=True)
    return Color.from_rgb(*(one * share + other * (1 - share) for one, other in pairs))


@pytest.mark.parametrize("theme", THEME_NAMES)
def test_the_looks_and_the_frame_have_the_same_background(theme: ThemeName) -> None:
    looks = find_looks(theme)
    color = looks.base.bgcolor
    assert color is not None
    assert (color.name if color.triplet is None else color.triplet.hex) in (looks.frame.background or "")


@pytest.mark.parametrize("theme", ["terminal", "none"])
def test_the_terminals_own_colors_are_its_own(theme: ThemeName) -> None:
    kinds = {color.type for style in list_styles(theme) for color in (style.color, style.bgcolor) if color is not None}
    assert kinds <= ({ColorType.DEFAULT} if theme == "none" else {ColorType.DEFAULT, ColorType.STANDARD})
    frame = find_looks(theme).frame
    assert frame.ansi
    assert frame.background == "ansi_default"


@pytest.mark.parametrize("theme", THEME_NAMES)
def test_what_is_selected_and_found_stands_out_without_colors(theme: ThemeName) -> None:
    looks = find_looks(theme)
    assert looks.selected.reverse
    assert looks.found.underline
    assert looks.found.bold


def test_no_color_means_none_and_an_empty_one_means_nothing() -> None:
    assert choose_theme("dark", {"NO_COLOR": "1"}) == "none"
    assert choose_theme("dark", {"NO_COLOR": ""}) == "dark"
    assert choose_theme("light", {}) == "light"
