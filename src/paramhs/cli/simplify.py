"""`paramhs simplify`: the fewest changes that keep the gain."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from paramhs.analysis.ablation import Ablation, AblationStep, Simplified, settings, words
from paramhs.analysis.intervals import Interval
from paramhs.analysis.verdict import Verdict
from paramhs.analysis.verdict_text import how_much
from paramhs.api.terminal.live_view import view
from paramhs.api.terminal.text_layout import brief, tell, tell_table
from paramhs.cli.console import AcceptChanged, Json, Terminal, again, print_json, say
from paramhs.cli.render_verdict import command_of, print_verdict
from paramhs.cli.scenario_of_store import find_scenario
from paramhs.cli.tuning import INTERRUPTED_CODE, tuning
from paramhs.core.errors import BadInput
from paramhs.core.text.numbers import counted
from paramhs.execution.safe_files import write_whole
from paramhs.execution.storage.load import read_record

_MAX_CHANGES = 4  # changes of one step that are listed


def simplify(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Scenario file, or the store of its search."),
    ],
    budget: Annotated[
        int, typer.Option(min=20, help="Number of runs of the ablation, excluding the verdict.")
    ] = 500,
    keep: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Share of the gain to keep.")
    ] = 0.95,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the simplified configuration as JSON, for --initial."
        ),
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Store of the search. Default: FILE.sqlite.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of parallel runs.")] = None,
    accept_changed: AcceptChanged = False,
    as_json: Json = False,
) -> None:
    """Find the fewest changes that keep the gain of the best.

    An ablation on the instances of the search, with new seeds, finds which changes of the default
    matter and in which order. The verdict is on the test set. All runs are stored beside the
    search; if the command is stopped or killed, run it again to resume.
    """
    from paramhs.analysis.importance import importance  # numpy only where it is needed
    from paramhs.procedures.simplify import simplify as simplified

    if out is not None and not out.parent.is_dir():
        raise BadInput(f"cannot write {out}: there is no folder {out.parent}")
    scenario_file, store_path = find_scenario(file, store, "simplify")
    scenario = scenario_file.scenario
    record = read_record(store_path)
    if not record.trajectory:
        raise BadInput(
            f"{store_path} has no best configuration yet: the search has not found an incumbent"
        )
    best = scenario.space.from_key(record.best.key)
    # By the runs that the search requested; those made ahead by idle workers depend on jobs.
    order = [one.name for one in importance(record.history.runs, scenario.cost)]
    with tuning(), scenario_file.running(view(as_json), jobs).reach() as running:
        found = simplified(
            scenario,
            scenario_file.target,
            best,
            budget=budget,
            keep=keep,
            order=order,
            test_set=scenario_file.test_set,
            seed=record.history.seed,
            store=store_path,
            running=running,
            accept_changed=accept_changed,
        )
    if found is None:
        say(f"Interrupted. Resume with: {again()}", err=True)
        raise typer.Exit(INTERRUPTED_CODE)
    if out is not None:
        write_whole(out, json.dumps(found.config.as_dict(), ensure_ascii=False) + "\n")
    if as_json:
        print_json({**found.to_json(), **command_of(scenario_file, found.config)})
        return
    console = Terminal()
    print_simplified(console, found)
    for command in command_of(scenario_file, found.config).values():
        console.print("\ncommand of the simplified configuration:")
        console.print(Text(command), soft_wrap=True)


# Output for people


def print_simplified(console: Console, found: Simplified) -> None:
    """Print the ablation, the simplified configuration, and its verdict."""
    ablation = found.ablation
    if not ablation.steps:
        tell(console, "Keep the default: the search found nothing better.", style="bold")
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
        return "Keep the default: on these runs the best is not better."
    kept = "" if found.kept is None else f", which keep {found.kept:.0%} of the gain"
    changed = brief(found.config, most=100)
    return f"simplified, {count} of {counted(whole, 'change')}{kept}: {changed}"


def _beside_best(verdict: Verdict) -> str:
    """Compare the simplified configuration with the best; no significance is good news here."""
    costs = f"best {verdict.first.cost:.4g}, simplified {verdict.second.cost:.4g}"
    sure = {
        "unclear": "the difference is not significant",
        "better": "the simplified one is better",
        "worse": "the simplified one is worse",
    }
    return (
        f"Compared with the best on the test set: {costs}; {sure[verdict.conclusion_here]}"
        f" ({how_much(verdict)}); p = {verdict.p_value:.2g}"
    )


def print_ablation(console: Console, ablation: Ablation) -> None:
    """Print the path from the default to the best, step by step."""
    tell(
        console,
        f"ablation, on {ablation.on}: {counted(ablation.runs, 'run')},"
        f" {ablation.target_time:.1f} s of target time; each cost is over the same"
        f" {counted(ablation.pairs, 'run')}; 95 % intervals in parentheses",
    )
    headings = ("changes", ablation.label, "times better", "total", "gain kept", "changed")
    rows: list[Sequence[str]] = [
        ("0", f"{ablation.default_cost:.4g}", "", "", "0%", "(the default)")
    ]
    for number, step in enumerate(ablation.steps, start=1):
        count = len(settings(step.changes))
        last = 1 < number == len(ablation.steps) and count > _MAX_CHANGES
        changed = f"the other {count}" if last else words(step.changes, _MAX_CHANGES)
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
