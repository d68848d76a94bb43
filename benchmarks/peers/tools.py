"""The configurators: how each is started, and how it says what it wants.

Each has the set-up that its own documentation recommends; what had to be chosen is said here.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.laboratory.cases import Case, CountedWork
from benchmarks.peers.environment import PARAMILS, PYTHON
from benchmarks.peers.evaluating import file_of
from benchmarks.peers.spaces import thinned, understood
from paramhs.core.runs import Instance
from paramhs.core.space import Config, Space
from paramhs.formats.space_files import written
from paramhs.formats.space_files.irace_writer import irace_names

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Job:
    """What a tool is to do, and the folder it may use."""

    case: Case
    seed: int
    runs: int
    folder: Path

    @property
    def space(self) -> Space:
        """Space of the case."""
        return self.case.scenario.space


class Tool:
    """A configurator that is started as a process and asks for runs in `client`'s words."""

    name: str
    anytime = True
    """Whether a long search shows what a shorter one would have returned."""

    def installed(self) -> bool:
        """Whether it can be started here."""
        return True

    def write(self, job: Job, port: int) -> None:
        """Write what it reads: job.json and space.json, and perhaps more."""
        facts = {
            "port": port,
            "seed": job.seed,
            "runs": job.runs,
            "deterministic": job.case.scenario.deterministic,
            "instances": len(job.case.scenario.instances),
            "features": [features(instance) for instance in job.case.scenario.instances],
        }
        (job.folder / "job.json").write_text(json.dumps(facts), encoding="utf-8")
        (job.folder / "space.json").write_text(self.space_file(job), encoding="utf-8")

    def space_file(self, job: Job) -> str:
        """The space in the format that the tool's script reads."""
        return json.dumps(job.space.describe())

    def command(self, job: Job) -> Sequence[str]:
        """How it is started, in the job's folder."""
        raise NotImplementedError

    def understood(self, job: Job, pairs: Iterable[str]) -> Config:
        """The configuration it means."""
        return understood(job.space, dict(pair.split("=", 1) for pair in pairs))

    def request(self, job: Job, words: Sequence[str]) -> tuple[int, int, Config]:
        """The number of the instance, the seed and the configuration that it wants to be run."""
        return int(words[0]), int(words[1]), self.understood(job, words[2:])

    def answer(self, job: Job, words: Sequence[str], cost: float | None) -> str:
        """What it is told."""
        return "stop" if cost is None else repr(cost)

    def incumbent(self, job: Job) -> Config | None:
        """Its best at present, if that is not told but lies in a file."""
        return None


def features(instance: Instance) -> list[float]:
    """What a file in DIMACS says of itself: how many variables and clauses."""
    file = file_of(instance)
    text = file.read_text(encoding="ascii") if file.is_file() else ""
    header = re.search(r"^p cnf (\d+) (\d+)", text, re.MULTILINE)
    return [float(number) for number in header.groups()] if header else []


@dataclass(frozen=True)
class OurScript(Tool):
    """A script that needs paramhs."""

    name: str
    module: str
    anytime: bool = True

    def command(self, job: Job) -> Sequence[str]:
        """With this interpreter."""
        return [sys.executable, "-m", f"benchmarks.peers.{self.module}", self.name]


@dataclass(frozen=True)
class TheirScript(Tool):
    """A script around a library in the environment of the peers."""

    name: str
    script: str

    def installed(self) -> bool:
        """Whether that environment was made."""
        return PYTHON.exists()

    def space_file(self, job: Job) -> str:
        """Parameter file in the format of ConfigSpace."""
        return written(job.space, "configspace-json")

    def command(self, job: Job) -> Sequence[str]:
        """With their interpreter, which sees the folder of the script and nothing else of ours."""
        return [str(PYTHON), "-E", str(HERE / self.script)]


