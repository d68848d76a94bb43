"""Meaning and example of each setting of a scenario file, for the reference page.

Type and default come from the schema of scenario files. A test fails if a setting has no entry.
"""

MEANINGS: dict[str, dict[str, tuple[str, str]]] = {
    "": {
        "function": (
            "Python function to tune. Modules beside the file are found first.",
            '"target:cost"',
        ),
        "command": (
            "Program to tune and its arguments, with placeholders `{instance}`, `{seed}`, "
            "`{cutoff}`, `{params}` and `{NAME}` for each parameter. No shell is used.",
            '"solver --seed={seed} {params} {instance}"',
        ),
        "interface": ("Calling convention of a wrapper written for another tool.", '"aclib"'),
        "style": (
            "How `{params}` writes a parameter: an example with the words name and value.",
            '"--name=value"',
        ),
        "booleans": (
            "What is written for true and for false: flags or values.",
            '["--name", "--no-name"]',
        ),
        "switches": ("Text before the value of single parameters, as in irace.", '{alpha = "-a "}'),
        "numbers": (
            "How numbers are written: 1e-05 (`shortest`) or 0.00001 (`decimal`).",
            '"decimal"',
        ),
        "selectors": (
            "Parameters that only decide which others are active; `{params}` leaves them out.",
            '["algorithm"]',
        ),
        "native": (
            "How the program's own users write a configuration, for `paramhs show --best`: a line "
            "of its settings file, or a command.",
            '{line = "name = value"}',
        ),
        "folder": ("Working directory of the command, relative to the file.", '"bin"'),
        "read": (
            "Where the cost is in the output: `time`, `last number`, a regular expression, a "
            "JSON key, or the convention of another tool. For several costs, a table with one of "
            "these for each cost that is read, by its name.",
            '{regex = "cost: (\\\\S+)"}',
        ),
        "answer": (
            "Where the answer is in the output, if no convention is recognised.",
            '{regex = "res: (.*)"}',
        ),
        "solved": (
            "Exit codes or answers of a run that did its work, or a regular expression. "
            "If left out: exit code 0, or the codes that go with a recognised answer.",
            '["sat", "unsat"]',
        ),
        "expected": (
            "Right answers: one for all instances, one for each name, or a file with "
            "lines `instance answer`.",
            '{"a.cnf" = "unsat"}',
        ),
        "answer_tolerance": (
            "Relative difference up to which two numbers are the same answer.",
            "1e-6",
        ),
        "checker": (
            "Command that reads the output and ends with 0 if the answer is right.",
            '"check {instance}"',
        ),
        "space": ("Parameters: tables, or a file (PCS, irace, ConfigSpace).", '"solver.pcs"'),
        "conditions": ("When a parameter is active, by its name.", '{rate = "mode == fast"}'),
        "forbidden": ("Combinations that are never run.", '["low > high"]'),
        "initial": (
            "Configurations that challenge the default first: tables, or a file (JSON "
            "lines or CSV).",
            '[{mode = "fast"}]',
        ),
        "warm_start": (
            "Stores of earlier searches of the same target, whose runs are reused.",
            '["old.sqlite"]',
        ),
        "instances": (
            "Instances: a list, a folder, a pattern, or a file with one a line.",
            '"instances/*.cnf"',
        ),
        "test_instances": (
            "Test set: the same forms, or the share of the instances to hold out. "
            "If left out: 0.3 of ten or more, and at least 6 of twelve or more.",
            "0.4",
        ),
        "families": (
            "Which instances belong together: `folder`, `name`, `none`, a regular expression whose "
            "first group is the family, or `balanced`, by which all families count alike in every "
            'comparison. A table has both: `{by = "folder", balanced = true}`. A list of '
            "instances can name them: `family=NAME` after an instance. If left out, as folders or "
            "names tell.",
            '"balanced"',
        ),
        "split_seed": ("Seed of the choice of held-out instances.", "1"),
        "cost": (
            "What is compared: a quality to minimise or maximise, or a runtime. A list of several "
            'has a front as its result: `["minimise size", "runtime"]`.',
            '"runtime"',
        ),
        "subject_to": (
            "Bounds on the mean of one of several costs, as one text or a list.",
            '"size <= 3"',
        ),
        "clock": (
            "Which time counts and is limited. If left out: `cpu` for commands, `wall` for "
            "functions.",
            '"wall"',
        ),
        "cutoff": (
            "Time after which a run is stopped with all its processes: seconds or a text. "
            "Required where time is the cost.",
            '"10 min"',
        ),
        "capping": (
            "Whether runs that can no longer win are cut short. If left out: `preserving` "
            "where time is the cost.",
            '"none"',
        ),
        "capping_factor": (
            "Fixed factor of aggressive capping. If left out, it falls with the number of runs.",
            "2.0",
        ),
        "wall_limit": (
            'With `clock = "cpu"`: time that may pass. If left out: 2 x cutoff + 10 s.',
            '"30 s"',
        ),
        "memory": (
            "Memory that a run and all its processes may use together: bytes or a text.",
            '"2 GB"',
        ),
        "grace": ("Time between SIGTERM and SIGKILL when a run is stopped.", '"2 s"'),
        "deterministic": (
            "Whether a configuration always gives the same result on an instance. "
            "If left out: true if the target takes no seed.",
            "true",
        ),
        "seed": ("Seed of the search.", "1"),
        "jobs": ("Runs at a time.", "4"),
        "executor": (
            "What makes the runs. If left out: `processes` if there are several jobs or "
            "a limit, otherwise `inline`.",
            '"dask"',
        ),
        "address": ('With `executor = "dask"`: address of the scheduler.', '"tcp://10.0.0.1:8786"'),
        "store": (
            "File with all runs, beside this file. If left out: FILE.sqlite.",
            '"runs.sqlite"',
        ),
    },
    "budget": {
        "runs": ("Number of runs of the search.", "1000"),
        "target_time": ("Time the target runs, summed over all runs.", '"1 h"'),
        "wall_time": ("Time that passes, summed over all sessions.", '"30 min"'),
        "stop": (
            "Stop earlier: when, with 75 % confidence, the next tenth of the budget would gain "
            "less. At least a fifth of the budget and 50 races come before.",
            '"gain < 1 %"',
        ),
    },
    "verdict": {
        "runs": (
            "Runs of each configuration in the verdict. If left out: one for each instance, "
            "at least 50 if the target is random, within half of the budget.",
            "100",
        ),
        "in_budget": ("Whether these runs are part of the budget.", "true"),
    },
    "configurator": {
        "name": (
            "The search; see [other searches](../explanation/search.md#other-searches). If "
            "left out: `paramhs`.",
            '"paramils"',
        ),
        "moves": (
            "Which parameters change. If left out: `learned` for paramhs, `several` for "
            "paramhs-plain and race, otherwise `one`.",
            '"several"',
        ),
        "model": (
            "What predicts costs where moves are `learned`. If left out: `by noise`, which is "
            "`main effects`, or `gaussian process` for a target without noise and instances.",
            '"main effects"',
        ),
        "step": (
            "How an ordered parameter moves. If left out: `harmonic` (`uniform` for paramils).",
            '"uniform"',
        ),
        "length": ("Longest step of `l-step`.", "2"),
        "comparison": (
            "Rule of a race. If left out: `growing` (`focused` for paramils, `fresh` "
            "for paramrls).",
            '"fixed"',
        ),
        "min_runs": ("Pairs before the first decision of `growing`. If left out: 2.", "4"),
        "max_runs": ("Most pairs of an incumbent. If left out: 2000.", "500"),
        "order": (
            "Order of pairs in `focused`: drawn for each two rivals, or shared as in "
            "ParamILS. If left out: `drawn`.",
            '"shared"',
        ),
        "runs": ("Number of runs of `fixed` (30 if left out) and of `fresh` (required).", "100"),
        "start": ("First configuration of `paramrls` and `paramils`.", '"uniform"'),
        "replacement": (
            "Whether `paramrls` may propose a rejected configuration at once.",
            "false",
        ),
        "walk": (
            "Whether a local search of `paramils` may meet a configuration again.",
            '"afresh"',
        ),
        "random_starts": (
            "Random configurations at the start of `paramils` (R). If left out: 10.",
            "5",
        ),
        "kicks": (
            "Random changes between two local searches of `paramils` (s). If left out: 3.",
            "4",
        ),
        "p_restart": ("Probability of a restart of `paramils`. If left out: 0.01.", "0.05"),
        "candidates": ("Candidates in a race of `race`. If left out: from the survivors.", "20"),
        "survivors": (
            "Survivors of a race of `race`. If left out: 2 + log2 of the number of parameters.",
            "4",
        ),
        "first_test": ("Pairs before the first test of `race`. If left out: 5.", "8"),
        "confidence": ("Confidence of a test of `race`. If left out: 0.95.", "0.99"),
        "test": (
            "Test of `race`. If left out: `t` where time is the cost, otherwise `friedman`.",
            '"friedman"',
        ),
    },
    "cluster": {
        "system": ("Batch system whose jobs are the workers.", '"slurm"'),
        "options": (
            "What dask-jobqueue is told about a job.",
            '{cores = 8, memory = "16 GB", walltime = "04:00:00"}',
        ),
        "client": ("Python function that makes a Dask client.", '"site:client"'),
        "ship": ("Whether instance files are sent to the workers.", "true"),
        "patience": ("How long to wait for lost workers or the scheduler.", '"30 min"'),
        "tls": ("Credentials of an encrypted cluster; see `cluster.tls`.", "(a table)"),
        "dashboard": ("Whether a cluster on this machine has Dask's dashboard.", "true"),
    },
    "cluster.tls": {
        "ca_file": ("Certificate of the authority that signed the others (PEM).", '"ca.pem"'),
        "cert": ("Certificate of this process (PEM).", '"client.pem"'),
        "key": ("Private key of this process (PEM).", '"client.key"'),
    },
    "space.NAME": {
        "type": ("Kind of parameter.", '"real"'),
        "values": (
            "Values of a categorical or ordinal parameter, the latter in order.",
            '["low", "high"]',
        ),
        "low": ("Smallest value of a range.", "0.001"),
        "high": ("Largest value of a range.", "1.0"),
        "step": ("Distance of two values of an integer range. If left out: 1.", "10"),
        "levels": (
            "Number of values of a real range, or of a range with `log`. If left out: 65.",
            "129",
        ),
        "log": ("Whether values are spaced evenly in logarithms.", "true"),
        "default": (
            "Default value. If left out: the first category, the middle of an order or "
            "range, false.",
            "0.03",
        ),
        "special": ("Values outside the range that mean something else.", "[-1]"),
        "condition": ("When the parameter is active.", '"mode in {fast} and a > 20"'),
    },
}

TABLES: dict[str, str] = {
    "": "Top of the file",
    "budget": "`[budget]`",
    "verdict": "`[verdict]`",
    "configurator": "`[configurator]`",
    "cluster": "`[cluster]`",
    "cluster.tls": "`[cluster.tls]`",
    "space.NAME": "`[space.NAME]`",
}
INTRODUCTIONS: dict[str, str] = {
    "": "Give `command` or `function`, and `space` and `budget`. All else may be left out.",
    "budget": "The search ends when the first of these is reached.",
    "verdict": "The comparison of the best configuration with the default on the test set.",
    "configurator": "Which search runs. A setting that has no effect beside the others is refused.",
    "cluster": 'Workers on other machines, with `executor = "dask"`.',
    "cluster.tls": "Paths are relative to the scenario file.",
    "space.NAME": "One table for each parameter. Short forms: `rate = [0.001, 1.0]` is a range, "
    '`mode = ["fast", "slow"]` is categorical, `restarts = true` is a boolean and its default.',
}
