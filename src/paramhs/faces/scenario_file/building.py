"""From the settings of a scenario file to what a search needs, in one pass.

Each part is made from settings that are right by themselves (`models`) and the parts before it;
what is wrong is taken down with its line, and what does not depend on it is checked all the same.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from paramhs.faces.choices import capping_named
from paramhs.faces.scenario_file.explaining import validate_settings
from paramhs.faces.scenario_file.initial import Entry, configured, read_entries
from paramhs.faces.scenario_file.instances import (
    Lister,
    Listing,
    check_distinct,
    split,
    usual_share,
)
from paramhs.faces.scenario_file.source import Key, Source
from paramhs.faces.scenario_file.spaces import extend_space, make_space
from paramhs.faces.scenario_file.targets import command_target, function_target, load_function
from paramhs.results.validating import TestSet
from paramhs.search.configurators import Configurator
from paramhs.values.errors import BadInput
from paramhs.values.runs import NO_INSTANCE, Instance, Target
from paramhs.values.scenario import Scenario
from paramhs.values.space import Config, Space
from paramhs.values.space.formats import SpaceFile, read_space
from paramhs.world.cluster import Dask
from paramhs.world.driver import Budget, Watcher
from paramhs.world.running import Running

_FOR_COMMANDS = {"interface", "style", "booleans", "switches", "folder", "read", "solved"}
_FOR_COMMANDS |= {"expected", "checker", "wall_limit", "grace"}


@dataclass(frozen=True)
class ScenarioFile:
    """What a scenario file says, ready to run."""

    path: Path
    scenario: Scenario
    target: Target
    configurator: Configurator
    budget: Budget
    seed: int
    jobs: int
    executor: str | Dask | None
    store: Path
    test_set: TestSet | None
    """The test set; None where there is nothing that the search has not seen."""
    notes: tuple[str, ...] = ()
    """What the user should know."""
    expected: str | Mapping[str, str] = ""
    """The right answers, as the file says them."""
    folders: Sequence[Path] = ()
    """Where paths are looked for; the first is the scenario's own."""
    warm_start: tuple[Path, ...] = ()
    """Stores of earlier searches to learn from."""
    verdict_in_budget: bool = False
    """Whether the verdict's runs are part of the budget."""
    asynchronous: bool | int = False
    """Whether results are used as they come; a number says how many runs are under way."""

    def running(self, watcher: Watcher, jobs: int | None = None) -> Running:
        """How its runs are made, with another number of jobs if one is given."""
        return Running(self.jobs if jobs is None else jobs, self.executor, watcher)


@dataclass(frozen=True)
class Parsed:
    """What a file says in our own settings, and what only files of other tools can say."""

    settings: Mapping[str, Any]
    source: Source
    folders: Sequence[Path]
    """Where paths are looked for; the first is the scenario's own."""
    listings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """How the lists of `instances` and `test_instances` are to be read (see `Lister`)."""
    read_space: Callable[[Path], SpaceFile] = read_space


def build(parsed: Parsed) -> ScenarioFile:
    """The whole; `BadInput` with all problems if there are any."""
    return _Builder(parsed).whole()


def build_space(parsed: Parsed) -> SpaceFile:
    """The space alone; `BadInput` with all problems of it."""
    return _Builder(parsed).space_alone()


