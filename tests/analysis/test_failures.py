"""Failed runs are grouped by what explains them, and chance explains nothing."""

import math
import tomllib
from random import Random

import pytest
from scipy.stats import fisher_exact, hypergeom

from paramhs import Boolean, Categorical, Integer, Real, Space, tune
from paramhs.analysis.failure_clauses import log_fisher
from paramhs.analysis.failures import failure_groups
from paramhs.core.runs import Instance, Run, Status, Task

SPACE = Space(
    {
        "heuristic": Categorical(["vsids", "vmtf", "Vsid"]),
        "x": Real(0.0, 1.0),
        "k": Integer(1, 100),
        "on": Boolean(),
    }
)
MESSAGE = "it did not work"


def runs(fails, configs=100, instances=3, space=SPACE, seed=0, status=Status.CRASHED):
    """Runs of uniformly drawn configurations, which fail as told."""
    rng, made = Random(seed), []
    for config in (space.sample(rng) for _ in range(configs)):
        for number in range(instances):
            task = Task(config, Instance(f"i{number}"), number)
            bad = fails(config, f"i{number}", rng)
            found = Run(task, status, 0.1, None, MESSAGE) if bad else Run(task, Status.OK, 1.0, 1.0)
            made.append(found)
    return made


def groups(fails, **options):
    made = runs(fails, **options)
    found = failure_groups(made, options.get("space", SPACE))
    failed = sum(run.status is not Status.OK for run in made)
    assert sum(group.failed for group in found) == failed  # none is lost, none counted twice
    return found


def test_without_failures_there_are_no_groups():
    assert groups(lambda *_: False) == ()
    assert failure_groups([], SPACE) == ()


def test_a_value_that_always_fails_is_named_with_counts_message_and_way_out():
    (group,) = groups(lambda config, *_: config["heuristic"] == "Vsid")
    assert group.clause == group.forbid == 'heuristic == "Vsid"'
    assert group.failed == group.runs > 50
    assert (group.others_failed, group.others) == (0, 300 - group.runs)
    assert group.text == (
        f'{group.runs} of {group.runs} runs with heuristic == "Vsid" crashed,'
        f" 0 of {group.others} others: {MESSAGE}"
    )


def test_names_from_anywhere_are_written_so_that_they_can_be_read():
    name = "é'\x7f\N{GRINNING FACE}\"\\"
    space = Space({name: Categorical(["good", "\N{GRINNING FACE}'"]), "x": Integer(1, 9)})
    (group,) = groups(lambda config, *_: config[name] != "good", space=space)
    (clause,) = tomllib.loads(group.toml)["forbidden"]
    assert {c[name] for c in Space(space.parameters, forbidden=[clause]).configs()} == {"good"}


@pytest.mark.parametrize("quotes", ["plain", "it's", 'say "no"', "back\\slash", "tab\there"])
def test_the_offered_lines_are_toml_and_python_that_forbid_it(quotes):
    space = Space({"mode": Categorical(["good", quotes]), "x": Integer(1, 9)})
    (group,) = groups(lambda config, *_: config["mode"] == quotes, space=space)
    in_toml = tomllib.loads(group.toml)["forbidden"]
    in_python = eval(f"dict({group.python})")["forbidden"]
    for clauses in (in_toml, in_python):
        less = Space(space.parameters, forbidden=clauses)
        assert {config["mode"] for config in less.configs()} == {"good"}


def test_a_range_is_found_from_where_it_fails():
    (group,) = groups(lambda config, *_: config["x"] >= 0.75, configs=400)
    assert group.forbid == "x >= 0.75"
    (group,) = groups(lambda config, *_: config["k"] <= 20, configs=400)
    assert group.forbid == "k <= 20"


def test_two_values_that_only_fail_together_are_a_pair():
    (group,) = groups(lambda c, *_: c["heuristic"] == "Vsid" and c["on"], configs=200)
    assert set(group.forbid.split(" and ")) == {'heuristic == "Vsid"', "on == true"}
    assert group.failed == group.runs


def test_two_causes_are_two_groups_the_larger_first():
    found = groups(lambda c, *_: c["heuristic"] == "Vsid" or c["x"] > 0.9, configs=400)
    assert [group.forbid for group in found] == ['heuristic == "Vsid"', "x >= 0.90625"]


def test_an_instance_that_always_fails_is_named_and_not_to_be_forbidden():
    (group,) = groups(lambda _, instance, rng: instance == "i1")
    assert group.text.startswith("100 of 100 runs on instance i1 crashed, 0 of 200 others")
    assert (group.forbid, group.toml, group.python) == ("", "", "")


def test_a_value_of_the_default_is_never_to_be_forbidden():
    (group,) = groups(lambda config, *_: config["heuristic"] == "vsids")
    assert group.clause == 'heuristic == "vsids"'
    assert group.forbid == ""


