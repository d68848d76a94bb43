"""Statuses, columns and JSON keys, for the reference page of run results."""

from collections.abc import Mapping
from typing import Any

INTRODUCTION = (
    "Each status, column and key that paramhs writes, with its unit and when it is missing. Times "
    "are in seconds. Costs have the unit of what is compared: seconds where time is the cost, "
    "otherwise the unit of the target. A number that JSON cannot hold, such as an infinite cost, "
    "is null."
)
STATUSES: dict[str, tuple[str, str, str]] = {
    "ok": ("The run ended with a usable answer.", "its quality", "its runtime"),
    "timeout": ("The run reached the cutoff.", "its quality, else worst", "k cutoffs (PARk)"),
    "capped": (
        "The run was cut short because it could no longer win.",
        "(does not occur)",
        "none: a lower bound",
    ),
    "unsolved": (
        "The run ended without the requested answer, such as `unknown`.",
        "its quality",
        "k cutoffs (PARk)",
    ),
    "crashed": (
        "An exit code, a signal, an exception, or too much memory.",
        "worst",
        "k cutoffs (PARk)",
    ),
    "unreadable": (
        "The run ended normally, but printed no usable number.",
        "worst",
        "k cutoffs (PARk)",
    ),
    "wrong": ("The answer contradicts the reference.", "worst", "worst"),
}
COLUMNS_NOTE = (
    "`config` is the configuration in one line. `config.NAME` is the value of a parameter, empty "
    "if it is not active. Numbers of one row are over the same runs; numbers of two rows may not "
    "be."
)
_CONFIG = {
    "config": ("", "configuration in one line", ""),
    "config.NAME": ("", "value of the parameter", "the parameter is not active"),
}
_RUN = {
    "run": ("", "position in the order in which the search asked", "speculative run, never used"),
    **_CONFIG,
    "instance": ("", "name of the instance (`-` if there are none)", ""),
    "seed": ("", "seed of the run", ""),
    "cutoff": ("s", "cutoff the run was given", "no cutoff"),
    "status": ("", "see above", ""),
    "runtime": ("s", "processor time (`clock = cpu`) or time that passed", ""),
    "quality": ("of the target", "number the target reported", "none was reported"),
    "answer": ("", "answer, such as `sat`, or a number", "none was recognised"),
    "cost": ("of the cost", "cost of the run by itself", "capped, or worse than any number"),
    "detail": ("", "explanation of a failure", "no failure"),
}
COLUMNS: dict[str, dict[str, tuple[str, str, str]]] = {
    "runs": _RUN,
    "configurations": {
        **_CONFIG,
        "runs": ("", "runs of the configuration", ""),
        "failed": ("", "runs that failed", ""),
        "common_runs": ("", "runs in common with the best", ""),
        "cost": ("of the cost", "mean cost over the common runs", "no common run"),
        "best_cost": ("of the cost", "mean cost of the best over the same runs", "no common run"),
        "ratio": ("", "how many times better the best is", "costs are not all positive"),
    },
    "trajectory": {
        "runs": ("", "runs when it became the incumbent", ""),
        "target_time": ("s", "time the target had run by then", ""),
        **_CONFIG,
        "common_runs": ("", "runs in common with the previous incumbent", ""),
        "cost": ("of the cost", "mean cost over these runs", "no common run"),
        "cost_before": (
            "of the cost",
            "mean cost of the previous incumbent over them",
            "no common run",
        ),
    },
    "verdict-runs": _RUN,
}
JSON_NOTE = (
    "`--what verdict` writes the keys of the object `verdict` below, with inner keys after a dot. "
    "With `--json`, standard output is one object. Its first key is `version`, which grows when a "
    "key is removed or changes its meaning; new keys may be added without that. A key that is "
    "null has no value in this result, as its meaning says."
)
COMMANDS = (
    "tune",
    "validate",
    "show",
    "simplify",
    "check",
    "export",
    "report",
    "space",
    "instances",
    "init",
    "demo",
)
CALLS = {"instances": "instances random-ksat"}
"""How a command is called, where its name alone is no call."""
MEANINGS: dict[str, str] = {
    "accepted": "Changes of the program or of instances that the user accepted, in words.",
    "answers": "What the runs answered.",
    "ablation": "The way from the default to the best, change by change.",
    "best": "The best configuration; null if there is none.",
    "call": "The command line or call of a run.",
    "case": "What a repetition is: an instance, a seed, or a repetition.",
    "clause": "The clause that explains the failures.",
    "columns": "Names of the columns.",
    "common_runs": "Number of runs in common.",
    "cost_high": "Upper end of the 95 % interval of the cost.",
    "estimate": "The estimated value, with its 95 % interval.",
    "family": "The family of instances.",
    "label": "The value or bin of values, as text.",
    "log": "Whether effects are ratios (of logarithms of costs) or differences.",
    "options": "The options of the generator.",
    "others": "Number of other runs.",
    "others_failed": "Number of the other runs that failed.",
    "planned": "Number of runs that all values need.",
    "sessions": "Number of times the search was started or resumed.",
    "verdict_runs": "Runs of the verdict.",
    "command": "The command line of the best; null if the target is a function.",
    "conditions": "Number of conditions, as ConfigSpace counts them.",
    "config": "A configuration: an object with the value of each active parameter.",
    "configurations": "Number of configurations.",
    "cost": "Mean cost over the runs named beside it; null if there are none.",
    "count": "Number of occurrences.",
    "default": "The default configuration.",
    "default_cost": "The default's mean cost over the same runs; null if there are none.",
    "default_failed": "Number of common runs of the default without a usable cost.",
    "detail": "What went wrong in the run; empty if nothing.",
    "effect": "Ratio, or difference, of the worst and the best value.",
    "exit_code": "Exit code of the process; null if it was stopped.",
    "failed": "Number of runs that failed.",
    "failures": "Groups of failed runs, each with the values that explain it.",
    "file": "The file that was written; null if the table went to standard output.",
    "files": "The files that were written.",
    "first": "The first configuration and its runs.",
    "forbid": "The line for `forbidden` that leaves such configurations out.",
    "forbidden": "Number of forbidden clauses.",
    "format": "Format of the file.",
    "high": "Upper end of the 95 % interval; null if it is infinite.",
    "instance": "Name of the instance.",
    "instances": "Number of instances.",
    "kinds": "Number of parameters of each kind.",
    "log10_combinations": "Decimal logarithm of the number of combinations of all values.",
    "losses": "Instances on which the first configuration is worse, or what a format cannot say.",
    "low": "Lower end of the 95 % interval; null if it is infinite.",
    "message": "What the target said last, one line.",
    "name": "Name of the parameter.",
    "names": "Names of the two configurations.",
    "notes": "What was read otherwise than it is written.",
    "on": "On what runs the configurations were compared.",
    "p_value": "The smallest level at which the claim holds.",
    "page": "The report that was written; null if none was.",
    "parameters": "Number of parameters.",
    "path": "Where the instances were written.",
    "pictures": "Files of pictures that were written.",
    "quality": "The number that the target reported; null if it reported none.",
    "ratio": "How many times better, with its 95 % interval; null where costs are not positive.",
    "recommendation": "What to do, in the sentence that every view prints.",
    "rows": "Number of rows.",
    "runs": "Number of runs.",
    "runtime": "Seconds of the run.",
    "scenario": "What the search is about: space, instances, cost, cutoff.",
    "second": "The second configuration and its runs.",
    "seed": "Seed of the run, or of the instances.",
    "share": "Share of the runs, between 0 and 1.",
    "simplified": "The simplified configuration; null if `paramhs simplify` was not run.",
    "speculative": "Number of speculative runs.",
    "status": "Status of the run; see above.",
    "statuses": "Number of runs by status.",
    "steps": "Number of changes made by then.",
    "stopped": "Why the search ended.",
    "store": "The file of the store.",
    "target_time": "Seconds that the target ran.",
    "text": "The same in words, or the text of a file.",
    "ties": "Instances on which both are equal.",
    "timeouts": "Number of runs that timed out.",
    "trajectory": "The incumbents, in order.",
    "value": "Value of the parameter.",
    "values": "Values of the parameter, each with its runs and cost.",
    "verdict": "The comparison on the test set, or why there is none.",
    "verdicts": "One verdict for each pair of configurations.",
    "wall_time": "Seconds that passed, over all sessions.",
    "warnings": "Pitfalls that were found, in words.",
    "what": "Which table was written.",
    "wins": "Instances on which the first configuration is better.",
}


def meaning(key: str, schema: Mapping[str, Any]) -> str:
    """The meaning of a JSON key: what its schema says, or else what it means everywhere."""
    return str(schema.get("description") or MEANINGS.get(key, ""))
