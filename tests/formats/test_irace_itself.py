"""What irace itself makes of the files that are written for it, where it is installed."""

import csv
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.space import Config, Space
from paramhs.formats.space_files import written
from tests.support.spaces import full_indices, plain, spaces

PROGRAM = """
if (!requireNamespace("irace", quietly = TRUE)) { cat("no irace\\n"); quit() }
said <- function(number) {
  name <- function(ending) paste0(number, ending)
  p <- irace::readParameters(name(".txt"), digits = 15)
  rows <- read.csv(name(".csv"), colClasses = "character", na.strings = character())
  number_of <- p$types %in% c("i", "r")
  names(number_of) <- p$names
  made <- lapply(seq_len(nrow(rows)), function(i) {
    conf <- list()
    for (n in names(p$conditions)) {
      holds <- p$conditions[[n]]
      holds <- isTRUE(holds) || isTRUE(eval(holds, conf))
      value <- if (number_of[[n]]) as.numeric(rows[i, n]) else rows[i, n]
      conf[[n]] <- if (holds) value else if (number_of[[n]]) NA_real_ else NA_character_
    }
    as.data.frame(conf[p$names], stringsAsFactors = FALSE)
  })
  all <- cbind(do.call(rbind, made), .row = seq_along(made))
  allowed <- irace:::checkForbidden(all, irace:::readForbiddenFile(name(".forbidden")))$.row
  for (i in seq_along(made)) {
    active <- p$names[!is.na(unlist(made[[i]]))]
    switches <- trimws(irace::buildCommandLine(made[[i]], p$switches))
    cat(number, i, i %in% allowed, paste(active, collapse = ","), switches, "\\n", sep = "\\t")
  }
}
for (number in commandArgs(TRUE)) said(number)
"""


def some_spaces(count: int) -> list[tuple[Space, list[Config]]]:
    """Random spaces that irace can have, each with some of its configurations."""
    found: list[tuple[Space, list[Config]]] = []

    @settings(max_examples=count, deadline=None, derandomize=True, database=None)
    @given(st.data())
    def collect(data):
        try:
            space = plain(data.draw(spaces()), irace=True)
            written(space, "irace")
        except BadInput:  # it has what irace has not
            reject()
        indices = data.draw(st.lists(full_indices(space), min_size=8, max_size=8))
        found.append((space, [space.configured(some) for some in indices]))

    collect()
    return found


def write_files(folder: Path, number: int, space: Space, configs: list[Config]) -> None:
    parameters, _, rest = written(space, "irace").partition("[forbidden]\n")
    parameters = parameters.partition("[global]")[0]
    (folder / f"{number}.txt").write_text(parameters, encoding="utf-8")
    (folder / f"{number}.forbidden").write_text(rest.partition("[global]")[0], encoding="utf-8")
    with open(folder / f"{number}.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(space.parameters))
        writer.writeheader()
        writer.writerows(
            {n: c.get(n, p.default) for n, p in space.parameters.items()} for c in configs
        )


@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
def test_irace_means_by_a_written_file_what_the_space_means(tmp_path: Path):
    found = some_spaces(12)
    for number, (space, configs) in enumerate(found):
        write_files(tmp_path, number, space, configs)
    command = ["Rscript", "-e", PROGRAM, *map(str, range(len(found)))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    if done.stdout == "no irace\n":
        pytest.skip("irace is not installed")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(lines) == 8 * len(found), done.stderr
    for number, row, allowed, active, switches, *_ in lines:
        space, configs = found[int(number)]
        config = configs[int(row) - 1]
        assert active.split(",") == list(config), (written(space, "irace"), config)
        assert (allowed == "TRUE") == space.allowed(config), (written(space, "irace"), config)
        assert switches.split()[::2] == [f"-{name}" for name in config]
