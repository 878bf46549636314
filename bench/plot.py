"""The picture in docs/results/performance.svg: a few rows as bars, readable on light and on dark ground."""

from collections.abc import Iterator
from statistics import median
from xml.sax.saxutils import escape

from bench.contenders import CONTENDERS
from bench.drive import Samples
from bench.rows import Row

PANELS = ("sequential", "flight", "servers-50", "one-shot")
WIDTH, PANEL, MARGIN = 900, 430, 20
LABELS, VALUES = 150, 70
BAR, STEP, TOP = 16, 24, 58

STYLE = """
  .ground { fill: #ffffff } .title { fill: #1f2328; font-weight: 600; font-size: 14px }
  .what, .label { fill: #59636e } .value { fill: #1f2328 } text { font: 12px system-ui, sans-serif }
  .peer { fill: #b6bfc9 } .ours { fill: #0969da } .mine { fill: #0969da; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } .title, .value { fill: #f0f6fc } .what, .label { fill: #9198a1 }
    .peer { fill: #3d444d } .ours { fill: #4493f8 } .mine { fill: #4493f8 }
  }
"""


def draw(measured: list[tuple[Row, Samples]]) -> str:
    """Two panels beside each other, the first figure of each row in bars from zero."""
    shown = [(row, samples) for row, samples in measured if row.key in PANELS]
    lines: list[str] = []
    y = 0
    for pair in zip(shown[::2], shown[1::2], strict=True):
        for column, (row, samples) in enumerate(pair):
            lines += _panel(row, samples, MARGIN + column * (PANEL + MARGIN // 2), y)
        y += TOP + STEP * max(len(samples) for _, samples in pair) + 14
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{_summary(shown)}">'
    )
    ground = f'<rect class="ground" width="{WIDTH}" height="{y}" rx="8"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", ground, *lines, "</svg>", ""])


def _panel(row: Row, samples: Samples, x: int, y: int) -> Iterator[str]:
    figure = row.figures[0]
    values = {key: median(figures[figure.key]) for key, figures in samples.items() if key != "begun"}
    yield f'<text class="title" x="{x}" y="{y + 28}">{escape(row.title)}</text>'
    yield f'<text class="what" x="{x}" y="{y + 45}">{figure.heading}, {figure.unit}: less is better</text>'
    for line, key in enumerate(sorted(values, key=values.__getitem__)):
        yield from _bar(key, values[key], values[key] / max(values.values()), x, y + TOP + line * STEP)


def _bar(key: str, value: float, share: float, x: int, y: int) -> Iterator[str]:
    ours = key == "ours"
    start, length = x + LABELS, max(2.0, share * (PANEL - LABELS - VALUES))
    baseline = y + BAR - 4
    label = escape(_short(key))
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    yield f'<text class="{"mine" if ours else "label"}" x="{start - 8}" y="{baseline}" text-anchor="end">{label}</text>'
    yield f'<rect class="{"ours" if ours else "peer"}" x="{start}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>'
    yield f'<text class="value" x="{start + length + 6:.1f}" y="{baseline}">{number}</text>'


def _short(key: str) -> str:
    return CONTENDERS[key].name.replace("langchain-mcp-adapters", "langchain").replace(", no client", "")


def _summary(shown: list[tuple[Row, Samples]]) -> str:
    return escape(
        "; ".join(
            f"{row.title}: {median(samples['ours'][row.figures[0].key]):.3g} {row.figures[0].unit}"
            for row, samples in shown
        )
    )
