import re
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from paramhs_paper.landscapes import FitnessPoint, fitness_points
from paramhs_paper.page import page
from paramhs_paper.points import Delta, Point
from paramhs_paper.saps.ranking import aggregated, five_best
from paramhs_paper.saps.table import kept
from paramhs_paper.scenarios import HEURISTICS, SAPS
from paramhs_paper.summary import grouped
from paramhs_paper.writing import markdown, read_rows, write_rows

KEPT = Path(__file__).parents[2] / "docs" / "reproduction"
TEXT = (KEPT / "README.md").read_text("utf-8")
WORDS = " ".join(TEXT.split())
HEURISTIC_POINTS = [p for p in read_rows(KEPT / "figure2.csv", Point) if p.scenario in HEURISTICS]


def test_the_kept_page_is_made_of_the_kept_tables() -> None:
    assert page(KEPT) == TEXT


def test_the_folder_holds_csv_figures_and_one_page() -> None:
    kinds = {path.suffix for path in KEPT.iterdir() if path.is_file()}
    assert kinds == {".csv", ".svg", ".md"}
    assert [path.name for path in KEPT.glob("*.md")] == ["README.md"]


def test_every_figure_is_shown_and_every_one_shown_is_there() -> None:
    for folder in (KEPT, KEPT / "frozen"):
        text = (folder / "README.md").read_text("utf-8")
        shown = set(re.findall(r"!\[[^]]*\]\(([^)]+)\)", text))
        assert shown == {path.name for path in folder.glob("*.svg")}


def test_every_link_leads_somewhere() -> None:
    for file in (KEPT / "README.md", KEPT / "frozen" / "README.md"):
        for link in re.findall(r"(?<!!)\[[^]]*\]\(([^)]+)\)", file.read_text("utf-8")):
            path, _, anchor = link.partition("#")
            target = file.parent / path if path else file
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def anchors(file: Path) -> set[str]:
    return {
        re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-")
        for line in file.read_text("utf-8").splitlines()
        if line.startswith("#")
    }


def test_vector_graphics_are_xml_of_the_width_of_a_page() -> None:
    for path in KEPT.glob("*.svg"):
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(root.get("width")) < 830, path.name


def test_the_page_counts_the_verdicts_of_the_heuristics() -> None:
    """Curves as we read them: other rules for ties are not counted."""
    curves = {(p.scenario, p.curve) for p in HEURISTIC_POINTS}
    assert len(curves) == 21
    own = [
        line
        for line in TEXT.splitlines()
        if line.startswith(("| ridge |", "| leading", "| onemax"))
    ]
    verdicts = [
        line.split("|")[4].strip()
        for line in own
        if "agree" in line or "doubtful" in line
        if "ties: coin" not in line and "ties: challenger" not in line
    ]
    numbers = "15 agree, 5 are doubtful, 1 does not agree"
    counts = [verdicts.count(word) for word in ("agrees", "doubtful", "does not agree")]
    assert counts == [15, 5, 1]
    assert numbers in WORDS


def test_the_page_says_how_far_the_deltas_are_off() -> None:
    deltas = read_rows(KEPT / "figure2_deltas.csv", Delta)
    own = [d for d in deltas if d.scenario in HEURISTICS]
    gaps = [abs(d.exact - d.published) for d in own if d.published is not None]
    assert f"{len(gaps)} values, {sum(gaps) / len(gaps):.3f} off on average" in WORDS
    same = {
        name: sum(d.significant == (d.published is not None) for d in deltas if d.scenario in names)
        for name, names in {
            "own": HEURISTICS,
            "saps": ["saps"],
            "textbook": ["saps-textbook"],
        }.items()
    }
    assert f"for {same['own']} of {len(own)}" in WORDS
    assert f"{same['saps']} of 84 of SAPS and {same['textbook']} of 84 with textbook" in WORDS


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("paramrls/random-without-replacement", "mean z of {:+.2f} and a mean z^2 of {:.2f}"),
        ("paramils/random", "ParamILS random {:+.2f} and {:.2f}"),
    ],
)
def test_the_page_says_how_far_off_the_uniform_laws_are(name: str, words: str) -> None:
    zs = [p.z_published for p in HEURISTIC_POINTS if p.curve == name]
    text = " ".join(TEXT.split())
    assert words.format(sum(zs) / len(zs), sum(z * z for z in zs) / len(zs)) in text


