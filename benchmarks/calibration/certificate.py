"""The tables of docs/explanation/certificate.md: how often its statements are wrong, and stopping.

python -m benchmarks.calibration.certificate           all tables, from the rows kept
python -m benchmarks.calibration.certificate --save    the same, written into that page

The rows come from `benchmarks.calibration.searches` and `benchmarks.calibration.simulated`.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from benchmarks.calibration import searches, simulated, stopping
from benchmarks.calibration.searches import Kept
from benchmarks.calibration.shares import interval
from benchmarks.calibration.simulation import filled
from paramhs.analysis.win_probability import bounded

PAGE = Path(__file__).parents[2] / "docs/explanation/certificate.md"
MOMENTS = (30, 100, 300, 1000)
TRIALS = 2_000
PATHS = {
    "one in 50 wins": [0.02],
    "halved by each winner": [0.5**k for k in range(1, 15)],
    "a record each time": [1 / (k + 1) for k in range(1, 60)],
    "always one in ten": [0.1] * 200,
}


def untried_wrong(
    chances: Sequence[float], moments: Sequence[int], trials: int, rng: Random, factor: float = 1.0
) -> list[int]:
    """Number of searches whose bound, times a factor, is wrong at each moment.

    Draws win with the chance of the present incumbent: the next in the list after each win.
    """
    wrong = [0] * len(moments)
    for _ in range(trials):
        at = since = 0
        for draw in range(1, max(moments) + 1):
            if rng.random() < chances[at]:
                at, since = min(at + 1, len(chances) - 1), 0
            else:
                since += 1
            if draw in moments:
                found = bounded("uniform", 1.0, since, 0.05)
                refuted = found is not None and chances[at] > factor * found.bound
                wrong[moments.index(draw)] += refuted
    return wrong


def untried_table(trials: int) -> Iterator[str]:
    """Share of searches whose bound is wrong, by moment."""
    yield f"| chance of the next draw | {' | '.join(f'{n:,} draws' for n in MOMENTS)} |"
    yield "|---" * (len(MOMENTS) + 1) + "|"
    for name, chances in PATHS.items():
        wrong = untried_wrong(chances, MOMENTS, trials, Random(1))
        yield f"| {name} | {' | '.join(interval(w, trials) for w in wrong)} |"


def width_table(kept: Sequence[Kept]) -> Iterator[str]:
    """The share that none of the configurations tried saves, by target and moment: said and true.

    Both are means over the searches; then the number of searches in which it was wrong.
    """
    moments = searches.MOMENTS
    yield f"| target | searches | {' | '.join(f'{n:,} runs' for n in moments)} | wrong |"
    yield "|---" * (len(moments) + 3) + "|"
    groups: dict[str, list[Kept]] = defaultdict(list)
    for one in kept:
        if not one.tried:
            continue
        groups[one.case].append(one)
    for case, ones in sorted(groups.items()):
        rows = [row for one in ones for row in one.tried]
        cells = []
        for place, _ in enumerate(moments):
            here = [one.tried[place] for one in ones if len(one.tried) > place]
            said, true = (100 * sum(r[k] for r in here) / max(len(here), 1) for k in (2, 3))
            cells.append(f"{said:.0f} ({true:.1f})" if here else "")
        wrong = sum(true > said + 1e-9 for _, _, said, true in rows)
        yield f"| {case} | {len(ones)} | {' | '.join(cells)} | {wrong} of {len(rows)} |"


def tables() -> dict[str, str]:
    """All tables of the page, by name."""
    rows, kept = simulated.read(), searches.read()
    found = {
        "tried": simulated.table(rows, ["tried"]),
        "width": width_table(kept),
        "draws": untried_table(TRIALS),
        "walks": simulated.table(rows, ["plain", "uniform"]),
        "gain": simulated.table(rows, ["gain"]),
        "stopping": stopping.table(kept, 5_000, 0.01),
        "budgets": stopping.budget_table(kept, 0.01),
    }
    return {name: "\n".join(lines) for name, lines in found.items()}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help=f"write them into {PAGE.name}")
    given = parser.parse_args()
    found = tables()
    for name, text in found.items():
        print(name, text, sep="\n\n", end="\n\n")
    if given.save:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(filled(page, found), encoding="utf-8")


if __name__ == "__main__":
    main()
