"""What was measured, as text: for the terminal, and as docs/results/performance.md."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from statistics import median

from bench.contenders import CONTENDERS
from bench.drive import Samples
from bench.ground import HERE
from bench.published import Published
from bench.rows import ROWS, Figure, Goal, Row


def promises(row: Row, samples: Samples) -> Iterator[tuple[Goal, str, bool]]:
    """Each goal that could be judged, what was reached, and whether that is enough: median and best both count."""
    for goal in row.goals:
        reached = goal.reached(samples, row.us, row.figure(goal.figure).best)
        if reached is not None:
            yield goal, _reached(goal, row.figure(goal.figure), *reached), goal.is_met(*reached)


def _reached(goal: Goal, figure: Figure, middle: float, best: float) -> str:
    if goal.against is None:
        return f"{middle:{figure.shown}} [{best:{figure.shown}}] {figure.unit}"
    return f"{_times(middle)} [{_times(best)}]"


def _times(ratio: float) -> str:
    return f"1/{1 / ratio:.1f}" if ratio < 0.5 else f"{ratio:.2f} ×"


def table(row: Row, samples: Samples) -> list[list[str]]:
    """A line for each contender that took part, below a line of headings."""
    first = row.figures[0]
    ours = median(samples[row.us][first.key])
    lines = [["", *[_heading(figure) for figure in row.figures], "to ours"]]
    for key, figures in samples.items():
        cells = [_cell(figures[figure.key], figure) for figure in row.figures]
        lines.append([CONTENDERS[key].name, *cells, f"{median(figures[first.key]) / ours:.1f} ×"])
    return lines


def _heading(figure: Figure) -> str:
    return f"{figure.heading}, {figure.unit}" if figure.unit else figure.heading


def _cell(values: list[float], figure: Figure) -> str:
    return f"{_number(median(values), figure)} [{_number(figure.best(values), figure)}]"


def _number(value: float, figure: Figure) -> str:
    return f"{value:.0f}" if value >= 100 and figure.shown == ".3g" else f"{value:{figure.shown}}"


# --- for the terminal ---------------------------------------------------------------------------------------------


def as_text(row: Row, samples: Samples) -> str:
    lines = table(row, samples)
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    shown = ["  ".join(_padded(line, widths)).rstrip() for line in lines]
    verdicts = [
        f"{'PASS' if met else 'MISS'}  {goal.says.replace('`', '')}: {reached}"
        for goal, reached, met in promises(row, samples)
    ]
    return "\n".join([f"{row.title} ({row.key})", *shown, *verdicts, ""])


def _padded(line: list[str], widths: list[int]) -> Iterator[str]:
    for column, (cell, width) in enumerate(zip(line, widths, strict=True)):
        yield cell.rjust(width) if column else cell.ljust(width)


# --- for the docs -------------------------------------------------------------------------------------------------


def as_markdown(measured: list[tuple[Row, Samples]], published: Published) -> str:
    """The whole page: the text is in `page.md`, the figures come from here; those not measured are kept."""
    page = (HERE / "page.md").read_text()
    found = {row.key: samples for row, samples in measured}
    parts: dict[str, Callable[[], str]] = {
        "promises": lambda: _promises(found, published),
        "tables": lambda: "\n\n".join(filter(None, _sections(found, published))),
        "machine": _machine,
        "date": lambda: datetime.now(UTC).date().isoformat(),
    }
    for name, part in parts.items():
        page = page.replace("{{" + name + "}}", part())
    return page


def _promises(found: dict[str, Samples], published: Published) -> str:
    lines = [["work", "goal", "measured", ""]]
    for row in ROWS:
        if row.key not in found:
            lines += published.promises(row.title)
            continue
        for goal, reached, met in promises(row, found[row.key]):
            lines.append([row.title, goal.says, reached, "PASS" if met else "MISS"])
    return _markdown(lines)


def _sections(found: dict[str, Samples], published: Published) -> Iterator[str]:
    run = f"Run of {datetime.now(UTC):%Y-%m-%d, %H:%M} UTC."
    for row in ROWS:
        if row.key in found:
            yield _section(row, found[row.key], run)
        else:
            yield published.section(row.title)


def _section(row: Row, samples: Samples, run: str) -> str:
    return f"### {row.title}\n\n{_markdown(table(row, samples))}\n\n{f'{row.note} {run}'.strip()}"


def _markdown(lines: list[list[str]]) -> str:
    rule = ["---", *["---:" for _ in lines[0][1:]]]
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], rule, *lines[1:]])


def _machine() -> str:
    """What it ran on; nothing that names it."""
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {_kernel()}, Python {_python()}, Node {_node()}"
    )


def _processor() -> str:
    with open("/proc/cpuinfo") as file:
        models = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return models[0] if models else platform.machine()


def _kernel() -> str:
    return ".".join(platform.release().split(".")[:2])


def _python() -> str:
    return ".".join(map(str, sys.version_info[:3]))


def _node() -> str:
    node = shutil.which("node")
    return subprocess.check_output([node, "--version"], text=True).strip().removeprefix("v") if node else "(none)"