def test_the_page_says_what_single_points_do_to_a_curve() -> None:
    curves = {(g[0].scenario, g[0].curve, g[0].ties): g for g in grouped(HEURISTIC_POINTS)}
    ridge = [p for p in curves["ridge", "paramrls/l-step", "coin"] if p.size < 45]
    ones = curves["leadingones", "paramils/harmonic", "incumbent"]
    for left, words in (
        (ridge, "without these two points the curve's mean z^2 is {:.2f}"),
        ([p for p in ones if p.size != 35], "Without it the curve's mean z^2 is {:.2f}"),
    ):
        assert words.format(sum(p.z_published**2 for p in left) / len(left)) in WORDS


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "saps",
            "(16, 7), 0.6 standard errors below its lowest neighbour, and (32, 0), above a barrier"
            " of 10.8 standard errors at every rho. From 48 settings on it may never end, at 480"
            " with probability 0.60; of 500 searches of the real configurator 341 were given up",
        ),
        (
            "saps-textbook",
            "(43, 1), 1.0 standard errors below its lowest neighbour, and (32, 2), above a barrier"
            " of 13.2 standard errors. From 272 settings on it may never end, at 480 with"
            " probability 0.48; 236 of 500 searches were given up",
        ),
    ],
)
def test_the_page_says_where_the_1_step_is_trapped(name: str, words: str) -> None:
    assert words in " ".join(TEXT.split())
    numbers = [float(x) for x in re.findall(r"\d+\.?\d*", words)]
    costs = aggregated(kept(SAPS[name].smoothing))
    edged, error = (np.pad(x, 1, constant_values=np.inf) for x in (costs.mean, costs.error))

    def rises(alpha: int, rho: int) -> list[float]:
        """To all neighbours, in standard errors of a difference."""
        here, around = (alpha + 1, rho + 1), ((0, 1), (2, 1), (1, 0), (1, 2))
        there = [(alpha + a, rho + r) for a, r in around if np.isfinite(edged[alpha + a, rho + r])]
        return [(edged[x] - edged[here]) / np.hypot(error[x], error[here]) for x in there]

    optima = [x for x in np.ndindex(*costs.mean.shape) if min(rises(*x)) > 0]
    best = [np.unravel_index(k, costs.mean.shape) for k in five_best(costs.mean)]
    traps = [(a + 16, r) for a, r in optima if (a, r) not in best]
    assert sorted(traps) == sorted([(numbers[0], numbers[1]), (numbers[3], numbers[4])])
    assert min(rises(int(numbers[0]) - 16, int(numbers[1]))) == pytest.approx(numbers[2], abs=0.05)
    down = [rises(16, rho)[0] for rho in range(16)]  # from 32 to 31
    assert min(down) == pytest.approx(numbers[5], abs=0.05)
    points = [p for p in read_rows(KEPT / "figure2.csv", Point) if p.scenario == name and p.l == 1]
    trapped = [p for p in points if p.never]
    last = points[-1]
    assert (trapped[0].size, last.size) == (numbers[6], numbers[7])
    assert last.never == pytest.approx(numbers[8], abs=0.005)
    assert {last.searches, last.unfinished} == set(numbers[9:11])


def test_tables_are_read_as_they_were_written(tmp_path: Path) -> None:
    points = fitness_points(HEURISTICS["onemax"])[:5]
    file = write_rows(tmp_path / "t.csv", [asdict(point) for point in points])
    assert read_rows(file, FitnessPoint) == points


def test_a_table_in_words_has_a_line_a_row() -> None:
    lines = list(markdown(("a", "b"), [(1, "x"), (2, "")]))
    assert lines == ["| a | b |", "|---|---|", "| 1 | x |", "| 2 |  |", ""]
