"""A solver of the catalogue, installed here: its space, its target, and a scenario for it."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from paramhs.core.errors import BadInput
from paramhs.core.space import Config, Space, Value
from paramhs.execution.targets.command import CommandTarget
from paramhs.formats.scenario.source_map import Source
from paramhs.formats.scenario.targets import command_target
from paramhs.formats.scenario.validation_messages import validate_settings
from paramhs.formats.scenario.writer import scenario_text, space_text
from paramhs.formats.space_files import SpaceFile
from paramhs.solvers.derive import Choice, Derived, derive
from paramhs.solvers.entry import Entry, entry_of
from paramhs.solvers.installation import Installation, find, options_of, runner

SolverCost = Literal["runtime", "work"]


@dataclass(frozen=True)
class Solver:
    """An installed solver and the space that was derived from what it says of itself.

    Args:
        entry: Entry of the catalogue.
        installation: Where the solver is, and its version.
        derived: Space derived from the options that it lists.
        cost: "runtime" or "work".
    """

    entry: Entry
    installation: Installation
    derived: Derived
    cost: SolverCost

    @property
    def name(self) -> str:
        """Its name in the catalogue."""
        return self.entry.name

    @property
    def version(self) -> str:
        """The version that is installed."""
        return self.installation.version

    @property
    def space(self) -> Space:
        """The options that are tuned."""
        return self.derived.space

    @property
    def initial(self) -> list[Config]:
        """Configurations to try first, for `tune(initial=...)`, as its documentation names them.

        What the space does not have, because of the version or the choice of options, is left out.
        """
        found = []
        for values in self.entry.initial:
            with suppress(BadInput):
                found.append(self.space.config(values))
        return found

    @property
    def metric(self) -> str:
        """The cost to give to `tune`."""
        return self.cost

    @cached_property
    def target(self) -> CommandTarget:
        """The target for `tune`, with `cost=solver.metric`."""
        source = Source(self.entry.path)
        settings = {**self.settings(), "cutoff": 1.0, "instances": ["an instance"]}
        file = validate_settings(settings, source)
        made = command_target(file, SpaceFile(self.space, {}), Path(), source, frozenset())
        source.refuse()
        assert made is not None  # noqa: S101 -- or refused
        return made

    @property
    def switches(self) -> dict[str, str]:
        """What stands before the value of each option, as irace's files have it."""
        before, _, _ = self.entry.call.style.partition("value")
        own = self._own_switches
        return {name: own.get(name, before.replace("name", name)) for name in self.space.parameters}

    @property
    def _own_switches(self) -> dict[str, str]:
        return {**self.derived.switches, **self.entry.call.switches}

    def settings(self) -> dict[str, Any]:
        """The settings of a scenario that say how it is run and what counts."""
        call, work = self.entry.call, self.entry.work
        command = call.command
        counted: dict[str, Any] = {"cost": self.metric}
        if self.cost == "work":
            assert work is not None  # noqa: S101 -- `get` checked it
            command = work.command or command
            counted["read"] = dict(work.read)
        elif call.read is not None:
            counted["read"] = dict(call.read)
        given = {
            "style": call.style,
            "booleans": call.booleans,
            "numbers": call.numbers if call.numbers != "shortest" else None,
            "switches": self._own_switches or None,
            "native": self._native(call.native),
            "solved": call.solved,
            "answer": call.answer,
        }
        said = {name: value for name, value in given.items() if value is not None}
        return {"command": self._command(command), **said, **counted}

    def _native(self, form: Mapping[str, str] | None) -> dict[str, str] | None:
        if form is None:
            return None
        called = form.get("command")
        return dict(form) if called is None else {**form, "command": self._command(called)}

    def _command(self, text: str) -> str:
        """The command with the installed program in it, the rest as the entry has it."""
        program = _words(self.installation.words)
        folder = shlex.quote(str(self.entry.path.parent))
        filled = text.replace("{program}", program).replace("{folder}", folder)
        filled = filled.replace("{runner}", _words(runner(self.name)))
        return filled.replace("{version}", self.version)

    def check_instances(self, paths: Iterable[str]) -> None:
        """Refuse instances whose names end in another way than the solver expects.

        Args:
            paths: Paths of the instances.
        """
        for path in paths:
            known = self.entry.suffixes
            if known and not path.lower().endswith(tuple(known)):
                raise BadInput(
                    f"{path}: {self.name} reads files that end with {', '.join(known)}; give those,"
                    " or rename the file if only its name is unusual"
                )

    def scenario(self, more: Mapping[str, Any], header: str = "") -> str:
        """The text of a scenario file.

        Args:
            more: settings beside those that call the solver, such as instances and budget.
            header: comment lines at the top.
        """
        initial = [dict(_changes(self.space, config)) for config in self.initial]
        settings = {**self.settings(), **({"initial": initial} if initial else {}), **more}
        tables = {name: one for name, one in settings.items() if isinstance(one, Mapping)}
        inline = {"solved", "answer", "read", "switches", "native"}
        first = {n: v for n, v in settings.items() if n not in tables or n in inline}
        last = {name: value for name, value in tables.items() if name not in inline}
        comments = self._comments()
        plain = "".join(_setting(name, value, comments) for name, value in first.items())
        above = "".join(f"# {line}".rstrip() + "\n" for line in header.splitlines())
        space = space_text(self.space, self.derived.descriptions)
        forbidden, mark, rest = space.partition("[space]")
        tabled = scenario_text(last, comments).rstrip("\n")
        parts = [above, plain + forbidden.strip(), tabled, self._about_space() + mark + rest]
        return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"

    def _comments(self) -> dict[str, str]:
        unit = self.entry.work.unit if self.entry.work else ""
        cost = {
            "runtime": "PAR10: the mean processor time in seconds; a time-out counts 10 times.",
            "work": f"Counted work: {unit}. A run without an answer is worse than any with one.",
        }
        return {
            "cost": cost[self.cost],
            "initial": "Configurations to try first: presets and switches of its documentation.",
            "cutoff": "A run is stopped there. Most runs of the default should end well before.",
            "jobs": "Runs at a time.",
            "memory": "What a run may use.",
        }

    def _about_space(self) -> str:
        derived, name = self.derived, self.name
        called = f"{name} {self.version}".strip()
        tuned = len(self.space.parameters)
        lines = [f"{tuned} of the {derived.found} options that {called} lists."]
        if derived.not_short:
            lines.append(
                f"{len(derived.not_short)} more can be tuned: --options all writes them here."
            )
        if derived.left_out:
            lines.append(
                f"{len(derived.left_out)} are left out; `paramhs solvers {name}` says why."
            )
        return "".join(f"# {line}\n" for line in lines)


