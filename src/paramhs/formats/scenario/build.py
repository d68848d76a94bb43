"""Construction of everything a search needs from the settings of a scenario file, in one pass.

Each part is built from settings that are valid by themselves (`schema`) and from the parts before
it. A problem is recorded with its line, and everything that does not depend on it is still checked.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from paramhs.core.arguments import capping_named, cost_named
from paramhs.core.errors import BadInput
from paramhs.core.families import Families, checked_families, families_by
from paramhs.core.held_out import split, usual_share
from paramhs.core.runs import NO_INSTANCE, Instance, Target
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.core.test_set import TestSet
from paramhs.execution.cluster import Dask
from paramhs.execution.driver import Budget, Watcher
from paramhs.execution.executors import ExecutorName
from paramhs.execution.settings import Running
from paramhs.execution.targets.command import Expected, Problem, file_of
from paramhs.formats.scenario.initial import Entry, configured, read_entries
from paramhs.formats.scenario.instances import (
    Lister,
    Listing,
    check_distinct,
)
from paramhs.formats.scenario.source_map import Key, Source
from paramhs.formats.scenario.spaces import extend_space, make_space
from paramhs.formats.scenario.targets import command_target, function_target, load_function
from paramhs.formats.scenario.validation_messages import validate_settings
from paramhs.formats.space_files import SpaceFile, read_space
from paramhs.search.configurators import Configurator
from paramhs.search.registry import configurator_of

_FOR_COMMANDS = {"interface", "style", "booleans", "switches", "folder", "read", "solved", "answer"}
_FOR_COMMANDS |= {"numbers", "selectors", "native", "expected", "checker", "wall_limit", "grace"}


@dataclass(frozen=True)
class ScenarioFile:
    """A scenario file with its parts ready to run."""

    path: Path
    scenario: Scenario
    target: Target
    configurator: Configurator
    budget: Budget
    seed: int
    jobs: int
    executor: ExecutorName | Dask | None
    store: Path
    test_set: TestSet | None
    """The test set; None if the search has seen every possible test run."""
    notes: tuple[str, ...] = ()
    """Notes for the user."""
    expected: Expected = Expected()
    """The right answers."""
    folders: Sequence[Path] = ()
    """Folders in which paths are resolved; the first is the scenario's own."""
    warm_start: tuple[Path, ...] = ()
    """Stores of earlier searches to learn from."""
    verdict_in_budget: bool = False
    """Whether runs of the verdict count against the budget."""

    def running(self, watcher: Watcher, jobs: int | None = None) -> Running:
        """How runs are made, optionally with another number of jobs."""
        return Running(self.jobs if jobs is None else jobs, self.executor, watcher)


@dataclass(frozen=True)
class Parsed:
    """A parsed file in our own settings, with options that only other tools' files have."""

    settings: Mapping[str, Any]
    source: Source
    folders: Sequence[Path]
    """Folders in which paths are resolved; the first is the scenario's own."""
    listings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """How to read the lists of `instances` and `test_instances` (see `Lister`)."""
    read_space: Callable[[Path], SpaceFile] = read_space


def build(parsed: Parsed) -> ScenarioFile:
    """Build a scenario.

    Raises:
        BadInput: The message lists every problem.
    """
    return _Builder(parsed).whole()


def build_space(parsed: Parsed) -> SpaceFile:
    """Build only the space.

    Raises:
        BadInput: The message lists every problem of the space.
    """
    return _Builder(parsed).space_alone()


