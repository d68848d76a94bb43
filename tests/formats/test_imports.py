"""Past searches of irace, SMAC3, SMAC 2 and Optuna as stores.

The logs of irace 3.5 and SMAC3 2.4 were written by these programs, for the function that `value`
repeats. The folder of SMAC 2 was written by hand, after its manual.
"""

import json
import shutil
from pathlib import Path

import pytest

import paramhs
from paramhs import BadInput, ParamhsWarning
from paramhs.api.import_search import notes_of
from paramhs.cli import app
from paramhs.core.runs import Status
from paramhs.execution.driver import Watcher

DATA = Path(__file__).parent / "data"


def value(config, instance):
    """What the target returned, less noise below 0.1."""
    fixed = {"a": 0, "b": 0.5, "c": 1}[config["kind"]]
    return (config["x"] - 2) ** 2 + abs(config["n"] - 7) / 5 + fixed + int(instance[1:])


def imported(tmp_path, name, **settings):
    return paramhs.import_search(DATA / name, tmp_path / "runs.sqlite", **settings)


def test_a_log_of_irace_is_read_whole(tmp_path):
    pytest.importorskip("rdata")
    result = imported(tmp_path, "irace.Rdata")
    assert result.stopped.startswith("imported from irace 3.5")
    assert len(result.runs) > 150
    crashed = [run for run in result.runs if run.status is Status.CRASHED]
    assert crashed
    assert {run.task.config["n"] for run in crashed} <= {16, 17, 18, 19, 20}
    for run in result.runs:
        task = run.task
        if run.status is Status.OK:
            assert 0 <= run.quality - value(task.config, task.instance) <= 0.1
    assert result.best["kind"] in "abc"
    assert ("y" in result.best) == (result.best["kind"] == "b")
    assert result.space.conditions.keys() == {"y"}
    assert result.runs[0].status is Status.CRASHED
    assert result.runs[1].task.config == result.default
    assert {run.task.seed for run in result.runs} != {1}


def test_what_irace_capped_is_censored(tmp_path):
    pytest.importorskip("rdata")
    result = imported(tmp_path, "irace-capping.Rdata")
    capped = [run for run in result.runs if run.status is Status.CAPPED]
    assert capped
    for run in capped:
        assert run.task.cutoff < result.scenario.cutoff == 20
        assert value(run.task.config, run.task.instance) + 0.1 > run.task.cutoff
    assert result.metric.label == "PAR10 in s"
    assert result.answers.warnings == []


def test_output_of_smac3_is_read_whole(tmp_path):
    result = imported(tmp_path, "smac3")
    stored = json.loads((DATA / "smac3/runhistory.json").read_text())
    assert len(result.runs) == len(stored["data"]) == 45
    for run, row in zip(result.runs, stored["data"], strict=True):
        values = stored["configs"][str(row["config_id"])]
        assert run.task.config.as_dict() == values
        assert (run.task.instance.name, run.task.seed) == (row["instance"], row["seed"])
        assert run.quality == (row["cost"] if row["status"] == 1 else None)
    crashed = [run for run in result.runs if run.status is Status.CRASHED]
    assert {run.detail for run in crashed} == {"ValueError('too large')"}
    incumbent = json.loads((DATA / "smac3/intensifier.json").read_text())["trajectory"][-1]
    assert result.best.as_dict() == stored["configs"][str(incumbent["config_ids"][0])]
    assert result.default.as_dict() == {"kind": "a", "n": 5, "x": 1.0}
    assert 0 < result.wall_time == result.record.elapsed[-1]
    again = paramhs.import_search(DATA / "smac3/runhistory.json", tmp_path / "again.sqlite")
    assert again.runs == result.runs


def test_older_run_histories_of_smac3_are_lists(tmp_path):
    for file in (DATA / "smac3").iterdir():
        shutil.copy(file, tmp_path)
    path = tmp_path / "runhistory.json"
    stored = json.loads(path.read_text())
    names = "config_id instance seed budget cost time status starttime endtime additional_info"
    stored["data"] = [[row[name] for name in names.split()] for row in stored["data"]]
    path.write_text(json.dumps(stored))
    old = paramhs.import_search(path, tmp_path / "old.sqlite")
    new = imported(tmp_path, "smac3")
    assert old.runs == new.runs


def test_a_folder_of_smac2_is_read_whole(tmp_path):
    result = imported(tmp_path, "smac2/state-run1")
    told = [(r.status.value, r.runtime, r.task.cutoff, r.task.instance.name) for r in result.runs]
    assert told[0] == ("ok", 2.5, 5.0, "inst/a.cnf")
    statuses = [status for status, *_ in told]
    assert statuses == ["ok", "timeout", "ok", "ok", "ok", "capped", "crashed"]
    assert told[5][1:3] == (2.6, 2.6)
    assert result.best.as_dict() == {"heat": "high", "speed": 3.4567, "depth": 7, "extra": 0.25}
    assert result.default_cost == (2.5 + 50) / 2
    assert result.best_cost == (1.25 + 3.5) / 2


