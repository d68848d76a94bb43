"""The instances that a scenario means, and which of them are held out."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.families import grouped, told_by_names
from paramhs.core.held_out import split, usual_share
from paramhs.core.runs import Instance
from paramhs.execution.targets.command import Problem
from paramhs.formats.scenario import read_scenario
from paramhs.formats.scenario.instances import instances_of

NAMES = ["b.cnf", "a.cnf", "deep/er/c.cnf", "deep/d.txt"]


@pytest.fixture
def home(tmp_path):
    for name in [*NAMES, ".hidden.cnf", ".git/e.cnf"]:
        path = tmp_path / "instances" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.fixture
def found(home):
    def of(listing, expected=None, plain=False):
        return instances_of(listing, [home], expected or {}, plain)

    return of


def names(instances):
    return [instance.name for instance in instances]


def paths(instances):
    return [instance.value.path for instance in instances]


def listed(home, *lines, name="list.txt"):
    (home / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


class TestFoldersAndPatterns:
    def test_folder_means_all_its_visible_files_in_order(self, found):
        expected = ["instances/a.cnf", "instances/b.cnf"]
        expected += ["instances/deep/d.txt", "instances/deep/er/c.cnf"]
        assert names(found("instances")) == expected

    @pytest.mark.parametrize("listing", ["instances", "instances/", "./instances"])
    def test_folder_is_the_same_however_it_is_written(self, found, listing):
        assert names(found(listing)) == names(found("instances"))

    def test_pattern_means_the_files_that_match(self, found):
        assert names(found("instances/*.cnf")) == ["instances/a.cnf", "instances/b.cnf"]

    def test_two_stars_look_in_all_folders(self, found):
        expected = ["instances/a.cnf", "instances/b.cnf", "instances/deep/er/c.cnf"]
        assert names(found("instances/**/*.cnf")) == expected

    def test_pattern_is_looked_for_in_a_folder_with_odd_characters(self, tmp_path):
        home = tmp_path / "runs[1]*"
        (home / "instances").mkdir(parents=True)
        (home / "instances/a.cnf").touch()
        found = instances_of("instances/*.cnf", [home], {}, False)
        assert names(found) == ["instances/a.cnf"]

    def test_file_whose_name_looks_like_a_pattern_is_that_file(self, home, found):
        (home / "x[1].txt").write_text("instances/a.cnf\n")
        assert names(found("x[1].txt")) == ["instances/a.cnf"]

    def test_paths_are_absolute_and_names_are_not(self, home, found):
        assert paths(found("instances/*.cnf")) == [
            str(home / "instances/a.cnf"), str(home / "instances/b.cnf")
        ]  # fmt: skip

    def test_names_do_not_depend_on_where_one_is(self, found, monkeypatch):
        before = found("instances")
        monkeypatch.chdir("/")
        assert (names(found("instances")), paths(found("instances"))) == (
            names(before), paths(before)
        )  # fmt: skip

    def test_function_is_given_paths_as_text(self, home, found):
        (first, *_) = found("instances/*.cnf", plain=True)
        assert first.value == str(home / "instances/a.cnf")

    @pytest.mark.parametrize("listing", ["nothing", "nothing.txt", "instances/*.lp", "no/*.cnf"])
    def test_what_is_not_there_is_refused_by_name(self, found, listing):
        with pytest.raises(BadInput) as caught:
            found(listing)
        assert listing in str(caught.value)

    def test_empty_folder_is_refused(self, home, found):
        (home / "empty").mkdir()
        with pytest.raises(BadInput, match="empty: no instances"):
            found("empty")


class TestLists:
    def test_list_of_paths_is_made_absolute_where_they_exist(self, home, found):
        (first, second) = found(["instances/a.cnf", "missing.cnf"])
        assert first.value == Problem(str(home / "instances/a.cnf"))
        assert second.value == Problem("missing.cnf")

    def test_numbers_are_given_as_text_to_a_command(self, found):
        assert paths(found([1, 2.5])) == ["1", "2.5"]

    def test_function_is_given_a_list_as_it_is(self, found):
        assert [i.value for i in found([1, 2.5, "x"], plain=True)] == [1, 2.5, "x"]

    def test_expected_answer_is_of_all(self, found):
        instances = found(["a", "b"], expected="SAT")
        assert [i.value.expected for i in instances] == ["sat", "sat"]

    def test_expected_answers_go_by_name_with_or_without_folder(self, found):
        expected = {"instances/a.cnf": "SAT", "b.cnf": "UNSAT"}
        instances = found("instances/*.cnf", expected=expected)
        assert [i.value.expected for i in instances] == ["sat", "unsat"]


class TestFiles:
    def test_lines_are_instances_and_comments_are_not(self, home, found):
        listed(home, "# mine", "instances/a.cnf", "", "   ", "  # more", "instances/b.cnf")
        assert names(found("list.txt")) == ["instances/a.cnf", "instances/b.cnf"]

    def test_further_columns_are_for_the_wrapper(self, home, found):
        listed(home, "instances/a.cnf 17 x", "instances/b.cnf")
        assert [i.value.info for i in found("list.txt")] == ["17 x", "0"]

    @pytest.mark.parametrize(
        ("word", "answer"),
        [("SAT", "sat"), ("sat", "sat"), ("UNSATISFIABLE", "unsat"), ("satisfied", "")],
    )
    def test_column_may_be_the_answer(self, home, found, word, answer):
        listed(home, f"instances/a.cnf 3 {word}")
        assert found("list.txt")[0].value.expected == answer

    @pytest.mark.parametrize("quote", ['"', "'"])
    def test_name_with_blanks_is_quoted(self, home, found, quote):
        (home / "instances/my own.cnf").touch()
        listed(home, f"{quote}instances/my own.cnf{quote} 5")
        (instance,) = found("list.txt")
        assert instance.name == "instances/my own.cnf"
        assert instance.value == Problem(str(home / "instances/my own.cnf"), "5")

    def test_line_that_is_a_file_s_name_needs_no_quotes(self, home, found):
        (home / "instances/my own.cnf").touch()
        listed(home, "instances/my own.cnf")
        assert names(found("list.txt")) == ["instances/my own.cnf"]

    def test_open_quote_is_refused_with_its_line(self, home, found):
        listed(home, "instances/a.cnf", '"instances/b.cnf')
        with pytest.raises(BadInput, match=r"list\.txt, line 2: "):
            found("list.txt")

    def test_paths_may_be_relative_to_the_list(self, home, found):
        listed(home, "a.cnf", "b.cnf", name="instances/list.txt")
        assert paths(found("instances/list.txt")) == [
            str(home / "instances/a.cnf"), str(home / "instances/b.cnf")
        ]  # fmt: skip

    def test_line_that_comes_twice_is_one_instance(self, home, found):
        listed(home, "instances/a.cnf", "instances/a.cnf")
        assert names(found("list.txt")) == ["instances/a.cnf"]

    def test_windows_line_ends_and_a_byte_order_mark_are_read(self, home, found):
        (home / "list.txt").write_bytes(b"\xef\xbb\xbfinstances/a.cnf 3\r\ninstances/b.cnf\r\n")
        instances = found("list.txt")
        assert names(instances) == ["instances/a.cnf", "instances/b.cnf"]
        assert instances[0].value.info == "3"

    @pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
    def test_empty_list_is_refused(self, home, found, text):
        (home / "list.txt").write_text(text)
        with pytest.raises(BadInput, match="lists no instances"):
            found("list.txt")

    def test_list_that_is_no_text_is_refused(self, home, found):
        (home / "list.txt").write_bytes(b"\xff\xfe\x00\x01")
        with pytest.raises(BadInput, match="cannot read the list of instances"):
            found("list.txt")


def some(count, folders=1, stems=1):
    return tuple(Instance(f"f{k % folders}/s{'x' * (k % stems)}{k}.cnf", k) for k in range(count))


sizes = st.integers(2, 60)
shares = st.floats(0.01, 0.99)


class TestSplits:
    @given(sizes, st.integers(1, 4), st.integers(1, 3), shares, st.integers(0, 10**6))
    def test_parts_are_disjoint_complete_and_in_order(self, count, folders, stems, share, seed):
        instances = some(count, folders, stems)
        trained, held = split(instances, share, seed)
        assert not set(trained) & set(held)
        assert set(trained) | set(held) == set(instances)
        for part in (trained, held):
            assert list(part) == [i for i in instances if i in part]

    @given(sizes, shares, st.integers(0, 10**6))
    def test_neither_part_is_ever_empty(self, count, share, seed):
        trained, held = split(some(count), share, seed)
        assert trained
        assert held

    @given(sizes, st.integers(1, 4), shares, st.integers(0, 10**6))
    def test_split_depends_on_the_seed_alone(self, count, folders, share, seed):
        instances = some(count, folders)
        assert split(instances, share, seed) == split(instances, share, seed)

    def test_another_seed_holds_out_others(self):
        parts = {split(some(40), 0.5, seed)[1] for seed in range(5)}
        assert len(parts) == 5

    @given(st.integers(1, 4), st.integers(2, 12), shares, st.integers(0, 99))
    def test_every_family_has_its_share_held_out(self, folders, each, share, seed):
        instances = some(folders * each, folders)
        _, held = split(instances, share, seed)
        for folder in range(folders):
            out = sum(i.name.startswith(f"f{folder}/") for i in held)
            assert abs(out - share * each) <= 1
            assert out < each
        total = folders * each
        assert len(held) == min(max(round(share * total), 1), total - folders)

    def test_every_instance_is_held_out_about_equally_often(self):
        # Each of 10 is held out in 400 splits with probability 0.3: 120 on average, with a
        # standard deviation of 9.2. All within 5 of those with p > 1 - 1e-5.
        instances = some(10)
        counts = dict.fromkeys(instances, 0)
        for seed in range(400):
            for instance in split(instances, 0.3, seed)[1]:
                counts[instance] += 1
        assert all(74 <= count <= 166 for count in counts.values())

    def test_no_share_holds_nothing_out(self):
        assert split(some(10), 0.0, 0) == (some(10), ())

    @pytest.mark.parametrize("share", [-0.1, 1.0, 1.5, float("nan")])
    def test_impossible_share_is_refused(self, share):
        with pytest.raises(BadInput, match="at least 0 and below 1"):
            split(some(10), share, 0)

    def test_single_instance_stays_in_the_search(self):
        assert split(some(1), 0.5, 0) == (some(1), ())

    def test_few_instances_are_not_split_without_being_asked(self):
        assert usual_share(9) == 0
        assert usual_share(10) == 0.3

    @pytest.mark.parametrize(
        ("count", "held"), [(10, 3), (11, 3), (12, 6), (15, 6), (20, 6), (21, 6), (40, 12)]
    )
    def test_enough_for_significance_is_held_out_if_as_much_remains(self, count, held):
        assert len(split(some(count), usual_share(count), 0)[1]) == held


class TestFamilies:
    def grouped(self, *names):
        return sorted(sorted(group) for group in grouped(told_by_names(names)).values())

    def test_folders_are_families(self):
        assert self.grouped("a/1", "a/2", "b/1", "b/2") == [["a/1", "a/2"], ["b/1", "b/2"]]

    def test_names_without_numbers_are_families(self):
        found = self.grouped("uf50-1.cnf", "uf50-22.cnf", "bmc-1.cnf", "bmc-2.cnf")
        assert found == [["bmc-1.cnf", "bmc-2.cnf"], ["uf50-1.cnf", "uf50-22.cnf"]]

    def test_there_are_no_families_where_some_would_have_one_instance(self):
        assert self.grouped("a1", "a2", "b1") == []


SCENARIO = """\
command = "true {instance} {k}"
cost = "runtime"
cutoff = 1
INSTANCES
[space.k]
type = "integer"
low = 0
high = 9
[budget]
runs = 5
"""


class TestScenarios:
    @pytest.fixture
    def read(self, home):
        def of(lines):
            path = Path(home) / "scenario.toml"
            path.write_text(SCENARIO.replace("INSTANCES", lines))
            return read_scenario(path)

        return of

    def test_share_is_held_out_of_what_is_listed(self, read):
        found = read(f"instances = {[f'i{k}' for k in range(10)]}\ntest_instances = 0.4")
        assert (len(found.scenario.instances), len(found.test_set.instances)) == (6, 4)
        assert found.test_set.held_out
        assert not set(found.scenario.instances) & set(found.test_set.instances)

    def test_a_list_names_families_in_a_column(self, read, home):
        lines = [f"i{k} some info family={'even' if k % 2 == 0 else 'odd'}" for k in range(10)]
        Path(home, "all.txt").write_text("\n".join(lines))
        found = read('instances = "all.txt"\nfamilies = "balanced"')
        assert found.scenario.families["i3"] == "odd"
        assert found.scenario.balanced
        listed = (*found.scenario.instances, *found.test_set.instances)
        assert {instance.value.info for instance in listed} == {"some info"}
        held_out = [found.scenario.families[i.name] for i in found.test_set.instances]
        assert sorted(held_out) == ["even", "odd", "odd"] or sorted(held_out) == [
            "even",
            "even",
            "odd",
        ]

    def test_a_list_that_names_some_families_names_all(self, read, home):
        Path(home, "all.txt").write_text("i0 family=a\ni1\n")
        with pytest.raises(BadInput, match="'i1' has no family"):
            read('instances = "all.txt"')

    @pytest.mark.parametrize(
        ("setting", "family"), [("'(.)$'", "0"), ('{by = "name", balanced = false}', "i")]
    )
    def test_families_follow_a_rule(self, read, setting, family):
        found = read(f"instances = ['i0', 'k0']\nfamilies = {setting}").scenario
        assert found.families["i0"] == family
        assert not found.balanced

    def test_balanced_families_need_two(self, read):
        with pytest.raises(BadInput, match="at least two families"):
            read('instances = ["i0", "i1"]\nfamilies = "balanced"')

    def test_share_is_thirty_percent_of_many_if_nothing_is_said(self, read):
        found = read(f"instances = {[f'i{k}' for k in range(10)]}")
        assert (len(found.scenario.instances), len(found.test_set.instances)) == (7, 3)

    def test_nothing_is_held_out_of_few_if_nothing_is_said(self, read):
        found = read('instances = ["a", "b"]')
        assert len(found.scenario.instances) == 2
        assert found.test_set is None, "a target without seeds has nothing new there"

    def test_zero_holds_nothing_out(self, read):
        found = read(f"instances = {[f'i{k}' for k in range(20)]}\ntest_instances = 0")
        assert len(found.scenario.instances) == 20

    def test_another_split_seed_holds_out_others(self, read):
        lines = f"instances = {[f'i{k}' for k in range(30)]}\ntest_instances = 0.5\nsplit_seed = "
        assert read(lines + "1").test_set.instances != read(lines + "2").test_set.instances

    def test_test_instances_may_be_a_folder_of_their_own(self, read):
        found = read('instances = "instances/*.cnf"\ntest_instances = "instances/deep"')
        assert names(found.test_set.instances) == [
            "instances/deep/d.txt",
            "instances/deep/er/c.cnf",
        ]

    @pytest.mark.parametrize("seed", range(8))
    def test_instance_listed_twice_is_refused_however_it_is_split(self, read, seed):
        lines = f"instances = {['i0', *[f'i{k}' for k in range(11)]]}\nsplit_seed = {seed}"
        with pytest.raises(BadInput, match="'i0' is listed twice"):
            read(lines)

    def test_test_instance_listed_twice_is_refused(self, read):
        with pytest.raises(BadInput, match="'x' is listed twice"):
            read('instances = ["a", "b"]\ntest_instances = ["x", "x", "y"]')

    def test_test_instances_without_instances_are_refused(self, read):
        with pytest.raises(BadInput, match="line 4, test_instances: there are no instances"):
            read("test_instances = 0.5")

    @pytest.mark.parametrize("share", ["1.0", "-0.5", "7"])
    def test_impossible_share_is_refused_at_its_line(self, read, share):
        with pytest.raises(BadInput, match="line 5, test_instances: the share"):
            read(f'instances = ["a", "b"]\ntest_instances = {share}')

    def test_missing_folders_are_reported_at_once(self, read):
        with pytest.raises(BadInput) as caught:
            read('instances = "nowhere"\ntest_instances = "neither"')
        first, second = str(caught.value).splitlines()
        assert "line 4, instances: there is no folder or file nowhere" in first
        assert "line 5, test_instances: there is no folder or file neither" in second

    def test_instances_reach_the_command_with_any_characters(self, read, home):
        odd = "a b;$(touch x)'\"{seed}.cnf"
        (home / "instances" / odd).touch()
        found = read('instances = "instances"\ntest_instances = 0')
        (task_words,) = [
            found.target.template.filled(found.scenario.space.default, {"instance": i.value.path})
            for i in found.scenario.instances
            if os.path.basename(i.name) == odd
        ]
        assert task_words[1] == str(home / "instances" / odd)
