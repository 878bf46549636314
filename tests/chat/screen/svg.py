"""A screen as an SVG picture that any viewer draws alike: each row a line of text, each run of cells in its place."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from mooring.display.text import width

CELL, ROW, MARGIN = 8.4, 20, 16
_FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'


class Run(NamedTuple):
    """Cells that look the same."""

    text: str
    color: str
    background: str
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False


def read_segments(segments: Sequence[Segment], page: Style) -> Iterator[Run]:
    """A row of Textual's as runs; `page` has the colors of what has none."""
    for segment in segments:
        style = page + (segment.style or Style())
        color, background = _name_color(style.color), _name_color(style.bgcolor)
        if style.reverse:
            color, background = background, color
        look = (bool(style.bold), bool(style.italic), bool(style.underline), bool(style.strike))
        yield Run(segment.text, color, background, *look)


def _name_color(color: Color | None) -> str:
    assert color is not None
    return color.get_truecolor().hex


def draw_svg(rows: Sequence[Sequence[Run]], page: Run, label: str) -> str:
    """The rows as a picture on a page with the background of `page`."""
    cells = max(sum(width(run.text) for run in row) for row in rows)
    size = f"{cells * CELL + 2 * MARGIN:g} {len(rows) * ROW + 2 * MARGIN:g}"
    drawn = "\n".join(line for y, row in enumerate(rows) for line in _draw_row(row, y, page))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" role="img" aria-label="{escape(label)}">\n'
        f"<style>text {{ font: 14px {_FONT}; fill: {page.color}; white-space: pre }}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{page.background}"/>\n{drawn}\n</svg>\n'
    )


def _draw_row(row: Sequence[Run], y: int, page: Run) -> Iterator[str]:
    column, spans = 0, []
    for run in _join_alike(row):
        cells = width(run.text)
        if run.background != page.background:
            yield (
                f'<rect x="{MARGIN + column * CELL:g}" y="{MARGIN + y * ROW}" width="{cells * CELL:g}" '
                f'height="{ROW}" fill="{run.background}"/>'
            )
        if run.text.strip():
            spans.append(_draw_run(run, column, page))
        column += cells
    if spans:
        yield f'<text y="{MARGIN + (y + 0.75) * ROW:g}" xml:space="preserve">{"".join(spans)}</text>'


def _join_alike(row: Sequence[Run]) -> Iterator[Run]:
    """The runs, those that look the same in one."""
    joined: list[Run] = []
    for run in row:
        if joined and joined[-1][1:] == run[1:]:
            joined[-1] = joined[-1]._replace(text=joined[-1].text + run.text)
        else:
            joined.append(run)
    yield from joined


def _draw_run(run: Run, column: int, page: Run) -> str:
    # What is blank at its ends needs no text; and the length is given so that columns align in any font.
    text = run.text.strip()
    column += width(run.text) - width(run.text.lstrip())
    facts = [f'x="{MARGIN + column * CELL:g}" textLength="{width(text) * CELL:g}" lengthAdjust="spacingAndGlyphs"']
    facts += [f'fill="{run.color}"'] if run.color != page.color else []
    facts += ['font-weight="bold"'] if run.bold else []
    facts += ['font-style="italic"'] if run.italic else []
    lines = [name for name, has in (("underline", run.underline), ("line-through", run.strike)) if has]
    facts += [f'text-decoration="{" ".join(lines)}"'] if lines else []
    return f"<tspan {' '.join(facts)}>{escape(text)}</tspan>"