def objective(trial):
    kind = trial.suggest_categorical("kind", ["a", None, 3])
    n = trial.suggest_int("n", 1, 100, log=True)
    x = trial.suggest_float("x", 0, 1)
    if kind is None:
        x += trial.suggest_float("y", 0, 1, step=0.25)
    if n > 90:
        raise ValueError
    return x + n / 100


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path = tmp_path_factory.mktemp("optuna") / "optuna.db"
    for name, direction in (("down", "minimize"), ("up", "maximize")):
        sampler = optuna.samplers.RandomSampler(seed=1)
        study = optuna.create_study(
            storage=f"sqlite:///{path}", study_name=name, sampler=sampler, direction=direction
        )
        study.optimize(objective, n_trials=25, catch=ValueError)
    return path


@pytest.mark.parametrize("name", ["down", "up"])
def test_a_study_of_optuna_is_read_whole(tmp_path, database, name):
    import optuna

    result = paramhs.import_search(database, tmp_path / "runs.sqlite", study=name)
    study = optuna.load_study(study_name=name, storage=f"sqlite:///{database}")
    assert [run.quality for run in result.runs] == [t.value for t in study.trials]
    for run, trial in zip(result.runs, study.trials, strict=True):
        named = {n: "None" if v is None else v for n, v in trial.params.items()}
        assert run.task.config.as_dict() == named
    best = {n: "None" if v is None else v for n, v in study.best_params.items()}
    assert result.best.as_dict() == best
    assert str(result.space.conditions["y"]) == 'kind in {"None"}'
    assert result.failed_runs == sum(t.state.name == "FAIL" for t in study.trials)


