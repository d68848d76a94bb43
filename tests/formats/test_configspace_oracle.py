"""Files of parameters against ConfigSpace: active there exactly when here, and allowed too."""

import json
import warnings
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import stream
from paramhs.core.space import Space
from paramhs.formats.space_files import counts, read_space, written
from tests.support.scale import examples
from tests.support.spaces import full_indices, spaces

ConfigSpace = pytest.importorskip("ConfigSpace")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from ConfigSpace.read_and_write import pcs, pcs_new

CONFUSED = (  # by conditions that it merges, or by != with an inactive parent
    ConfigSpace.exceptions.ActiveHyperparameterNotSetError,
    ConfigSpace.exceptions.InactiveHyperparameterSetError,
)
NAMES = ("a", "sp-rand.dec", "@1:x", "UPPER_case", "in", "b2", "mip:cuts/x", "z")
WORDS = ("0", "1", "on", "off", "x-y", "1e-3", "-2", "a")


# Generated files, with the oddities of those in the wild.


class _Text:
    """Draws a file line by line; each blank may be none, one or several."""

    def __init__(self, draw: st.DrawFn, new: bool) -> None:
        self.rng = Random(draw(st.integers(0, 2**32)))
        self.new = new
        self.lines: list[str] = []
        self.domains: dict[str, tuple[str, list[str]]] = {}

    def blank(self) -> str:
        return self.rng.choice(["", "", " ", "  ", "\t"])

    def some(self) -> str:
        return self.rng.choice([" ", "   ", "\t "])

    def listing(self, words: list[str]) -> str:
        quote = self.rng.choice(["", "", '"', "'"])
        return f",{self.blank()}".join(f"{self.blank()}{quote}{w}{quote}" for w in words)

    def parameter(self, name: str) -> None:
        kind = self.rng.choice(
            ["list", "list", "integer", "real", "ordinal" if self.new else "list"]
        )
        if kind in ("list", "ordinal"):
            values = self.rng.sample(WORDS, self.rng.randint(1, 4))
            word = f"{'categorical' if kind == 'list' else kind}{self.blank()}" if self.new else ""
            domain = f"{word}{{{self.listing(values)}}}{self.blank()}[{self.rng.choice(values)}]"
        else:
            log = self.rng.random() < 0.4
            low, high = (1, 40) if log else (self.rng.randint(-3, 0), self.rng.randint(1, 6))
            values = [str(v) for v in range(low, high + 1)]
            ends = f"[{low},{self.blank()}{high}]{self.blank()}[{self.rng.choice(values)}]"
            if self.new:
                domain = f"{kind}{self.blank()}{ends}" + f"{self.blank()}log" * log
            else:
                domain = ends + "i" * (kind == "integer") + "l" * log
        self.domains[name] = (kind, values)
        self.lines.append(f"{name}{self.some()}{domain}")

    def comparison(self, name: str, lists: bool) -> str:
        kind, values = self.domains[name]
        signs = ["==", "!="] + ["<", ">"] * (kind != "list") + ["in"] * lists
        sign = self.rng.choice(signs) if self.new else "in"
        if sign == "in":
            chosen = self.rng.sample(values, self.rng.randint(1, len(values)))
            return f"{name} in {self.blank()}{{{self.listing(chosen)}}}"
        return f"{name} {sign} {self.rng.choice(values)}"

    def condition(self, child: str, parents: list[str]) -> None:
        if not self.new:
            parents = [p for p in parents if self.domains[p][0] == "list"]
        if not parents:
            return
        lines = [
            self.disjunction(parents) for _ in range(1 if self.new else self.rng.randint(1, 2))
        ]
        lines += lines[: self.rng.choice([0, 0, 1])]
        bars = (self.rng.choice(["|", " | ", "|  "]) for _ in lines)
        self.lines += [f"{child}{bar}{line}" for bar, line in zip(bars, lines, strict=True)]

    def disjunction(self, parents: list[str]) -> str:
        if not self.new:
            return self.comparison(self.rng.choice(parents), lists=True)
        shape = self.rng.choice([[1], [1], [2], [1, 1], [2, 1], [2, 2]])
        lists = len(shape) == 1 or max(shape) == 1  # ConfigSpace misreads lists in the others
        parts = [
            [self.comparison(self.rng.choice(parents), lists) for _ in range(n)] for n in shape
        ]
        return " || ".join(" && ".join(part) for part in parts)

    def forbid(self) -> None:
        able = [n for n, (kind, _) in self.domains.items() if self.new or kind == "list"]
        chosen = self.rng.sample(able, min(len(able), self.rng.randint(1, 3)))
        pairs = [f"{n}{self.blank()}={self.rng.choice(self.domains[n][1])}" for n in chosen]
        if pairs:
            clause = "{" + f" ,{self.blank()}".join(pairs) + "}"
            self.lines += [clause] * self.rng.choice([1, 1, 2])

    def whole(self) -> str:
        end = self.rng.choice(["\n", "\r\n"])
        lines = []
        for line in self.lines:
            lines.append(self.blank() + line + self.rng.choice(["", "", " # why | {a=1}", "  "]))
            lines += self.rng.choice([[], [], ["", "#", "# {x} [y] | z"]])
        return end.join(lines) + self.rng.choice(["", end])


