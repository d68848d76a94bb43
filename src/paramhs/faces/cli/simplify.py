"""`paramhs simplify`: the few changes that matter."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from paramhs.faces.cli.output import Json, Terminal, again, print_json, say
from paramhs.faces.cli.tune import INTERRUPTED_CODE, tuning
from paramhs.faces.cli.verdicts import command_of, print_verdict
from paramhs.faces.layout import brief, tell, tell_table
from paramhs.faces.scenario_file import ScenarioFile, read_scenario
from paramhs.faces.views import view
from paramhs.results.ablation import Ablation, AblationStep, Simplified, settings, words
from paramhs.results.concluding import how_much
from paramhs.results.verdict import Interval, Verdict
from paramhs.values.errors import BadInput, StoreError
from paramhs.values.wording import counted
from paramhs.world.store.sqlite import read_runs
from paramhs.world.store.summary import summary

_MAGIC = b"SQLite format 3\0"
_SCENARIOS = ("*.toml", "*.txt")
_LISTED = 4  # changes of one step that are written out


def simplify(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The scenario, or the store that its search has made."),
    ],
    budget: Annotated[
        int, typer.Option(min=20, help="Runs for the ablation; those of the verdict come on top.")
    ] = 500,
    keep: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="The share of the gain to keep.")
    ] = 0.95,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the simplified configuration there, as --initial reads it."
        ),
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="The store of the search [FILE.sqlite].")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Runs at a time.")] = None,
    as_json: Json = False,
) -> None:
    """Find the fewest changes of the default that keep the best's gain, and judge them.

    Which changes matter, and in which order, is found on the instances of the search with new
    seeds (ablation); the verdict is on the test set. All runs lie beside the store. Stopped or
    killed, the same command goes on.
    """
    from paramhs.results.importance import importance  # numpy only where it is needed
    from paramhs.results.simplifying import simplify as simplified

    if out is not None and not out.parent.is_dir():
        raise BadInput(f"cannot write {out}: there is no folder {out.parent}")
    scenario_file, store_path = _meant(file, store)
    scenario = scenario_file.scenario
    about = summary(store_path)
    if not about["trajectory"]:
        raise BadInput(f"{store_path} knows no best configuration yet: no search has come so far")
    best = scenario.space.from_key(about["trajectory"][-1]["config"])
    order = [one.name for one in importance(read_runs(store_path, scenario.space), scenario.cost)]
    with tuning(), scenario_file.running(view(as_json), jobs).reach() as running:
        found = simplified(
            scenario,
            scenario_file.target,
            best,
            budget=budget,
            keep=keep,
            order=order,
            test_set=scenario_file.test_set,
            seed=about["scenario"].get("seed", scenario_file.seed),
            store=store_path,
            running=running,
        )
    if found is None:
        say(f"Interrupted; to go on: {again()}", err=True)
        raise typer.Exit(INTERRUPTED_CODE)
    if out is not None:
        _write(out, json.dumps(found.config.as_dict(), ensure_ascii=False) + "\n")
    if as_json:
        print_json({**found.to_json(), **command_of(scenario_file, found.config)})
        return
    console = Terminal()
    print_simplified(console, found)
    for command in command_of(scenario_file, found.config).values():
        console.print("\nthe simplified configuration's command:")
        console.print(Text(command), soft_wrap=True)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None


# Which scenario a store belongs to.


def _meant(file: Path, store: Path | None) -> tuple[ScenarioFile, Path]:
    """A scenario and its store, given either."""
    if not _is_store(file):
        scenario_file = read_scenario(file)
        return scenario_file, store or scenario_file.store
    if not file.exists():
        raise StoreError(f"there is no store {file}")
    if store is not None:
        raise BadInput(f"{file} is a store itself; give the scenario, or leave --store out")
    for path in _scenarios_near(file):
        with suppress(BadInput):
            scenario_file = read_scenario(path)
            if path.stem == file.stem or scenario_file.store.resolve() == file.resolve():
                return scenario_file, file
    raise BadInput(
        f"no scenario beside {file} says that its runs are there; name it:"
        f" paramhs simplify SCENARIO --store {file}"
    )


def _is_store(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as opened:
        return opened.read(len(_MAGIC)) == _MAGIC
    return path.suffix == ".sqlite"


def _scenarios_near(store: Path) -> Iterator[Path]:
    """Scenario files in the folder of a store and the one above, those of its name first."""
    folder = store.absolute().parent
    found = [
        path for f in (folder, folder.parent) for p in _SCENARIOS for path in sorted(f.glob(p))
    ]
    yield from sorted(found, key=lambda path: path.stem != store.stem)


# For people.


def print_simplified(console: Console, found: Simplified) -> None:
    """The ablation, what was chosen, and what that is worth."""
    ablation = found.ablation
    if not ablation.steps:
        tell(console, "Keep the default: it is the best that the search found.", style="bold")
        return
    print_ablation(console, ablation)
    console.print()
    tell(console, _choice(found), style="bold", indent="  ")
    if not found.step:
        return
    console.print()
    if found.verdict is None:
        tell(console, "No verdict: nothing is held out, and the target is deterministic.")
        return
    print_verdict(console, found.verdict)
    if found.against_best is not None:
        tell(console, _beside_best(found.against_best))


def _choice(found: Simplified) -> str:
    count, whole = (len(settings(c)) for c in (found.changes, found.ablation.changes))
    if not found.step:
        return "Keep the default: the best is not better on these runs."
    kept = "" if found.kept is None else f", which keep {found.kept:.0%} of the gain"
    changed = brief(found.config, most=1_000)
    return f"simplified, {count} of {counted(whole, 'change')}{kept}: {changed}"


def _beside_best(verdict: Verdict) -> str:
    """In words: that no difference is proven is good news here."""
    costs = f"{verdict.first.cost:.4g} of the best, {verdict.second.cost:.4g} of the simplified"
    sure = {
        "unclear": "no difference is proven",
        "better": "the simplified one is better",
        "worse": "the simplified one is worse",
    }
    return (
        f"Beside the best, there: {costs}; {sure[verdict.conclusion]}"
        f" ({how_much(verdict)}); p = {verdict.p_value:.2g}"
    )


def print_ablation(console: Console, ablation: Ablation) -> None:
    """The way from the default to the best, step by step."""
    tell(
        console,
        f"ablation, on {ablation.on}: {counted(ablation.runs, 'run')},"
        f" {ablation.target_time:.1f} s of target time; each cost is over the same"
        f" {counted(ablation.pairs, 'run')}, in brackets are 95 % intervals",
    )
    headings = ("changes", ablation.label, "times better", "in all", "gain kept", "changed")
    rows: list[Sequence[str]] = [
        ("0", f"{ablation.default_cost:.4g}", "", "", "0%", "(the default)")
    ]
    for number, step in enumerate(ablation.steps, start=1):
        count = len(settings(step.changes))
        last = 1 < number == len(ablation.steps) and count > _LISTED
        changed = f"the other {count}" if last else words(step.changes, _LISTED)
        rows.append((*_row(step), changed))
    tell_table(console, headings, rows)


def _row(step: AblationStep) -> tuple[str, ...]:
    kept = "" if step.kept is None or math.isinf(step.kept) else f"{step.kept:.0%}"
    total = "" if step.total is None else f"{step.total.estimate:.3g}"
    return str(step.count), f"{step.cost:.4g}", _range(step.ratio or step.gain), total, kept


def _range(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f"{interval.estimate:.3g} ({interval.low:.3g} to {interval.high:.3g})"
