"""Print the tables of coverage: see `benchmarks.calibration.simulation`."""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read by numpy; the processes share the cores

from benchmarks.calibration.simulation import main

if __name__ == "__main__":
    main(sys.argv[1:])
