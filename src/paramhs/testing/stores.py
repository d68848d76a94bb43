"""Conformance suite for stores."""

from collections.abc import Callable

from paramhs.core.runs import Point, Run, Status, Task, answer
from paramhs.execution.storage import Store
from paramhs.testing.driving import INSTANCES, SPACE


def _run(k: int) -> Run:
    config = SPACE.numbered(k % SPACE.combinations)
    status = list(Status)[k % len(Status)]
    return Run(Task(config, INSTANCES[k % 4], k, 2.5 + k % 2), status, 0.25 * k, float(k), f"d{k}")


def _check_other_cutoffs(store: Store) -> None:
    """Check that a finished run answers for every cutoff, and a capped one for smaller ones."""
    ended = Run(Task(SPACE.default, INSTANCES[0], 1_001, 5.0), Status.OK, 3.0)
    short = Run(ended.task._replace(seed=1_002), Status.CAPPED, 5.0)
    for run in (ended, short):
        store.put(run)
    for cutoff in (1.0, 4.0, 9.0):
        for run in (ended, short):
            task = run.task._replace(cutoff=cutoff)
            assert store.get(task) == answer(run, task), "another cutoff has another answer"
    store.forget([ended.task, short.task])


def check_store(make: Callable[[], Store], *, persistent: bool) -> None:
    """Check that a store acts as a dictionary whose first answers stay.

    `make` opens the store, the same one each time; `persistent` says whether it keeps its content.

    Args:
        make: Function that opens the store, the same one each time.
        persistent: Whether the store keeps its content.

    Examples:
        >>> from paramhs.execution.storage.memory import MemoryStore
        >>> from paramhs.testing import check_store
        >>> check_store(MemoryStore, persistent=False)
    """
    store = make()
    runs = [_run(k) for k in range(40)]
    for k, run in enumerate(runs):
        assert store.get(run.task) is None, "a run is there that was not put"
        store.put(run, k)
        store.put(run._replace(runtime=1e6), k)
        assert store.get(run.task) == run, "the first answer does not stay"
    _check_other_cutoffs(store)
    assert abs(store.target_time - sum(run.runtime for run in runs)) < 1e-6, "target_time is wrong"
    store.forget([run.task for run in runs[30:]])
    store.record(0, Point(SPACE.default, 3, 1.0, 2.0, 3))
    assert len(store) == 30, "it does not count its runs"
    assert set(store) == set(runs[:30]), "it does not list its runs"
    store.close()
    if persistent:
        store = make()
        assert set(store) == set(runs[:30]), "it does not keep its runs"
        assert all(store.get(run.task, k) == run for k, run in enumerate(runs[:30]))
        store.close()
