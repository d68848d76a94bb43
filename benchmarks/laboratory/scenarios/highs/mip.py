"""HiGHS, called as a function: nothing has to be started or imported again for each run."""

import highspy


def solve(config, instance, seed):
    """Solve a mixed-integer program to optimality; an exception if that fails.

    paramhs measures the time and stops what takes too long, so nothing is returned.
    """
    highs = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "random_seed": seed, **config}.items():
        done(highs.setOptionValue(name, value), f"set {name} = {value}")
    done(highs.readModel(instance), f"read {instance}")
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(highs.modelStatusToString(highs.getModelStatus()))


def done(status, what):
    """Complain unless HiGHS did it."""
    if status == highspy.HighsStatus.kError:
        raise RuntimeError(f"HiGHS cannot {what}")
