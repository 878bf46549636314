"""`make bench`: measure every row, print it, and fail if a promise is missed. A whole run writes the page."""

import argparse
import sys
from collections.abc import Sequence

from bench import ground, plot, report
from bench.contenders import CONTENDERS
from bench.drive import Broken, Samples
from bench.ground import ROOT, Missing
from bench.published import Published
from bench.rows import ROWS, Row

QUICK_ROUNDS = 5


def main(words: Sequence[str]) -> int:
    options = _options(words)
    rows = [row for row in ROWS if not options.rows or row.key in options.rows]
    try:
        _prepare(rows, options.quick)
        measured = [(row, _measure(row, options.quick)) for row in rows]
    except (Missing, Broken) as error:
        sys.stderr.write(f"bench: {error}\n")
        return 1
    if options.write or not (options.quick or options.rows):
        _write(measured)
    missed = [goal for row, samples in measured for goal, _, met in report.promises(row, samples) if not met]
    return 1 if missed else 0


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="ours against mcp only, fewer rounds")
    keys = [row.key for row in ROWS]
    parser.add_argument("--rows", nargs="+", choices=keys, metavar="ROW", help=f"only these: {', '.join(keys)}")
    parser.add_argument("--write", action="store_true", help="write these into the page, and keep its other rows")
    options = parser.parse_args(words)
    if options.write and options.quick:
        parser.error("a quick run is none to publish")
    return options


def _contenders(row: Row, quick: bool) -> list[str]:
    return [key for key in row.contenders if CONTENDERS[key].quick or not quick]


def _prepare(rows: list[Row], quick: bool) -> None:
    ground.build_server()
    for key in dict.fromkeys(key for row in rows for key in _contenders(row, quick)):
        if build := CONTENDERS[key].build:
            build()


def _measure(row: Row, quick: bool) -> Samples:
    samples = row.measure(_contenders(row, quick), min(row.rounds, QUICK_ROUNDS) if quick else row.rounds)
    print(report.as_text(row, samples), flush=True)
    return samples


def _write(measured: list[tuple[Row, Samples]]) -> None:
    page, picture = ROOT / "docs/results/performance.md", ROOT / "docs/results/performance.svg"
    published = Published(page.read_text() if page.exists() else "")
    page.write_text(report.as_markdown(measured, published))
    if len(measured) == len(ROWS):
        picture.write_text(plot.draw(measured))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
