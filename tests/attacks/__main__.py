"""`make attacks`: try every attack and print the table; fails if one gets through or could not be made."""

import importlib
import pkgutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import tests.attacks
from tests.attacks.table import Attack, Tally
from tests.hearing import restore_signals

HEADER = ("", "id", "attack", "tries", "through", "seconds")


def main(words: list[str]) -> int:
    restore_signals()
    attacks = sorted(find_attacks(words), key=lambda attack: (int(attack.id.removeprefix("A")), attack.name))
    began = time.monotonic()
    results = [(attack, *_try(attack)) for attack in attacks]
    _print_table([HEADER, *(_line(*result) for result in results)])
    tries = sum(tally.tries for _, tally, _, _ in results)
    through = sum(len(tally.through) for _, tally, _, _ in results)
    failures = [(attack, why) for attack, tally, _, error in results for why in (*tally.through, *error)]
    for attack, why in failures:
        print(f"{attack.id} {attack.name}: {why}")  # noqa: T201
    print(f"{len(attacks)} attacks, {tries} tries, {through} got through, {time.monotonic() - began:.0f} s")  # noqa: T201
    return 1 if failures or not attacks else 0


def find_attacks(words: list[str]) -> Iterator[Attack]:
    """Those of every module of this folder; with words, those that have one of them in their id or name."""
    for module in pkgutil.iter_modules(tests.attacks.__path__, "tests.attacks."):
        if module.name.endswith(("__main__", ".table", ".registry")):
            continue
        for attack in importlib.import_module(module.name).ATTACKS:
            if not words or attack.id in words or any(word in attack.name for word in words):
                yield attack


def _try(attack: Attack) -> tuple[Tally, float, list[str]]:
    tally = Tally()
    error: list[str] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="attack-", ignore_cleanup_errors=True) as folder:
        try:
            attack.run(Path(folder).resolve(), tally)
        except Exception as raised:  # noqa: BLE001  # an attack may fail in any way; the table says how
            error.append(f"could not be made: {type(raised).__name__}: {raised}"[:300])
    if tally.tries == 0 and not error:
        error.append("tried nothing")
    return tally, time.monotonic() - began, error


def _line(attack: Attack, tally: Tally, seconds: float, error: list[str]) -> tuple[str, ...]:
    mark = "✗" if tally.through or error else "✓"
    return mark, attack.id, attack.name, str(tally.tries), str(len(tally.through)), f"{seconds:.1f}"


def _print_table(lines: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
