"""The front of a real solver: HiGHS on set covers, its gap at the end and its simplex iterations.

python -m benchmarks.fronts.highs              search, and keep the front in benchmarks/fronts/data
python -m benchmarks.fronts.highs --page FILE  also write the page

Iterations are counted, so the result does not depend on the machine.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import paramhs
from paramhs.bundled.instances.integer_programs import lp, set_cover
from paramhs.core.random_streams import stream
from paramhs.core.space import Categorical, Integer, Real, Space

DATA = Path(__file__).parent / "data" / "highs.json"
TRAINING_COUNT, TEST_COUNT, RUN_COUNT = 8, 12, 100

SPACE = Space(
    {
        "mip_rel_gap": Real(1e-4, 0.1, log=True, default=1e-4),
        "mip_max_nodes": Integer(1, 10_000, log=True, default=10_000),
        "mip_heuristic_effort": Real(0.0, 0.5, default=0.05),
        "mip_lp_age_limit": Integer(1, 100, log=True, default=10),
        "mip_pscost_minreliable": Integer(0, 64, default=8),
        "presolve": Categorical(["choose", "off"], default="choose"),
        "mip_detect_symmetry": Categorical([True, False], default=True),
    }
)


def gap_and_iterations(config: Mapping[str, Any], instance: Path) -> dict[str, float]:
    """Relative gap in percent, at most 100, and the simplex iterations of one run."""
    import highspy

    highs = highspy.Highs()
    highs.silent()
    for name, value in {"threads": 1, **config}.items():
        if highs.setOptionValue(name, value) == highspy.HighsStatus.kError:
            raise ValueError(f"HiGHS refuses {name} = {value}")
    highs.readModel(str(instance))
    highs.run()
    info = highs.getInfo()
    return {
        "gap": 100 * min(1.0, info.mip_gap),
        "iterations": float(info.simplex_iteration_count),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fronts.highs", description=__doc__)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for k in range(TRAINING_COUNT + TEST_COUNT):
            path = Path(folder, f"cover-{k:02}.lp")
            path.write_text(lp(set_cover(130, 500, 0.05, stream(k, "covers"))))
            files[path.stem] = path
        names = list(files)
        found = paramhs.tune(
            gap_and_iterations,
            SPACE,
            instances={name: files[name] for name in names[:TRAINING_COUNT]},
            test_instances={name: files[name] for name in names[TRAINING_COUNT:]},
            cost=["minimise gap", "minimise iterations"],
            budget=RUN_COUNT,
            seed=1,
        )
    assert found.front is not None
    print(found.front)
    for point in found.front.points:
        print(f"{point.name}: {point.config}")
    DATA.write_text(json.dumps(found.front.to_json(), indent=1) + "\n", encoding="utf-8")
    if given.page:
        found.report(given.page)


if __name__ == "__main__":
    main()