def test_what_only_fails_more_often_is_reported_but_not_forbidden():
    (group, *_) = groups(lambda config, _, rng: config["on"] and rng.random() < 0.5, configs=200)
    assert group.clause == "on == true"
    assert 0.4 < group.failed / group.runs < 0.6
    assert group.forbid == ""


def test_runs_that_fail_by_chance_do_not_hide_a_value_that_always_fails():
    """One or two of ten runs of any configuration fail, so that nearly all have a failed run."""
    first, *_ = groups(
        lambda config, _, rng: config["heuristic"] == "Vsid" or rng.random() < 0.15,
        configs=24,
        instances=12,
    )
    assert first.forbid == 'heuristic == "Vsid"'


def test_wrong_answers_are_called_so():
    (group,) = groups(lambda c, *_: c["on"], status=Status.WRONG)
    assert "gave a wrong answer" in group.text
    assert group.statuses == {"wrong": group.failed}


def test_failures_by_chance_are_not_explained():
    """At most 5 % of 80 histories are; 12 or more would have a chance below 0.001."""
    explained = 0
    for seed in range(80):
        bad = Random(seed).sample(range(40), 6)
        made = runs(lambda *_: False, configs=40, instances=1, seed=seed)
        made = [
            run._replace(status=Status.CRASHED, detail=MESSAGE) if k in bad else run
            for k, run in enumerate(made)
        ]
        explained += failure_groups(made, SPACE)[0].clause != ""
    assert explained < 12


def test_repeated_runs_of_one_configuration_are_one_witness():
    """One configuration that crashes a hundred times says nothing of its values."""
    rng = Random(1)
    configs = [SPACE.sample(rng) for _ in range(10)]
    made = [
        Run(Task(config, Instance("i"), seed), status, 1.0, 1.0)
        for number, config in enumerate(configs)
        for seed in range(100)
        for status in [Status.OK if number else Status.CRASHED]
    ]
    (group,) = failure_groups(made, SPACE)
    assert (group.clause, group.failed) == ("", 100)


def test_a_value_that_the_message_names_needs_fewer_witnesses():
    def found(message):
        rng = Random(3)
        configs = [SPACE.config(heuristic="Vsid", k=k) for k in (5, 6)]
        draw = rng.randrange
        configs += [SPACE.config(k=draw(1, 90), x=draw(65) / 64, on=draw(2) == 1) for _ in range(8)]
        made = [
            Run(
                Task(c, Instance("i"), 0), Status.CRASHED if n < 2 else Status.OK, 1.0, 1.0, message
            )
            for n, c in enumerate(configs)
        ]
        return failure_groups(made, SPACE)[0].clause

    assert found("no idea") != 'heuristic == "Vsid"'
    assert found("'Vsid' invalid value") == 'heuristic == "Vsid"'


@pytest.mark.parametrize("total", [5, 12, 31])
def test_log_fisher_is_the_one_sided_exact_test(total):
    for marked in range(1, total, 3):
        for drawn in range(1, total, 4):
            for hits in range(max(0, marked + drawn - total), min(marked, drawn) + 1):
                table = [[hits, drawn - hits], [marked - hits, total - marked - drawn + hits]]
                exact = fisher_exact(table, alternative="greater").pvalue
                if hits * total <= drawn * marked:
                    assert log_fisher(hits, drawn, marked, total) == 0.0
                else:
                    assert log_fisher(hits, drawn, marked, total) == pytest.approx(math.log(exact))


def test_log_fisher_has_no_smallest_number():
    assert log_fisher(2_000, 2_000, 2_000, 10_000) == pytest.approx(
        hypergeom.logsf(1_999, 10_000, 2_000, 2_000)
    )


def test_a_search_tells_of_its_failures():
    def target(config, seed):
        if config["heuristic"] == "Vsid":
            raise ValueError("'Vsid' invalid value")
        return config["x"] + seed % 7

    result = tune(target, SPACE, budget=150)
    (group,) = result.failures
    assert group.failed == result.failed_runs > 0
    assert group.text.endswith("ValueError: 'Vsid' invalid value")
    found = result.to_json()
    assert found["failed_runs"] == group.failed
    assert found["failures"][0]["toml"] == "forbidden = ['heuristic == \"Vsid\"']"


def test_a_run_that_was_cut_short_neither_failed_nor_succeeded():
    ends = [Status.OK] * 3 + [Status.CAPPED] * 47 + [Status.CRASHED]
    made = [
        Run(Task(SPACE.default, Instance("i"), seed), status, 1.0)
        for seed, status in enumerate(ends)
    ]
    (group,) = failure_groups(made, SPACE)
    assert (group.failed, group.runs) == (1, 4)