def _changes(space: Space, config: Config) -> Iterator[tuple[str, Value]]:
    for name, value in config.items():
        if space.default.get(name) != value:
            yield name, value


def _setting(name: str, value: Any, comments: Mapping[str, str]) -> str:
    if isinstance(value, Mapping):
        from paramhs.formats.scenario.writer import key_text, value_text

        return f"{key_text(name)} = {value_text(value)}\n"
    return scenario_text({name: value}, comments)


def _words(words: Iterable[str]) -> str:
    """Words of a command template: quoted for the shell's rules, braces doubled."""
    return shlex.join(words).replace("{", "{{").replace("}", "}}")


def get(
    solver: str | Path,
    *,
    options: Choice = "short",
    allow: Sequence[str] = (),
    cost: SolverCost = "runtime",
    program: str | Path | None = None,
) -> Solver:
    """A solver of the catalogue, as it is installed here.

        solver = paramhs.solvers.get("kissat")
        paramhs.tune(
            solver.target, solver.space, cost=solver.metric, cutoff=10,
            instances=glob("instances/*.cnf"), budget=Budget(wall_time=600),
        )

    Args:
        solver: a name of `names()`, or the path of an entry of your own (`mysolver.toml`).
        options: "short" for the options worth tuning first, "all" for all that may be tuned.
        allow: `["answer-changing"]` to tune options that may change the answer as well.
        cost: "runtime", or "work" for counted work.
        program: the program, where it is not the one that would be found.

    Returns:
        The solver, with a `space`, a `target` and a `metric` for `tune`.

    Raises:
        BadInput: the solver is unknown, not installed, or its options cannot be read.
    """
    entry = entry_of(solver)
    if options not in ("short", "all"):
        raise BadInput(f"options must be 'short' or 'all', not {options!r}")
    if cost not in ("runtime", "work"):
        raise BadInput(f"cost must be 'runtime' or 'work', not {cost!r}")
    if cost == "work" and entry.work is None:
        raise BadInput(f"{entry.name} prints no counted work; use cost 'runtime'")
    installation = find(entry, program)
    choice: Choice = "all" if entry.short is None else options
    derived = derive(entry, options_of(entry, installation), choice, allow)
    return Solver(entry, installation, derived, cost)