@st.composite
def pcs_texts(draw: st.DrawFn, new: bool) -> str:
    text = _Text(draw, new)
    names = text.rng.sample(NAMES, text.rng.randint(1, 6))
    for name in names:
        text.parameter(name)
    text.lines.append("Conditionals:")
    ranked = text.rng.sample(names, len(names))
    for rank, child in enumerate(ranked):
        if rank and text.rng.random() < 0.7:
            text.condition(child, ranked[:rank])
    text.lines.append("Forbidden:")
    for _ in range(text.rng.randint(0, 3)):
        text.forbid()
    return text.whole()


# The oracle.


def library_space(text: str, new: bool) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (pcs_new if new else pcs).read(text.splitlines())


def judged(cs: object, values: Mapping[str, object]) -> tuple[set[str], bool]:
    """What ConfigSpace says is active, given a value for everything, and whether it is allowed.

    Its own check merges conditions that differ: (a == x && a == x) passes for (a == x && a == y) in
    ConfigSpace 1.2. So its conditions and clauses are asked one by one, parents first.
    """
    vector = np.full(len(cs), np.nan)
    for name, hp in cs.items():
        if all(c.satisfied_by_vector(vector) for c in cs.parent_conditions_of[name]):
            vector[cs.index_of[name]] = hp.to_vector(values[name])
    active = {name for name in cs if np.isfinite(vector[cs.index_of[name]])}
    return active, not any(clause.is_forbidden_vector(vector) for clause in cs.forbidden_clauses)


def assert_same(space: Space, cs: object, rng: Random, draws: int = 25) -> None:
    """Random configurations are as active and as allowed there as here."""
    for _ in range(draws):
        indices = [int(rng.random() * p.levels) for p in space.listed]
        values = {
            name: p.value(i) for (name, p), i in zip(space.parameters.items(), indices, strict=True)
        }
        config = space.configured(indices)
        assert (set(config), space.allowed(config)) == judged(cs, values)


def library_counts(cs: object) -> dict[str, int]:
    return {
        "parameters": len(list(cs.values())),
        "conditions": len(cs.conditions),
        "forbidden": len(cs.forbidden_clauses),
    }


@pytest.mark.parametrize("new", [False, True], ids=["old", "new"])
@examples(40)
@given(data=st.data())
def test_pcs_files_mean_what_configspace_says(tmp_path_factory, new: bool, data: st.DataObject):
    text = data.draw(pcs_texts(new))
    path = tmp_path_factory.getbasetemp() / "generated.pcs"
    path.write_bytes(text.encode())
    try:
        cs = library_space(text, new)
    except ConfigSpace.exceptions.ForbiddenValueError:
        if new:  # it takes all of the default for active, before it reads the conditions
            return
        with pytest.raises(BadInput, match="the default configuration is forbidden"):
            read_space(path)
        return
    except CONFUSED:
        event("ConfigSpace does not find its own default valid")
        return
    space = read_space(path).space
    assert counts(space) == library_counts(cs)
    assert {name: str(p.default) for name, p in space.parameters.items() if not p.numeric} == {
        hp.name: hp.default_value for hp in cs.values() if isinstance(hp.default_value, str)
    }
    assert_same(space, cs, stream(0, text))


