"""Reference runs: the default runs first wherever answers are compared."""

from collections.abc import Generator, Iterator, Sequence

from paramhs.core.runs import Evaluate, Incumbent, Run, Search
from paramhs.core.space import Config
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History


def with_references(search: Search, history: History) -> Search:
    """Precede a search's runs by the default's run on each instance.

    Nothing is added while no run has ever answered. Otherwise at most one run per instance is
    added, requested together with the runs that need it, so that no worker waits.

    An incumbent that gives a wrong answer loses its place to the previous one.
    """
    inner = Dialogue(search)
    incumbents: list[Config] = []
    while (step := inner.request) is not None:
        yield from _trusted(incumbents, history)
        runs: Sequence[Run] = ()
        if isinstance(step, Evaluate):
            runs = yield from _with_missing(step, history)
        elif step.config not in history.wrong:
            incumbents.append(step.config)
            yield step
        inner.advance(runs)
    yield from _trusted(incumbents, history)
    return inner.result


def _trusted(incumbents: list[Config], history: History) -> Iterator[Incumbent]:
    """Return to the last incumbent without a wrong answer, if the current one has given one."""
    if incumbents and incumbents[-1] in history.wrong:
        right = [config for config in incumbents if config not in history.wrong]
        incumbents.append(right[-1] if right else history.judge.baseline)
        yield Incumbent(incumbents[-1])


def _with_missing(
    step: Evaluate, history: History
) -> Generator[Evaluate, Sequence[Run], Sequence[Run]]:
    missing = history.judge.unmet(step.tasks)
    if not missing:
        runs = yield step
    else:
        made = yield step._replace(tasks=[*missing, *step.tasks])
        for run in made[: len(missing)]:
            _add(run, history)
        runs = made[len(missing) :]
    for run in runs:  # the default's own runs are references for others of the same request
        if run.task.config == history.judge.baseline:
            history.judge.note(history.judge(run))
    return runs


def _add(run: Run, history: History) -> None:
    history.count_request(reference=True)
    history.add(run)