class Irace(Tool):
    """irace, with the default as its initial configuration. It plans by its budget."""

    name = "irace"
    anytime = False

    def installed(self) -> bool:
        """Whether there is R; the package is looked for when it is started."""
        return shutil.which("Rscript") is not None

    def write(self, job: Job, port: int) -> None:
        """Its own file of parameters, and its table of configurations, too."""
        super().write(job, port)
        text, _, rest = written(job.space, "irace").partition("\n[global]\n")
        digits = re.search(r"digits = (\d+)", rest)
        (job.folder / "parameters.txt").write_text(text, encoding="utf-8")
        names = irace_names(job.space)
        default = job.space.default
        values = [f'"{_text(default.get(name, "NA"))}"' for name in names]
        table = f"{' '.join(names.values())}\n{' '.join(values)}\n".replace('"NA"', "NA")
        (job.folder / "default.txt").write_text(table, encoding="utf-8")
        facts = {
            "port": port,
            "seed": job.seed,
            "runs": job.runs,
            "deterministic": int(job.case.scenario.deterministic),
            "instances": len(job.case.scenario.instances),
            "digits": int(digits[1]) if digits else 4,
        }
        lines = [f"{name} {value}" for name, value in facts.items()]
        (job.folder / "job.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def command(self, job: Job) -> Sequence[str]:
        """Command that runs irace in R."""
        return ["Rscript", "--vanilla", str(HERE / "irace_search.R")]

    def understood(self, job: Job, pairs: Iterable[str]) -> Config:
        """By our own names."""
        ours = {theirs: name for name, theirs in irace_names(job.space).items()}
        split = (pair.split("=", 1) for pair in pairs)
        return understood(job.space, {ours[n]: v for n, v in split if v != "NA"})


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class ParamILS(Tool):
    """ParamILS 2.3.8 on lists of values; counted work is its runtime, so that it can prune."""

    name: str
    approach: Sequence[str]

    def installed(self) -> bool:
        """Whether it was unpacked, and there is Ruby."""
        return PARAMILS.exists() and shutil.which("ruby") is not None

    def write(self, job: Job, port: int) -> None:
        """Its scenario, its parameters and its instances, which are numbers."""
        limit = work_limit(job.case)
        scenario = {
            "algo": f"bash {HERE / 'paramils_run.sh'} {port}",
            "execdir": job.folder,
            "deterministic": int(job.case.scenario.deterministic),
            "run_obj": "runtime" if limit else "qual",
            "overall_obj": "mean10" if limit else "mean",
            "cutoff_time": limit or 1_000_000,
            "cutoff_length": "max",
            "tunerTimeout": "1000000000000000",
            "paramfile": job.folder / "parameters.txt",
            "outdir": job.folder / "out",
            "instance_file": job.folder / "instances.txt",
            "test_instance_file": job.folder / "instances.txt",
        }
        lines = [f"{name} = {value}" for name, value in scenario.items()]
        (job.folder / "scenario.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        text = written(thinned(job.space), "pcs")
        (job.folder / "parameters.txt").write_text(text, encoding="utf-8")
        numbers = range(len(job.case.scenario.instances))
        text = "".join(f"{number}\n" for number in numbers)
        (job.folder / "instances.txt").write_text(text, encoding="utf-8")

    def command(self, job: Job) -> Sequence[str]:
        """With Ruby; what it prints is not needed."""
        words = ["-scenariofile", "scenario.txt", "-numRun", str(job.seed), "-validN", "0"]
        files = ["-temporary_output_dir", f"{job.folder}/", "-output_level", "0"]
        return ["ruby", str(PARAMILS), *words, *files, *self.approach]

    def request(self, job: Job, words: Sequence[str]) -> tuple[int, int, Config]:
        """It calls a program: instance, rest, cutoff, cutoff length, seed, -name value ..."""
        instance, _, _, _, seed, *options = words
        names = [option.removeprefix("-") for option in options[::2]]
        values = dict(zip(names, options[1::2], strict=True))
        return int(instance), int(seed), understood(job.space, values)

    def answer(self, job: Job, words: Sequence[str], cost: float | None) -> str:
        """What the program prints. A run beyond the cutoff that was asked for is a time-out."""
        cutoff, seed = float(words[2]), words[4]
        if cost is None:
            status, work, quality = "ABORT", 0.0, 0.0
        elif work_limit(job.case):
            status, work, quality = ("TIMEOUT" if cost > cutoff else "SAT"), min(cost, cutoff), 0.0
        else:
            status, work, quality = "SAT", 1.0, cost
        return f"Result for ParamILS: {status}, {work}, 0, {quality}, {seed}"

    def incumbent(self, job: Job) -> Config | None:
        """The last line of its trajectory, which is written at once."""
        for file in (job.folder / "out").glob("*-traj_*.csv"):
            last = file.read_text(encoding="utf-8").splitlines()[-1]
            found = re.findall(r"([^\s,=]+)='([^']*)'", last)
            return understood(job.space, dict(found)) if found else None
        return None


def work_limit(case: Case) -> float | None:
    """The limit on counted work, if that is what the case counts."""
    return case.scenario.cost.limit if isinstance(case.scenario.cost, CountedWork) else None


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        OurScript("random", "random_search"),
        ParamILS("ParamILS focused", ("-approach", "focused")),
        ParamILS("ParamILS basic", ("-approach", "basic", "-N", "5")),
        Irace(),
        TheirScript("Optuna TPE", "optuna_search.py"),
        TheirScript("SMAC3", "smac_search.py"),
        OurScript("paramhs", "paramhs_search", anytime=False),
        OurScript("paramhs-plain", "paramhs_search", anytime=False),
    )
}
"""By name, in the order in which they are run."""