@given(space=spaces(), data=st.data())
def test_configspace_reads_what_we_write_and_so_do_we(tmp_path_factory, space: Space, data):
    form = data.draw(st.sampled_from(["json", "yaml"]))
    try:
        text = written(space, f"configspace-{form}")
    except BadInput as error:
        event(str(error).split(":")[-2:][0][:30])
        return
    load = ConfigSpace.ConfigurationSpace.from_json
    load = load if form == "json" else ConfigSpace.ConfigurationSpace.from_yaml
    cs = load(StringIO(text))
    assert library_counts(cs) == counts(space)
    assert_same(space, cs, stream(0, text))
    path = tmp_path_factory.getbasetemp() / f"generated.{form}"
    path.write_text(text, encoding="utf-8")
    again = read_space(path).space
    assert counts(again) == counts(space)
    indices = data.draw(full_indices(space))
    config = space.configured(indices)
    by_name = dict(zip(space.parameters, indices, strict=True))
    other = again.configured([by_name[name] for name in again.parameters])
    assert set(other) == set(config)  # ConfigSpace rounds a default after some 13 digits
    assert all(other[name] == pytest.approx(config[name]) for name in config)
    assert again.allowed(other) == space.allowed(config)


def everything() -> object:
    """A ConfigSpace with every kind of parameter, condition and clause that is read."""
    c = ConfigSpace
    cs = c.ConfigurationSpace()
    cs.add(
        c.UniformFloatHyperparameter("uf", 0.1, 10, default_value=1.5, log=True),
        c.NormalFloatHyperparameter("nf", mu=0, sigma=1, lower=-2, upper=2),
        c.BetaFloatHyperparameter("bf", alpha=2, beta=3, lower=0, upper=1, default_value=0.3),
        c.UniformIntegerHyperparameter("ui", 1, 1000, default_value=7, log=True),
        c.NormalIntegerHyperparameter("ni", mu=3, sigma=1, lower=0, upper=6),
        c.BetaIntegerHyperparameter("bi", alpha=2, beta=3, lower=0, upper=9, default_value=4),
        c.CategoricalHyperparameter("cat", ["x", "y", "z"], weights=[1, 2, 1], default_value="y"),
        c.CategoricalHyperparameter("flag", [False, True]),
        c.OrdinalHyperparameter("ord", ["low", "mid", "high"], default_value="mid"),
        c.Constant("const", 5),
    )
    cs.add(
        c.NotEqualsCondition(cs["flag"], cs["cat"], "x"),
        c.NotEqualsCondition(cs["bi"], cs["flag"], True),  # true where flag is inactive
        c.OrConjunction(
            c.LessThanCondition(cs["ni"], cs["ord"], "mid"),
            c.AndConjunction(
                c.GreaterThanCondition(cs["ni"], cs["uf"], 2.0),
                c.InCondition(cs["ni"], cs["cat"], ["y", "z"]),
            ),
        ),
    )
    cs.add(
        c.ForbiddenEqualsClause(cs["ord"], "high"),
        c.ForbiddenAndConjunction(
            c.ForbiddenInClause(cs["cat"], ["x", "z"]), c.ForbiddenGreaterThanClause(cs["nf"], 1.0)
        ),
        c.ForbiddenLessThanRelation(cs["ui"], cs["bi"]),
        c.ForbiddenOrConjunction(
            c.ForbiddenLessThanClause(cs["bf"], 0.1),
            c.ForbiddenGreaterThanEqualsClause(cs["bf"], 0.9),
        ),
    )
    return cs


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_every_kind_of_configspace_is_read(tmp_path: Path, form: str):
    cs = everything()
    path = tmp_path / f"space.{form}"
    (cs.to_json if form == "json" else cs.to_yaml)(path)
    space = read_space(path).space
    assert counts(space) == library_counts(cs)
    assert_same(space, cs, stream(1, "everything"), draws=600)
    assert space.default.as_dict().items() >= {"uf": 1.5, "bf": 0.3, "cat": "y"}.items()
    assert space.parameters["const"].describe()["values"] == [5]


def test_the_step_q_of_older_files_is_the_grid(tmp_path: Path):
    path = tmp_path / "old.json"
    parameter = {"type": "uniform_float", "name": "x", "lower": 0.0, "upper": 1.0, "log": False}
    whole = {"type": "uniform_int", "name": "n", "lower": 0, "upper": 20, "log": False}
    given = [{**parameter, "default": 0.5, "q": 0.25}, {**whole, "default": 10, "q": 5}]
    content = {"hyperparameters": given, "conditions": [], "forbiddens": []}
    path.write_text(json.dumps(content), encoding="utf-8")
    space = read_space(path).space
    assert [space.parameters["x"].value(i) for i in range(5)] == [0, 0.25, 0.5, 0.75, 1]
    assert [space.parameters["n"].value(i) for i in range(5)] == [0, 5, 10, 15, 20]