class _Builder:
    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.source = parsed.source
        self.home = parsed.folders[0]
        self.file = validate_settings(parsed.settings, parsed.source)
        self.wrong = frozenset(parsed.source.wrong)
        self.listed_families: dict[str, str] = {}
        """Families by instance name, as the lists of instances name them."""
        self.expected = (
            self.source.attempt(("expected",), lambda: self._read_expected()) or Expected()
        )

    def whole(self) -> ScenarioFile:
        file, source = self.file, self.source
        self._check_presence()
        self._check_effects()
        source.attempt(("subject_to",), lambda: cost_named(file.cost, file.subject_to))
        configurator = source.attempt(("configurator",), lambda: configurator_of(file.configurator))
        parameters = self._build_space()
        target = self._build_target(parameters)
        trained, held_out = self._find_instances()
        families = source.attempt(("families",), lambda: self._families((*trained, *held_out)))
        self._check_expected((*trained, *held_out))
        initial = self._read_initial(parameters)
        warm_start = self._find_stores()
        executor = self._find_executor()
        source.refuse()
        assert parameters and target and configurator and file.budget  # noqa: S101, PT018 -- or refused
        scenario = source.attempt(
            (), lambda: self._scenario(parameters.space, trained, target, initial, families or {})
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
            self.expected,
            self.parsed.folders,
            warm_start,
            file.verdict.in_budget,
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
        families: Families,
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
            answer_tolerance=file.answer_tolerance,
            families=families,
            balanced=file.families.balanced,
        )

    def _families(self, instances: Sequence[Instance]) -> Families:
        """Family by instance: as listed, or by the rule; empty where nothing was said."""
        names, listed = [instance.name for instance in instances], self.listed_families
        told = self.file.families
        if listed and told.by == "auto":
            return checked_families({n: listed[n] for n in names if n in listed}, names)
        if told.by == "auto" and not told.balanced:
            return {}
        return families_by(told.by, names)

    # Missing settings, and settings without effect

    def _check_presence(self) -> None:
        for name in ("space", "budget"):
            if name not in self.parsed.settings:
                self.source.complain((name,), "is missing")
        if len({"function", "command"} & self.parsed.settings.keys()) != 1:
            self.source.complain((), "set either `function` or `command` as the target")

    def _check_effects(self) -> None:
        file, complain = self.file, self.source.complain
        if file.function is not None:
            for name in sorted(_FOR_COMMANDS & file.model_fields_set):
                complain((name,), "applies only to commands, but the target is a function")
        if file.command is not None and file.executor not in (None, "dask"):
            complain(("executor",), "applies only to functions; commands always run in processes")
        for name in sorted({"address", "cluster"} & file.model_fields_set):
            if file.executor != "dask" and "executor" not in self.wrong:
                complain((name,), 'applies only with executor = "dask"')
        if file.clock == "wall" and file.wall_limit is not None:
            complain(
                ("wall_limit",),
                "has no effect, because with clock = 'wall' the cutoff is the limit",
            )
        if "split_seed" in file.model_fields_set and not self._is_split():
            complain(
                ("split_seed",), "has no effect, because no share of the instances is held out"
            )
        if file.capping not in (None, "none") and not file.metric.grows_with_time:
            what = "applies only where time is the cost: a quality is not known before a run ends"
            complain(("capping",), f"{what}, but cost is {file.cost!r}")
        if file.capping_factor is not None and file.capping != "aggressive":
            complain(("capping_factor",), 'applies only with capping = "aggressive"')
        if file.metric.needs_runtime and file.cutoff is None and "cutoff" not in self.wrong:
            what = "tuning for runtime needs a cutoff: what would a run that hangs cost?"
            complain(("cost",), what)

    def _is_split(self) -> bool:
        test = self.file.test_instances
        return test is None or (isinstance(test, float) and test > 0)

    # The space

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

    # The target and its instances

    def _build_target(self, parameters: SpaceFile | None) -> Target | None:
        file, source = self.file, self.source
        if file.function is not None:
            return source.attempt(("function",), lambda: function_target(file, self.home))
        if file.command is None:
            return None
        return command_target(file, parameters, self.home, source, self.wrong)

    def _find_instances(self) -> tuple[tuple[Instance, ...], tuple[Instance, ...]]:
        """Instances of the search, and instances held out."""
        listing, test = self.file.instances, self.file.test_instances
        if listing is None:
            if test and "instances" not in self.wrong:
                what = "there are no instances to hold out"
                self.source.complain(("test_instances",), what)
            return (self._no_instance(),), ()
        instances = self._list_instances("instances", listing)
        if isinstance(test, str | list):
            return instances, self._leave_out_seen(
                self._list_instances("test_instances", test), instances
            )
        share = usual_share(len(instances)) if test is None else test
        if not instances:
            return (), ()
        seed = self.file.split_seed
        families = self.source.attempt(("families",), lambda: self._families(instances)) or None
        divided = self.source.attempt(
            ("test_instances",), lambda: split(instances, share, seed, families)
        )
        return divided or (instances, ())

    def _no_instance(self) -> Instance:
        """The placeholder instance of a target without instances; it may have a right answer."""
        if self.expected.for_all == "":
            return NO_INSTANCE
        return Instance(NO_INSTANCE.name, Problem("", expected=self.expected.for_all))

    def _list_instances(self, name: str, listing: Listing) -> tuple[Instance, ...]:
        lister = Lister(
            self.parsed.folders,
            self.expected,
            self.file.function is not None,
            **self.parsed.listings.get(name, {}),
        )
        found = self.source.attempt((name,), lambda: _distinct(lister.instances(listing)))
        self.listed_families |= lister.families
        if lister.seeds:
            self.source.notes.append(
                f"{self.source.where((name,))}: the {lister.seeds} seeds in the file are ignored;"
                " paramhs draws its own seeds, the same for every configuration"
            )
        return found or ()

    def _leave_out_seen(
        self, named: tuple[Instance, ...], searched: tuple[Instance, ...]
    ) -> tuple[Instance, ...]:
        """Test instances that are not among those of the search."""
        seen = {_identity(instance) for instance in searched}
        new = tuple(instance for instance in named if _identity(instance) not in seen)
        if len(new) < len(named):
            count = len(named) - len(new)
            note = f"{count} instances are in both train and test; the verdict excludes them"
            self.source.notes.append(note)
        return new

    def _check_expected(self, instances: Sequence[Instance]) -> None:
        if self.wrong & {"instances", "test_instances"}:
            return
        names = {i.name for i in instances} | {os.path.basename(i.name) for i in instances}
        unknown = [name for name in self.expected.by_name if name not in names]
        if unknown and isinstance(self.file.expected, dict):
            self.source.complain(("expected", unknown[0]), "there is no instance with this name")
        elif unknown and len(unknown) == len(self.expected.by_name):
            what = f"names no instance of this scenario (its first is {unknown[0]!r})"
            self.source.complain(("expected",), what)

    def _read_expected(self) -> Expected:
        """The right answers; a text that names a file refers to that file."""
        said = self.file.expected
        if isinstance(said, str):
            for folder in self.parsed.folders:
                if os.path.isfile(folder / said):
                    return Expected.of(folder / said)
        return Expected.of(said)

    # Initial configurations, executor and warm start

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
                f"{where}: {entry.where} is rounded to the nearest levels: {', '.join(changes)}"
            )
        return config

    def _find_executor(self) -> ExecutorName | Dask | None:
        if self.file.executor != "dask":
            return self.file.executor
        cluster, home = self.file.cluster, self.home
        client = cluster.client and self.source.attempt(
            ("cluster", "client"), lambda: load_function(cluster.client or "", home)
        )
        return self.source.attempt(
            ("cluster",), lambda: cluster.dask(self.file.address, client or None, home)
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
    """Resolved file of an instance, or else its name."""
    path = file_of(instance)
    return os.path.realpath(path) if os.path.exists(path) else path


def _distinct(instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
    check_distinct(instances)
    if not instances:
        raise BadInput("the list of instances is empty")
    return instances
