"""Solvers of the catalogue: found, asked for their options, and made into targets."""

import json
import re
import shlex
import shutil
import subprocess

import pytest

from paramhs.core.errors import BadInput
from paramhs.formats.scenario import read_scenario
from paramhs.solvers import entry_of, find, get, names
from tests.support.own_solver import own_solver


@pytest.fixture
def entry(tmp_path):
    return own_solver(tmp_path)


def edited(entry, old, new):
    text = entry.read_text()
    assert old in text
    entry.write_text(text.replace(old, new))
    return entry


def test_an_entry_of_ones_own_is_read_from_its_file(entry):
    solver = get(entry, options="all")
    assert solver.version == "1.2.3"
    assert list(solver.space.parameters) == ["speed", "boost"]
    assert solver.derived.left_out == {
        "seed": "the scenario gives it",
        "proof": "proofs",
        "limit": "may change the answer: it stops early",
    }


def test_options_that_change_answers_are_tuned_only_where_that_is_allowed(entry):
    assert "limit" in get(entry, options="all", allow=["answer-changing"]).space.parameters
    with pytest.raises(BadInput, match="there is only answer-changing"):
        get(entry, allow=["everything"])


def test_the_default_is_called_without_any_option(entry):
    solver = get(entry)
    line = solver.target.command_line(solver.space.default)
    assert line.split()[1:] == ["--seed=SEED", "INSTANCE"]


def test_what_its_authors_advise_is_tried_first(entry, tmp_path):
    advised = "initial = [{speed = 9}, {speed = 8, boost = true}, {of-another-version = 1}]"
    edited(entry, "[find]", f"{advised}\n\n[find]")
    solver = get(entry)
    expected = [solver.space.config({"speed": 9}), solver.space.config({"speed": 8, "boost": True})]
    assert solver.initial == expected
    more = {"instances": "*.num", "cutoff": "5 s", "budget": {"runs": 10}}
    (tmp_path / "advised.toml").write_text(solver.scenario(more))
    assert list(read_scenario(tmp_path / "advised.toml").scenario.initial) == expected


@pytest.mark.parametrize("name", names())
def test_advised_configurations_are_configurations_of_the_installed_version(name):
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    solver = get(name)
    assert len(solver.initial) == len(solver.entry.initial)


def test_the_scenario_is_the_solver_and_the_space(entry, tmp_path):
    solver = get(entry, cost="work")
    more = {"instances": "*.num", "cutoff": "5 s", "budget": {"runs": 10}}
    (tmp_path / "mine-work.toml").write_text(solver.scenario(more, "a header"))
    read = read_scenario(tmp_path / "mine-work.toml")
    assert read.scenario.space == solver.space
    assert read.target.template.text == solver.target.template.text
    assert read.target.reader == solver.target.reader
    assert solver.metric == "work"


def test_names_that_the_version_does_not_have_are_passed_over(entry):
    edited(entry, '"pro*" = "proofs"', '"pro*" = "proofs"\nother = "of another version"')
    edited(entry, "[short]", '[conditions]\nboost = "other == 1"\n[short]')
    solver = get(entry)
    assert list(solver.space.parameters) == ["speed", "boost"]
    assert not solver.space.conditions


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('program = ["./own"]', 'program = ["./none"]', "mine is not installed here"),
        ('reader = "kissat-range"', 'reader = "odd"', "line 12, options.reader: there is no such"),
        ('title = "A', 'titel = "A', "line 1, titel: there is no such setting"),
        ('arguments = ["--range"]', 'arguments = ["--version"]', "line 1: 'own 1.2.3' is not an"),
        ("[work]", "[wrk]", "line 19, wrk: there is no such setting"),
        (
            '"pro*"',
            '"*" = "all"\nspeed = "all"\nboost = "all"\nproof',
            "none of its 5 options can be tuned",
        ),
    ],
)
def test_what_is_wrong_with_an_entry_is_said(entry, old, new, problem):
    with pytest.raises(BadInput) as caught:
        get(edited(entry, old, new))
    assert problem in str(caught.value)


def test_a_solver_that_is_missing_is_named_with_a_way_to_install_it(entry):
    with pytest.raises(BadInput, match="write it"):
        get(edited(entry, "./own", "no-such-program"))


