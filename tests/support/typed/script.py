"""A script as users write it, which type checkers accept."""

from pathlib import Path

import paramhs
from paramhs import AskTell, Budget, Integer, Real, Result, Space, Watcher


def f(config: paramhs.Config, instance: int, seed: int) -> float:
    return float(config["x"]) * instance + seed % 3


class Mine(Watcher):
    def notice(self, text: str) -> None:
        print(text)


space = Space({"x": Real(0.0, 1.0), "n": Integer(1, 9)})
result: Result = paramhs.tune(
    f,
    space,
    instances=[1, 2, 3],
    budget=Budget(runs=30),
    executor="threads",
    jobs=2,
    watcher=Mine(),
)
hours = Budget(wall_time="2 h", stop="gain < 1 %")
seconds: float | None = hours.wall_time
if result.verdict:
    print(result.verdict.ratio, result.verdict.p_value)
else:
    print(result.verdict.recommendation)
print(result.best["x"], result.trajectory[-1].runs, result.runs[0].status)
frame = result.to_dataframe("configurations")
result.plot.history().save(Path("x.svg"))
search = AskTell(space, deterministic=True, configurator="paramhs")
while (task := search.ask()) is not None:
    search.tell(task, float(task.config["x"]))
for one in result.importance:
    print(one.name, one.share)
best, gain = result.certificate.tried, result.certificate.gain
print(best and best.bound, gain and gain.high, result.command)
verdicts = paramhs.validate(f, space, [{"x": 0.0}, {"x": 1.0}], instances=[1, 2, 3])
print([one.conclusion for one in verdicts])
simplified = paramhs.simplify(f, result)
print(paramhs.load("runs.sqlite").best, Space.read("space.pcs").default, simplified)
objects = paramhs.Categorical([None, (64, 32)], default=(64, 32))
loaded = paramhs.load("runs.sqlite", space={"layers": objects, "depth": (1, 9)})
loaded.to_dataframe("verdict-runs")
loaded.plot.front("size", y="time").save("front.svg")
