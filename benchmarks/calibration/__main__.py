"""Print the tables of coverage: see `benchmarks.calibration.simulation`."""

import sys

from benchmarks.calibration.simulation import main

if __name__ == "__main__":
    main(sys.argv[1:])