@pytest.fixture
def studied(tmp_path):
    """Import a study in which trials with these values of `x` ended with these results."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def imported(trials):
        study = optuna.create_study(storage=f"sqlite:///{tmp_path}/optuna.db")
        space = {"x": optuna.distributions.CategoricalDistribution([None, 3, "a"])}
        for x, value in trials:
            ended = (
                {"state": optuna.trial.TrialState.PRUNED} if value == "pruned" else {"value": value}
            )
            trial = optuna.create_trial(params={"x": x}, distributions=space, **ended)
            study.add_trial(trial)
        return paramhs.import_search(tmp_path / "optuna.db", tmp_path / "runs.sqlite")

    return imported


def test_a_repeated_trial_with_the_same_value_leaves_a_study_deterministic(studied):
    result = studied([(None, 3.0), ("a", 2.0), (None, 3.0)])
    assert result.scenario.deterministic
    assert len(result.runs) == 2
    assert (result.default_cost, result.best_cost) == (3.0, 2.0)


def test_pruned_trials_of_optuna_are_left_out_and_counted(studied):
    result = studied([(None, 3.0), (3, "pruned"), ("a", 2.0), (3, "pruned")])
    assert [run.quality for run in result.runs] == [3.0, 2.0]
    assert result.failed_runs == 0
    assert "left out, as they have no value: 2 pruned trials" in notes_of(result)


def test_repeated_trials_of_a_noisy_study_are_compared_in_their_order(studied):
    result = studied([(None, 3.0), ("a", 2.0), (None, 4.0), ("a", 1.0), ("a", 1.5)])
    assert not result.scenario.deterministic
    assert result.common_runs == 2
    assert (result.default_cost, result.best_cost) == (3.5, 1.5)


def test_the_space_of_an_imported_study_runs_again(studied):
    result = studied([(3, 3.0), (None, 1.0)])
    found = paramhs.tune(lambda c: c["x"] is not None, result.space, budget=9)
    assert found.best.arguments() == {"x": None}


def test_a_default_that_smac3_never_ran_is_replaced(tmp_path):
    for file in (DATA / "smac3").iterdir():
        shutil.copy(file, tmp_path)
    path = tmp_path / "configspace.json"
    space = json.loads(path.read_text())
    numbers = [one for one in space["hyperparameters"] if one["name"] == "x"]
    numbers[0]["default_value"] = 9.75
    path.write_text(json.dumps(space))
    result = paramhs.import_search(tmp_path / "runhistory.json", tmp_path / "new.sqlite")
    assert result.default == result.runs[0].task.config
    assert any("default was not run" in note for note in notes_of(result))


def test_a_study_must_be_named_where_there_are_several(tmp_path, database):
    with pytest.raises(BadInput, match=r"has 2 studies; name one of them with study=.*down, up"):
        paramhs.import_search(database, tmp_path / "runs.sqlite")
    with pytest.raises(BadInput, match="has no study 'left'"):
        paramhs.import_search(database, tmp_path / "runs.sqlite", study="left")
    assert not (tmp_path / "runs.sqlite").exists()


def test_every_view_works_on_an_import(tmp_path, capsys):
    result = imported(tmp_path, "smac3")
    assert [one.name for one in result.importance]
    assert not result.verdict
    assert "imported" in result.recommendation
    page = result.report(tmp_path / "page.html").read_text()
    assert "paramhs simplify" not in page
    assert paramhs.load(tmp_path / "runs.sqlite").runs == result.runs
    app(["show", str(tmp_path / "runs.sqlite")], standalone_mode=False)
    assert "paramhs simplify" not in capsys.readouterr().out


class Told(Watcher):
    def __init__(self):
        self.lines = []

    def notice(self, text):
        self.lines.append(text)


def continued(store, space, told):
    return paramhs.tune(
        lambda config, instance, seed: value(config, instance) + seed % 10 / 100,
        space,
        instances=["i1", "i2", "i3", "i4"],
        budget=20,
        warm_start=store,
        watcher=told,
    )


def test_a_search_goes_on_from_an_import(tmp_path):
    before = imported(tmp_path, "smac3")
    result = continued(tmp_path / "runs.sqlite", before.space, Told())
    assert len(result.scenario.known) == len(before.runs)
    assert result.best == before.best or result.ratio > 1


def test_between_our_levels_only_the_best_of_an_import_is_taken(tmp_path):
    before = imported(tmp_path, "smac3")
    space = {"x": (0.01, 10.0), "n": (1, 20), "kind": ["a", "b", "c"], "y": (0.0, 1.0)}
    told = Told()
    result = continued(tmp_path / "runs.sqlite", space, told)
    assert any("45 of configurations outside the space" in line for line in told.lines)
    assert result.scenario.known == ()
    assert result.scenario.initial
    near = result.scenario.initial[0]
    assert abs(near["x"] - before.best["x"]) < 10 / 64
    assert near["n"] == before.best["n"]


def test_an_import_is_not_resumed(tmp_path):
    imported(tmp_path, "smac3")
    with pytest.raises(paramhs.StoreError):
        paramhs.tune(lambda c: c["x"], {"x": range(3)}, budget=5, store=tmp_path / "runs.sqlite")


def test_wrong_files_are_refused_with_a_sentence(tmp_path):
    store = tmp_path / "runs.sqlite"
    (tmp_path / "text.Rdata").write_text("nothing")
    for path, message in [
        (tmp_path / "missing", "does not exist; expected irace's log"),
        (tmp_path / "text.Rdata", "is no search of another program; expected"),
    ]:
        with pytest.raises(BadInput, match=message):
            paramhs.import_search(path, store)
    (tmp_path / "runhistory.json").write_text('{"data": [[1]], "configs": {"1": {"x": 2}}}')
    with pytest.raises(BadInput, match=r"has no configspace\.json; name the parameter file"):
        paramhs.import_search(tmp_path / "runhistory.json", store)
    (tmp_path / "space.pcs").write_text("x [0, 5] [1]\n")
    with pytest.raises(BadInput, match="not as SMAC3 2 writes it"):
        paramhs.import_search(tmp_path / "runhistory.json", store, space=tmp_path / "space.pcs")
    store.write_text("")
    with pytest.raises(BadInput, match="exists; an import needs a new file"):
        paramhs.import_search(DATA / "smac3", store)


def test_the_command_writes_a_store(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    app(["import", str(DATA / "smac3")], standalone_mode=False)
    out = capsys.readouterr().out
    assert "wrote smac3.sqlite: 45 runs" in out
    app(["import", str(DATA / "smac3"), "--store", "b.sqlite", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["runs"] == 45


def test_literals_are_objects_again_when_a_store_is_loaded(tmp_path):
    space = paramhs.Space({"d": [None, 3, (64, 32), True], "f": [len, None]})
    store = tmp_path / "runs.sqlite"
    paramhs.tune(lambda c: c["d"] is not None, space, budget=9, store=store)
    loaded = paramhs.load(store)
    assert loaded.space.parameters["d"].objects == (None, 3, (64, 32), True)
    assert loaded.space.parameters["f"].objects == ()
    assert loaded.space == space


def test_values_between_levels_are_rounded_and_said():
    space = {"x": paramhs.Real(0, 1, levels=5), "n": paramhs.Integer(1, 1000, log=True, levels=4)}
    with pytest.warns(ParamhsWarning, match=r"initial\[0\] .* x = 0.25 for 0.3, n = 10 for 11"):
        result = paramhs.tune(
            lambda c: c["x"] + c["n"], space, budget=3, initial=[{"x": 0.3, "n": 11}]
        )
    assert result.scenario.initial[0].as_dict() == {"x": 0.25, "n": 10}
    with pytest.raises(BadInput, match=r"3 is not in 0\.0"):
        paramhs.tune(lambda c: c["x"], space, budget=3, initial=[{"x": 3}])