def test_an_unknown_solver_is_answered_with_the_known_ones():
    with pytest.raises(BadInput, match=r"there are .*kissat"):
        get("kisat")


def test_instances_with_another_ending_are_refused(entry):
    solver = get(entry)
    solver.check_instances(["a.num", "B.NUM"])
    with pytest.raises(BadInput, match=r"a.cnf: mine reads files that end with .num"):
        solver.check_instances(["a.cnf"])


def test_a_misspelled_solver_is_answered_with_the_closest():
    with pytest.raises(BadInput, match=r"did you mean kissat\?"):
        get("kisat")


def test_an_entry_adds_to_the_one_it_extends(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('extends = "minisat"\ntitle = "Mine"\n[left_out]\nluby = "no restarts"\n')
    mine, minisat = entry_of(path), entry_of("minisat")
    assert mine.title == "Mine"
    assert mine.left_out == {**minisat.left_out, "luby": "no restarts"}
    assert mine.call == minisat.call


def test_an_entry_cannot_extend_what_is_not_there(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('extends = "minisats"\ntitle = "Mine"\n')
    with pytest.raises(BadInput, match=r"did you mean minisat\?"):
        entry_of(path)


CLASP = """\
Own Options:

  --[no-]fast     : Be fast
  --loops=<type>  : Learn {common|shared}
usage: own
"""


def test_an_option_without_a_default_is_written_only_where_it_is_set(entry):
    edited(entry, 'reader = "kissat-range"', 'reader = "clasp-help"')
    edited(entry, "booleans", "# booleans")
    program = entry.parent / "own"
    program.write_text(f"#!/bin/sh\n[ $1 = --version ] && echo 1.0 || cat <<'END'\n{CLASP}END\n")
    solver = get(entry, options="all")
    space = solver.space
    assert solver.target.command_line(space.default).split()[1:] == ["--seed=SEED", "INSTANCE"]
    config = space.config({"fast": "no-fast", "loops": "shared"})
    words = solver.target.command_line(config).split()
    assert words[1:] == ["--seed=SEED", "--no-fast", "--loops=shared", "INSTANCE"]
    assert solver.switches == {"fast": "--", "loops": "--loops="}


PROGRAM = '#include <stdio.h>\nint main(void) { puts("hello"); return 3; }\n'


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
def test_a_program_is_run_through_its_runner(tmp_path):
    (tmp_path / "a.c").write_text(PROGRAM)
    solver = get("gcc")
    config = solver.space.config({"unroll-loops": True, "max-unroll-times": 2})
    line = solver.target.command_line(config).replace("INSTANCE", "a.c").replace("SEED", "1")
    words = shlex.split(line)
    assert words[-2:] == ["-funroll-loops", "--param=max-unroll-times=2"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["answer"].endswith(" (3)")
    assert found["work"] > 100
    refused = subprocess.run([*words, "-fnone"], cwd=tmp_path, capture_output=True, check=False)
    assert refused.returncode == 1
    assert b"-fnone" in refused.stderr


@pytest.mark.parametrize("name", names())
def test_every_entry_is_complete(name):
    entry = entry_of(name)
    assert entry.title
    assert entry.url.startswith("http")
    assert entry.install
    assert entry.short is None or 10 <= len(entry.short.names) <= 40
    assert not set(entry.left_out) & set(entry.answer_changing)


def installed(name):
    try:
        find(entry_of(name))
    except BadInput:
        return False
    return True


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("options", ["short", "all"])
def test_the_installed_version_has_a_space(name, options):
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    solver = get(name, options=options)
    assert solver.derived.found == (
        len(solver.space.parameters) + len(solver.derived.left_out) + len(solver.derived.not_short)
    )
    assert shutil.which(solver.target.template.words[0])


def test_a_rounded_count_is_not_read_as_work():
    """CryptoMiniSat prints 49K propagations; read as 49, any comparison would be false."""
    work = entry_of("cryptominisat").work
    pattern = re.compile(work.read["regex"], re.MULTILINE)
    assert pattern.search("c conflicts                : 48906       (0.1 s)").group(1) == "48906"
    assert pattern.search("c conflicts                : 49K         (0.1 s)") is None
    assert pattern.search("c propagations             : 1972K       (1066K     props/s)") is None
