"""`make bench`: measure every row, print it, fail if a promise is missed. A whole run writes docs/performance.md."""

import argparse
import sys
from collections.abc import Sequence

from bench import ground, plot, report
from bench.contenders import CONTENDERS
from bench.drive import Broken, Samples
from bench.ground import ROOT, Missing
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
    if not options.quick and not options.rows:
        _write(measured)
    missed = [goal for row, samples in measured for goal, _, met in report.promises(row, samples) if not met]
    return 1 if missed else 0


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="ours against mcp only, fewer rounds")
    keys = [row.key for row in ROWS]
    parser.add_argument("--rows", nargs="+", choices=keys, metavar="ROW", help=f"only these: {', '.join(keys)}")
    return parser.parse_args(words)


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
    docs = ROOT / "docs"
    (docs / "performance.md").write_text(report.as_markdown(measured))
    (docs / "performance.svg").write_text(plot.draw(measured))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