class _Builder:
    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.source = parsed.source
        self.home = parsed.folders[0]
        self.file = validate_settings(parsed.settings, parsed.source)
        self.wrong = frozenset(parsed.source.wrong)

    def whole(self) -> ScenarioFile:
        file, source = self.file, self.source
        self._check_presence()
        self._check_effects()
        configurator = source.attempt(("configurator",), file.configurator.configurator)
        parameters = self._build_space()
        target = self._build_target(parameters)
        trained, held_out = self._find_instances()
        self._check_expected((*trained, *held_out))
        initial = self._read_initial(parameters)
        warm_start = self._find_stores()
        executor = self._find_executor()
        source.refuse()
        assert parameters and target and configurator and file.budget  # noqa: S101, PT018 -- or refused
        scenario = source.attempt(
            (), lambda: self._scenario(parameters.space, trained, target, initial)
        )
        source.refuse()
        assert scenario  # noqa: S101 -- or refused
        path = source.path
        return ScenarioFile(
            path,
            scenario,
            target,
            configurator,
            file.budget.budget(),
            file.seed,
            file.jobs,
            executor,
            path.parent / file.store if file.store else path.with_suffix(".sqlite"),
            _test_set(scenario, held_out, file.verdict.runs),
            tuple(source.notes),
            file.expected,
            self.parsed.folders,
            warm_start,
            file.verdict.in_budget,
            file.asynchronous,
        )

    def space_alone(self) -> SpaceFile:
        if "space" not in self.parsed.settings:
            self.source.complain(("space",), "is missing")
        read = self._build_space()
        self.source.refuse()
        assert read  # noqa: S101 -- or refused
        return read._replace(notes=tuple(self.source.notes))

    def _scenario(
        self,
        space: Space,
        instances: tuple[Instance, ...],
        target: Target,
        initial: tuple[Config, ...],
    ) -> Scenario:
        file = self.file
        told = file.deterministic
        deterministic = not target.uses_seed if told is None else told
        cutoff = file.cutoff or math.inf
        return Scenario(
            space,
            instances,
            file.metric,
            cutoff,
            deterministic,
            initial,
            capping=capping_named(file.capping, file.metric, file.capping_factor),
        )

    # What is missing, and what would have no effect.

    def _check_presence(self) -> None:
        for name in ("space", "budget"):
            if name not in self.parsed.settings:
                self.source.complain((name,), "is missing")
        if len({"function", "command"} & self.parsed.settings.keys()) != 1:
            self.source.complain((), "give either a `function` or a `command`: that is the target")

    def _check_effects(self) -> None:
        file, complain = self.file, self.source.complain
        if file.function is not None:
            for name in sorted(_FOR_COMMANDS & file.model_fields_set):
                complain((name,), "only for commands, and the target is a function")
        if file.command is not None and file.executor not in (None, "dask"):
            complain(("executor",), "only for functions; commands always run in processes")
        for name in sorted({"address", "cluster"} & file.model_fields_set):
            if file.executor != "dask" and "executor" not in self.wrong:
                complain((name,), 'only with executor = "dask"')
        if file.clock == "wall" and file.wall_limit is not None:
            complain(("wall_limit",), "the cutoff is one already, as clock is 'wall'")
        if "split_seed" in file.model_fields_set and not self._is_split():
            complain(("split_seed",), "without effect, as no share of the instances is held out")
        if file.capping not in (None, "none") and not file.metric.grows_with_time:
            what = "only where time counts: a quality cannot be known before a run has ended"
            complain(("capping",), f"{what}, and cost is {file.cost!r}")
        if file.capping_factor is not None and file.capping != "aggressive":
            complain(("capping_factor",), 'only with capping = "aggressive"')
        if file.metric.needs_runtime and file.cutoff is None and "cutoff" not in self.wrong:
            what = "tuning for runtime needs a cutoff: what would a run that hangs cost?"
            complain(("cost",), what)

    def _is_split(self) -> bool:
        test = self.file.test_instances
        return test is None or (isinstance(test, float) and test > 0)

    # The space.

    def _build_space(self) -> SpaceFile | None:
        described = self.file.space
        if isinstance(described, str):
            read = self.source.attempt(("space",), lambda: self._read_space(described))
            return read and extend_space(read, self.file, self.source, self.wrong)
        if described is None:
            return None
        return make_space(described, self.file, self.source, self.wrong)

    def _read_space(self, name: str) -> SpaceFile:
        read = self.parsed.read_space(self._find_file(name))
        self.source.notes += read.notes
        return read

    def _find_file(self, name: str) -> Path:
        for folder in self.parsed.folders:
            if os.path.isfile(folder / name):
                return folder / name
        raise BadInput(f"there is no file {name} in {self.home}")

    # The target, and what it is run on.

    def _build_target(self, parameters: SpaceFile | None) -> Target | None:
        file, source = self.file, self.source
        if file.function is not None:
            return source.attempt(("function",), lambda: function_target(file, self.home))
        if file.command is None:
            return None
        return command_target(file, parameters, self.home, source, self.wrong)

    def _find_instances(self) -> tuple[tuple[Instance, ...], tuple[Instance, ...]]:
        """Those of the search, and those held out."""
        listing, test = self.file.instances, self.file.test_instances
        if listing is None:
            if test and "instances" not in self.wrong:
                what = "there are no instances to hold some out of"
                self.source.complain(("test_instances",), what)
            return (NO_INSTANCE,), ()
        instances = self._list_instances("instances", listing)
        if isinstance(test, str | list):
            return instances, self._leave_out_seen(
                self._list_instances("test_instances", test), instances
            )
        share = usual_share(len(instances)) if test is None else test
        if not instances:
            return (), ()
        seed = self.file.split_seed
        divided = self.source.attempt(("test_instances",), lambda: split(instances, share, seed))
        return divided or (instances, ())

    def _list_instances(self, name: str, listing: Listing) -> tuple[Instance, ...]:
        lister = Lister(
            self.parsed.folders,
            self.file.expected,
            self.file.function is not None,
            **self.parsed.listings.get(name, {}),
        )
        found = self.source.attempt((name,), lambda: _distinct(lister.instances(listing)))
        if lister.seeds:
            self.source.notes.append(
                f"{self.source.where((name,))}: the {lister.seeds} seeds listed there are not used;"
                " paramhs draws its own, the same for every configuration"
            )
        return found or ()

    def _leave_out_seen(
        self, named: tuple[Instance, ...], searched: tuple[Instance, ...]
    ) -> tuple[Instance, ...]:
        """The test instances that the search is not given, too."""
        seen = {_identity(instance) for instance in searched}
        new = tuple(instance for instance in named if _identity(instance) not in seen)
        if len(new) < len(named):
            count = len(named) - len(new)
            note = f"{count} instances are in train and test; they are left out of the verdict"
            self.source.notes.append(note)
        return new

    def _check_expected(self, instances: Sequence[Instance]) -> None:
        if isinstance(self.file.expected, str) or self.wrong & {"instances", "test_instances"}:
            return
        names = {i.name for i in instances} | {os.path.basename(i.name) for i in instances}
        unknown = [name for name in self.file.expected if name not in names]
        if unknown:
            self.source.complain(("expected", unknown[0]), "no instance is called so")

    # What to begin with.

    def _read_initial(self, parameters: SpaceFile | None) -> tuple[Config, ...]:
        initial = self.file.initial
        if isinstance(initial, str):
            read = self.source.attempt(
                ("initial",), lambda: list(read_entries(self._find_file(initial)))
            )
            entries: list[tuple[Key, Entry]] = [(("initial",), entry) for entry in read or ()]
        else:
            entries = [
                (("initial", str(i)), Entry(f"configuration {i + 1}", values))
                for i, values in enumerate(initial)
            ]
        if parameters is None:
            return ()
        space = parameters.space
        made = [
            self.source.attempt(key, partial(self._make_config, entry, space))
            for key, entry in entries
        ]
        return tuple(dict.fromkeys(config for config in made if config is not None))

    def _make_config(self, entry: Entry, space: Space) -> Config:
        config, changes = configured(entry, space)
        if changes:
            where = self.source.where(("initial",))
            self.source.notes.append(
                f"{where}: {entry.where} starts at the nearest levels: {', '.join(changes)}"
            )
        return config

    def _find_executor(self) -> str | Dask | None:
        if self.file.executor != "dask":
            return self.file.executor
        cluster, home = self.file.cluster, self.home
        client = cluster.client and self.source.attempt(
            ("cluster", "client"), lambda: load_function(cluster.client or "", home)
        )
        return self.source.attempt(
            ("cluster",), lambda: cluster.dask(self.file.address, client or None)
        )

    def _find_stores(self) -> tuple[Path, ...]:
        paths = tuple(self.home / name for name in self.file.warm_start)
        for number, path in enumerate(paths):
            if not os.path.isfile(path):
                key = ("warm_start", str(number))
                self.source.complain(key, f"there is no file {self.file.warm_start[number]}")
        return paths


def _test_set(
    scenario: Scenario, held_out: tuple[Instance, ...], runs: int | None
) -> TestSet | None:
    if held_out:
        return TestSet(held_out, True, runs)
    return None if scenario.deterministic else TestSet(scenario.instances, False, runs)


def _identity(instance: Instance) -> str:
    """Its file, however it is named; else its name."""
    path = getattr(instance.value, "path", instance.name)
    return os.path.realpath(path) if os.path.exists(path) else path


def _distinct(instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
    check_distinct(instances)
    if not instances:
        raise BadInput("the list of instances is empty")
    return instances
